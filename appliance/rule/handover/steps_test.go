package handover

import (
	"fmt"

	"jaque.sh/jaque/appliance/rule/membership"
)

// act is one step of the world; e is an engine, x an object, a view, a message or
// another engine.
type act struct {
	kind kind
	e, x uint8
}

type kind uint8

const (
	start kind = iota
	crash
	register
	expire // x is taken out because its heartbeat is gone
	cut
	heal
	adopt        // e adopts the view with index x
	adoptMembers // of that view, where they come apart
	decide       // e decides about x and appends
	land         // message x reaches the log
	deny         // message x is refused for nothing: the log has not finished with another one
	known        // message x reaches the log, which knows its id and acknowledges the first one
	timeout
	lose
	answer // e is told the last position of x
	repeat // e sends its append of x again
	consume
	repair
	reset
	remove // retention removes the events of x
	kinds  // how many there are
)

// step carries out an act, or reports that it is not possible now.
func (m *model) step(w *world, a act) bool {
	m.broken = 0
	switch a.kind {
	case start, crash, cut, heal, consume:
		return m.life(w, a)
	case register, expire, adopt, adoptMembers, repair, reset:
		return m.store(w, a)
	case decide:
		return w.room(m.events) && m.write(w, a.e, a.x, m.base(&w.engine[a.e].held[a.x]))
	case land, deny, known, timeout, lose:
		return a.x < w.nnet && m.network(w, a)
	case answer, repeat:
		return m.wait(w, a)
	case remove:
		if w.removals >= m.removals || w.lastOf(a.x) == 0 {
			return false
		}
		w.removals++
		w.removed[a.x] = w.lastOf(a.x)
		return true
	}
	return false
}

// life is what happens to one engine.
func (m *model) life(w *world, a act) bool {
	g := &w.engine[a.e]
	switch {
	case a.kind == start && !g.up:
		*g = engine{up: true}
		for g.pos < w.nlog {
			g.pos++
			e := &w.log[g.pos-1]
			m.replay(&g.held[e.object], e, g.pos)
		}
	case a.kind == crash && g.up:
		*g = engine{}
		m.disown(w, a.e, mostObjects)
	case a.kind == cut && g.up && !g.cut, a.kind == heal && g.cut:
		g.cut = !g.cut
	case a.kind == consume && g.up && g.pos < w.nlog:
		g.pos++
		m.tail(w, a.e, g.pos)
	default:
		return false
	}
	return true
}

// disown makes ghosts of what is under way for an object, or for all: nobody waits for
// it, and no decision is outstanding that it belongs to.
func (m *model) disown(w *world, e, object uint8) {
	ours := func(x *entry) bool {
		return x.writer == e && (object == mostObjects || x.object == object)
	}
	for i := range w.nlog {
		if ours(&w.log[i]) {
			w.log[i].own, w.log[i].former = false, false
		}
	}
	w.rewrite(func(x *entry) bool {
		if ours(x) {
			if m.noGhosts && x.awaited {
				return false
			}
			x.own, x.awaited, x.former = false, false, false
		}
		return true
	})
}

// reaches tells whether an engine reaches the store. Its heartbeat is there from its
// registration on; engines without Write have one before, as the specification has it.
func (w *world) reaches(e uint8) bool { return w.engine[e].up && !w.engine[e].cut }

func (m *model) alive(w *world, e uint8) bool {
	return w.reaches(e) && (m.forgets || w.engine[e].view != 0)
}

// store is what happens to the view record.
func (m *model) store(w *world, a act) bool {
	now := w.views[w.current()]
	g := &w.engine[a.e]
	switch a.kind {
	case register:
		// An engine that is no member any more ends; without Write it joins again.
		return w.reaches(a.e) && (g.view == 0 || m.forgets && now.members>>a.e&1 == 0) && m.join(w, a.e)
	case expire:
		if w.lost || now.members>>a.x&1 == 0 || m.alive(w, a.x) || !m.peer(w) || int(w.nviews) >= m.views {
			return false
		}
		m.publish(w, m.membership(now).Leave(memberID(a.x)))
	case adopt:
		if g.view == 0 || g.cut || a.x < g.view || a.x >= w.nviews {
			return false
		}
		if g.view = a.x + 1; !m.split {
			g.with = g.view
		}
	case adoptMembers:
		if !m.split || g.view == 0 || g.cut || a.x < g.with || a.x >= w.nviews {
			return false
		}
		g.with = a.x + 1
	case repair:
		return m.raise(w, a.e)
	case reset:
		if w.lost || w.resets >= m.resets {
			return false
		}
		w.lost = true
		w.resets++
	}
	return true
}

// peer tells whether somebody registered could expire another. It may have been expired
// itself and not know.
func (m *model) peer(w *world) bool {
	for e := range uint8(m.engines) {
		if w.reaches(e) && w.engine[e].view != 0 {
			return true
		}
	}
	return false
}

func (m *model) publish(w *world, v membership.View) {
	w.views[w.nviews] = m.record(v)
	w.nviews++
	w.lost = false
}

// newest is the newest epoch that an engine has seen on the log.
func (g *engine) newest() (epoch uint8) {
	for o := range g.held {
		epoch = max(epoch, g.held[o].fence)
	}
	return epoch
}

