package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Queue connects engines with workers.
type Queue interface {
	// Dispatcher returns the engine's side. An engine id has one dispatcher.
	Dispatcher(ctx context.Context, engine string) (Dispatcher, error)
	// Source returns the side of a worker, which begins to receive items.
	Source(ctx context.Context, w Worker) (Source, error)
}

// Dispatcher is the engine's side. Its methods may be called from any goroutine.
type Dispatcher interface {
	// Do publishes an item and waits for its result. It fills in the item's ID,
	// Engine and Sent. The error is a *TooBig, an *Unanswered, ErrClosed or that
	// of ctx.
	Do(ctx context.Context, it *Item) (*Result, error)
	// Fleet knows the workers that live.
	Fleet() *Fleet
	// Waiting returns by zone what no worker is known to have begun.
	Waiting() map[string]Waiting
	// Trouble says in sentences why nobody can be reached at present.
	Trouble() []string
	// Failed is closed when results cannot arrive any more; Err then says why.
	Failed() <-chan struct{}
	Err() error
	// Close ends every Do with ErrClosed.
	Close() error
}

// Worker describes a worker to its zones.
type Worker struct {
	ID       string
	Version  string // of the program, for people
	Zones    []string
	Capacity int // items it runs at once; divided among its zones
}

// Source is the worker's side.
type Source interface {
	// Items delivers what the worker is to execute now, never more at once than
	// its capacity. The channel is closed by Close.
	Items() <-chan Delivery
	// Drain asks for nothing more and announces that the worker leaves. What
	// arrives from then on is given back.
	Drain()
	// Trouble says in sentences why no items arrive at present, zone by zone.
	Trouble() []string
	// Failed is closed when no items can arrive any more; Err then says why.
	Failed() <-chan struct{}
	Err() error
	// Close gives back every item that is not answered.
	Close() error
}

// Delivery is one item in the hands of a worker. It ends with Answer or Return;
// while neither was called the queue is told that the worker still has it.
type Delivery interface {
	Item() *Item
	// Stale tells that the item has waited here longer than it may: it is to be
	// given back.
	Stale() bool
	// Answer sends the result until the engine acknowledges it, and fills in its
	// ID and Worker. An error says that nobody wanted it in time.
	Answer(ctx context.Context, r *Result) error
	// Return gives the item back at once, for another worker.
	Return()
}

// ErrClosed is the error of what was waiting when its side of the queue closed.
var ErrClosed = errors.New("queue: closed")

// TooBig says that an item does not fit into one message.
type TooBig struct {
	Bytes, Limit int
}

// Error says what to shorten.
func (e *TooBig) Error() string {
	return fmt.Sprintf("the check is %d bytes long with its arguments and environment, the log server takes %d; shorten the command or raise max_payload there", e.Bytes, e.Limit)
}

// Unanswered says that an item was not answered while it was wanted.
type Unanswered struct {
	Zone   string
	Worker string        // who began it, "" if nobody is known to
	Live   int           // workers that serve the zone now
	Waited time.Duration // since it was sent
	Err    error         // why it could not even be sent; nil = it was
}

// Error tells a zone without workers, a lost worker and busy ones apart.
func (e *Unanswered) Error() string {
	waited := e.Waited.Round(time.Second)
	switch {
	case e.Err != nil:
		return fmt.Sprintf("the check could not be sent to the workers of zone %s for %s: %s", e.Zone, waited, e.Err)
	case e.Worker != "":
		return fmt.Sprintf("the worker was lost: %s began the check and has not answered within %s", e.Worker, waited)
	case e.Live == 0:
		return fmt.Sprintf("no worker serves zone %s; start one with -target worker -zones %s", e.Zone, e.Zone)
	}
	return fmt.Sprintf("none of the %d workers of zone %s has answered within %s; they are busy, or the one that took the check was lost", e.Live, e.Zone, waited)
}

// Unwrap returns why an item could not be sent.
func (e *Unanswered) Unwrap() error { return e.Err }

// Timing of both implementations. Tests make it shorter.
type timing struct {
	lease    time.Duration // without a word from its worker an item is given to another one
	announce time.Duration // how often workers announce themselves
	silent   time.Duration // a worker not heard of for so long counts as gone
	answer   time.Duration // how long one sending of a result waits for the engine
	deserted time.Duration // a zone without a worker for so long is not asked any more
}

// A worker counts as gone after three announcements that did not come, so that a zone
// without workers is known within two intervals of a check every ten seconds.
func defaultTiming() timing {
	return timing{lease: 5 * time.Second, announce: 3 * time.Second, silent: 9500 * time.Millisecond, answer: 2 * time.Second, deserted: time.Minute}
}

// margin is how long a result may be under way.
const margin = 5 * time.Second

// Life returns how long an item may wait for a worker: the check's interval or
// its timeout, whichever is smaller, but never less than a second, and no shorter
// timeout than lets another worker redo it when the first one dies.
func Life(interval, timeout time.Duration) time.Duration {
	life := max(timeout, defaultTiming().lease+margin)
	if interval > 0 {
		life = min(life, interval)
	}
	return max(life, time.Second)
}

// check completes what a worker says of itself, or says what is wrong with it.
func (w *Worker) check() error {
	switch {
	case w.ID == "" || len(w.ID) > maxName:
		return fmt.Errorf("queue: a worker needs a name of at most %d characters", maxName)
	case len(w.Zones) == 0:
		return fmt.Errorf("queue: worker %s serves no zone; name at least one with -zones, for example -zones default", w.ID)
	case w.Capacity <= 0:
		return fmt.Errorf("queue: worker %s has a capacity of %d; write at least 1", w.ID, w.Capacity)
	}
	for _, z := range w.Zones {
		if z == "" || len(z) > maxName {
			return fmt.Errorf("queue: worker %s: zone %.40q; write names of 1 to %d characters", w.ID, z, maxName)
		}
	}
	slices.Sort(w.Zones)
	w.Zones = slices.Compact(w.Zones)
	return nil
}
