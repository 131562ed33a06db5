package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

func kinds(k ...event.Kind) journal.Query { return journal.Query{Kinds: k, Limit: 10_000} }

// bulk carries out a command for many objects.
func (g *rig) bulk(ids []object.ID, c fold.Command) operate.Report {
	g.t.Helper()
	var actions []operate.Action
	for _, id := range ids {
		actions = append(actions, operate.Action{Object: id, Command: c})
	}
	report := g.do(actions...)
	if n := report.Failed(); n > 0 {
		g.t.Fatalf("%d of %d failed", n, len(ids))
	}
	return report
}

func TestTwentyThousandActionsAreDoneEachOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(1000, 19), newJournal(), &runner{})
		var ids []object.ID
		for _, o := range g.p.Set().Objects {
			ids = append(ids, o.ID)
		}
		report := g.bulk(ids, plan(time.Minute))
		if len(report.Results) != 20_000 || report.Results[7].Object != ids[7] || report.ID == "" {
			t.Errorf("%d results, want one per action in their order", len(report.Results))
		}
		if c := g.p.Counts(); c.InDowntime != 0 {
			t.Errorf("%d in downtime at once", c.InDowntime)
		}
		time.Sleep(time.Minute + 30*time.Second)
		if c := g.p.Counts(); c.InDowntime != 20_000 {
			t.Errorf("%d in downtime, want all", c.InDowntime)
		}
		g.end()
	})
}

func TestActionsOfOneObjectKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(2, 1), newJournal(), &runner{})
		var actions []operate.Action
		for i := range 300 {
			r := fold.Result{State: object.State(i % 4), Output: fmt.Sprint("r", i)}
			actions = append(actions, operate.Action{Object: "h0!s0", Command: r}, operate.Action{Object: "h1!s0", Command: r})
		}
		if report := g.do(actions...); report.Failed() > 0 {
			t.Fatalf("%d failed", report.Failed())
		}
		events, _ := g.j.History(t.Context(), journal.Query{Object: "h0!s0", Limit: 1000, Results: true})
		seen := 0
		for i := len(events) - 1; i >= 0; i-- {
			if m := events[i].Measure; m != nil && m.Output == fmt.Sprint("r", seen) {
				seen++
			}
		}
		if last := g.p.State("h0!s0").Measure; last.Output != "r299" || last.N != 300 || seen != 300 {
			t.Errorf("the last result is %q with number %d, %d in order; want r299 with 300", last.Output, last.N, seen)
		}
		g.end()
	})
}

func TestAnActionBehindOneOfTheProgramSeesItsEffect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		result := func(s string) operate.Action {
			return operate.Action{Object: "h0!s0", Command: fold.Result{Output: s}}
		}
		passive := func(on bool) operate.Action {
			return operate.Action{Program: program.Switch{What: object.ProgramPassiveServices, On: on, Author: "maria"}}
		}
		report := g.do(result("first"), passive(false), result("second"), passive(true), result("third"))
		for i, r := range report.Results {
			if refused := errors.Is(r.Err, engine.ErrRefused); refused != (i == 2) {
				t.Errorf("action %d: %v, want the one while passive results are off refused", i, r.Err)
			}
		}
		if out := g.p.State("h0!s0").Measure.Output; out != "third" {
			t.Errorf("the last output is %q", out)
		}
		if sw := g.p.Program().Switches; sw.Off != 0 || len(sw.Settings) != 0 {
			t.Errorf("switches %+v, want as configured again", sw)
		}
		g.end()
	})
}

func TestARefusalConcernsItsActionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		report := g.do(
			operate.Action{Object: "h9", Command: fold.AddComment{Author: "m", Text: "x"}},
			operate.Action{Object: "h0"},
			operate.Action{Object: "h0", Command: fold.AddComment{Author: "m", Text: "x"}},
			operate.Action{Program: program.RemoveRule{ID: "nope"}},
		)
		for i, want := range []error{engine.ErrNotFound, engine.ErrRefused, nil, engine.ErrRefused} {
			if err := report.Results[i].Err; !errors.Is(err, want) {
				t.Errorf("action %d: %v, want %v", i, err, want)
			}
		}
		if _, err := g.e.Do(t.Context(), make([]operate.Action, engine.MaxActions+1)); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("too many actions: %v, want ErrRefused", err)
		}
		g.end()
	})
}

// A caller that goes away stops waiting; what was sent is done all the same.
func TestACancelledCallerLeavesWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		held := make(chan func(), 8)
		var silent atomic.Bool
		j.append = func(e *event.Event, expect uint64, done journal.Done) bool {
			if e.Object == "" || !silent.Load() {
				return false
			}
			held <- func() { j.Journal.Append(e, expect, done) }
			return true
		}
		g := start(t, site(1, 1), j, &runner{})
		silent.Store(true)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		report, err := g.e.Do(ctx, []operate.Action{
			{Object: "h0", Command: fold.AddComment{Author: "m", Text: "one"}},
			{Program: program.Switch{What: object.ProgramNotifications}},
		})
		if err != nil || !errors.Is(report.Results[0].Err, context.Canceled) || !errors.Is(report.Results[1].Err, engine.ErrNotBegun) {
			t.Fatalf("%+v, %v; want the first cancelled, the second not begun", report, err)
		}
		silent.Store(false)
		(<-held)()
		synctest.Wait()
		if x := g.status("h0").Extra; x == nil || len(x.Comments) != 1 {
			t.Errorf("extra %+v, want the comment", x)
		}
		if _, err := g.e.Do(ctx, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("a call with an ended context: %v", err)
		}
		g.end()
	})
}

func TestProgramSwitchesWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		run := &runner{}
		g := start(t, site(5, 5), j, run)
		time.Sleep(2 * time.Minute)
		count := func() (n int) {
			for _, o := range g.p.Set().Objects {
				n += len(g.run.times(o.ID))
			}
			return n
		}
		g.must("", program.Switch{What: object.ProgramServiceChecks, On: false, Author: "maria"})
		synctest.Wait()
		before := count()
		time.Sleep(5 * time.Minute)
		if n := count(); n != before {
			t.Errorf("%d checks ran while they are off", n-before)
		}
		g.end()
		g = start(t, site(5, 5), j, run)
		time.Sleep(5 * time.Minute)
		if n := count(); n != before {
			t.Errorf("%d checks ran while they are off, after a restart", n-before)
		}
		g.must("", program.Switch{What: object.ProgramServiceChecks, On: true, Author: "maria"})
		time.Sleep(2 * time.Second)
		if n := count(); n > before+8 {
			t.Errorf("%d of 25 checks ran within 2 s, want them spread", n-before)
		}
		time.Sleep(time.Minute)
		if n := count(); n < before+25 {
			t.Errorf("%d checks ran within a minute, want all 25", n-before)
		}
		g.end()
	})
}

func TestSwitchingFlapDetectionOffEndsFlapping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := site(1, 3)
		for _, o := range set.Objects {
			o.Rule.FlapDetection = true
		}
		g := start(t, set, newJournal(), &runner{})
		for i := range 30 {
			g.must("h0!s1", fold.Result{State: object.State(i % 2 * 2), Output: "flap"}, fold.Result{State: object.Critical}, fold.Result{State: object.Critical})
		}
		if !g.status("h0!s1").Flapping {
			t.Fatal("it does not flap, the test proves nothing")
		}
		g.must("", program.Switch{What: object.ProgramFlapDetection, On: false})
		synctest.Wait()
		if g.status("h0!s1").Flapping {
			t.Error("it still flaps with flap detection off")
		}
		g.must("", program.Switch{What: object.ProgramFlapDetection, On: true})
		synctest.Wait()
		if !g.status("h0!s1").Flapping {
			t.Error("it does not flap with flap detection on again, as its history says")
		}
		g.end()
	})
}

// slow is a journal whose log answers a second late.
func slow() *faulty {
	j := &faulty{Journal: newJournal()}
	j.append = func(e *event.Event, expect uint64, done journal.Done) bool {
		if e.Object == "" {
			return false
		}
		time.AfterFunc(time.Second, func() { j.Journal.Append(e, expect, done) })
		return true
	}
	return j
}

// Thousands of downtimes that start together take the log some seconds. Checks go
// on meanwhile.
func TestAFloodOfDowntimesDoesNotMakeChecksLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(100, 29), slow(), &runner{})
		var ids []object.ID
		for _, o := range g.p.Set().Objects {
			ids = append(ids, o.ID)
		}
		g.bulk(ids, plan(time.Minute))
		time.Sleep(5 * time.Minute)
		if n := g.inDowntime(); n != 3000 {
			t.Errorf("%d in downtime, want all", n)
		}
		worst := time.Duration(0)
		for _, id := range ids {
			times := g.run.times(id)
			for i := 1; i < len(times); i++ {
				worst = max(worst, times[i].Sub(times[i-1])-time.Minute)
			}
		}
		// A check waits for the decision about its object that is under way.
		if worst > 1100*time.Millisecond {
			t.Errorf("a check was %s late, want at most the second that the log takes", worst)
		}
		g.end()
	})
}

func TestWithoutRoomACommandIsRefusedAfterAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		var silent atomic.Bool
		j.append = func(e *event.Event, _ uint64, _ journal.Done) bool { return e.Object != "" && silent.Load() }
		g := start(t, site(1, 1), j, &runner{}, func(o *engine.Options) { o.QueuedCommands = 2 })
		silent.Store(true)
		comment := operate.Action{Object: "h0", Command: fold.AddComment{Author: "m", Text: "x"}}
		begun := time.Now()
		report := g.do(comment, comment, comment, comment)
		for i, want := range []error{engine.ErrUnconfirmed, engine.ErrUnconfirmed, engine.ErrBusy, engine.ErrBusy} {
			if err := report.Results[i].Err; !errors.Is(err, want) || errors.Is(err, engine.ErrNotBegun) != (i > 1) {
				t.Errorf("action %d: %v, want %v", i, err, want)
			}
		}
		if took := time.Since(begun); took > 31*time.Second {
			t.Errorf("it took %s, want no wait for each of them", took)
		}
		g.end()
	})
}