func (m *model) join(w *world, e uint8) bool {
	me := membership.Member{ID: memberID(e), Instance: "1"}
	seen := uint64(w.engine[e].newest())
	if m.noFloor {
		seen = 0
	}
	now := w.views[w.current()]
	switch {
	case m.noBump && !w.lost && now.members>>e&1 != 0 && uint64(now.epoch) >= seen:
	case int(w.nviews) >= m.views:
		return false
	case w.lost:
		clock := int64(0)
		for i := range w.nviews {
			if !m.noLineage {
				clock = max(clock, int64(w.views[i].epoch)+1)
			}
		}
		m.publish(w, membership.First(me, seen, clock))
	default:
		m.publish(w, m.membership(now).Join(me, seen))
	}
	w.engine[e].adopt(w.current())
	return true
}

// raise is what an engine does that is behind the log: it takes the store's record, with
// an epoch above what it has seen.
func (m *model) raise(w *world, e uint8) bool {
	g := &w.engine[e]
	if m.noRepair || g.view == 0 || g.cut || w.lost || g.newest() <= w.view(e).epoch {
		return false
	}
	now := m.membership(w.views[w.current()])
	raised := now.Repair(uint64(g.newest()))
	if raised.Epoch != now.Epoch {
		if int(w.nviews) >= m.views {
			return false
		}
		m.publish(w, raised)
	}
	g.adopt(w.current())
	return true
}

// write decides about an object and sends the append, if the engine may.
func (m *model) write(w *world, e, o, base uint8) bool {
	if !m.may(w, e, o) {
		return false
	}
	h := &w.engine[e].held[o]
	epoch := w.view(e).epoch
	if h.fence > epoch {
		m.broken |= notBehind
	}
	d := m.decide(h, e, epoch)
	if m.blind {
		base = w.lastOf(o)
	}
	x := entry{object: o, writer: e, epoch: epoch, prev: d.prev, body: d.body, expect: base, awaited: true}
	if m.atomic {
		m.acknowledge(w, x, w.append(x))
		return true
	}
	x.own = !m.forgets || m.skip == skipInstance
	if !m.forgets {
		h.write = outstanding{phase: flying, epoch: epoch, prev: d.prev, body: d.body}
		h.write.keep(Write{}.Begin(0, uint64(base)))
	}
	w.send(x)
	return true
}

// base is what the first append of a decision expects.
func (m *model) base(h *held) uint8 {
	if m.noCAS && m.forgets {
		return 0
	}
	return max(h.sub, h.acked)
}

// network is what happens to a message in flight.
func (m *model) network(w *world, a act) bool {
	x := &w.net[a.x]
	switch a.kind {
	case land:
		x := w.take(a.x)
		switch {
		case !m.noCAS && x.expect != w.lastOf(x.object):
			m.refused(w, x)
		default:
			m.acknowledge(w, x, w.append(x))
		}
	case deny:
		if m.forgets || !x.awaited || x.expect != w.lastOf(x.object) || !w.crowded(a.x) {
			return false
		}
		m.refused(w, w.take(a.x))
	case known:
		at := w.ownOf(x)
		if m.forgets || !x.own || !x.awaited || at == 0 {
			return false
		}
		m.acknowledge(w, w.take(a.x), at)
	case timeout:
		if m.noGhosts || !x.awaited {
			return false
		}
		x := w.take(a.x)
		x.awaited = false
		w.send(x)
		if !m.forgets {
			write, next := w.engine[x.writer].held[x.object].write.value().Failed()
			m.follow(w, x.writer, x.object, write, next)
		}
	case lose:
		if x.awaited {
			return false
		}
		w.take(a.x)
	}
	return true
}

// crowded tells whether another message about the same object is on its way. A server that
// is at one refuses others meanwhile, whatever they expect.
func (w *world) crowded(i uint8) bool {
	for j := range w.nnet {
		if j != i && w.net[j].object == w.net[i].object {
			return true
		}
	}
	return false
}

// ownOf is the position of the event on the log that has the message's id.
func (w *world) ownOf(x *entry) uint8 {
	for i := range w.nlog {
		if l := &w.log[i]; l.own && !l.former && l.writer == x.writer && l.object == x.object {
			return i + 1
		}
	}
	return 0
}

func (k kind) String() string {
	return [...]string{
		"starts", "crashes", "registers", "is expired", "is cut off", "is healed", "adopts", "adopts", "decides", "lands", "is denied", "is known",
		"times out", "is lost", "is told the last position", "sends again", "consumes", "repairs the epoch", "the store is emptied", "the events are removed",
	}[k]
}

// say describes an act in the world before it.
func (m *model) say(w *world, a act) string {
	who := engineNames[a.e]
	switch a.kind {
	case adopt:
		return fmt.Sprintf("%c adopts view %d", who, w.views[a.x].epoch)
	case adoptMembers:
		return fmt.Sprintf("%c adopts the members of view %d", who, w.views[a.x].epoch)
	case decide, answer, repeat:
		return fmt.Sprintf("%c %s%s", who, a.kind, [...]string{"", " (2)"}[a.x])
	case land, deny, known, timeout, lose:
		ghost := ""
		if !w.net[a.x].awaited {
			ghost = "the ghost of "
		}
		return fmt.Sprintf("%s%s %s", ghost, &w.net[a.x], a.kind)
	case expire:
		return fmt.Sprintf("%c is expired", engineNames[a.x])
	case consume:
		return fmt.Sprintf("%c consumes %d", who, w.engine[a.e].pos+1)
	case reset, remove:
		return a.kind.String()
	}
	return fmt.Sprintf("%c %s", who, a.kind)
}
