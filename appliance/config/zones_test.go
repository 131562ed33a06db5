package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

// loadZones loads a config as a process does that watches the workers, and as one
// that does not; both must agree on what it says.
func loadZones(t *testing.T, text string) (with, without *Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte("package site\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	var all [2]*Config
	for i, o := range []Options{{Zones: true}, {}} {
		c, problems := Load(path, o)
		if len(problems) > 0 {
			t.Fatalf("load with %+v:\n%s", o, problems)
		}
		all[i] = c
	}
	if all[0].Set.Generation != all[1].Set.Generation || all[0].Warnings.Lines() != all[1].Warnings.Lines() {
		t.Errorf("generations %s and %s, warnings\n%sand\n%s", all[0].Set.Generation, all[1].Set.Generation, all[0].Warnings.Lines(), all[1].Warnings.Lines())
	}
	if change := Diff(all[0].Set, all[1].WithZones()); !change.Empty() {
		t.Errorf("a process that hears of zones later has other objects: %+v", change)
	}
	return all[0], all[1]
}

func TestZonesOfWorkersAreServices(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"one for the zone that nobody names", `hosts: web01: check: icmp: {}`, "zone default"},
		{"one for each zone", `hosts: web01: {zone: "dmz", check: icmp: {}}, hosts: db01: check: icmp: {}`, "zone default, zone dmz"},
		{"the zone of a service counts, not that of its host without a check", `hosts: web01: {zone: "a"}
services: http: {on: {}, zone: "b", check: http: url: "http://web01/"}`, "zone b"},
		{"the zone that defaults name", `defaults: zone: "lab"
hosts: web01: check: icmp: {}`, "zone lab"},
		{"none for a passive service and one that is judged from others", `hosts: web01: {zone: "a"}
services: p: {on: {}, zone: "b", check: passive: {}}
services: q: {on: {}, zone: "c", check: aggregate: members: ["web01!p"]}`, ""},
		{"the canary's own", `hosts: web01: {zone: "a", check: icmp: {}}
delivery: canary: url: "https://example.com/ping"`, "canary, zone a, zone default"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, without := loadZones(t, tt.text)
			for _, set := range []*object.Set{c.Set, without.WithZones()} {
				host := set.Get("jaque")
				var got []string
				if host != nil {
					for _, s := range host.Services {
						got = append(got, s.Name)
						if s.Host != host || set.Get(s.ID) != s || IsZone(s) != strings.HasPrefix(s.Name, ZonePrefix) {
							t.Errorf("%s is %+v", s.ID, s)
						}
					}
				}
				if strings.Join(got, ", ") != tt.want {
					t.Errorf("the host jaque has %q", got)
				}
				if !slices.IsSortedFunc(set.Objects, func(a, b *object.Object) int { return strings.Compare(string(a.ID), string(b.ID)) }) {
					t.Error("the objects are not in order")
				}
			}
			for _, o := range without.Set.Objects {
				if IsZone(o) {
					t.Errorf("%s is there without being asked for", o.ID)
				}
			}
			if c.Summary() != without.Summary() {
				t.Errorf("%s, and without zones %s", c.Summary(), without.Summary())
			}
		})
	}
}

func TestAZoneIsLookedAtOften(t *testing.T) {
	c, _ := loadZones(t, `hosts: web01: {zone: "dmz", check: icmp: {}}`)
	o := get(t, c, ZoneID("dmz"))
	r := o.Rule
	if r.Interval != ZoneInterval || r.Retry != ZoneInterval || r.Attempts != 1 || !r.Active || r.Passive || r.FlapDetection {
		t.Errorf("it is checked by %+v", r)
	}
	if v, _ := o.Label(ZoneLabel); v != ZoneLabelValue || o.Zone != "dmz" || o.Alias != "workers of zone dmz" {
		t.Errorf("it is %+v with label %q", o, v)
	}
	if host := o.Host; IsZone(host) || len(host.AllLabels()) != 0 || host.Rule.Check.Dummy == nil {
		t.Errorf("its host is %+v", host)
	}
}

