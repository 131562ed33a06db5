package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
)

// side is one side of a dependency: how it is written, and which hosts of the
// fleet below it means.
type side struct {
	text     string
	means    func(i int) bool
	services []string
	sameHost bool
}

// The fleet: host i has the role web if i is even, else db, and is in group g0,
// g1 or g2. Every host has the services s0 and s1, those of the role web s2 too.
const fleetSize = 6

func fleetText() string {
	var b strings.Builder
	for i := range fleetSize {
		fmt.Fprintf(&b, "hosts: h%d: {labels: role: %q, groups: [\"g%d\"]}\n", i, roleOf(i), i%3)
	}
	b.WriteString("services: {s0: {on: {}, check: dummy: {}}, s1: {on: {}, check: dummy: {}}, s2: {on: role: \"web\", check: dummy: {}}}\n")
	return b.String()
}

func roleOf(i int) string { return []string{"web", "db"}[i%2] }

func hasFleetService(i int, service string) bool { return service != "s2" || roleOf(i) == "web" }

// drawSide makes a side about hosts or about services, with selectors that all
// have to hold.
func drawSide(services, mayBeSame bool) *rapid.Generator[side] {
	return rapid.Custom(func(t *rapid.T) side {
		s := side{means: func(int) bool { return true }}
		var parts []string
		and := func(text string, holds func(i int) bool) {
			parts = append(parts, text)
			before := s.means
			s.means = func(i int) bool { return before(i) && holds(i) }
		}
		if rapid.Bool().Draw(t, "by role") {
			role := rapid.SampledFrom([]string{"web", "db"}).Draw(t, "role")
			and(fmt.Sprintf("match: role: %q", role), func(i int) bool { return roleOf(i) == role })
		}
		if rapid.Bool().Draw(t, "by group") {
			g := rapid.IntRange(0, 2).Draw(t, "group")
			and(fmt.Sprintf("groups: [\"g%d\"]", g), func(i int) bool { return i%3 == g })
		}
		if rapid.Bool().Draw(t, "by name") {
			n := rapid.IntRange(0, fleetSize-1).Draw(t, "host")
			and(fmt.Sprintf("hosts: [\"h%d\", \"h0\"]", n), func(i int) bool { return i == n || i == 0 })
		}
		if len(parts) == 0 && (!mayBeSame || !services) {
			and("match: {}", func(int) bool { return true })
		}
		s.sameHost = len(parts) == 0
		if rapid.Bool().Draw(t, "but one") && !s.sameHost {
			n := rapid.IntRange(0, fleetSize-1).Draw(t, "except")
			and(fmt.Sprintf("except: [\"h%d\"]", n), func(i int) bool { return i != n })
		}
		if services {
			s.services = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"s0", "s1", "s2"}), 1, 2, rapid.ID[string]).Draw(t, "services")
			parts = append(parts, `services: ["`+strings.Join(s.services, `", "`)+`"]`)
		}
		s.text = "{" + strings.Join(parts, ", ") + "}"
		return s
	})
}

// objects lists what a side means.
func (s side) objects() []string {
	var out []string
	for i := range fleetSize {
		if !s.means(i) {
			continue
		}
		host := fmt.Sprintf("h%d", i)
		if len(s.services) == 0 {
			out = append(out, host)
		}
		for _, service := range s.services {
			if hasFleetService(i, service) {
				out = append(out, host+"!"+service)
			}
		}
	}
	return out
}

