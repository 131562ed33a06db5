package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// TestSchemaAgreesWithTheDecoder asks both for the fields of every section. The
// decoder names its own in the text about an unknown field.
func TestSchemaAgreesWithTheDecoder(t *testing.T) {
	schema, err := compileSchema(cuecontext.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ definition, config string }{
		{"#Config", `%s`},
		{"#Defaults", `defaults: {%s}`},
		{"#Host", `hosts: a: {%s}`},
		{"#HostService", `hosts: a: services: s: {%s}`},
		{"#Rule", `services: s: {%s}`},
		{"#Check", `hosts: a: check: {%s}`},
		{"#HTTP", `hosts: a: check: http: {%s}`},
		{"#TCP", `hosts: a: check: tcp: {%s}`},
		{"#ICMP", `hosts: a: check: icmp: {%s}`},
		{"#DNS", `hosts: a: check: dns: {%s}`},
		{"#TLS", `hosts: a: check: tls: {%s}`},
		{"#Dummy", `hosts: a: check: dummy: {%s}`},
		{"#Passive", `hosts: a: check: passive: {%s}`},
		{"#Aggregate", `hosts: a: check: aggregate: {%s}`},
		{"#Period", `periods: p: {%s}`},
		{"#Handlers", `handlers: {%s}`},
		{"#Dependency", `dependencies: d: {%s}`},
		{"#Contact", `contacts: c: {%s}`},
		{"#Wish", `contacts: c: hosts: {%s}`},
		{"#Webhook", `contacts: c: webhook: {%s}`},
		{"#Policy", `policies: [{%s}]`},
		{"#Escalation", `policies: [{escalate: [{%s}]}]`},
		{"#Grouping", `policies: [{group: {%s}}]`},
		{"#Schedule", `oncall: s: {%s}`},
		{"#Layer", `oncall: s: layers: [{%s}]`},
		{"#Override", `oncall: s: overrides: [{%s}]`},
		{"#Delivery", `delivery: {%s}`},
		{"#Rate", `delivery: rates: email: {%s}`},
		{"#Template", `delivery: templates: email: {%s}`},
		{"#Canary", `delivery: canary: {%s}`},
		{"#Sink", `sinks: s: {%s}`},
		{"#View", `views: v: {%s}`},
		{"#User", `users: u: {%s}`},
		{"#Settings", `settings: {%s}`},
	} {
		t.Run(c.definition, func(t *testing.T) {
			want := schemaFields(t, schema.LookupPath(cue.ParsePath(c.definition)))
			if got := decoderFields(t, fmt.Sprintf(c.config, "qqqqqqqqqqqqqqq: 1")); !slices.Equal(got, want) {
				t.Errorf("the decoder knows %v\nthe schema has    %v", got, want)
			}
		})
	}
}

func schemaFields(t *testing.T, v cue.Value) []string {
	t.Helper()
	it, err := v.Fields(cue.Optional(true))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for it.Next() {
		names = append(names, strings.TrimRight(it.Selector().String(), "?!"))
	}
	slices.Sort(names)
	return names
}

func decoderFields(t *testing.T, text string) []string {
	t.Helper()
	_, problems := tryLoad(t, text)
	for _, p := range problems {
		if _, known, ok := strings.Cut(p.Text, "no such field; known are "); ok {
			names := strings.Split(known, ", ")
			slices.Sort(names)
			return slices.DeleteFunc(names, func(n string) bool { return slices.Contains(laterKinds, n) })
		}
	}
	t.Fatalf("no list of known fields in\n%s", problems)
	return nil
}

// TestSchemaNetCatchesWhatTheDecoderMisses makes sure that a refusal of the
// schema that nobody else reported reaches the operator.
func TestSchemaNetCatchesWhatTheDecoderMisses(t *testing.T) {
	refused := Problems{{Path: "hosts.a.interval", Text: "x"}, {Path: "hosts.b", Text: "x"}, {Path: "hosts.c[1].d", Text: "x"}}
	reported := Problems{{Path: "hosts.a.interval"}, {Path: "hosts.c"}, {Path: "hosts.bb"}}
	got := unreported(refused, reported)
	if len(got) != 1 || got[0].Path != "hosts.b" {
		t.Errorf("got %v, want hosts.b alone", got)
	}
}

// TestLargePackagesAreCheckedWithoutUnification loads more hosts than CUE unifies.
func TestLargePackagesAreCheckedWithoutUnification(t *testing.T) {
	var b strings.Builder
	for i := range maxUnified + 1 {
		fmt.Fprintf(&b, "hosts: h%d: {}\n", i)
	}
	if c := load(t, b.String()); len(c.Set.Hosts) != maxUnified+1 {
		t.Errorf("got %d hosts", len(c.Set.Hosts))
	}
	_, problems := tryLoad(t, b.String()+"hosts: h7: {intervall: \"5s\", interval: 5}\n")
	if len(problems) != 2 {
		t.Errorf("got\n%s", problems)
	}
}