func TestPoliciesAreForZonesToo(t *testing.T) {
	const people = `
hosts: web01: {zone: "dmz", check: icmp: {}}
hosts: db01: check: icmp: {}
contacts: ops: email: "ops@example.com"
contacts: net: email: "net@example.com"
defaults: notification_interval: "2h"
`
	for _, tt := range []struct{ name, policy, dmz, other string }{
		{"a policy for everything", `{notify: ["ops"]}`, "ops", "ops"},
		{"a policy for zones by their label", `{match: jaque: "zone", notify: ["net"]}`, "net", "net"},
		{"a policy for one zone by its name", `{objects: ["jaque!zone dmz"], notify: ["net"]}`, "net", ""},
		{"a policy for zones before one for the rest", `{match: jaque: "zone", notify: ["net"]}, {notify: ["ops"]}`, "net", "net"},
		{"a policy for hosts", `{only: "hosts", notify: ["ops"]}`, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, without := loadZones(t, people+"policies: ["+tt.policy+"]")
			for _, set := range []*object.Set{c.Set, without.WithZones()} {
				for id, want := range map[object.ID]string{ZoneID("dmz"): tt.dmz, ZoneID("default"): tt.other, "jaque": ""} {
					got := ""
					if n := set.Get(id).Notify; n != nil {
						got = n.Contacts[0].Name
					}
					if got != want {
						t.Errorf("%s tells %q, want %q", id, got, want)
					}
				}
			}
			for _, w := range c.Warnings {
				if strings.Contains(w.Text, "for no object") || strings.Contains(w.Text, "fits no object") {
					t.Errorf("warns: %s", w)
				}
			}
			if at := get(t, c, ZoneID("dmz")).Rule.NoteInterval; at.Hours() != 2 {
				t.Errorf("told again after %s", at)
			}
		})
	}
}

func TestAHostMayNotHaveTheNameOfZones(t *testing.T) {
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte("package site\nhosts: jaque: check: icmp: {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, problems := Load(path, Options{Zones: true})
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "site.cue:2:8: hosts.jaque: the zones of workers have a host of this name; write another name") {
		t.Errorf("got %s", problems)
	}
	if c, problems := Load(path, Options{AllZonesLocal: true}); len(problems) > 0 || len(c.Warnings) > 0 {
		t.Errorf("a process that runs everything: %s, %s", problems, c.Warnings)
	}
	c, problems := Load(path, Options{})
	if len(problems) == 0 && (len(c.Warnings) != 1 ||
		!strings.Contains(c.Warnings[0].String(), "an engine that hands checks to workers refuses it: the zones of workers have a host of this name; write another name")) {
		t.Errorf("warnings: %s", c.Warnings)
	}
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if c.WithZones() != c.Set || !slices.Equal(c.Zones, []string{"default"}) {
		t.Errorf("zones %v beside a host of the name", c.Zones)
	}
}

func TestADependencyMayBeOnAZone(t *testing.T) {
	const text = `
hosts: web01: {zone: "dmz"}
services: http: {on: {}, check: http: url: "http://web01/"}
dependencies: workers: {of: services: ["http"], on: ["jaque!zone dmz"], when: notification: ["CRITICAL"]}`
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte("package site\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, watched := range []bool{true, false} {
		c, problems := Load(path, Options{Zones: watched})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if d := get(t, c, "web01!http").Depends; (len(d) == 1 && d[0].Master.ID == ZoneID("dmz")) != watched {
			t.Errorf("watched %t: depends on %+v", watched, d)
		}
	}
}

// A zone that no worker could be given is refused; a blank in its name is none of that kind.
func TestAZoneCanBeNamedToAWorker(t *testing.T) {
	for zone, want := range map[string]string{
		"dmz": "", "DMZ x": "", "Süd/2": "",
		"a,b": `the zone "a,b" contains a comma, which separates the zones of a worker, so that none can serve it`,
		" a":  "begins or ends with a blank",
	} {
		for _, at := range []string{`hosts: h: {zone: %q, check: icmp: {}}`, `defaults: zone: %q`} {
			path := filepath.Join(t.TempDir(), "site.cue")
			if err := os.WriteFile(path, fmt.Appendf([]byte("package site\n"), at, zone), 0o600); err != nil {
				t.Fatal(err)
			}
			_, problems := Load(path, Options{})
			if text := fmt.Sprint(problems); want == "" && len(problems) > 0 || !strings.Contains(text, want) {
				t.Errorf("zone %q in %s: %s, want %q", zone, at, text, want)
			}
		}
	}
}