// Whatever is chosen on both sides, each of the one depends on each of the other,
// and on nothing else.
func TestDependenciesPairWhatIsChosen(t *testing.T) {
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		ofServices, onServices := rapid.Bool().Draw(t, "of services"), rapid.Bool().Draw(t, "on services")
		of, on := drawSide(ofServices, true).Draw(t, "of"), drawSide(onServices, true).Draw(t, "on")
		state := map[bool]string{true: "CRITICAL", false: "DOWN"}[onServices]
		text := fleetText() + fmt.Sprintf("dependencies: d: {of: %s, on: %s, when: execution: [%q]}\n", of.text, on.text, state)
		want := map[string][]string{}
		for _, o := range of.objects() {
			for _, m := range on.objects() {
				if o != m && (!on.sameHost || object.ID(o).Host() == object.ID(m).Host()) {
					want[o] = append(want[o], m)
				}
			}
		}
		c, problems := tryLoad(outer, text)
		if len(problems) > 0 {
			// What depends on each other is the one thing that can be wrong here.
			if len(cycles(sortedKeys(want), func(id string) []string { return want[id] })) == 0 {
				t.Fatalf("%s\n%s", text, problems)
			}
			return
		}
		for _, o := range c.Set.Objects {
			masters := want[string(o.ID)]
			slices.Sort(masters)
			if got := depends(o); got != strings.Join(masters, " ") {
				t.Fatalf("%s\n%s depends on %q, want %v", text, o.ID, got, masters)
			}
		}
	})
}

func TestDependenciesAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, text, path, want string }{
		{"a text for objects", `{of: "a", on: ["b"], when: execution: ["DOWN"]}`, "dependencies.d.of", "is not a set of fields"},
		{"no states at all", `{of: ["a"], on: ["b"]}`, "dependencies.d.when", `write when: {execution: ["DOWN"]}`},
		{"states that are no list", `{of: ["a"], on: ["b"], when: execution: "DOWN"}`, "dependencies.d.when.execution", `write execution: ["DOWN"]`},
		{"a state of a host for a service", `{of: ["a!s"], on: ["b!s"], when: execution: ["DOWN"]}`, "dependencies.d.when.execution[0]", "is no state of a service"},
		{"a state of a service for a host", `{of: ["a"], on: ["b"], when: notification: ["CRITICAL"]}`, "dependencies.d.when.notification[0]", "is no state of a host"},
		{"an unknown word", `{of: ["a"], on: ["b"], when: {execution: ["DOWN"], exec: []}}`, "dependencies.d.when.exec", "no such field"},
		{"an unknown object", `{of: ["a"], on: ["bb"], when: execution: ["DOWN"]}`, "dependencies.d.on[0]", `did you mean "b"?`},
		{"an unknown host of services", `{of: {hosts: ["aa"], services: ["s"]}, on: ["b"], when: execution: ["DOWN"]}`, "dependencies.d.of.hosts[0]", `did you mean "a"?`},
		{"an empty group", `{of: ["a"], on: ["b"], when: execution: ["DOWN"], group: ""}`, "dependencies.d.group", "empty"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := tryLoad(t, "hosts: {a: {}, b: {}}\nservices: s: {on: {}, check: dummy: {}}\ndependencies: d: "+tt.text)
			for _, p := range problems {
				if p.Path == tt.path && strings.Contains(p.Text, tt.want) && p.Line == 4 {
					return
				}
			}
			t.Errorf("got\n%s\nwant %s: %s", problems, tt.path, tt.want)
		})
	}
}

// Two dependencies of one object stand beside each other, with their own terms.
func TestDependenciesAddUp(t *testing.T) {
	c := load(t, `
hosts: {a: {}, b: {}, c: {}}
dependencies: second: {of: ["a"], on: ["b"], when: notification: ["DOWN"], group: "way"}
dependencies: first: {of: ["a"], on: ["c", "b"], when: execution: ["DOWN", "Unreachable", "pending"]}
`)
	a := get(t, c, "a")
	if got := depends(a); got != "b b c" {
		t.Fatalf("depends on %q", got)
	}
	if a.Depends[0].Execution != 1<<object.Down|1<<object.Unreachable || !a.Depends[0].ExecutionPending || a.Depends[1].Group != "way" {
		t.Errorf("got %+v and %+v", *a.Depends[0], *a.Depends[1])
	}
}
