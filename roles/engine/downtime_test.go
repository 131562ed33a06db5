package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
)

func in(d time.Duration) object.Time { return object.At(time.Now().Add(d)) }

// plan makes a downtime of an hour that begins in a while.
func plan(wait time.Duration) fold.ScheduleDowntime {
	return fold.ScheduleDowntime{Downtime: event.Downtime{ID: "d", Start: in(wait), End: in(wait + time.Hour), Author: "maria", Text: "new disk"}}
}

func (g *rig) depth(id object.ID) int32 { return g.status(id).DowntimeDepth }

func (g *rig) wantDepth(when string, id object.ID, want int32) {
	g.t.Helper()
	if got := g.depth(id); got != want {
		g.t.Errorf("%s: %s has depth %d, want %d", when, id, got, want)
	}
}

func TestAFixedDowntimeStartsAndEndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		g.must("h0!s0", plan(time.Minute))
		g.wantDepth("before its start", "h0!s0", 0)
		time.Sleep(time.Minute - time.Millisecond)
		g.wantDepth("a millisecond before its start", "h0!s0", 0)
		time.Sleep(5 * time.Millisecond)
		g.wantDepth("after its start", "h0!s0", 1)
		time.Sleep(time.Hour - 10*time.Millisecond)
		g.wantDepth("just before its end", "h0!s0", 1)
		time.Sleep(20 * time.Millisecond)
		g.wantDepth("after its end", "h0!s0", 0)
		if x := g.status("h0!s0").Extra; x != nil {
			t.Errorf("%+v is left of it", x)
		}
		g.end()
	})
}

// A check that runs long does not hold up the start of a downtime.
func TestADowntimeStartsInTimeWhileACheckRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{takes: 50 * time.Second})
		g.must("h0!s0", plan(10*time.Second), now)
		time.Sleep(10*time.Second + 5*time.Millisecond)
		g.wantDepth("while the check runs", "h0!s0", 1)
		g.end()
	})
}

func TestAFlexibleDowntimeStartsWithTheProblemAndLastsItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		d := plan(0)
		d.Downtime.Duration = object.Time(10 * time.Minute / time.Millisecond)
		g.must("h0!s0", d)
		time.Sleep(55 * time.Minute)
		g.wantDepth("while all is well", "h0!s0", 0)
		g.must("h0", fold.Switch{What: object.SwitchPassive, On: true})
		g.must("h0!s0", fold.Switch{What: object.SwitchActive, On: false}, fold.Result{State: object.Critical, Output: "gone"})
		g.wantDepth("with the problem", "h0!s0", 1)
		time.Sleep(10*time.Minute - time.Second)
		g.wantDepth("behind its window, within its time", "h0!s0", 1)
		time.Sleep(2 * time.Second)
		g.wantDepth("when its time is over", "h0!s0", 0)
		g.end()
	})
}

func TestAChainOfTriggeredDowntimesStartsAndEndsTogether(t *testing.T) {
	chain := func(g *rig, id string) {
		d := plan(time.Minute)
		d.Downtime.ID = id + "0"
		g.must("h0", d)
		for i := 1; i < 3; i++ {
			d := plan(0)
			d.Downtime.ID, d.Downtime.Trigger = fmt.Sprint(id, i), fmt.Sprint(id, i-1)
			d.Downtime.End = in(3 * time.Hour)
			g.must(object.ID(fmt.Sprint("h", i)), d)
		}
	}
	all := func(g *rig, when string, want int32) {
		g.t.Helper()
		for _, id := range []object.ID{"h0", "h1", "h2"} {
			g.wantDepth(when, id, want)
		}
	}
	t.Run("the end of the first ends all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := start(t, site(3, 1), newJournal(), &runner{})
			chain(g, "t")
			all(g, "before", 0)
			time.Sleep(time.Minute + time.Second)
			all(g, "after the start of the first", 1)
			time.Sleep(time.Hour)
			all(g, "after the end of the first", 0)
			g.end()
		})
	})
	t.Run("cancelling the first ends all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := start(t, site(3, 1), newJournal(), &runner{})
			chain(g, "t")
			time.Sleep(time.Minute + time.Second)
			g.must("h0", fold.CancelDowntimes{ID: "t0"})
			synctest.Wait()
			all(g, "after the cancellation", 0)
			g.end()
		})
	})
	t.Run("the first leaving the config ends all", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := start(t, site(4, 0), newJournal(), &runner{})
			d := plan(time.Minute)
			g.must("h3", d)
			d.Downtime.ID, d.Downtime.Trigger = "e", "d"
			g.must("h0", d)
			time.Sleep(2 * time.Minute)
			g.wantDepth("while the first runs", "h0", 1)
			if err := g.e.Reload(t.Context(), site(3, 0), engine.Change{Removed: []object.ID{"h3"}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			g.wantDepth("without the first", "h0", 0)
			g.end()
		})
	})
	t.Run("a restart in between changes nothing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			j := newJournal()
			g := start(t, site(3, 1), j, &runner{})
			chain(g, "t")
			g.end()
			time.Sleep(2 * time.Minute)
			g = start(t, site(3, 1), j, &runner{})
			time.Sleep(time.Second)
			all(g, "after a restart behind the start", 1)
			g.end()
		})
	})
}

func TestOneDowntimeStartsHundredsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(300, 0), newJournal(), &runner{})
		g.must("h0", plan(time.Minute))
		var others []object.ID
		for _, h := range g.p.Set().Hosts[1:] {
			others = append(others, h.ID)
		}
		d := plan(0)
		d.Downtime.ID, d.Downtime.Trigger, d.Downtime.End = "", "d", in(3*time.Hour)
		g.bulk(others, d)
		time.Sleep(time.Minute + time.Second)
		if n := g.inDowntime(); n != 300 {
			t.Errorf("%d in downtime behind the start of the first, want 300", n)
		}
		g.must("h0", fold.CancelDowntimes{All: true})
		time.Sleep(time.Second)
		if n := g.inDowntime(); n != 0 {
			t.Errorf("%d in downtime when the first is cancelled", n)
		}
		g.end()
	})
}

func TestAnAcknowledgementExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{answer: critical})
		time.Sleep(3 * time.Minute)
		g.must("h0!s0", fold.Acknowledge{Kind: object.AckSticky, Author: "maria", Text: "on it", Expires: in(time.Hour)})
		time.Sleep(time.Hour - time.Second)
		if ack := g.status("h0!s0").Ack; ack != object.AckSticky {
			t.Errorf("before it expires: %v", ack)
		}
		time.Sleep(2 * time.Second)
		if ack := g.status("h0!s0").Ack; ack != object.AckNone {
			t.Errorf("after it expired: %v", ack)
		}
		events, _ := g.j.History(t.Context(), kinds(event.AckCleared))
		if len(events) != 1 {
			t.Errorf("%d events clear it, want 1", len(events))
		}
		g.end()
	})
}

func TestCommentsAndDowntimesGetNumbersOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, site(30, 1), j, &runner{})
		var all []object.ID
		for i := range 30 {
			all = append(all, object.HostID(fmt.Sprint("h", i)))
		}
		g.bulk(all, plan(time.Hour))
		g.bulk(all, fold.AddComment{Author: "maria", Text: "new", Persistent: true})
		g.end()
		g = start(t, site(30, 1), j, &runner{})
		g.bulk(all, fold.AddComment{Author: "maria", Text: "newer", Persistent: true})
		comments, downtimes := map[uint64]bool{}, map[uint64]bool{}
		for _, id := range all {
			x := g.status(id).Extra
			for _, c := range x.Comments {
				comments[c.Number] = true
			}
			comments[x.Downtimes[0].Comment], downtimes[x.Downtimes[0].Number] = true, true
		}
		if len(comments) != 90 || len(downtimes) != 30 || comments[0] || downtimes[0] {
			t.Errorf("%d numbers of comments and %d of downtimes, want 90 and 30, none 0", len(comments), len(downtimes))
		}
		if n := g.p.Numbers(); n.Comment != 90 || n.Downtime != 30 {
			t.Errorf("highest numbers %+v, want no gaps", n)
		}
		g.end()
	})
}

func TestACheckThatIsAskedForRunsAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, site(1, 1), j, &runner{})
		g.must("h0!s0", fold.Switch{What: object.SwitchActive, On: false})
		if err := g.one("h0", fold.Reschedule{At: in(time.Hour), Forced: true}); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a host without a check: %v, want ErrRefused", err)
		}
		asked := time.Now().Add(time.Hour)
		g.must("h0!s0", fold.Reschedule{At: object.At(asked), Forced: true, Author: "maria"})
		g.end()
		run := &runner{}
		g = start(t, site(1, 1), j, run)
		time.Sleep(2 * time.Hour)
		if times := run.times("h0!s0"); len(times) != 1 || times[0].Sub(asked).Abs() > 10*time.Millisecond {
			t.Errorf("it ran at %v, want once at %s", times, asked)
		}
		g.end()
	})
}
