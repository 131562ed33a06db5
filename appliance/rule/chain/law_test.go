package chain_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/chain"
	"jaque.sh/jaque/appliance/rule/membership"
)

// world is a cluster that runs by the protocol, or nearly: engines with lagging views
// and tails, appends that land late, and a log that compares positions.
type world struct {
	t       *rapid.T
	log     []event.Event
	sub     map[object.ID]uint64 // last position of each object on the log
	view    membership.View      // the published one
	engines []*engine
	flying  []flight
	ids     int

	// What is broken in this world.
	lossy    bool // the log does not always compare
	unfenced bool // engines write although they have seen a newer epoch
	oneEpoch bool // a change of the members keeps the epoch
}

type engine struct {
	id, instance string
	view         membership.View
	pos          int
	state        map[object.ID]fold.State
}

// flight is an append on its way.
type flight struct {
	event  event.Event
	expect uint64
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, sub: map[object.ID]uint64{}, view: membership.View{Epoch: 1}}
	for _, id := range []string{"a", "b", "c"} {
		w.engines = append(w.engines, &engine{id: id, instance: id + "1", state: map[object.ID]fold.State{}})
	}
	w.change()
	return w
}

// change publishes a view of other members.
func (w *world) change() {
	members := []membership.Member{}
	for _, e := range w.engines {
		if rapid.Bool().Draw(w.t, "member") {
			members = append(members, membership.Member{ID: e.id, Instance: e.instance})
		}
	}
	if !w.oneEpoch {
		w.view.Epoch++
	}
	w.view.Members = members
}

// decide has an engine decide about an object, if its view lets it.
func (w *world) decide(e *engine, id object.ID) {
	st := e.state[id]
	if len(e.view.Members) == 0 || e.view.Owner(string(id)) != e.id || st.Fence > e.view.Epoch && !w.unfenced {
		return
	}
	w.ids++
	ev := event.Event{
		Version: event.Version, ID: fmt.Sprint(e.id, w.ids), Kind: event.CheckResult, Object: id, Epoch: e.view.Epoch,
		Writer: e.id, Instance: e.instance, Prev: st.Last, Status: &event.Status{Attempt: int32(w.ids)},
	}
	w.flying = append(w.flying, flight{ev, st.Sub})
}

// land has one append arrive at the log.
func (w *world) land() {
	if len(w.flying) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.flying)-1).Draw(w.t, "append")
	f := w.flying[i]
	w.flying = append(w.flying[:i], w.flying[i+1:]...)
	if f.expect != w.sub[f.event.Object] && !(w.lossy && rapid.Bool().Draw(w.t, "lost comparison")) {
		return
	}
	f.event.Seq = uint64(len(w.log) + 1)
	w.log = append(w.log, f.event)
	w.sub[f.event.Object] = f.event.Seq
}

func (w *world) run(steps int) {
	objects := []object.ID{"web01", "web01!http", "db01"}
	for range steps {
		e := rapid.SampledFrom(w.engines).Draw(w.t, "engine")
		switch rapid.IntRange(0, 9).Draw(w.t, "step") {
		case 0:
			w.change()
		case 1:
			e.view = w.view
		case 2, 3, 4:
			w.decide(e, rapid.SampledFrom(objects).Draw(w.t, "object"))
		case 5, 6:
			w.land()
		case 7:
			e.instance += "'"
			*e = engine{id: e.id, instance: e.instance, state: map[object.ID]fold.State{}} // started again
			w.change()                                                                     // and registered, under another epoch
		default:
			for ; e.pos < len(w.log); e.pos++ {
				ev := &w.log[e.pos]
				e.state[ev.Object], _ = fold.Apply(e.state[ev.Object], ev)
			}
		}
	}
}

