package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/roles/engine"
)

// drill has an engine step out and waits until it is over.
func (n *node) drill(hold time.Duration) engine.DrillReport {
	n.c.t.Helper()
	if err := n.e.Drill(context.Background(), hold, "root@site"); err != nil {
		n.c.t.Fatalf("drill of %s: %v", n.id, err)
	}
	return n.drilled(3 * hold)
}

func (n *node) drilled(most time.Duration) engine.DrillReport {
	n.c.t.Helper()
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if r, ok := n.e.DrillReport(); ok && r.Ended != 0 {
			return r
		}
		if time.Since(began) > most {
			n.c.t.Fatalf("the drill of %s is not over after %s", n.id, most)
		}
	}
}

// once wants every check to run in its interval, never twice and never left out, from a
// time on.
func (c *cluster) once(from time.Time, late time.Duration) {
	c.t.Helper()
	for _, o := range c.checked() {
		runs := slices.DeleteFunc(c.times(o.ID), func(r run) bool { return r.at.Before(from) })
		for i := 1; i < len(runs); i++ {
			if d := runs[i].at.Sub(runs[i-1].at); d < o.Rule.Interval-late || d > o.Rule.Interval+late {
				c.t.Errorf("%s was checked %s after the last time, by %s and %s", o.ID, d, runs[i-1].by, runs[i].by)
			}
		}
	}
}

// One of three engines is drilled. Each of its objects goes to another one and
// comes back, once; no check runs twice, none is left out, and the gap is short.
func TestADrillMovesTheObjectsThereAndBack(t *testing.T) {
	for name, takes := range map[string]time.Duration{"checks that end at once": 0, "checks that take a while": 400 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, small)
				c.takes = takes
				a := c.join("a")
				c.join("b")
				c.join("c")
				time.Sleep(3 * time.Minute)
				began := time.Now()
				owned, epoch := c.owned("a"), c.store.View().Epoch
				r := a.drill(90 * time.Second)
				if r.Error != "" || len(r.Away) < len(owned) || len(r.Away) != len(r.Return) {
					t.Fatalf("%d moved away and %d back, %d are checked: %q", len(r.Away), len(r.Return), len(owned), r.Error)
				}
				if got := c.store.View(); got.Epoch != epoch+2 || len(got.Members) != 3 {
					t.Errorf("the view is %+v after epoch %d", got, epoch)
				}
				worst := checkMoves(t, r.Away, func(by string) bool { return by == "b" || by == "c" })
				back := checkMoves(t, r.Return, func(by string) bool { return by == "a" })
				t.Logf("%d objects, out for %s; the longest gap is %s away and %s back", len(r.Away), r.Back.Sub(r.Out), worst, back)
				time.Sleep(2 * time.Minute)
				c.once(began.Add(-time.Minute), 2*time.Second)
				whyIn(t, c, "a")
				c.agree()
				c.end()
			})
		})
	}
}

// checkMoves wants the checks of one direction to have run by whom they should, and
// returns the longest gap.
func checkMoves(t *testing.T, moves []engine.Handover, by func(string) bool) (worst time.Duration) {
	t.Helper()
	for _, m := range moves {
		switch {
		case m.Missed:
			t.Errorf("%s was not checked: %+v", m.Object, m)
		case m.First == 0 || m.Due == 0:
		case !by(m.By):
			t.Errorf("%s was checked by %s", m.Object, m.By)
		default:
			worst = max(worst, m.First.Sub(m.Due))
		}
	}
	if worst > 1500*time.Millisecond {
		t.Errorf("the longest gap is %s", worst)
	}
	return worst
}

// whyIn wants the log to tell of the drill.
func whyIn(t *testing.T, c *cluster, id string) {
	t.Helper()
	var said []string
	for _, ev := range c.events("", event.EngineLeft, event.EngineJoined) {
		if ev.Facts["engine"] == id && ev.Facts["why"] == engine.WhyDrill {
			said = append(said, string(ev.Kind)+" "+ev.Facts["by"])
		}
	}
	if want := []string{"engine.left root@site", "engine.joined "}; !slices.Equal(said, want) {
		t.Errorf("the log tells %q of the drill, want %q", said, want)
	}
}

