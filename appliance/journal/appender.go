package journal

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nuid"
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
}

// appender puts decisions on the log in groups.
type appender struct {
	pub    *publisher
	count  *account
	m      *metrics
	stored func(uint64)
	name   string // of this appender, part of batch ids
	batchN uint64

	mu     sync.Mutex // guards what follows
	queue  []draft
	closed bool
	open   int           // drafts without an outcome
	idle   chan struct{} // closed when open is 0 after closing
	wake   chan struct{}
	slots  chan struct{}
}

// newAppender starts an appender; stored is told every acknowledged position.
func newAppender(pub *publisher, m *metrics, count *account, stored func(uint64)) *appender {
	a := &appender{
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
		m := message(&group[i])
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
	case r.err == nil && r.count == uint64(len(group)):
		a.stored(r.seq)
		for i := range group {
			a.finish(&group[i], r.seq-uint64(len(group)-1-i), nil)
		}
		<-a.slots
	case r.err != nil && !errors.Is(r.err, ErrUnknown) && !errors.Is(r.err, ErrClosed):
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
		d := &group[i]
		a.pub.send(message(d), func(r answer) {
			if r.err == nil {
				a.stored(r.seq)
			}
			a.finish(d, r.seq, r.err)
			left.Done()
		})
	}
	go func() {
		left.Wait()
		<-a.slots
	}()
}

// message builds what is published: the event's id lets the server refuse a
// second copy, the expected position makes it a compare-and-set.
func message(d *draft) *nats.Msg {
	m := &nats.Msg{Subject: d.subject, Data: d.data, Header: nats.Header{}}
	if d.id != "" {
		m.Header["Nats-Msg-Id"] = []string{d.id}
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
