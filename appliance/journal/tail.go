package journal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/core/event"
)

// Times of a tail.
const (
	heartbeat    = 2 * time.Second        // of an idle stream, from the server
	heartbeats   = 500 * time.Millisecond // the same where one of several servers may be gone
	silence      = 3                      // so many of them without a word, and the consumer is made anew
	lookEvery    = 10 * time.Second       // the first position of an idle stream is read
	makeFirst    = 2 * time.Second        // for the answer to a request for a consumer: a leader that is gone gives none
	retryFirst   = 100 * time.Millisecond
	retryLongest = 2 * time.Second
	forgetAfter  = 30 * time.Second // the server drops an abandoned consumer
)

// tail follows one stream with a push consumer that keeps its order: whenever
// a message is missing, the consumer goes silent or the connection comes back,
// it is made anew behind the last position read.
type tail struct {
	j      *jetStream
	stream event.Stream
	name   string
	box    *inbox
	beat   time.Duration // of the stream while it is idle

	mu       sync.Mutex // held while a message is handled
	round    int        // consumer in use; messages of an older one are dropped
	next     uint64     // position expected
	consumed uint64     // messages of this consumer
	heard    time.Time
	looked   time.Time
	err      error
	broken   chan struct{} // something is wrong: look at err, else make a new consumer
}

// newTail returns the tail of a stream behind a position.
func newTail(j *jetStream, s event.Stream, from uint64, box *inbox) *tail {
	t := &tail{j: j, stream: s, name: j.streamName(s), box: box, beat: heartbeat, next: from + 1, broken: make(chan struct{}, 1)}
	if !j.alone() {
		t.beat = heartbeats
	}
	return t
}

// run follows until ctx ends (nil) or the stream cannot be followed any more.
// What stood on the stream at the beginning, up to target, is replayed.
func (t *tail) run(ctx context.Context, target uint64) error {
	t.next = t.replay(ctx, t.next, target)
	wait, patience := retryFirst, t.patience()
	for {
		made, err := t.consume(ctx, patience)
		if ctx.Err() != nil {
			return nil
		}
		if t.failed() != nil {
			return t.failed()
		}
		if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, nats.ErrConnectionClosed) {
			return fmt.Errorf("follow stream %s: %w", t.name, err)
		}
		if err != nil {
			t.j.opts.Logger.Warn("a stream cannot be followed at the moment, trying again", "stream", t.name, "err", err, "wait", wait)
		}
		t.j.metrics.resets.Inc()
		if made { // it was followed meanwhile
			wait, patience = retryFirst, t.patience()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		if !made {
			wait, patience = min(wait*2, retryLongest), min(patience*2, t.j.opts.Timeout)
		}
	}
}

// patience is how long the first request for a consumer waits for its answer. Where several
// servers keep the stream, the one that would have answered may be gone.
func (t *tail) patience() time.Duration {
	if t.j.alone() {
		return t.j.opts.Timeout
	}
	return min(makeFirst, t.j.opts.Timeout)
}

// failed returns why the stream cannot be followed any more.
func (t *tail) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// consume makes one consumer and stays with it as long as it is in order; made tells
// that there was one.
func (t *tail) consume(ctx context.Context, patience time.Duration) (made bool, err error) {
	t.mu.Lock()
	t.round++
	round, next := t.round, t.next
	t.consumed, t.heard = 0, time.Now()
	t.mu.Unlock()
	select {
	case <-t.broken:
	default:
	}
	subject := t.j.nc.NewInbox()
	sub, err := t.j.nc.Subscribe(subject, func(m *nats.Msg) { t.receive(round, m) })
	if err != nil {
		return false, err
	}
	defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return false, err
	}
	name, err := t.createConsumer(ctx, patience, subject, next)
	if err != nil {
		return false, err
	}
	defer func() {
		if ctx.Err() == nil {
			go t.deleteConsumer(ctx, name) // who keeps it may be gone, and the next one is wanted now
			return
		}
		t.deleteConsumer(ctx, name)
	}()
	t.listen()
	watch := time.NewTicker(t.beat)
	defer watch.Stop()
	moved := t.j.bus.Moved()
	back := t.j.nc.StatusChanged(nats.CONNECTED)
	defer t.j.nc.RemoveStatusListener(back)
	for {
		select {
		case <-ctx.Done():
			return true, nil
		case <-t.broken:
			return true, nil
		case <-back:
			return true, nil // what was sent meanwhile is lost
		case <-moved:
			return true, nil // perhaps the consumer was there
		case <-watch.C:
			if t.quiet() {
				return true, fmt.Errorf("no word from the log server for %s", silence*t.beat)
			}
		}
	}
}

// createConsumer asks for everything from a position on. The consumer lives in
// memory and is never acknowledged to: where we stand is our affair. Push with
// flow control is 1.5 times as fast as pulling large batches (measured).
func (t *tail) createConsumer(ctx context.Context, patience time.Duration, subject string, next uint64) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := t.j.bus.JetStream().CreatePushConsumer(ctx, t.name, jetstream.ConsumerConfig{
		DeliverSubject: subject, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: next,
		AckPolicy: jetstream.AckNonePolicy, MaxDeliver: 1, FlowControl: true, IdleHeartbeat: t.beat,
		InactiveThreshold: forgetAfter, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return "", err
	}
	return c.CachedInfo().Name, nil
}

func (t *tail) deleteConsumer(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	// Only tidies up: the server drops it by itself when nobody listens.
	_ = t.j.bus.JetStream().DeleteConsumer(ctx, t.name, name)
}

