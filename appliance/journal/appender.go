package journal

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"

	"jaque.sh/jaque/appliance/core/event"
)

// Sizes of groups of appends. The server syncs the disk once per message, or
// once per atomic batch; so what waits while one group is being synced is sent
// as the next batch. Alone, an append is sent alone.
const (
	groupMax      = 512 // messages of a batch; the server's limit is 1000
	groupMin      = 4   // fewer are sent one by one
	groupsAtATime = 2
)

// draft is one append on its way.
type draft struct {
	subject  string
	id       string
	data     []byte
	expect   uint64
	compared bool
	since    time.Time
	done     Done
	other    int // how many of its message ids were taken by foreign messages
}

// appender puts decisions on the log in groups.
type appender struct {
	pub    *publisher
	count  *account
	m      *metrics
	stored func(uint64)
	name   string // of this appender, part of batch ids
	batchN uint64
	ids    messageIDs
	look   func(seq uint64) (subject string, e event.Event, err error)

	mu     sync.Mutex // guards what follows
	queue  []draft
	closed bool
	open   int           // drafts without an outcome
	idle   chan struct{} // closed when open is 0 after closing
	wake   chan struct{}
	slots  chan struct{}
}

// newAppender starts an appender; stored is told every acknowledged position, and look
// reads a message of the log.
func newAppender(pub *publisher, m *metrics, count *account, ids messageIDs, stored func(uint64), look func(uint64) (string, event.Event, error)) *appender {
	a := &appender{
		ids: ids, look: look,
		pub: pub, m: m, count: count, stored: stored, name: nuid.Next(),
		idle: make(chan struct{}), wake: make(chan struct{}, 1), slots: make(chan struct{}, groupsAtATime),
	}
	go a.run()
	return a
}

// add queues an append; it never blocks.
func (a *appender) add(d draft) {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		go a.finishUncounted(d)
		return
	}
	a.open++
	a.queue = append(a.queue, d)
	a.mu.Unlock()
	a.count.inFlight.Inc()
	a.signal()
}

func (a *appender) finishUncounted(d draft) {
	a.count.inFlight.Inc()
	a.count.settle(d.since, ErrClosed)
	d.done(0, ErrClosed)
}

func (a *appender) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run sends groups until close; one goroutine, so that groups leave in order.
func (a *appender) run() {
	for range a.wake {
		for {
			a.slots <- struct{}{}
			group := a.take()
			if group == nil {
				<-a.slots
				break
			}
			a.send(group)
		}
		a.mu.Lock()
		over := a.closed
		a.mu.Unlock()
		if over {
			return
		}
	}
}

// take returns the next group: as much as waits, but a subject that is compared
// only once, because a batch is checked as a whole.
func (a *appender) take() []draft {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := min(len(a.queue), groupMax)
	if n == 0 {
		return nil
	}
	seen := make(map[string]struct{}, n)
	for i := range a.queue[:n] {
		d := &a.queue[i]
		if _, twice := seen[d.subject]; twice && d.compared {
			n = i
			break
		}
		seen[d.subject] = struct{}{}
	}
	group := append([]draft(nil), a.queue[:n]...)
	rest := copy(a.queue, a.queue[n:])
	clear(a.queue[rest:])
	a.queue = a.queue[:rest]
	return group
}

// send puts one group on its way. Nothing of an atomic batch is stored before
// its last message, which asks for the commit, and each message keeps its own
// comparison; the server checks all of them first, then stores and syncs once.
func (a *appender) send(group []draft) {
	if len(group) < groupMin {
		a.m.groups.WithLabelValues("single").Inc()
		a.sendSingles(group)
		return
	}
	a.m.groups.WithLabelValues("batch").Inc()
	a.batchN++
	id := a.name + "-" + strconv.FormatUint(a.batchN, 36)
	last := len(group) - 1
	for i := range group {
		m := a.message(&group[i])
		m.Header["Nats-Batch-Id"] = []string{id}
		m.Header["Nats-Batch-Sequence"] = []string{strconv.Itoa(i + 1)}
		if i < last {
			if err := a.pub.nc.PublishMsg(m); err != nil {
				a.finishAll(group, publishError(err)) // without a commit nothing of the batch is stored
				<-a.slots
				return
			}
			continue
		}
		m.Header["Nats-Batch-Commit"] = []string{"1"}
		a.pub.send(m, func(r answer) { a.batchAnswered(group, r) })
	}
}

