package engine_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

// A downtime rule is one of the whole: each engine makes what its own objects get, what
// another one owned is made up for, and the rule goes once when it is over.
func TestADowntimeRuleOfSeveralEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set { return fleet(10, 3) })
		for _, id := range []string{"a", "b", "c"} {
			c.join(id)
		}
		at := func(d time.Duration) object.Time { return object.At(time.Now().Add(d)) }
		put := program.PutRule{Rule: event.DowntimeRule{ID: "move", Group: "web", Author: "m", Text: "move", Start: at(time.Minute), End: at(time.Hour)}}
		dead := c.kill("c") // nobody makes those of its objects now
		if err := c.nodes["a"].program(put); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ttl)
		if n := len(c.events("", event.DowntimeScheduled)); n <= 1 || n == 41 {
			t.Errorf("%d downtimes were made by two of three engines", n)
		}
		c.bury("c")
		time.Sleep(time.Minute)
		for id, n := range c.nodes {
			if in := n.p.Counts().InDowntime; in != 40 {
				t.Errorf("for %s %d objects are in downtime, want 40", id, in)
			}
		}
		time.Sleep(2 * time.Hour)
		scheduled, ended := c.events("", event.DowntimeScheduled), c.events("", event.DowntimeEnded)
		if len(scheduled) != 41 || len(ended) != 41 {
			t.Errorf("%d downtimes were made and %d have ended, want 41 each: those of the objects and the rule", len(scheduled), len(ended))
		}
		gone := 0
		for _, ev := range c.events("") {
			if ev.Program != nil && ev.Program.RuleGone == "move" {
				gone++
			}
		}
		if gone != 1 || len(c.nodes["a"].p.Program().Rules) != 0 {
			t.Errorf("the rule was removed %d times, want once", gone)
		}
		c.agree()
		c.end(dead)
	})
}

// Two engines under one view never give one number to two things.
func TestNumbersOfSeveralEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set { return fleet(10, 3) })
		for _, id := range []string{"a", "b", "c"} {
			c.join(id)
		}
		var actions []operate.Action
		for _, o := range c.set().Objects {
			actions = append(actions,
				operate.Action{Object: o.ID, Command: fold.AddComment{Author: "m", Text: "x", Persistent: true}},
				operate.Action{Object: o.ID, Command: fold.ScheduleDowntime{Downtime: event.Downtime{Author: "m", Text: "x", Start: in(time.Hour), End: in(2 * time.Hour)}}})
		}
		for round := range 3 {
			if round == 2 {
				c.leave("b")
				time.Sleep(time.Second) // until both have the view; before that they may
			}
			r, err := c.nodes["a"].e.Do(t.Context(), actions)
			if err != nil || r.Failed() > 0 {
				t.Fatalf("round %d: %d failed, %v", round, r.Failed(), err)
			}
		}
		time.Sleep(time.Second)
		comments, downtimes := map[uint64]object.ID{}, map[uint64]object.ID{}
		once := func(m map[uint64]object.ID, n uint64, id object.ID) {
			if other, taken := m[n]; taken || n == 0 {
				t.Errorf("number %d is given to %s and %s", n, other, id)
			}
			m[n] = id
		}
		for _, o := range c.set().Objects {
			x := c.nodes["a"].p.State(o.ID).Status.Extra
			for _, w := range x.Comments {
				once(comments, w.Number, o.ID)
			}
			for _, d := range x.Downtimes {
				once(comments, d.Comment, o.ID)
				once(downtimes, d.Number, o.ID)
			}
		}
		if len(comments) != 240 || len(downtimes) != 120 {
			t.Errorf("%d numbers of comments and %d of downtimes, want 240 and 120", len(comments), len(downtimes))
		}
		c.agree()
		c.end()
	})
}

