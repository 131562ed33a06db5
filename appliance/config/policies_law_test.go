package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
)

// thing is an object of the farm as a person would describe it.
type thing struct {
	labels map[string]string
	groups []string
	host   bool
}

func things() map[string]thing {
	web01, web02, db01 := map[string]string{"role": "web", "site": "a"}, map[string]string{"role": "web", "site": "b"}, map[string]string{"role": "db"}
	with := func(base map[string]string, more ...string) map[string]string {
		all := map[string]string{}
		for k, v := range base {
			all[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	return map[string]thing{
		"web01": {web01, []string{"front"}, true}, "web02": {web02, nil, true}, "db01": {db01, []string{"back"}, true},
		"web01!http": {with(web01, "tier", "1"), []string{"front"}, false}, "web01!disk": {web01, []string{"front", "storage"}, false},
		"web02!http": {with(web02, "tier", "1", "role", "canary"), nil, false}, "web02!disk": {web02, []string{"storage"}, false},
		"db01!http": {with(db01, "tier", "1"), []string{"back"}, false}, "db01!disk": {db01, []string{"back", "storage"}, false},
	}
}

// drawn is a policy with what it is for in plain words.
type drawn struct {
	name, label, value, group, only, period string
	object                                  string // a name, or the end of a service's behind a star
	states                                  []string
}

func drawPolicy(t *rapid.T, i int) drawn {
	pick := func(what string, from ...string) string { return rapid.SampledFrom(from).Draw(t, what) }
	p := drawn{
		name: fmt.Sprintf("p%d", i), label: pick("label", "", "", "role", "site", "tier"), value: pick("value", "web", "db", "a", "1"),
		group: pick("group", "", "", "", "front", "back", "storage"), only: pick("only", "", "", "", "hosts", "services"),
		period: pick("period", "", "", "office"), object: pick("object", "", "", "", "web01", "db01!disk", "*!http"),
	}
	if rapid.Bool().Draw(t, "some states") {
		p.states = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"WARNING", "CRITICAL", "UNKNOWN", "DOWN", "UNREACHABLE"}), 1, 5, rapid.ID).Draw(t, "states")
	}
	return p
}

// node is the policy as it comes out of a file.
func (p drawn) node() *node {
	n := &node{kind: kindMap}
	text := func(v string) *node { return &node{kind: kindText, text: v} }
	add := func(name string, v *node) { n.fields = append(n.fields, field{name: name, node: v}) }
	list := func(name string, values ...string) {
		if len(values) == 0 || values[0] == "" {
			return
		}
		out := &node{kind: kindList}
		for _, v := range values {
			out.items = append(out.items, text(v))
		}
		add(name, out)
	}
	list("notify", "ops")
	list("groups", p.group)
	list("objects", p.object)
	list("states", p.states...)
	for name, v := range map[string]string{"name": p.name, "only": p.only, "period": p.period} {
		if v != "" {
			add(name, text(v))
		}
	}
	if p.label != "" {
		add("match", &node{kind: kindMap, fields: []field{{name: p.label, node: text(p.value)}}})
	}
	return n
}

// speaks tells whether the policy has its say about an object in a state, "" for what
// is no state, in and out of working hours.
func (p drawn) speaks(id string, o thing, state string, working bool) bool {
	ofHosts := func(s string) bool { return s == "DOWN" || s == "UNREACHABLE" }
	kind := func(s string) bool { return ofHosts(s) == o.host }
	switch {
	case p.label != "" && o.labels[p.label] != p.value, p.group != "" && !slices.Contains(o.groups, p.group),
		p.only == "hosts" && !o.host, p.only == "services" && o.host, p.period != "" && !working,
		p.object == "*!http" && !strings.HasSuffix(id, "!http"), p.object != "" && p.object != "*!http" && p.object != id:
		return false
	case len(p.states) == 0:
		return true
	case state == "":
		return slices.ContainsFunc(p.states, kind)
	}
	return slices.Contains(p.states, state)
}

// TestTheFirstPolicyThatFitsHasItsSay compares what becomes of policies with what
// they say, for every object, state and time.
func TestTheFirstPolicyThatFitsHasItsSay(t *testing.T) {
	all, c := things(), load(t, crew+farm+`policies: [{notify: ["ops"]}]`)
	const wednesdayNoon, midnight = object.Time(1768392000000), object.Time(1768435200000)
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		l := newLoader(&source{}, "", Options{})
		l.out, l.compiled, l.incomplete["group"] = c, c.Set.Periods, true
		var policies []drawn
		for i := range rapid.IntRange(1, 6).Draw(t, "policies") {
			policies = append(policies, drawPolicy(t, i))
			l.policies = append(l.policies, l.policy((*path)(nil).field("policies").at(i), policies[i].node()))
		}
		if len(l.problems) > 0 {
			// Hosts alone in a state of services alone, or the other way round.
			if !strings.Contains(l.problems[0].Text, "is only for them") {
				t.Fatal(l.problems)
			}
			return
		}
		for _, o := range c.Set.Objects {
			o.Notify = nil
		}
		l.notifications()
		heard := map[string]bool{}
		for id, o := range all {
			for _, state := range []string{"", "WARNING", "CRITICAL", "UNKNOWN", "DOWN", "UNREACHABLE"} {
				for _, at := range []object.Time{wednesdayNoon, midnight} {
					heard[compare(t, c, policies, id, o, state, at, at == wednesdayNoon)] = true
					compared++
				}
			}
		}
		// The two times are all that the only period tells apart.
		for _, p := range l.policies {
			warned := slices.ContainsFunc(c.Warnings, func(w Problem) bool { return w.Path == p.at.String() && strings.Contains(w.Text, "its say") })
			if p.matched > 0 && warned == heard[p.Name] {
				t.Fatalf("policy %s has its say: %t; of it is said\n%s", p.Name, heard[p.Name], c.Warnings.Lines())
			}
		}
		c.Warnings = nil
	})
	t.Logf("%d decisions", compared)
}

// compare returns the name of the policy that has its say.
func compare(t *rapid.T, c *Config, policies []drawn, id string, o thing, state string, at object.Time, working bool) (has string) {
	kind := object.Service
	if o.host {
		kind = object.Host
	}
	code := object.OK
	if state != "" {
		var err error
		if code, err = object.ParseState(kind, state); err != nil {
			return "" // of the other kind
		}
	}
	want := ""
	for _, p := range policies {
		if want == "" && p.speaks(id, o, state, working) {
			want = p.name
		}
	}
	got := ""
	if n := c.Set.Get(object.ID(id)).Notify; n != nil {
		if n = n.For(code, at); n != nil {
			got = n.Name
		}
	}
	if got != want {
		t.Fatalf("of %s in %q at %v policy %q has its say, want %q", id, state, at.Std(), got, want)
	}
	return got
}