// batchAnswered tells everybody in the batch. Its positions follow each other
// and the answer names the last.
func (a *appender) batchAnswered(group []draft, r answer) {
	switch {
	case r.err == nil && r.count == uint64(len(group)) && !r.twice:
		a.stored(r.seq)
		for i := range group {
			a.finish(&group[i], r.seq-uint64(len(group)-1-i), nil)
		}
		<-a.slots
	case r.err == nil && r.twice, r.err != nil && !errors.Is(r.err, ErrUnknown) && !errors.Is(r.err, ErrClosed):
		// The batch was refused as a whole: each one for itself finds out whose
		// fault it was. On a goroutine, because this one receives the answers.
		a.m.groups.WithLabelValues("split").Inc()
		go a.sendSingles(group)
	default:
		a.finishAll(group, r.err)
		<-a.slots
	}
}

// sendSingles sends each message on its own and frees the slot when all are
// answered.
func (a *appender) sendSingles(group []draft) {
	var left sync.WaitGroup
	left.Add(len(group))
	for i := range group {
		a.sendSingle(&group[i], left.Done)
	}
	go func() {
		left.Wait()
		<-a.slots
	}()
}

// sendSingle sends one message, under another id if its own is taken, and calls over once
// it has its outcome.
func (a *appender) sendSingle(d *draft, over func()) {
	a.pub.send(a.message(d), func(r answer) {
		if r.err == nil && r.twice {
			go a.compare(d, r.seq, over) // this goroutine receives the answers
			return
		}
		if r.err == nil {
			a.stored(r.seq)
		}
		a.finish(d, r.seq, r.err)
		over()
	})
}

// othersMost bounds how many ids of one append may be taken.
const othersMost = 3

// compare finds out what the log has at the position of a message that it calls sent
// before: this append, or something that somebody wrote under its id.
func (a *appender) compare(d *draft, seq uint64, over func()) {
	subject, e, err := a.look(seq)
	switch {
	case err != nil && !errors.Is(err, errForeign):
		a.finish(d, 0, fmt.Errorf("%w: the log holds it at %d and cannot show it: %w", ErrUnknown, seq, err))
	case err == nil && subject == d.subject && e.ID == d.id:
		a.stored(seq)
		a.finish(d, seq, nil)
	default:
		a.m.taken.Inc()
		if d.other++; d.other < othersMost {
			a.sendSingle(d, over)
			return
		}
		a.finish(d, 0, fmt.Errorf("%w: the log holds other messages under its ids, the last one at %d", ErrUnknown, seq))
	}
	over()
}

// message builds what is published: the message's id lets the server refuse a second
// copy, the expected position makes it a compare-and-set.
func (a *appender) message(d *draft) *nats.Msg {
	m := &nats.Msg{Subject: d.subject, Data: d.data, Header: nats.Header{}}
	if d.id != "" {
		m.Header["Nats-Msg-Id"] = []string{a.ids.of(d.id, d.other)}
	}
	if d.compared {
		m.Header["Nats-Expected-Last-Subject-Sequence"] = []string{strconv.FormatUint(d.expect, 10)}
	}
	return m
}

func (a *appender) finishAll(group []draft, err error) {
	if err == nil {
		err = ErrUnknown
	}
	for i := range group {
		a.finish(&group[i], 0, err)
	}
}

// finish gives one append its outcome.
func (a *appender) finish(d *draft, seq uint64, err error) {
	if err != nil {
		seq = 0
	}
	a.count.settle(d.since, err)
	d.done(seq, err)
	a.mu.Lock()
	a.open--
	if a.closed && a.open == 0 {
		close(a.idle)
	}
	a.mu.Unlock()
}

// close refuses further appends and returns a channel that is closed when every
// one in flight has its outcome.
func (a *appender) close() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.closed {
		a.closed = true
		if a.open == 0 {
			close(a.idle)
		}
	}
	a.signal()
	return a.idle
}

// abandon gives up on what is still queued.
func (a *appender) abandon() {
	a.mu.Lock()
	left := a.queue
	a.queue = nil
	a.mu.Unlock()
	for i := range left {
		a.finish(&left[i], 0, ErrClosed)
	}
}
