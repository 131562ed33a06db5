package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
)

func TestGenerationDoesNotDependOnOrder(t *testing.T) {
	a := load(t, `
hosts: a: {labels: {x: "1", y: "2"}, groups: ["g", "h"], parents: ["b", "c"]}
hosts: b: {}
hosts: c: {}
services: s: {on: {x: ["1"]}, check: dummy: {}}
`)
	b := load(t, `
services: s: {check: {dummy: {}}, on: x: "1"}
hosts: {c: {}, b: {}, a: {parents: ["c", "b"], groups: ["h", "g"], labels: {y: "2", x: "1"}}}
`)
	if a.Set.Generation != b.Set.Generation {
		t.Errorf("got %s and %s", a.Set.Generation, b.Set.Generation)
	}
}

func TestGenerationSeesEveryChange(t *testing.T) {
	const base = `
hosts: a: {}
services: s: {on: {}, check: plugin: ["x"]}
`
	seen := map[string]string{load(t, base).Set.Generation: "base"}
	for _, more := range []string{
		`hosts: b: {}`, `hosts: a: address: "192.0.2.1"`, `hosts: a: alias: "x"`, `hosts: a: labels: r: "w"`,
		`hosts: a: vars: r: "w"`, `hosts: a: groups: ["r"]`, `hosts: a: zone: "z"`, `hosts: a: check: icmp: {}`,
		`services: s: interval: "5s"`, `services: s: zone: "z"`, `services: s: labels: a: "b"`, `services: s: alias: "z"`,
		`settings: flap_detection: false`, `settings: macros: USER1: "x"`, `settings: macros: USER1: "y"`,
		`views: v: filter: "x"`, `contacts: c: email: "a@b"`, `settings: http: public_reads: true`,
	} {
		g := load(t, base+more).Set.Generation
		if other, twice := seen[g]; twice {
			t.Errorf("%s has the generation of %s", more, other)
		}
		seen[g] = more
	}
}

func TestDiff(t *testing.T) {
	const base = `
hosts: a: {parents: ["sw"]}
hosts: b: {}
hosts: sw: {}
services: s: {on: {}, check: plugin: ["x"]}
`
	old := load(t, base)
	for _, c := range []struct{ name, more, want string }{
		{"the same config changes nothing", "", ""},
		{"a new host comes with its services", `hosts: c: {}`, "+c +c!s"},
		{"an address changes the host alone", `hosts: a: address: "192.0.2.1"`, "~a"},
		{"a zone changes the services that inherit it", `hosts: a: zone: "z"`, "~a ~a!s"},
		{"a rule changes each of its services", `services: s: interval: "5s"`, "~a!s ~b!s ~sw!s"},
		{"an override changes one service", `hosts: b: services: s: attempts: 7`, "~b!s"},
		{"a label changes the host", `hosts: b: labels: x: "y"`, "~b"},
		{"an equal rule under another name is another definition", `services: t: {hosts: ["a"], check: plugin: ["x"]}`, "+a!t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			next := load(t, base+c.more)
			if got := showChange(Diff(old.Set, next.Set)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			back := Diff(next.Set, old.Set)
			if len(back.Removed) != strings.Count(c.want, "+") {
				t.Errorf("the way back removes %v", back.Removed)
			}
		})
	}
	if got := Diff(nil, old.Set); len(got.Added) != 6 || len(got.Removed) != 0 {
		t.Errorf("from nothing: %v", got)
	}
	if got := Diff(old.Set, nil); len(got.Removed) != 6 || got.Empty() {
		t.Errorf("to nothing: %v", got)
	}
}

func showChange(c Change) string {
	var out []string
	for sign, ids := range map[string][]object.ID{"+": c.Added, "-": c.Removed, "~": c.Changed} {
		for _, id := range ids {
			out = append(out, sign+string(id))
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// TestDiffEqualsComparingByName holds Diff against the obvious slow way.
func TestDiffEqualsComparingByName(t *testing.T) {
	rules := []*object.Rule{{Name: "a"}, {Name: "a"}, {Name: "b"}, {Name: "c", Labels: map[string]string{"x": "y"}}}
	draw := rapid.Custom(func(t *rapid.T) *object.Set {
		var objects []*object.Object
		names := rapid.SliceOfDistinct(rapid.StringMatching("[a-e]{1,2}"), rapid.ID[string]).Draw(t, "hosts")
		for _, name := range names {
			h := &object.Object{ID: object.HostID(name), Name: name, Rule: rules[rapid.IntRange(0, 3).Draw(t, "rule")]}
			h.Address = rapid.SampledFrom([]string{"", "192.0.2.1"}).Draw(t, "address")
			objects = append(objects, h)
			if rapid.Bool().Draw(t, "service") {
				objects = append(objects, &object.Object{
					ID: object.ServiceID(name, "s"), Name: "s", Host: h, Rule: rules[rapid.IntRange(0, 3).Draw(t, "service rule")],
				})
			}
		}
		return object.NewSet("", object.Settings{}, objects)
	})
	rapid.Check(t, func(t *rapid.T) {
		old, next := draw.Draw(t, "old"), draw.Draw(t, "new")
		want := map[string]bool{}
		for _, o := range old.Objects {
			switch n := next.Get(o.ID); {
			case n == nil:
				want["-"+string(o.ID)] = true
			case describe(n) != describe(o):
				want["~"+string(o.ID)] = true
			}
		}
		for _, n := range next.Objects {
			if old.Get(n.ID) == nil {
				want["+"+string(n.ID)] = true
			}
		}
		if got := showChange(Diff(old, next)); got != strings.Join(sortedKeys(want), " ") {
			t.Fatalf("got %q, want %v", got, sortedKeys(want))
		}
	})
}

func describe(o *object.Object) string {
	return fmt.Sprint(o.ID, o.Address, o.Rule.Name, o.Rule.Labels)
}
