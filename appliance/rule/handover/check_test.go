package handover

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// invariant is a set of what must hold in every state (handover protocol §5).
type invariant uint16

const (
	agree          invariant = 1 << iota // engines at the end of the log with the present view hold the same
	truth                                // an engine at the end of the log holds what a replay yields
	prefixFold                           // any replica holds the fold of what it has read, wherever that ends
	linear                               // an accepted event was decided on the accepted one before it
	oneWriter                            // of an object in an epoch
	monoEpoch                            // epochs do not fall along an object's subject
	staleDiscarded                       // nobody folds an event behind one of a newer epoch
	notBehind                            // nobody writes while the log holds a newer epoch
	once                                 // a job is done once
	allAccepted                          // where the log compares, everything on it is accepted
	neverStuck                           // where engines stay up, every object can be written again

	safety = agree | truth | prefixFold | linear | oneWriter | monoEpoch | staleDiscarded | notBehind | once
	whole  = safety | allAccepted
)

func (v invariant) String() string {
	var out []string
	for i, name := range []string{"Agree", "Truth", "PrefixFold", "Linear", "OneWriter", "MonoEpoch", "StaleDiscarded", "NotBehind", "Once", "AllAccepted", "NeverStuck"} {
		if v>>i&1 != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, ", ")
}

// violated returns what does not hold in a state.
func (m *model) violated(w *world) invariant {
	v := m.broken
	for o := range uint8(m.objects) {
		v |= m.ofLog(w, o)
		for e := range m.engines {
			v |= m.ofEngine(w, uint8(e), o)
		}
	}
	v |= m.disagreement(w)
	if m.check&neverStuck != 0 && v&m.check == 0 {
		v |= m.stuck(w)
	}
	return v & m.check
}

// reference is the fold as the protocol's text has it, written down once more: it shares
// nothing with the product's.
func (m *model) reference(w *world, o, end uint8) (r held) {
	for at := uint8(1); at <= end; at++ {
		e := &w.log[at-1]
		if e.object != o {
			continue
		}
		r.sub = at
		if e.epoch < r.fence && !m.against.noFence {
			continue
		}
		conflict := e.prev != r.last() && !m.against.noPrev
		if !conflict || !m.against.noRaise {
			r.fence = max(r.fence, e.epoch)
		}
		if !conflict {
			r.body = e.body
			r.folded(at)
		}
	}
	return r
}

// ofLog looks at what stands on the log, as one who only reads it folds that.
func (m *model) ofLog(w *world, o uint8) (v invariant) {
	var f held
	var newest, last, count uint8
	var writers [256]uint8     // of each epoch, + 1
	var own [mostEngines]uint8 // accepted events of a job that is outstanding
	for i := range w.nlog {
		e := &w.log[i]
		if e.object != o {
			continue
		}
		m.replay(&f, e, i+1)
		folded := f.last() == i+1
		if folded || !m.accepted {
			if e.epoch < newest {
				v |= monoEpoch
			}
			if was := writers[e.epoch]; was != 0 && was != e.writer+1 {
				v |= oneWriter
			}
			writers[e.epoch] = e.writer + 1
		}
		if folded {
			if e.own && !m.forgets {
				own[e.writer]++
			}
			if own[e.writer] > 1 {
				v |= once
			}
			if e.epoch < newest {
				v |= staleDiscarded
			}
			if count++; e.prev != last || !m.memory && !m.countedRight(e.body, count) {
				v |= linear
			}
			last = i + 1
		} else {
			v |= allAccepted
		}
		newest = max(newest, e.epoch)
	}
	if r := m.reference(w, o, w.nlog); !m.memory && !m.same(&f, &r) {
		v |= prefixFold
	}
	return v
}

// countedRight tells whether a body is the one after so many results: soft, soft, hard,
// recovered, and so on.
func (m *model) countedRight(n uint16, results uint8) bool {
	st := &m.bodies[n].status
	switch (results - 1) % 4 {
	case 0:
		return st.State == object.Critical && st.Type == object.Soft && st.Attempt == 1
	case 1:
		return st.State == object.Critical && st.Type == object.Soft && st.Attempt == 2
	case 2:
		return st.State == object.Critical && st.Type == object.Hard && st.Attempt == 3
	}
	return st.State == object.OK && st.Type == object.Hard && st.Attempt == 1
}

