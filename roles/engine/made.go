package engine

import (
	"context"
	"time"

	"jaque.sh/jaque/appliance/core/event"
)

// made is what a new rule makes for the objects of the moment. The loop counts, and
// whoever asked for the rule waits. A nil one counts nothing.
type made struct {
	open  int  // decisions that are under way
	all   bool // there will be no more
	ready bool // done is closed
	done  chan struct{}
}

func newMade() *made { return &made{done: make(chan struct{})} }

// less takes note that one decision is in, or will never be.
func (m *made) less() {
	if m == nil {
		return
	}
	m.open--
	m.look()
}

// end takes note that there are no more than those under way.
func (m *made) end() {
	if m == nil {
		return
	}
	m.all = true
	m.look()
}

func (m *made) look() {
	if m.all && m.open <= 0 && !m.ready {
		m.ready = true
		close(m.done)
	}
}

// making lets the chore of a rule that was just read back tell when it is through.
func (e *Engine) making(ev *event.Event, o *order) {
	if o.made == nil {
		return
	}
	if r := ev.Program.Rule; r != nil {
		if b := e.state.chores.named[(&reconcile{id: r.ID}).name()]; b != nil {
			c := b.chore.(*reconcile)
			c.made = append(c.made, o.made)
			return
		}
	}
	o.made.end()
}

// part is the order of one decision of a chore that somebody waits for, nil if
// nobody does.
func (e *Engine) part(r *reconcile) *order {
	if len(r.made) == 0 {
		return nil
	}
	last := r.made[len(r.made)-1]
	last.open++
	return &order{id: e.newID(), of: last}
}

// all tells those who wait that everything is under way.
func (r *reconcile) all() {
	for _, m := range r.made {
		m.end()
	}
	r.made = nil
}

// madePatience bounds how long Do waits for what new rules make.
const madePatience = 5 * time.Second

// awaitMade waits for what the rules of a batch make.
func (e *Engine) awaitMade(ctx context.Context, b *batch) {
	if len(b.made) == 0 {
		return
	}
	limit := time.NewTimer(madePatience)
	defer limit.Stop()
	for _, m := range b.made {
		select {
		case <-m.done:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		case <-e.ended:
			return
		}
	}
}