// C1: commands for the objects of others reach their owners once, in the order of each
// object, and what the owner says comes back.
func TestCommandsReachTheOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.join("b")
		a := c.join("a")
		time.Sleep(time.Second)
		id := c.owned("b")[0]
		for i := range 20 {
			go func() {
				if err := a.do(id, fold.AddComment{Author: "m", Text: fmt.Sprint(i), Persistent: true}); err != nil {
					t.Errorf("comment %d: %v", i, err)
				}
			}()
		}
		synctest.Wait()
		var actions []operate.Action
		for i := range 50 {
			actions = append(actions, operate.Action{Object: id, Command: fold.Result{State: object.State(i % 4), Output: fmt.Sprint("r", i), Start: in(0)}})
		}
		r, err := a.e.Do(t.Context(), actions)
		if err != nil || r.Failed() > 0 {
			t.Fatalf("%d results failed, %v", r.Failed(), err)
		}
		if got := c.nodes["b"].p.State(id).Measure; got.Output != "r49" || got.N != 50 {
			t.Errorf("the owner has %q as result %d, want r49 as 50", got.Output, got.N)
		}
		if n := a.count("jaque_engine_commands_forwarded_total", "sent"); n != 70 {
			t.Errorf("%v commands were forwarded, want 70", n)
		}
		if err := a.do(id, fold.RemoveComments{ID: "nope"}); !errors.Is(err, engine.ErrRefused) || !strings.Contains(err.Error(), "nope") {
			t.Errorf("what the owner refuses: %v", err)
		}
		if err := a.do(id, fold.Reschedule{Forced: true}); err != nil || len(c.times(id)) != 1 || c.times(id)[0].by != "b" {
			t.Errorf("a check now: %v, %v", err, c.times(id))
		}
		for _, ev := range c.events(id) {
			if ev.Writer != "b" {
				t.Errorf("%s wrote %s", ev.Writer, ev.Kind)
			}
		}
		c.end()
	})
}

// C2: a forwarded command never goes on to a third engine: who has it and is no owner
// drops it, counts it and says so.
func TestAForwardedCommandHasOneHop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.join("b")
		a := c.join("a")
		time.Sleep(time.Second)
		id := c.owned("b")[0]
		err := a.e.TakeForwarded(t.Context(), engine.Command{ID: "x1", Hop: 1, Action: operate.Action{
			Object: id, Command: fold.AddComment{Author: "m", Text: "x"},
		}})
		if !errors.Is(err, engine.ErrNotOwned) || a.count("jaque_engine_not_owned_total") != 1 || len(c.events(id)) != 0 {
			t.Errorf("at one that is no owner: %v", err)
		}
		if n := a.count("jaque_engine_commands_forwarded_total", "sent"); n != 0 {
			t.Errorf("it was forwarded %v times more", n)
		}
		dead := c.kill("b")
		if err := a.do(id, fold.AddComment{Author: "m", Text: "x"}); !errors.Is(err, engine.ErrNotForwarded) {
			t.Errorf("to a dead owner: %v", err)
		}
		if n := a.count("jaque_engine_commands_forwarded_total", "error"); n != 1 {
			t.Errorf("the failure was counted %v times", n)
		}
		c.bury("b")
		if err := a.do(id, fold.AddComment{Author: "m", Text: "x"}); err != nil {
			t.Errorf("when it is its own: %v", err)
		}
		c.end(dead)
	})
}

// The log says who came, who left and who died, each once, and under which view.
func TestTheLogTellsOfTheMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.join("a")
		c.join("b")
		c.join("c")
		time.Sleep(time.Minute)
		c.leave("b")
		of := c.store.View()
		time.Sleep(time.Minute)
		dead := c.kill("c")
		c.bury("c")
		time.Sleep(time.Minute)
		var told []string
		for _, ev := range c.events("", event.EngineJoined, event.EngineLeft, event.EpochRaised) {
			told = append(told, fmt.Sprint(ev.Kind, " ", ev.Writer, " ", ev.Facts["engine"], ev.Facts["members"], " ", ev.Facts["why"]))
			if raised := ev.Facts["epoch"]; raised != "" && raised != fmt.Sprint(ev.Epoch) {
				t.Errorf("epoch %s is told of under %d", raised, ev.Epoch)
			}
		}
		want := []string{
			"engine.joined a aa ", "engine.joined b ba,b ", "epoch.raised b a,b ", "engine.joined c ca,b,c ", "epoch.raised c a,b,c ",
			"engine.left b b stopped", "epoch.raised " + of.Owner("membership") + " a,c ",
			"epoch.raised a a ", "engine.left a c expired",
		}
		if !slices.Equal(told, want) {
			t.Errorf("the log tells\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
		c.end(dead)
	})
}