// same compares everything but the newest measurement, which no position orders.
func (m *model) same(a, b *held) bool {
	return a.past == b.past && m.status[a.body] == m.status[b.body] && a.sub == b.sub && a.fence == b.fence
}

// ofEngine compares what an engine holds with what it has read.
func (m *model) ofEngine(w *world, e, o uint8) (v invariant) {
	g := &w.engine[e]
	if !g.up {
		return 0
	}
	h := &g.held[o]
	r := m.reference(w, o, g.pos)
	if !m.memory && !m.same(h, &r) {
		v |= prefixFold
	}
	if g.pos == w.nlog && !m.alike(h, &r) {
		v |= truth
	}
	fence := uint8(0)
	for i := range g.pos {
		if x := &w.log[i]; x.object == o {
			if x.epoch < fence && h.has(i+1) {
				v |= staleDiscarded
			}
			fence = max(fence, x.epoch)
		}
	}
	return v
}

// alike compares what two hold of an object: the state of engines that have it from the
// log alone is a function of every event, else events carry the complete state.
func (m *model) alike(a, b *held) bool {
	if m.memory && !m.every {
		return a.last() == b.last()
	}
	return a.past == b.past && (m.memory || m.status[a.body] == m.status[b.body])
}

func (m *model) disagreement(w *world) invariant {
	first := -1
	for e := range m.engines {
		g := &w.engine[e]
		if !g.up || g.view != w.nviews || g.with != w.nviews || w.lost || g.pos != w.nlog {
			continue
		}
		if first < 0 {
			first = e
			continue
		}
		for o := range m.objects {
			if !m.alike(&w.engine[first].held[o], &g.held[o]) {
				return agree
			}
		}
	}
	return 0
}

// stuck lets everything happen that must happen in the end, and nothing else: what was
// cut off stays so, what was stopped too, nobody decides anything new. Where an engine is
// left that reaches the store, every object must have one that may write it.
func (m *model) stuck(w *world) invariant {
	m.calm = *w
	c := &m.calm
	// What is sent or decided again needs room, and so does every engine's registration.
	m.events, m.views = m.events+moreEvents, m.views+moreViews
	for m.must(c) {
	}
	m.events, m.views = m.events-moreEvents, m.views-moreViews
	someone, writable := false, 0
	for e := range uint8(m.engines) {
		if !c.reaches(e) {
			continue
		}
		someone = true
		for o := range uint8(m.objects) {
			if m.may(c, e, o) {
				writable++
			}
		}
	}
	if !someone || writable == m.objects {
		return 0
	}
	return neverStuck
}

// must takes one step that happens in the end, if there is one.
func (m *model) must(w *world) bool {
	for e := range uint8(m.engines) {
		g := &w.engine[e]
		switch {
		case !g.up || g.cut:
		case m.gone(w, e):
			return m.step(w, act{crash, e, 0}) && m.step(w, act{start, e, 0})
		case m.step(w, act{consume, e, 0}), m.step(w, act{register, e, 0}), g.view != 0 && (m.step(w, act{adopt, e, w.current()}) || m.step(w, act{adoptMembers, e, w.current()})), m.step(w, act{repair, e, 0}):
			return true
		}
		for o := range uint8(m.objects) {
			if m.step(w, act{answer, e, o}) || m.step(w, act{repeat, e, o}) {
				return true
			}
		}
	}
	for e := range uint8(m.engines) {
		if m.step(w, act{expire, 0, e}) {
			return true
		}
	}
	return w.nnet > 0 && m.step(w, act{land, 0, 0})
}

// gone tells whether an engine finds that it is no member any more, or that the record
// is missing: its process ends.
func (m *model) gone(w *world, e uint8) bool {
	g := &w.engine[e]
	return g.view != 0 && (w.lost || g.view == w.nviews && w.views[w.current()].members>>e&1 == 0)
}
