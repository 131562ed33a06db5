package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

func TestEventsOfACommandHaveTheIDOfItsSender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 2), newJournal(), &runner{})
		say := fold.AddComment{Author: "ann", Text: "hello"}
		for id, objects := range map[string][]object.ID{"ONE": {"h0"}, "TWO": {"h0!s0", "h0!s1"}} {
			var actions []operate.Action
			for _, o := range objects {
				actions = append(actions, operate.Action{Object: o, Command: say})
			}
			if report, err := g.e.DoAs(t.Context(), id, actions); err != nil || report.ID != id || report.Failed() > 0 {
				t.Fatalf("%s: %+v, %v", id, report, err)
			}
		}
		found := map[string]bool{}
		events, _ := g.j.History(t.Context(), journal.Query{Kinds: []event.Kind{event.CommentAdded}})
		for _, e := range events {
			found[e.ID] = true
		}
		if len(found) != 3 || !found["ONE"] || !found["TWO.0"] || !found["TWO.1"] {
			t.Errorf("the events have the ids %v, want ONE, TWO.0 and TWO.1", found)
		}
		g.end()
	})
}

func TestARejectionStandsOnTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		g.e.Reject(engine.Rejection{Author: "ann", Reason: strings.Repeat("x", 10_000), Object: "nope", Facts: map[string]string{"command": "ONE"}})
		g.e.Reject(engine.Rejection{Author: "bob"})
		synctest.Wait()
		events, err := g.j.History(t.Context(), journal.Query{Kinds: []event.Kind{event.CommandRejected}})
		if err != nil || len(events) != 2 {
			t.Fatalf("%d events (%v), want 2", len(events), err)
		}
		e := events[1]
		if e.Object != "" || e.Author != "ann" || e.Facts["object"] != "nope" || e.Facts["command"] != "ONE" || len(e.Text) > 5000 || e.Writer != "e1" {
			t.Errorf("the event is %+v", e)
		}
		g.end()
	})
}
