package queue

import (
	"context"
	"slices"
	"sync"
	"time"
)

// memorySource is a worker's side of a Memory queue.
type memorySource struct {
	queue *Memory
	Worker
	items chan Delivery

	// Guarded by Memory.mu.
	free   int // items it can take now; less than 1 = none
	shares int // what it asked for: its capacity until it drains
	held   map[*memoryDelivery]bool
	ended  bool
}

// Source connects a worker. In memory its zones share the whole capacity.
func (q *Memory) Source(_ context.Context, w Worker) (Source, error) {
	w.Zones = slices.Clone(w.Zones)
	if err := w.check(); err != nil {
		return nil, err
	}
	s := &memorySource{
		queue: q, Worker: w, items: make(chan Delivery, w.Capacity), free: w.Capacity, shares: w.Capacity,
		held: map[*memoryDelivery]bool{},
	}
	q.fleet.attach(w, s.running)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range w.Zones {
		z := q.zone(name)
		z.sources = append(z.sources, s)
		z.pump()
	}
	return s, nil
}

func (s *memorySource) running() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.held)
}

// give hands an item over; the caller holds Memory.mu and has seen free > 0.
func (s *memorySource) give(it *memoryItem) {
	s.free--
	it.times++
	if it.times > 1 {
		s.queue.metrics.again.Inc()
	}
	d := &memoryDelivery{source: s, item: it, since: time.Now()}
	s.held[d] = true
	s.queue.metrics.running.Inc()
	s.items <- d // never blocks: it has room for the capacity
}

// Items delivers what is to be executed.
func (s *memorySource) Items() <-chan Delivery { return s.items }

// Trouble is empty: nothing can happen to memory.
func (s *memorySource) Trouble() []string { return nil }

// Drain asks for nothing more.
func (s *memorySource) Drain() {
	s.queue.fleet.forget(s.ID)
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	s.stopAsking()
}

func (s *memorySource) stopAsking() {
	s.free -= s.shares
	s.shares = 0
	for _, name := range s.Zones {
		z := s.queue.zone(name)
		z.sources = slices.DeleteFunc(z.sources, func(o *memorySource) bool { return o == s })
	}
}

// Failed is never closed.
func (s *memorySource) Failed() <-chan struct{} { return nil }

// Err is nil.
func (s *memorySource) Err() error { return nil }

// Close gives back what is not answered.
func (s *memorySource) Close() error {
	s.Drain()
	s.queue.mu.Lock()
	if s.ended {
		s.queue.mu.Unlock()
		return nil
	}
	s.ended = true
	close(s.items)
	open := make([]*memoryDelivery, 0, len(s.held))
	for d := range s.held {
		open = append(open, d)
	}
	s.queue.mu.Unlock()
	for _, d := range open {
		d.Return()
	}
	return nil
}

// memoryDelivery is an item in the hands of a worker.
type memoryDelivery struct {
	source *memorySource
	item   *memoryItem
	since  time.Time
	once   sync.Once
}

// Item returns the item.
func (d *memoryDelivery) Item() *Item { return d.item.Item }

// Stale compares with the clock that sent the item.
func (d *memoryDelivery) Stale() bool { return time.Since(d.item.sent) >= d.item.Life }

// Answer hands the result to the engine.
func (d *memoryDelivery) Answer(_ context.Context, r *Result) error {
	r.ID, r.Worker = d.item.ID, d.source.ID
	d.end(itemAnswered, func() {
		q := d.source.queue
		q.mu.Lock()
		e := q.engines[d.item.Engine]
		q.mu.Unlock()
		if e != nil {
			e.orders.accept(r, d.item.Zone)
		}
	})
	return nil
}

// Return puts the item back in front; one that nobody wants any more vanishes
// when its turn comes.
func (d *memoryDelivery) Return() {
	d.end(itemReturned, func() {
		if !d.Stale() {
			d.source.queue.put(d.item)
		}
	})
}

// end does what ends the delivery, once, and makes room for another one.
func (d *memoryDelivery) end(outcome string, do func()) {
	d.once.Do(func() {
		q, s := d.source.queue, d.source
		q.mu.Lock()
		delete(s.held, d)
		q.mu.Unlock()
		q.metrics.running.Dec()
		q.metrics.items.WithLabelValues(outcome).Inc()
		do()
		q.mu.Lock()
		defer q.mu.Unlock()
		s.free++
		for _, name := range s.Zones {
			q.zone(name).pump()
		}
	})
}
