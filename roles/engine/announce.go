package engine

import (
	"errors"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/handover"
)

// mostAnnounced bounds how many events of the system wait for the log.
const mostAnnounced = 1000

// announcer puts events of the whole system on the log, one after the other, and tries
// again until each is there: others wait for what an engine says of itself, and a log that
// chooses its leader takes nothing for a second or two.
type announcer struct {
	e *Engine

	mu    sync.Mutex // guards what follows
	queue []*event.Event
	busy  bool // the first of them is on its way, or waits for its next try
	tries int  // of the first
}

// announce appends an event of the whole system, for people and for other engines. It
// waits for nothing.
func (e *Engine) announce(kind event.Kind, topic string, facts map[string]string, also ...event.Kind) {
	e.announceFor(&event.Event{Kind: kind, Also: also, Facts: facts}, topic)
}

// announceFor is announce for an event that says more; Facts must be set.
func (e *Engine) announceFor(ev *event.Event, topic string) {
	e.fillSystem(ev, topic)
	a := &e.announces
	a.mu.Lock()
	full := len(a.queue) >= mostAnnounced
	if !full {
		a.queue = append(a.queue, ev)
	}
	idle := !a.busy && !full
	a.busy = a.busy || idle
	a.mu.Unlock()
	if full {
		e.log.Error("too many events of the system wait for the log, one is not written", "kind", string(ev.Kind), "waiting", mostAnnounced)
	}
	if idle {
		a.send()
	}
}

// send appends the first that waits.
func (a *announcer) send() {
	a.mu.Lock()
	ev := a.queue[0]
	a.mu.Unlock()
	a.e.opt.Journal.Append(ev, 0, func(_ uint64, err error) { a.sent(ev, err) })
}

// sent takes the outcome of an append.
func (a *announcer) sent(ev *event.Event, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.queue, a.tries = a.queue[1:], 0
		a.e.unsaid.Store(0)
		if a.busy = len(a.queue) > 0; a.busy {
			go a.send() // this is a goroutine of the journal
		}
	case errors.Is(err, journal.ErrClosed):
		a.queue = nil // the process ends
	default:
		if a.tries++; a.tries == 1 {
			a.e.unsaid.CompareAndSwap(0, int64(object.At(time.Now())))
			a.e.log.Warn("an event of the system could not be appended and is tried again", "kind", string(ev.Kind), "err", err)
		}
		a.e.metrics.appendErrors.Inc()
		time.AfterFunc(handover.Backoff(a.tries+1), a.send)
	}
}
