package sink

import (
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// filling is a batch with what belongs to it.
type filling struct {
	Batch
	bytes  int              // of the documents
	at     journal.Position // behind what is in it
	events int              // that were read for it, with and without items
	since  time.Time        // when its first item came
	oldest object.Time      // time of its first event with items; 0 = none
}

func (f *filling) reset(at journal.Position) {
	clear(f.Samples)
	clear(f.Events)
	*f = filling{Batch: Batch{Samples: f.Samples[:0], Events: f.Events[:0]}, at: at}
}

// inbox is the batch that the follower fills while the one before is written. There
// are never more than these two.
type inbox struct {
	items, most int // bounds of a batch

	mu   sync.Mutex // guards what follows
	cur  *filling
	next *filling // empty

	more chan struct{} // there is something new
	room chan struct{} // a batch was taken
}

func newInbox(items, bytes int) *inbox {
	return &inbox{
		items: items, most: bytes, cur: &filling{}, next: &filling{},
		more: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (b *inbox) begin(at journal.Position) { b.cur.at = at }

func (b *inbox) full() bool { return b.cur.Len() >= b.items || b.cur.bytes >= b.most }

// add puts the items of an event into the batch with put, unless it is full.
func (b *inbox) add(e *event.Event, put func(f *filling)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.full() {
		return false
	}
	before := b.cur.Len()
	put(b.cur)
	b.cur.events++
	if e.Stream == event.Log {
		b.cur.at.Log = e.Seq
	} else {
		b.cur.at.Results = e.Seq
	}
	if before == 0 && b.cur.Len() > 0 {
		b.cur.since, b.cur.oldest = time.Now(), e.Time
	}
	return true
}

// take returns the batch if it is full, has waited long enough or must go now, and
// else how long it may still wait. A batch without items only moves the position.
func (b *inbox) take(now time.Time, wait time.Duration, hurry bool) (f *filling, pause time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.cur.events == 0:
		return nil, wait
	case b.cur.Len() > 0 && !b.full() && !hurry && now.Sub(b.cur.since) < wait:
		return nil, wait - now.Sub(b.cur.since)
	}
	f = b.cur
	b.cur, b.next = b.next, nil
	b.cur.at = f.at
	signal(b.room)
	return f, 0
}

// done gives a batch back for the next one.
func (b *inbox) done(f *filling) {
	f.reset(journal.Position{})
	b.mu.Lock()
	b.next = f
	b.mu.Unlock()
}

// oldest returns the time of the first event that waits here; 0 = none does.
func (b *inbox) oldest() object.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cur.oldest
}