// A check has run although somebody submitted a result meanwhile, which is newer.
func TestADrillCountsChecksThatASubmittedResultOvertook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.takes = 200 * time.Millisecond
		var submits atomic.Bool
		var b *node // once submits is true
		c.answer = func(j engine.Job) fold.Result {
			if submits.Load() {
				now := object.At(time.Now())
				if err := b.do(j.Object.ID, fold.Result{Passive: true, Stamped: true, Start: now, Output: "submitted"}); err != nil {
					t.Errorf("submit for %s: %v", j.Object.ID, err)
				}
			}
			return fold.Result{Output: "fine"}
		}
		a := c.join("a")
		b = c.join("b")
		time.Sleep(3 * time.Minute)
		submits.Store(true)
		r := a.drill(90 * time.Second)
		submits.Store(false)
		if r.Error != "" || len(r.Away) == 0 || len(r.Return) == 0 {
			t.Fatalf("%d moved away, %d back: %q", len(r.Away), len(r.Return), r.Error)
		}
		checkMoves(t, r.Away, func(by string) bool { return by == "b" })
		checkMoves(t, r.Return, func(by string) bool { return by == "a" })
		c.end()
	})
}

// One drill follows another while checks run. A check that is still running when a drill
// is over was not left out.
func TestDrillsOneAfterAnotherWhileChecksRun(t *testing.T) {
	for name, takes := range map[string]time.Duration{"for a while": 800 * time.Millisecond, "for most of the drill": 3 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, small)
				c.takes = takes
				a := c.join("a")
				c.join("b")
				time.Sleep(3 * time.Minute)
				for range 6 {
					r := a.drill(engine.LeastHold)
					if r.Error != "" || len(r.Away) == 0 || len(r.Return) == 0 {
						t.Errorf("%d moved away, %d back: %q", len(r.Away), len(r.Return), r.Error)
					}
					for _, m := range r.Return {
						if m.Missed {
							t.Errorf("%s was not checked: %+v", m.Object, m)
						}
					}
					time.Sleep(1700 * time.Millisecond)
				}
				c.end()
			})
		})
	}
}

// While it is out an engine writes about no object, and commands that reach it go on to
// the owners.
func TestAnEngineThatIsOutForADrillForwardsAndWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		a := c.join("a")
		c.join("b")
		time.Sleep(2 * time.Minute)
		id := moving(t, "a", "a")
		if err := a.e.Drill(t.Context(), time.Minute, ""); err != nil {
			t.Fatal(err)
		}
		end := len(c.events(""))
		for range 3 {
			time.Sleep(time.Second)
			if err := a.do(id, fold.AddComment{Author: "m", Text: "for now"}); err != nil {
				t.Errorf("a command during the drill: %v", err)
			}
		}
		for _, ev := range c.events("")[end:] {
			if ev.Object != "" && ev.Writer == "a" && a.e.View().Owner(string(ev.Object)) != "a" {
				t.Errorf("it wrote %s about %s", ev.Kind, ev.Object)
			}
		}
		if trouble := a.e.Trouble(); len(trouble) > 0 {
			t.Errorf("it complains: %q", trouble)
		}
		a.drilled(3 * time.Minute)
		if err := a.do(id, fold.AddComment{Author: "m", Text: "back"}); err != nil {
			t.Error(err)
		}
		c.agree()
		c.end()
	})
}

// A drill is refused where nobody would take over, or while another one is under way.
func TestWhereADrillIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		a := c.join("a")
		if err := a.e.Drill(t.Context(), time.Minute, ""); !errors.Is(err, engine.ErrAlone) {
			t.Errorf("alone: %v", err)
		}
		if err := a.e.Drill(t.Context(), time.Second, ""); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("too short: %v", err)
		}
		b := c.join("b")
		c.join("c")
		time.Sleep(time.Minute)
		if err := a.e.Drill(t.Context(), time.Minute, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		for _, n := range []*node{a, b} {
			if err := n.e.Drill(t.Context(), time.Minute, ""); !errors.Is(err, engine.ErrDrill) {
				t.Errorf("%s while a is out: %v", n.id, err)
			}
		}
		a.drilled(3 * time.Minute)
		if r := b.drill(10 * time.Second); r.Error != "" {
			t.Errorf("after the drill of a: %q", r.Error)
		}
		c.end()
	})
}