// folded counts what a fresh reader does with the log.
func (w *world) folded() map[fold.Outcome]uint64 {
	n, state := map[fold.Outcome]uint64{}, map[object.ID]fold.State{}
	for i := range w.log {
		var o fold.Outcome
		state[w.log[i].Object], o = fold.Apply(state[w.log[i].Object], &w.log[i])
		n[o]++
	}
	return n
}

func (w *world) verify() chain.Report {
	var v chain.Verifier
	for i := range w.log {
		add(&v, []byte(w.log[i].Object.Token()), &w.log[i])
	}
	return v.Report()
}

// same compares the verifier's verdicts with those of the fold.
func (w *world) same(r *chain.Report) {
	n := w.folded()
	if n[fold.Accepted] != r.Accepted || n[fold.Stale] != r.Stale || n[fold.Conflict] != r.Conflicts || r.ByRule[chain.Epoch] != r.Stale {
		w.t.Fatalf("the fold says %v, the verifier %+v", n, r)
	}
}

func TestLogsOfTheProtocolAreClean(t *testing.T) {
	written := uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.run(200)
		r := w.verify()
		w.same(&r)
		if !r.Clean() || r.Conflicts > 0 || r.Accepted != uint64(len(w.log)) {
			t.Fatalf("%d events: %+v", len(w.log), r)
		}
		written += r.Accepted
	})
	if written == 0 {
		t.Error("nothing was ever written")
	}
}

// What a log that does not compare lets through is discarded by the fold: the chain
// holds, and each epoch keeps its writer.
func TestALossyComparisonLeavesTheChainWhole(t *testing.T) {
	var stale, conflicts uint64
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		w.lossy = true
		w.run(200)
		r := w.verify()
		w.same(&r)
		if r.Count() != r.Stale {
			t.Fatalf("more than stale events: %v", r.Violations)
		}
		stale, conflicts = stale+r.Stale, conflicts+r.Conflicts
	})
	if stale == 0 || conflicts == 0 {
		t.Errorf("%d stale events and %d conflicts in all runs", stale, conflicts)
	}
}

// Each rule that is broken in the world is found in some run.
func TestBrokenRulesOfTheProtocolAreFound(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(*world)
		rule chain.Rule
	}{
		{"an engine writes although it is behind", func(w *world) { w.unfenced = true }, chain.Epoch},
		{"the members change within an epoch", func(w *world) { w.oneEpoch = true }, chain.Writer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := uint64(0)
			rapid.Check(t, func(t *rapid.T) {
				w := newWorld(t)
				tt.set(w)
				w.run(500)
				r := w.verify()
				w.same(&r)
				found += r.ByRule[tt.rule]
			})
			if found == 0 {
				t.Error("it was never found")
			}
		})
	}
}

// A report does not depend on anything but the log, and taking events out of a clean
// log is always noticed.
func TestATakenEventIsNoticed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for w.run(150); len(w.log) < 3; w.run(150) { // one event between two others is taken
		}
		at := rapid.IntRange(1, len(w.log)-2).Draw(t, "taken")
		w.log = append(w.log[:at:at], w.log[at+1:]...)
		if r := w.verify(); r.ByRule[chain.Gap] != 1 || r.Missing != 1 {
			t.Fatalf("position %d was taken: %+v", at+1, r)
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	ids, names := make([]object.ID, 10000), make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("decision-%012d", i)
	}
	for i := range ids {
		ids[i] = object.ID(fmt.Sprintf("host%04d!http", i))
	}
	var v chain.Verifier
	e := event.Event{Kind: event.CheckResult, Epoch: 1, Writer: "a", Instance: "a1", Status: &event.Status{}}
	x := chain.Entry{Whole: &e}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Seq, e.Object, e.ID = uint64(i+1), ids[i%len(ids)], names[i/len(ids)%len(names)]
		if e.Prev = 0; i >= len(ids) {
			e.Prev = e.Seq - uint64(len(ids))
		}
		x.Seq = e.Seq
		x.Of(&e)
		v.Add(&x)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
