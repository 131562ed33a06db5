package engine

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// chore is work over many objects that is done piece by piece between the loop's
// turns, so that checks start in time meanwhile. Nothing of it is kept: a start
// finds out from the folded state what is left to do.
type chore interface {
	// name tells chores apart; a second one with a name is not begun.
	name() string
	// step does one piece and tells whether that was the last.
	step(e *Engine, now object.Time) (done bool)
}

// The size of a piece, of a turn, and of what may be under way meanwhile.
const (
	pieceDecisions = 32  // decisions of one piece
	pieceLooks     = 256 // objects that one piece looks at
	choresPerTurn  = 8   // pieces
	ordersPerTurn  = 128
	duePerTurn     = 256
	turnTime       = 2 * time.Millisecond // of each of these, after which the turn ends in any case
	maxUnderWay    = 1024                 // decisions that wait for the log, above which all but results wait
)

// chores is the line of what is to be done in pieces.
type chores struct {
	line  []*begun
	named map[string]*begun
}

// begun is a place in the line.
type begun struct{ chore }

func (l *chores) put(b *begun) { l.line = append(l.line, b) }

// take returns the first of the line.
func (l *chores) take() *begun {
	b := l.line[0]
	l.line[0], l.line = nil, l.line[1:]
	return b
}

// addChore puts a chore in line. One of the same name that has begun already may
// have passed what the new one is about, so it starts again.
func (e *Engine) addChore(c chore) {
	l, name := &e.state.chores, c.name()
	if b := l.named[name]; b != nil {
		b.chore = c
		return
	}
	b := &begun{c}
	if name != "" {
		if l.named == nil {
			l.named = map[string]*begun{}
		}
		l.named[name] = b
	}
	l.put(b)
}

// doChores does a piece of the first few chores, in turns.
func (e *Engine) doChores(now object.Time) {
	s := &e.state
	if !s.live || s.stopped {
		return
	}
	began := time.Now()
	for range min(choresPerTurn, len(s.chores.line)) {
		if len(s.pending) >= maxUnderWay || time.Since(began) > turnTime {
			return
		}
		b := s.chores.take()
		c := b.chore
		switch done := c.step(e, now); {
		case !done || b.chore != c: // a step may have put another in its place
			s.chores.put(b)
		default:
			delete(s.chores.named, c.name())
		}
	}
}

// busy tells whether the loop has work that waits for nothing but its next turn.
func (e *Engine) busy() bool {
	s := &e.state
	if s.moreDue {
		return true
	}
	return len(s.pending) < maxUnderWay && (len(s.orders) > 0 || s.live && !s.stopped && len(s.chores.line) > 0)
}

// replan asks again what is due for some objects.
type replan struct{ ids []object.ID }

func (*replan) name() string { return "" }

func (r *replan) step(e *Engine, now object.Time) bool {
	n := min(len(r.ids), pieceLooks)
	for _, id := range r.ids[:n] {
		if key, ok := e.state.keys[id]; ok {
			e.plan(key, now)
		}
	}
	r.ids = r.ids[n:]
	return len(r.ids) == 0
}
