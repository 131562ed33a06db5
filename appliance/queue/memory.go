package queue

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/object"
)

// MemoryOptions of a Memory queue. The zero value is usable.
type MemoryOptions struct {
	// Items bounds those that wait for a worker; 0 = 100,000. Past it Do waits.
	Items      int
	Registerer prometheus.Registerer // nil = metrics are kept but not shown

	timing timing // tests; zero = default
}

// Memory is the queue inside one process. Create it with NewMemory.
type Memory struct {
	timing  timing
	metrics *metrics
	fleet   *Fleet
	room    chan struct{}

	mu      sync.Mutex
	zones   map[string]*memoryZone
	engines map[string]*memoryDispatcher
}

// memoryZone is what waits in a zone and who serves it.
type memoryZone struct {
	items   list.List // of *memoryItem, oldest first
	sources []*memorySource
}

// memoryItem is an item on its way through the queue.
type memoryItem struct {
	*Item
	sent  time.Time
	place *list.Element // nil while a worker has it or nobody wants it
	times int           // deliveries so far
	over  bool          // nobody waits for it any more
}

var _ Queue = (*Memory)(nil)

// NewMemory makes an empty queue.
func NewMemory(o MemoryOptions) *Memory {
	if o.Items <= 0 {
		o.Items = 100_000
	}
	if o.timing == (timing{}) {
		o.timing = defaultTiming()
	}
	return &Memory{
		timing: o.timing, metrics: newMetrics(o.Registerer), fleet: newFleet(o.timing.silent), room: make(chan struct{}, o.Items),
		zones: map[string]*memoryZone{}, engines: map[string]*memoryDispatcher{},
	}
}

// Dispatcher returns the engine's side.
func (q *Memory) Dispatcher(_ context.Context, engine string) (Dispatcher, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.engines[engine] != nil {
		return nil, fmt.Errorf("queue: engine %s is connected already", engine)
	}
	d := &memoryDispatcher{queue: q, id: engine, orders: newOrders(q.metrics), over: make(chan struct{})}
	q.engines[engine] = d
	return d, nil
}

// zone returns a zone, made when it is first named.
func (q *Memory) zone(name string) *memoryZone {
	z := q.zones[name]
	if z == nil {
		z = &memoryZone{}
		q.zones[name] = z
	}
	return z
}

// put queues an item at the end, or at the front if it was delivered before.
func (q *Memory) put(it *memoryItem) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if it.over {
		return
	}
	z := q.zone(it.Zone)
	if it.times > 0 {
		it.place = z.items.PushFront(it)
	} else {
		it.place = z.items.PushBack(it)
	}
	z.pump()
}

// take removes an item, wherever it is.
func (q *Memory) take(it *memoryItem) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it.over = true
	if it.place != nil {
		q.zone(it.Zone).items.Remove(it.place)
		it.place = nil
	}
}

// pump hands waiting items to workers with room, those with most room first.
func (z *memoryZone) pump() {
	for z.items.Len() > 0 {
		var best *memorySource
		for _, s := range z.sources {
			if s.free > 0 && (best == nil || s.free > best.free) {
				best = s
			}
		}
		if best == nil {
			return
		}
		it := z.items.Remove(z.items.Front()).(*memoryItem)
		it.place = nil
		if time.Since(it.sent) < it.Life {
			best.give(it)
		}
	}
}

// memoryDispatcher is an engine's side.
type memoryDispatcher struct {
	queue  *Memory
	id     string
	orders *orders
	ending sync.Once
	over   chan struct{}
}

// Do queues the item and waits.
func (d *memoryDispatcher) Do(ctx context.Context, it *Item) (*Result, error) {
	r, err := d.do(ctx, it)
	d.queue.metrics.ended(err)
	return r, err
}

func (d *memoryDispatcher) do(ctx context.Context, it *Item) (*Result, error) {
	select {
	case d.queue.room <- struct{}{}:
		defer func() { <-d.queue.room }()
	case <-d.over:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	began := time.Now()
	it.Engine, it.Sent = d.id, object.At(began)
	w := d.orders.add(it)
	defer d.orders.drop(w)
	if d.queue.fleet.Deserted(it.Zone) > d.queue.timing.deserted {
		return nil, d.orders.unanswered(w, began, d.queue.fleet, nil)
	}
	m := &memoryItem{Item: it, sent: began}
	d.queue.put(m)
	defer d.queue.take(m)
	return d.orders.wait(ctx, w, waitFor{began: began, fleet: d.queue.fleet, lease: d.queue.timing.lease, over: d.over})
}

// Fleet knows the workers of this process.
func (d *memoryDispatcher) Fleet() *Fleet { return d.queue.fleet }

// Failed is never closed: nothing can happen to memory.
func (d *memoryDispatcher) Failed() <-chan struct{} { return nil }

// Err is nil.
func (d *memoryDispatcher) Err() error { return nil }

// Close disconnects the engine.
func (d *memoryDispatcher) Close() error {
	d.ending.Do(func() {
		close(d.over)
		d.queue.mu.Lock()
		defer d.queue.mu.Unlock()
		delete(d.queue.engines, d.id)
	})
	return nil
}