// An engine comes back early when another one dies, and ends as ever when it is stopped
// while it is out.
func TestADrillEndsWithWhatHappensMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		a := c.join("a")
		c.join("b")
		c.join("c")
		time.Sleep(time.Minute)
		if err := a.e.Drill(t.Context(), 5*time.Minute, ""); err != nil {
			t.Fatal(err)
		}
		dead := c.kill("b")
		time.Sleep(ttl)
		c.bury("b")
		time.Sleep(2 * time.Second)
		if v := c.store.View(); len(v.Members) != 2 || v.Owner("x") == "" || a.e.View().Epoch != v.Epoch {
			t.Errorf("the view is %+v, that of a %+v", v, a.e.View())
		}
		if r := a.drilled(15 * time.Minute); r.Error == "" {
			t.Errorf("nothing is said of the engine that died: %+v", r)
		}
		if err := a.e.Drill(t.Context(), 5*time.Minute, ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		c.leave("a")
		if v := c.store.View(); len(v.Members) != 1 {
			t.Errorf("the view is %+v", v)
		}
		if r, _ := a.e.DrillReport(); r.Ended == 0 || !strings.Contains(r.Error, "its objects are the others' until it is back") {
			t.Errorf("the report of the engine that was stopped: %+v", r)
		}
		c.end(dead)
	})
}

// A check that ran on while its engine was out is dropped when another one has checked
// since.
func TestACheckThatOutlastsADrillIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		a := c.join("a")
		b := c.join("b")
		time.Sleep(2 * time.Minute)
		c.mu.Lock()
		c.takes = 40 * time.Second
		c.mu.Unlock()
		time.Sleep(time.Minute)
		if err := a.e.Drill(t.Context(), 10*time.Second, ""); err != nil {
			t.Fatal(err)
		}
		c.mu.Lock()
		c.takes = 0
		c.mu.Unlock()
		a.drilled(time.Minute)
		time.Sleep(5 * time.Minute)
		for _, id := range append(c.owned("a"), c.owned("b")...) {
			last := object.Time(0)
			for _, ev := range c.events(id) {
				if ev.Measure != nil && ev.Measure.LastCheck < last {
					t.Errorf("%s went back in time: %+v", id, ev)
				} else if ev.Measure != nil {
					last = ev.Measure.LastCheck
				}
			}
		}
		if a.e.View().Epoch != b.e.View().Epoch {
			t.Errorf("the views are %+v and %+v", a.e.View(), b.e.View())
		}
		c.agree()
		c.end()
	})
}

// An engine that is stopped among others does not let them wait for appends of which it
// hears nothing: what is due goes on in its place.
func TestAPoliteStopDoesNotWaitForAppendsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.join("a")
		b := c.join("b")
		c.join("c")
		time.Sleep(3 * time.Minute)
		id := moving(t, "a", "b", "b")
		b.intercept(func(ev *event.Event, _ uint64, _ journal.Done) bool { return ev.Object == id })
		go func() { _ = b.do(id, fold.AddComment{Author: "m", Text: "never heard of again"}) }()
		time.Sleep(time.Second)
		before, stopped := c.store.View().Epoch, time.Now()
		go b.stop()
		for c.store.View().Epoch == before {
			time.Sleep(10 * time.Millisecond)
		}
		if took := time.Since(stopped); took > leaveMost {
			t.Errorf("it left after %s", took)
		}
		if err := <-c.gone("b").done; err != nil {
			t.Errorf("it ended with %v", err)
		}
		time.Sleep(2 * time.Minute)
		for _, o := range c.checked() {
			runs := c.times(o.ID)
			for i := 1; i < len(runs); i++ {
				if d := runs[i].at.Sub(runs[i-1].at); runs[i].at.After(stopped) && d > o.Rule.Interval+leaveMost {
					t.Errorf("%s was checked %s after the last time", o.ID, d)
				}
			}
		}
		c.agree()
		c.end()
	})
}

// leaveMost is how long after a stop an engine whose checks have ended may be a member.
const leaveMost = 1200 * time.Millisecond

// Two of three members are removed at once: both engines step out, the third one has
// everything, and neither comes back because the other one is gone.
func TestTwoEnginesOfMembersThatAreRemovedStepAsideTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		a, b := c.join("a"), c.join("b")
		c.join("c")
		time.Sleep(time.Minute)
		for _, n := range []*node{b, a} {
			if err := n.e.StepAside(t.Context(), time.Minute, ""); err != nil {
				t.Errorf("%s steps aside: %v", n.id, err)
			}
		}
		time.Sleep(50 * time.Second)
		if v := c.store.View(); len(v.Members) != 1 || v.Owner("x") != "c" {
			t.Errorf("the view is %+v", v)
		}
		if err := a.e.StepAside(t.Context(), time.Minute, ""); err != nil {
			t.Errorf("a second removal of a: %v", err)
		}
		time.Sleep(50 * time.Second)
		if v := c.store.View(); len(v.Members) != 2 || v.Owner("x") == "a" {
			t.Errorf("b was not removed in time and is back, a was asked again: %+v", v)
		}
		for _, n := range []*node{a, b} {
			n.drilled(5 * time.Minute)
		}
		c.end()
	})
}
