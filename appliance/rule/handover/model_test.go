package handover

import (
	"fmt"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// rules says which protocol the engines of a model follow. The zero value is what the
// product does; each field takes something away, or replaces it with what engines did
// before.
type rules struct {
	noFence  bool // rule 1: an event behind a newer epoch is folded all the same
	noGuard  bool // rule 3: an engine writes although it is behind
	noCAS    bool // the log takes every append
	noPrev   bool // the fold does not compare the base
	noRaise  bool // a refused event does not raise the fence
	blind    bool // an append expects the last position, whether or not that was read
	newIDs   bool // a job that is decided again has another id
	skipsOwn bool // an engine takes the events with its id for folded

	noFloor   bool // a registration does not look at the epochs on the log
	noLineage bool // a record that is made anew may give an epoch again
	noRepair  bool // an engine behind the log never raises the epoch
	noBump    bool // a registration under the same ids publishes no view

	forgets  bool  // an append that was refused or timed out is forgotten, as without Write
	atomic   bool  // decision, append and acknowledgement are one step
	noGhosts bool  // no append outlives its time-out or its writer
	memory   bool  // own writes take effect when they are acknowledged
	skip     skip  // memory: which events of the log are not folded
	viewed   bool  // memory: stale is what is older than the engine's view
	refence  bool  // memory: an own event passes the fence when it is acknowledged
	split    bool  // an engine learns a view's epoch and its members one after the other
	resets   uint8 // how often the store loses what it holds
	removals uint8 // how often retention removes all events of an object
}

// skip is which events an engine takes for its own.
type skip uint8

const (
	skipOwned    skip = iota // those of objects it owns
	skipWriter               // those with its id
	skipInstance             // those of this run of the process
	skipPosition             // those up to the position that was acknowledged
)

// model is a world's laws: rules, bounds and the product's functions.
type model struct {
	rules
	engines, objects int
	events, views    int       // bounds: events on the log or in flight, views ever published
	check            invariant // what must hold
	against          rules     // the fold that replicas are compared with
	accepted         bool      // one writer and rising epochs are asked of accepted events only
	every            bool      // memory: the state is what every folded event makes, not the last

	ids     [mostObjects]object.ID
	settled [1 << mostEngines][]membership.Member // by the bits of their indexes

	bodies  []body
	number  map[body]uint16
	status  []uint16 // the first body with the same status
	applied map[applyKey]applyValue
	decided map[decideKey]decideValue
	env     fold.Env
	broken  invariant // what the last step itself has broken
	next    world     // after a step that is tried
	calm    world     // when all has happened that must
}

// body is the state of an object as an event carries it.
type body struct {
	status  event.Status
	measure event.Measure
}

type applyKey struct {
	body, event      uint16
	last, sub, fence uint8
	epoch, prev, at  uint8
}

type applyValue struct {
	body    uint16
	fence   uint8
	sub     uint8
	outcome fold.Outcome
}

type decideKey struct {
	body                          uint16
	last, sub, fence, epoch, from uint8
}

type decideValue struct {
	prev uint8
	body uint16
}

// memberID is the id of an engine.
func memberID(e uint8) string { return string('a' + rune(e)) }

// named finds an object's id for which the first of the engines that are members in the
// given order is the owner, whoever else is.
func named(order string) object.ID {
	for n := 0; ; n++ {
		id := fmt.Sprint("o", n)
		best, ok := uint64(0), true
		for i := len(order) - 1; i >= 0; i-- {
			w := membership.Weight(order[i:i+1], id)
			ok, best = ok && w > best, w
		}
		if ok {
			return object.ID(id)
		}
	}
}

func newModel(r rules) *model {
	m := &model{
		rules: r, check: whole,
		bodies: []body{{}}, status: []uint16{0}, number: map[body]uint16{{}: 0}, applied: map[applyKey]applyValue{}, decided: map[decideKey]decideValue{},
		ids: [mostObjects]object.ID{named("cba"), named("abc")},
	}
	for mask := range m.settled {
		for e := range uint8(mostEngines) {
			if mask>>e&1 != 0 {
				m.settled[mask] = append(m.settled[mask], membership.Member{ID: memberID(e), Instance: "1"})
			}
		}
	}
	settings := object.DefaultSettings()
	rule := &object.Rule{Interval: time.Minute, Retry: time.Minute, Attempts: 3, Active: true, Check: object.Check{Kind: object.CheckDummy}}
	host := &object.Object{ID: "h", Name: "h", Rule: rule}
	up := fold.New(host)
	m.env = fold.Env{
		Object: &object.Object{ID: "h!s", Name: "s", Host: host, Rule: rule}, Settings: &settings, Host: &up,
		Instance: "1", ID: "d", Started: 1e12,
	}
	return m
}

// first is the world in which A is the only member and runs.
func (m *model) first() world {
	w := world{nviews: 1}
	w.views[0] = record{epoch: 1, members: 1}
	w.engine[0] = engine{up: true, view: 1, with: 1}
	return w
}

func (m *model) intern(b body) uint16 {
	n, ok := m.number[b]
	if !ok {
		n = uint16(len(m.bodies))
		first := slices.IndexFunc(m.bodies, func(o body) bool { return o.status == b.status })
		if first < 0 {
			first = int(n)
		}
		m.bodies, m.status = append(m.bodies, b), append(m.status, uint16(first))
		m.number[b] = n
	}
	return n
}

// state is what the product holds of an object.
func (m *model) state(h *held) fold.State {
	b := &m.bodies[h.body]
	return fold.State{Status: b.status, Measure: b.measure, Last: uint64(h.last()), Sub: uint64(h.sub), Fence: uint64(h.fence)}
}

// membership is the record as the product has it.
func (m *model) membership(r record) membership.View {
	return membership.View{Epoch: uint64(r.epoch), Members: m.settled[r.members]}
}

func (m *model) record(v membership.View) record {
	r := record{epoch: uint8(v.Epoch)}
	for _, one := range v.Members {
		r.members |= 1 << (one.ID[0] - 'a')
	}
	return r
}

// fold lets the product fold an event, and remembers what it did: the same question is
// asked many thousand times.
func (m *model) fold(h *held, e *entry, at uint8) fold.Outcome {
	key := applyKey{
		body: h.body, event: e.body, last: h.last(), sub: h.sub, fence: h.fence, epoch: e.epoch, prev: e.prev, at: at,
	}
	v, ok := m.applied[key]
	if !ok {
		v = m.apply(h, e, at)
		m.applied[key] = v
	}
	h.body, h.fence, h.sub = v.body, v.fence, v.sub
	if v.outcome == fold.Accepted {
		h.folded(at)
	}
	return v.outcome
}

// apply is fold.Apply; what the rules take away is undone around it.
func (m *model) apply(h *held, e *entry, at uint8) applyValue {
	s, b := m.state(h), m.bodies[e.body]
	ev := event.Event{
		Stream: event.Log, Seq: uint64(at), Kind: event.CheckResult, Epoch: uint64(e.epoch), Writer: memberID(e.writer),
		Prev: uint64(e.prev), Status: &b.status, Measure: &b.measure,
	}
	if m.noFence {
		s.Fence = min(s.Fence, ev.Epoch)
	}
	if m.noPrev {
		ev.Prev = s.Last
	}
	next, outcome := fold.Apply(s, &ev)
	switch {
	case m.noRaise && outcome == fold.Conflict:
		next.Fence = uint64(h.fence)
	case m.noFence:
		next.Fence = max(next.Fence, uint64(h.fence))
	}
	return applyValue{
		body: m.intern(body{next.Status, next.Measure}), fence: uint8(next.Fence), sub: uint8(next.Sub), outcome: outcome,
	}
}

// decide lets the product judge the object's next check result.
func (m *model) decide(h *held, e, epoch uint8) decideValue {
	key := decideKey{body: h.body, last: h.last(), sub: h.sub, fence: h.fence, epoch: epoch, from: e}
	v, ok := m.decided[key]
	if ok {
		return v
	}
	s := m.state(h)
	if m.noGuard {
		s.Fence, s.Measure.Epoch = 0, 0
	}
	env := m.env
	env.Epoch, env.Writer = uint64(epoch), memberID(e)
	d, err := fold.Decide(&env, &s, fold.Result{State: nextCheck(&s.Status), Start: 1e12}, 1e12)
	if err != nil || !d.HasLog || d.Log.Epoch != uint64(epoch) || d.Log.Writer != memberID(e) {
		panic(fmt.Sprintf("a check result gives no decision: %v, %+v", err, d.Log))
	}
	v = decideValue{prev: uint8(d.Log.Prev), body: m.intern(body{*d.Log.Status, *d.Log.Measure})}
	m.decided[key] = v
	return v
}

// nextCheck is the result of the check that follows a state: an object fails until the
// problem is hard, then recovers. So each result changes the state, and the state says
// how many results were counted.
func nextCheck(st *event.Status) object.State {
	if st.State == object.Critical && st.Type == object.Hard {
		return object.OK
	}
	return object.Critical
}

// may asks the product's guard of a write.
func (m *model) may(w *world, e, o uint8) bool {
	g := &w.engine[e]
	h := &g.held[o]
	writer := Writer{ID: memberID(e), View: m.membership(w.view(e)), Replayed: g.up}
	st := m.state(h)
	if m.noGuard {
		st.Fence, st.Measure.Epoch = 0, 0
	}
	out := h.write.phase != free
	if m.forgets {
		out = g.pos < h.acked
		for i := range w.nnet {
			out = out || w.net[i].awaited && w.net[i].writer == e && w.net[i].object == o
		}
	}
	return writer.May(m.ids[o], &st, out) == Granted
}
