package engine_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/roles/engine"
)

// saves counts the snapshots that an engine saves.
type saves struct {
	journal.Journal
	n atomic.Int64
}

func (s *saves) SaveSnapshot(ctx context.Context, at journal.Position, data []byte) error {
	s.n.Add(1)
	return s.Journal.SaveSnapshot(ctx, at, data)
}

// One of several engines saves the folded state, and who takes that over goes on; the
// last one saves when it stops.
func TestSnapshotsAreSavedByOneEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		count := map[string]*saves{}
		for _, id := range []string{"a", "b", "c"} {
			c.join(id, func(o *engine.Options) {
				count[id] = &saves{Journal: o.Journal}
				o.Journal, o.SnapshotEvery = count[id], time.Minute
			})
		}
		time.Sleep(time.Second)
		for _, s := range count {
			s.n.Store(0)
		}
		time.Sleep(10 * time.Minute)
		owner := c.store.View().Owner("snapshot")
		for id, s := range count {
			if n := s.n.Load(); n > 0 != (id == owner) || n > 11 {
				t.Errorf("%s saved %d snapshots, their owner is %s", id, n, owner)
			}
		}
		c.leave(owner)
		next := c.store.View().Owner("snapshot")
		time.Sleep(3 * time.Minute)
		if count[next].n.Load() == 0 {
			t.Errorf("%s took over and saved none", next)
		}
		before := count[next].n.Load()
		for id := range c.nodes {
			if id != next {
				c.leave(id)
			}
		}
		c.leave(next)
		if count[next].n.Load() <= before {
			t.Error("the last one saved none when it stopped")
		}
	})
}

// An event handler runs at the engine that wrote the event and at no other.
func TestAnEventHandlerRunsAtOneEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set {
			set := site(5, 2)
			set.ServiceHandler = &object.Handler{Name: "all", Shell: "true"}
			return set
		})
		c.answer = critical
		ran := map[string]*handlers{}
		for _, id := range []string{"a", "b", "c"} {
			c.join(id, func(o *engine.Options) {
				ran[id] = &handlers{}
				o.Handlers = ran[id]
			})
		}
		time.Sleep(3 * time.Minute)
		var all []string
		for id, h := range ran {
			if len(h.list()) == 0 {
				t.Errorf("%s ran none", id)
			}
			all = append(all, h.list()...)
		}
		slices.Sort(all)
		if n := len(all); n != 30 || len(slices.Compact(all)) != n {
			t.Errorf("%d handlers ran, want each of 30 once", n)
		}
		c.end()
	})
}

// Engines may load another config one after the other: what it adds is checked once an
// interval, what it removes is not.
func TestEnginesLoadAConfigOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := func() *object.Set { return site(8, 2) }
		c := newCluster(t, func() *object.Set { return site(6, 2) })
		c.join("a")
		c.join("b")
		time.Sleep(2 * time.Minute)
		var added []object.ID
		for _, o := range next().Objects {
			if c.set().Get(o.ID) == nil {
				added = append(added, o.ID)
			}
		}
		for _, id := range []string{"a", "b"} {
			if err := c.nodes[id].e.Reload(t.Context(), next(), engine.Change{Added: added}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
		}
		c.set = next
		time.Sleep(5 * time.Minute)
		for _, o := range c.checked() {
			times := c.times(o.ID)
			if n := len(times); n < 5 {
				t.Errorf("%s ran %d times", o.ID, n)
			}
			for i := 1; i < len(times); i++ {
				if d := times[i].at.Sub(times[i-1].at); d.Round(time.Second) != time.Minute || times[i].by != times[i-1].by {
					t.Errorf("%s ran after %s: %v", o.ID, d, times)
				}
			}
		}
		loaded := map[string]int{}
		for _, ev := range c.events("", event.ConfigLoaded) {
			loaded[fmt.Sprint(ev.Facts["engine"], ev.Facts["start"])]++
		}
		if len(loaded) != 4 {
			t.Errorf("the log tells of the generations %v", loaded)
		}
		c.agree()
		c.end()
	})
}

// S118, S119: a stale event that stands on the log is discarded and counted when it comes
// and by every engine that replays it, and moves nothing.
func TestAStaleEventIsDiscardedAndCountedInReplayToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		a := c.join("a")
		time.Sleep(2 * time.Minute)
		st := a.p.State("h0!s0")
		status := st.Status
		status.State = object.Critical
		c.j.Append(&event.Event{
			Version: 1, ID: "stale", Kind: event.CheckResult, Object: "h0!s0", Epoch: st.Fence - 1, Writer: "x", Prev: st.Last,
			Time: object.At(time.Now()), Status: &status, Measure: &st.Measure,
		}, st.Sub, func(_ uint64, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		time.Sleep(2 * time.Minute)
		b := c.join("b")
		for _, n := range []*node{a, b} {
			if got := n.count("jaque_engine_stale_epoch_total"); got != 1 || n.p.State("h0!s0").Status.State != object.OK {
				t.Errorf("%s counted %v and holds %+v", n.id, got, n.p.State("h0!s0").Status)
			}
		}
		c.agree()
		c.end()
	})
}

// T16: the log holds an epoch that the store will never reach. Whichever engine meets it
// has the epoch raised, for all, and the log tells of that.
func TestEnginesRaiseTheEpochAboveTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.answer = critical
		a, b := c.join("a"), c.join("b")
		time.Sleep(time.Second)
		ahead := c.store.View().Epoch + 57
		for _, n := range []*node{a, b} {
			id := c.owned(n.id)[0]
			status := event.Status{Checked: true, Attempt: 1, MaxAttempts: 3}
			c.j.Append(&event.Event{
				Version: 1, ID: "ahead-" + n.id, Kind: event.CheckResult, Object: id, Epoch: ahead, Writer: "x",
				Time: object.At(time.Now()), Status: &status, Measure: &event.Measure{Epoch: ahead, N: 1},
			}, 0, func(uint64, error) {})
		}
		time.Sleep(3 * time.Minute)
		if v := c.store.View(); v.Epoch <= ahead || a.e.View().Epoch != v.Epoch || b.e.View().Epoch != v.Epoch {
			t.Errorf("epochs %d, %d and %d in the store, want one above %d", a.e.View().Epoch, b.e.View().Epoch, v.Epoch, ahead)
		}
		for _, o := range c.checked() {
			if st := a.p.State(o.ID); st.Status.State != object.Critical {
				t.Errorf("%s is not written any more: %+v", o.ID, st.Status)
			}
		}
		raised := c.events("", event.EpochRaised)
		if last := raised[len(raised)-1]; last.Epoch <= ahead || last.Facts["members"] != "a,b" {
			t.Errorf("the log tells of %+v", last)
		}
		if a.count("jaque_engine_epoch_behind_total")+b.count("jaque_engine_epoch_behind_total") == 0 {
			t.Error("no wait was counted")
		}
		c.agree()
		c.end()
	})
}

// A member that says on the log that it leaves is looked after: the others do not wait
// until the membership tells of it.
func TestALeaveIsNoticedByTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		a := c.join("a")
		c.join("b")
		time.Sleep(time.Minute)
		a.hush()
		c.leave("b")
		time.Sleep(time.Second)
		if v := a.e.View(); len(v.Members) != 1 {
			t.Errorf("a still acts on %+v", v)
		}
		for _, ev := range c.events("", event.EpochRaised) {
			if ev.Facts["members"] == "a" && ev.Epoch != a.e.View().Epoch {
				t.Errorf("the log tells of %+v", ev)
			}
		}
		c.agree()
		c.end()
	})
}
