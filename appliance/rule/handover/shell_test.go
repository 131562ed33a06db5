package handover

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
)

// follow keeps what became of the Write of an object and does what is next, as the
// engine does.
func (m *model) follow(w *world, e, o uint8, write Write, next Next) {
	out := &w.engine[e].held[o].write
	out.keep(write)
	switch next.Do {
	case Ask:
		out.phase = asking
	case Repeat:
		out.phase = repeating
	case Wait:
		if out.phase == asking && write.asked {
			out.phase = waiting
		}
	case Decide:
		m.again(w, e, o, uint8(next.Base), write.Discarded == 0)
	case Done:
		m.end(w, e, o)
	}
}

// again decides the job of an object anew. Under the same id, what is under way of it
// stays the job's own.
func (m *model) again(w *world, e, o, base uint8, sameID bool) {
	if !sameID {
		m.disown(w, e, o)
	}
	w.engine[e].held[o].write = outstanding{}
	for i := range w.nlog {
		if x := &w.log[i]; x.own && x.writer == e && x.object == o {
			x.former = m.newIDs
		}
	}
	w.rewrite(func(x *entry) bool {
		if x.own && x.writer == e && x.object == o {
			x.awaited, x.former = false, m.newIDs
		}
		return true
	})
	if !w.room(m.events) || !m.write(w, e, o, base) {
		m.disown(w, e, o) // the job is dropped
	}
}

// end lets go of the outstanding write of an object.
func (m *model) end(w *world, e, o uint8) {
	w.engine[e].held[o].write = outstanding{}
	m.disown(w, e, o)
}

// acknowledge tells the writer of a message the position that it got, if it waits.
func (m *model) acknowledge(w *world, x entry, at uint8) {
	if !x.awaited {
		return
	}
	h := &w.engine[x.writer].held[x.object]
	if !m.forgets {
		st := m.state(h)
		h.write.phase = waiting
		write, next := h.write.value().Acked(uint64(at), &st)
		m.follow(w, x.writer, x.object, write, next)
		return
	}
	if !m.memory || m.skip == skipPosition {
		h.acked = at
	}
	if m.memory && (!m.refence || x.epoch >= h.fence) {
		m.replace(h, &x, at)
	}
}

// replace lets an event take effect at an engine that keeps its own writes in memory. An
// event that carries the complete state makes those before it forgotten.
func (m *model) replace(h *held, x *entry, at uint8) {
	if !m.every {
		h.past = 0
	}
	h.folded(at)
	h.fence = max(h.fence, x.epoch)
}

// refused tells the writer of a message that the object's last position is another.
func (m *model) refused(w *world, x entry) {
	if x.awaited && !m.forgets {
		write, next := w.engine[x.writer].held[x.object].write.value().Refused()
		m.follow(w, x.writer, x.object, write, next)
	}
}

// wait is what happens to a write that was refused or whose outcome is unknown.
func (m *model) wait(w *world, a act) bool {
	h := &w.engine[a.e].held[a.x]
	switch {
	case a.kind == answer && h.write.phase == asking:
		at, st := uint64(w.lastOf(a.x)), m.state(h)
		write, next := h.write.value().Last(at, at, &st)
		m.follow(w, a.e, a.x, write, next)
	case a.kind == repeat && h.write.phase == repeating && w.room(m.events):
		o := &h.write
		o.phase = flying
		w.send(entry{
			object: a.x, writer: a.e, epoch: o.epoch, prev: o.prev, body: o.body, own: true, expect: o.expect, awaited: true,
		})
	default:
		return false
	}
	return true
}

// tail folds one event at an engine and tells the object's write of it.
func (m *model) tail(w *world, e, at uint8) {
	g, x := &w.engine[e], w.log[at-1]
	h := &g.held[x.object]
	if m.memory {
		m.remember(w, e, at)
	}
	outcome := fold.Repeated
	if !m.memory && !(m.skipsOwn && x.writer == e) {
		outcome = m.fold(h, &x, at)
	}
	if h.write.phase == free {
		return
	}
	st := m.state(h)
	ev := event.Event{Stream: event.Log, Seq: uint64(at)}
	write, next := h.write.value().Seen(x.own && !x.former && x.writer == e, &ev, outcome, &st)
	m.follow(w, e, x.object, write, next)
}

// replay folds an event at the start of an engine, where nothing is skipped.
func (m *model) replay(h *held, x *entry, at uint8) {
	if m.memory {
		m.take(h, x, at)
		return
	}
	m.fold(h, x, at)
}

// take is the fold of engines that keep their own writes in memory: a fence for each
// object, or none.
func (m *model) take(h *held, x *entry, at uint8) fold.Outcome {
	h.sub = at
	if !m.noFence && !m.viewed && x.epoch < h.fence {
		return fold.Stale
	}
	m.replace(h, x, at)
	return fold.Accepted
}

// remember folds an event that such an engine does not take for its own.
func (m *model) remember(w *world, e, at uint8) {
	g, x := &w.engine[e], &w.log[at-1]
	h := &g.held[x.object]
	mine := false
	switch m.skip {
	case skipOwned:
		v := m.membership(w.view(e))
		mine = g.view != 0 && v.Owner(string(m.ids[x.object])) == memberID(e)
	case skipWriter:
		mine = x.writer == e
	case skipInstance:
		mine = x.own && x.writer == e
	case skipPosition:
		mine = at <= h.acked
	}
	switch {
	case mine:
		h.sub = at
	case m.viewed && x.epoch < w.view(e).epoch:
		h.sub = at
	default:
		m.take(h, x, at)
	}
}
