package replay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

// ErrTooLong is returned when the log could not be read in time.
var ErrTooLong = errors.New("replay: the log is too long to be read in time")

// Reach is how far in front of the instant measurements are read. A decision
// is complete in itself and may be as old as the log; a measurement says only
// what the last check saw, and there are far more of them. An object that was
// not checked within Reach has the measurement of its last decision.
const Reach = 15 * time.Minute

// skew is how far the clocks of engines may be apart. Reading ends behind the
// instant only when an event is later by more than that, and what was told of
// an instant is remembered only when it is as old.
const skew = time.Minute

// kept bounds the states of objects that are remembered, of all instants
// together; the newest is remembered in any case.
const kept = 200_000

// Log is the part of the event log that is read; journal.Journal is one.
type Log interface {
	Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error
	End(ctx context.Context) (journal.Position, error)
}

// Options is what a Replayer needs. Log and Set must be set.
type Options struct {
	Log     Log
	Set     func() *object.Set // objects of the running config generation
	Timeout time.Duration      // for one replay with waiting for the one before; 0 = 20 s
	Now     func() time.Time   // nil = time.Now
}

// Replayer answers what was at an instant. Create it with New; any goroutine
// may use it. One replay runs at a time, the others wait for their turn.
type Replayer struct {
	opts  Options
	turn  chan struct{} // holds one token; who took it may use recent
	cache recent
}

// New returns a replayer.
func New(o Options) *Replayer {
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Replayer{opts: o, turn: make(chan struct{}, 1)}
	r.turn <- struct{}{}
	return r
}

// At returns the states as they were at t: every decision with that time or an
// earlier one is in. The objects are those of the running config generation;
// one that nothing was known about at t is PENDING. It fails with ErrTooLong,
// with what reading the log failed with, or with the context's error.
func (r *Replayer) At(ctx context.Context, t object.Time) (*projection.Projection, error) {
	limit, cancel := context.WithTimeoutCause(ctx, r.opts.Timeout, ErrTooLong)
	defer cancel()
	select {
	case <-r.turn:
	case <-limit.Done():
		return nil, ended(limit, t)
	}
	defer func() { r.turn <- struct{}{} }()
	set := r.opts.Set()
	if p := r.cache.get(t, set); p != nil {
		return p, nil
	}
	p := projection.New(set)
	for _, fold := range []func(context.Context, *projection.Projection, object.Time) error{r.decisions, r.measurements} {
		if err := fold(limit, p, t); err != nil {
			return nil, fmt.Errorf("replay up to %s: %w", t.Std().Format(time.RFC3339), err)
		}
		if limit.Err() != nil {
			return nil, ended(limit, t)
		}
	}
	if t < object.At(r.opts.Now().Add(-skew)) {
		r.cache.put(t, p)
	}
	return p, nil
}

func ended(ctx context.Context, t object.Time) error {
	return fmt.Errorf("replay up to %s: %w", t.Std().Format(time.RFC3339), context.Cause(ctx))
}

// decisions folds the log up to t.
func (r *Replayer) decisions(ctx context.Context, p *projection.Projection, t object.Time) error {
	end, err := r.opts.Log.End(ctx)
	if err != nil {
		return err
	}
	var first uint64
	return r.read(ctx, journal.Position{Results: end.Results}, func(e *event.Event) bool {
		if e.Stream != event.Log {
			return true
		}
		if first == 0 {
			first = e.Seq
		}
		if e.Time <= t {
			apply(p, e, first > 1)
		}
		return e.Time <= t.Add(skew)
	})
}

// apply folds one decision. If the beginning of the log is not kept any more,
// the first decision about an object stands on one that nobody can read: it is
// taken as the base, because it is complete in itself.
func apply(p *projection.Projection, e *event.Event, trimmed bool) {
	if trimmed && e.Object != "" && e.Prev != 0 && p.State(e.Object).Sub == 0 {
		based := *e
		based.Prev = 0
		e = &based
	}
	p.Apply(e)
}

// measurements folds those within Reach in front of t.
func (r *Replayer) measurements(ctx context.Context, p *projection.Projection, t object.Time) error {
	end, err := r.opts.Log.End(ctx)
	if err != nil {
		return err
	}
	from, err := r.seek(ctx, end, t.Add(-Reach-skew))
	if err != nil {
		return err
	}
	return r.read(ctx, journal.Position{Log: end.Log, Results: from}, func(e *event.Event) bool {
		if e.Stream != event.Results {
			return true
		}
		if e.Time <= t && e.Time > t.Add(-Reach) {
			p.Apply(e)
		}
		return e.Time <= t.Add(skew)
	})
}

// seek returns a position of the measurements behind which those since t
// stand. It halves the stream, because one may hold days of them.
func (r *Replayer) seek(ctx context.Context, end journal.Position, t object.Time) (uint64, error) {
	low, high := uint64(0), end.Results
	for low < high {
		middle := low + (high-low)/2
		later := true // also when nothing stands there
		err := r.read(ctx, journal.Position{Log: end.Log, Results: middle}, func(e *event.Event) bool {
			if e.Stream != event.Results {
				return true
			}
			later = e.Time >= t
			return false
		})
		if err != nil || ctx.Err() != nil {
			return 0, err
		}
		if later {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low, nil
}

var errEnough = errors.New("enough")

// read hands over what stands behind a position now, until fn returns false.
func (r *Replayer) read(ctx context.Context, from journal.Position, fn func(*event.Event) bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	err := r.opts.Log.Follow(ctx, from, func(batch []event.Event) error {
		for i := range batch {
			if !fn(&batch[i]) {
				return errEnough
			}
		}
		return ctx.Err()
	}, cancel)
	if errors.Is(err, errEnough) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil // At tells a time-out by its own context
	}
	return err
}
