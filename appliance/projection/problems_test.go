package projection

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

func TestProblemsFollowTheFoldAndTheConfig(t *testing.T) {
	rule := &object.Rule{Attempts: 1}
	host := &object.Object{ID: "a", Name: "a", Rule: rule}
	service := &object.Object{ID: "a!x", Name: "x", Host: host, Rule: rule}
	p := New(object.NewSet("1", object.DefaultSettings(), []*object.Object{host, service}))
	seq := uint64(0)
	say := func(id object.ID, state object.State) {
		seq++
		s := p.State(id)
		p.Apply(&event.Event{
			Seq: seq, Kind: event.CheckResult, Object: id, Prev: s.Last,
			Status: &event.Status{Checked: true, State: state},
		})
	}
	expect := func(want ...object.ID) {
		t.Helper()
		got := p.Problems()
		if len(got) != len(want) {
			t.Fatalf("%d problems, want %v", len(got), want)
		}
		for i, item := range got {
			if item.Object.ID != want[i] {
				t.Fatalf("problem %d is %s, want %s", i, item.Object.ID, want[i])
			}
		}
	}
	expect()
	say("a!x", object.Critical)
	say("a", object.Down)
	say("gone!x", object.Critical)
	expect("a", "a!x")
	say("a!x", object.Warning)
	expect("a", "a!x")
	say("a", object.Up)
	expect("a!x")
	p.Replace(object.NewSet("2", object.DefaultSettings(), []*object.Object{{ID: "a", Name: "a", Rule: rule}}))
	expect()
}
