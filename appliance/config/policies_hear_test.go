package config

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
)

// drawSpans draws spans in order that may touch.
func drawSpans(t *rapid.T, what string) []span {
	var all []span
	at := 0
	for range rapid.IntRange(0, 5).Draw(t, what) {
		from := at + rapid.IntRange(0, 3).Draw(t, "gap")
		at = from + rapid.IntRange(1, 4).Draw(t, "length")
		all = append(all, span{object.Time(from), object.Time(at)})
	}
	return all
}

// TestSpansAreSetsOfInstants asks for every instant what lists of spans say together.
func TestSpansAreSetsOfInstants(t *testing.T) {
	in := func(all []span, at object.Time) bool {
		return slices.ContainsFunc(all, func(s span) bool { return s.from <= at && at < s.to })
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawSpans(t, "a"), drawSpans(t, "b")
		both := join(join(nil, a), b)
		held, met := true, false
		for at := range object.Time(60) {
			if in(both, at) != (in(a, at) || in(b, at)) {
				t.Fatalf("%v and %v are %v at %d", a, b, both, at)
			}
			held = held && (!in(a, at) || in(b, at))
			met = met || in(a, at) && in(b, at)
		}
		if !holdAll(a, both) || holdAll(a, join(nil, join([]span{{-2, -1}}, b))) != held {
			t.Fatalf("%v lies in %v: %t", a, b, held)
		}
		if meet(a, b) != met {
			t.Fatalf("%v meets %v: %t", a, b, met)
		}
	})
}

func TestTooManyContactsAreRefusedAtOnce(t *testing.T) {
	n := &node{kind: kindMap}
	for range maxContacts + 1 {
		n.fields = append(n.fields, field{name: "c", node: &node{kind: kindMap}})
	}
	l := newLoader(&source{root: &node{kind: kindMap, fields: []field{{name: "contacts", node: n}}}}, "", Options{})
	l.readPeople(l.open(nil, l.src.root))
	if len(l.problems) != 1 || l.problems[0].Path != "contacts" {
		t.Errorf("got\n%s", l.problems.Lines())
	}
}
