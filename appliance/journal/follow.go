package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/core/event"
)

// Sizes of a follower.
const (
	batchMax  = 512  // events handed to the caller at once
	bufferMax = 8192 // decoded events that wait for the caller
)

// inbox is what the followers of both streams have read and the caller has not
// taken. Readers block while it is full, which in turn stops the server's flow.
type inbox struct {
	mu     sync.Mutex
	room   sync.Cond
	events []event.Event
	upTo   [2]uint64 // position read, by stream; also when it delivered nothing
	err    error
	closed bool
	more   chan struct{}
}

// newInbox returns an empty inbox of followers that begin behind a position.
func newInbox(from Position) *inbox {
	b := &inbox{more: make(chan struct{}, 1)}
	b.room.L = &b.mu
	b.upTo[event.Log], b.upTo[event.Results] = from.Log, from.Results
	return b
}

// signal tells the taker that there is something; it never blocks.
func (b *inbox) signal() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// put adds decoded events of one stream and takes their slice over; it may be
// called with none, to move the position alone.
func (b *inbox) put(s event.Stream, upTo uint64, events ...event.Event) {
	b.mu.Lock()
	for len(b.events) >= bufferMax && !b.closed {
		b.room.Wait()
	}
	if len(b.events) == 0 && len(events) > batchMax {
		b.events = events // a block's worth: taken over, not copied
	} else {
		b.events = append(b.events, events...)
	}
	b.upTo[s] = max(b.upTo[s], upTo)
	b.mu.Unlock()
	b.signal()
}

// fail ends the follower with an error, after what was put before.
func (b *inbox) fail(err error) {
	b.mu.Lock()
	if b.err == nil {
		b.err = err
	}
	b.mu.Unlock()
	b.signal()
}

// take swaps the buffer for an empty one.
func (b *inbox) take(empty []event.Event) ([]event.Event, [2]uint64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = empty[:0]
	b.room.Broadcast()
	return events, b.upTo, b.err
}

// close lets readers go that wait for room.
func (b *inbox) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.room.Broadcast()
}

// followFirst is how long a cluster may take to say where its log ends.
const followFirst = time.Minute

// Follow runs one reader per stream and hands over what they read on the
// caller's goroutine, so that fn needs no lock. Readers decode ahead of fn, by
// bufferMax events and the blocks being decoded.
func (j *jetStream) Follow(ctx context.Context, from Position, fn func([]event.Event) error, caughtUp func()) error {
	var target Position
	first, done := context.WithTimeout(ctx, followFirst)
	err := j.bus.Settled(first, func(ctx context.Context) (err error) {
		target, err = j.target(ctx, &from)
		return err
	})
	done()
	if err != nil {
		return followEnd(ctx, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	box := newInbox(from)
	var tails sync.WaitGroup
	for _, s := range []event.Stream{event.Log, event.Results} {
		at, to := from.Log, target.Log
		if s == event.Results {
			at, to = from.Results, target.Results
		}
		t := newTail(j, s, at, box)
		tails.Go(func() {
			if err := t.run(ctx, to); err != nil {
				box.fail(err)
			}
		})
	}
	err = j.deliver(ctx, box, target, fn, caughtUp)
	cancel()
	box.close()
	tails.Wait()
	return followEnd(ctx, err)
}

// followEnd turns the end of the caller's context into nil.
func followEnd(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, ErrClosed) {
		return err
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("follow the log: it is not there any more, it was removed or replaced; start again to follow the one that stands there then: %w", err)
	}
	return fmt.Errorf("follow the log: %w", err)
}

// target returns what caughtUp means for a follower that begins now, and moves
// from to where it can begin. The results stream may have lost its newest second
// at a power cut, and be shorter than a snapshot says; the log may not.
func (j *jetStream) target(ctx context.Context, from *Position) (Position, error) {
	log, err := j.state(ctx, event.Log)
	if err != nil {
		return Position{}, err
	}
	results, err := j.state(ctx, event.Results)
	if err != nil {
		return Position{}, err
	}
	if from.Log > log.LastSeq {
		return Position{}, fmt.Errorf("position %d is behind the end of the log %s at %d; the log was lost or replaced, begin at 0 or restore it",
			from.Log, j.names.Log, log.LastSeq)
	}
	if from.Results > results.LastSeq {
		j.opts.Logger.Warn("measurements are shorter than the position asked for, following goes on at their end",
			"asked", from.Results, "end", results.LastSeq)
		from.Results = results.LastSeq
	}
	// What retention removed may still stand in a block.
	from.Log = max(from.Log, max(log.FirstSeq, 1)-1)
	from.Results = max(from.Results, max(results.FirstSeq, 1)-1)
	target := *from
	target.Log, err = j.newest(ctx, event.Log, from.Log, log)
	if err != nil {
		return Position{}, err
	}
	target.Results, err = j.newest(ctx, event.Results, from.Results, results)
	return target, err
}

// newest returns the last position behind from that holds an event: an accepted
// loss may have left a hole at the very end.
func (j *jetStream) newest(ctx context.Context, s event.Stream, from uint64, st jetstream.StreamState) (uint64, error) {
	if st.Msgs == 0 || st.LastSeq <= from {
		return from, nil
	}
	last := st.LastSeq
	if st.NumDeleted > 0 {
		stream, err := j.bus.JetStream().Stream(ctx, j.streamName(s))
		if err != nil {
			return 0, fmt.Errorf("look at stream %s: %w", j.streamName(s), err)
		}
		info, err := stream.Info(ctx, jetstream.WithDeletedDetails(true))
		if err != nil {
			return 0, fmt.Errorf("look at stream %s: %w", j.streamName(s), err)
		}
		for i := len(info.State.Deleted) - 1; i >= 0 && info.State.Deleted[i] == last; i-- {
			last--
		}
	}
	return max(last, from), nil
}

// deliver hands events to the caller until an end. An error of a reader counts
// after the events in front of it, so that the caller knows how far it got.
func (j *jetStream) deliver(ctx context.Context, box *inbox, target Position, fn func([]event.Event) error, caughtUp func()) error {
	var buf []event.Event
	log, results := j.metrics.followed.WithLabelValues("log"), j.metrics.followed.WithLabelValues("results")
	for {
		events, upTo, err := box.take(buf)
		for i := 0; i < len(events) && ctx.Err() == nil; i += batchMax {
			part := events[i:min(i+batchMax, len(events))]
			if err := fn(part); err != nil {
				return err
			}
			n := countLog(part)
			log.Add(float64(n))
			results.Add(float64(len(part) - n))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if caughtUp != nil && upTo[event.Log] >= target.Log && upTo[event.Results] >= target.Results {
			caughtUp()
			caughtUp = nil
		}
		clear(events)
		if buf = events; cap(buf) > 2*bufferMax {
			buf = nil // of a replay; live batches are small
		}
		select {
		case <-box.more:
		case <-j.over:
			return ErrClosed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func countLog(events []event.Event) int {
	n := 0
	for i := range events {
		if events[i].Stream == event.Log {
			n++
		}
	}
	return n
}