// listen begins to count the time without a word.
func (t *tail) listen() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = time.Now()
}

// quiet tells whether not even a heartbeat came.
func (t *tail) quiet() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Since(t.heard) > silence*t.beat
}

// give marks the tail as broken; t.mu is held.
func (t *tail) give(err error) {
	if t.err == nil {
		t.err = err
	}
	t.round++ // what still arrives is dropped
	select {
	case t.broken <- struct{}{}:
	default:
	}
}

// receive takes one message of a consumer, on the client's goroutine for its
// subscription. It may block while the caller is slow; the server then stops
// sending, since flow control is answered in order.
func (t *tail) receive(round int, m *nats.Msg) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if round != t.round {
		return
	}
	defer func() { t.heard = time.Now() }() // after handling, which may have waited for the caller
	seq, consumed, ok := deliveredAs(m.Reply)
	if !ok { // a message of the log may claim a status too
		if len(m.Data) == 0 && m.Header.Get("Status") != "" {
			t.control(m)
		}
		return
	}
	t.consumed++
	if consumed != t.consumed {
		t.give(nil) // lost on the way: ask again from where we stand
		return
	}
	if seq < t.next {
		return
	}
	if seq > t.next {
		if err := t.gap(t.next, seq); err != nil {
			t.give(err)
			return
		}
	}
	t.next = seq + 1
	t.hand(seq, m)
}

// hand decodes one message for the caller. One that cannot be decoded delivers
// nothing, its position counts all the same.
func (t *tail) hand(seq uint64, m *nats.Msg) {
	var e event.Event
	if err := decodeMessage(m, 0, &e); err != nil {
		t.passOver(seq, err)
		t.box.put(t.stream, seq)
		return
	}
	e.Stream, e.Seq = t.stream, seq
	t.box.put(t.stream, seq, e)
}

// passOver counts a position that delivers nothing, and tells of it once a minute.
func (t *tail) passOver(seq uint64, err error) {
	reason := "decode"
	if errors.Is(err, errForeign) {
		reason = "foreign"
	}
	t.j.metrics.skipped.WithLabelValues(t.stream.String(), reason).Inc()
	if left, ok := t.j.passed.Let(t.name + " " + reason); ok {
		t.j.opts.Logger.Warn("an event cannot be read and is passed over", "stream", t.name, "seq", seq, "err", err, "left_out", left)
	}
}

// control answers flow control and uses an idle stream's heartbeat to notice
// what retention removed in front of us and what got lost on the way.
func (t *tail) control(m *nats.Msg) {
	if m.Reply != "" {
		_ = m.Respond(nil) // a lost answer shows as silence
		return
	}
	if stalled := m.Header.Get("Nats-Consumer-Stalled"); stalled != "" {
		_ = t.j.nc.Publish(stalled, nil)
		return
	}
	if last, err := strconv.ParseUint(m.Header.Get("Nats-Last-Consumer"), 10, 64); err == nil && last != t.consumed {
		t.give(nil)
		return
	}
	if time.Since(t.looked) < lookEvery {
		return
	}
	t.looked = time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), t.j.opts.Timeout)
	defer cancel()
	st, err := t.j.state(ctx, t.stream)
	if err != nil || st.FirstSeq <= t.next {
		return
	}
	t.next = st.FirstSeq
	t.box.put(t.stream, st.FirstSeq-1)
}

// gap explains positions that the server does not have: retention removed them,
// or an operator accepted their loss. A hole in the log that nothing explains is
// an error; among measurements it is a warning.
func (t *tail) gap(from, to uint64) error {
	ctx, cancel := context.WithTimeout(context.Background(), t.j.opts.Timeout)
	defer cancel()
	s, err := t.j.bus.JetStream().Stream(ctx, t.name)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", t.name, err)
	}
	info, err := s.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", t.name, err)
	}
	from = max(from, info.State.FirstSeq)
	if from >= to {
		return nil
	}
	t.j.metrics.skipped.WithLabelValues(t.stream.String(), "gap").Add(float64(to - from))
	for seq := from; seq < to && t.stream == event.Log; seq++ {
		if _, known := slices.BinarySearch(info.State.Deleted, seq); !known {
			return fmt.Errorf("stream %s: positions %d to %d cannot be read; its store is damaged, stop and restore it from a backup, or let the next start accept the loss: make the empty file accept-loss in the data folder", t.name, seq, to-1)
		}
	}
	t.j.opts.Logger.Warn("positions are missing and are passed over", "stream", t.name, "from", from, "to", to-1)
	return nil
}

// deliveredAs reads the position and the consumer's count from a reply subject:
// $JS.ACK.<stream>.<consumer>.<tries>.<position>.<count>.<time>.<pending>, with
// two more tokens in front of the stream and perhaps one at the end.
func deliveredAs(reply string) (seq, count uint64, ok bool) {
	tokens := strings.Count(reply, ".") + 1
	skip := 5
	if tokens >= 11 {
		skip = 7
	} else if tokens != 9 {
		return 0, 0, false
	}
	rest := reply
	for range skip {
		_, rest, _ = strings.Cut(rest, ".")
	}
	a, rest, _ := strings.Cut(rest, ".")
	b, _, _ := strings.Cut(rest, ".")
	seq, err1 := strconv.ParseUint(a, 10, 64)
	count, err2 := strconv.ParseUint(b, 10, 64)
	return seq, count, err1 == nil && err2 == nil
}
