package queue

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"sync"
	"time"
)

// order is one item whose result an engine waits for.
type order struct {
	item   *Item
	result chan *Result // room for the one result that is accepted

	// Guarded by orders.mu.
	begun string // the worker that said so last
}

// orders are what one engine waits for. They decide which result counts.
type orders struct {
	metrics *metrics
	run     string // unguessable, so that ids of other runs and zones cannot be made up

	mu      sync.Mutex
	last    uint64
	waiting map[string]*order
}

func newOrders(m *metrics) *orders {
	var run [12]byte
	_, _ = rand.Read(run[:]) // never fails
	return &orders{metrics: m, run: hex.EncodeToString(run[:]) + ".", waiting: map[string]*order{}}
}

// add gives the item its id and begins to wait for its result.
func (o *orders) add(it *Item) *order {
	w := &order{item: it, result: make(chan *Result, 1)}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last++
	it.ID = o.run + strconv.FormatUint(o.last, 36)
	o.waiting[it.ID] = w
	o.metrics.waiting.Inc()
	return w
}

// drop ends the wait: what arrives from now on is not accepted.
func (o *orders) drop(w *order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.waiting[w.item.ID] == w {
		delete(o.waiting, w.item.ID)
	}
	o.metrics.waiting.Dec()
}

// accept takes a result from a worker of a zone and tells what became of it.
func (o *orders) accept(r *Result, zone string) string {
	o.mu.Lock()
	w := o.waiting[r.ID]
	verdict := resultAccepted
	switch {
	case w == nil:
		verdict = resultUnexpected
	case w.item.Zone != zone:
		verdict = resultForged
	default:
		delete(o.waiting, r.ID)
	}
	o.mu.Unlock()
	o.metrics.results.WithLabelValues(verdict).Inc()
	if verdict == resultAccepted {
		w.result <- r
	}
	return verdict
}

// note remembers who began an item.
func (o *orders) note(id, worker, zone string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if w := o.waiting[id]; w != nil && w.item.Zone == zone {
		w.begun = worker
	}
}

// unanswered makes the error of an order that nobody answered.
func (o *orders) unanswered(w *order, since time.Time, f *Fleet, err error) error {
	o.mu.Lock()
	begun := w.begun
	o.mu.Unlock()
	return &Unanswered{Zone: w.item.Zone, Worker: begun, Live: f.Live(w.item.Zone), Waited: time.Since(since), Err: err}
}

// waitFor is what a wait depends on beside the order.
type waitFor struct {
	began time.Time
	fleet *Fleet
	lease time.Duration
	// news is how long after the item's life a worker that began it has told so
	// more than once; 0 = workers do not tell.
	news time.Duration
	over <-chan struct{} // closed when the engine's side closes
	// again is called when retry is closed and returns the next one; nil = never.
	retry <-chan struct{}
	again func() <-chan struct{}
}

// look is how often a wait looks whether the zone still has workers.
const look = time.Second

// wait returns the result of an order. From the end of the item's life on nobody
// begins it, so it is given up once nobody serves the zone, or nobody has told that
// it began; else when a worker that began at the last moment would have answered.
func (o *orders) wait(ctx context.Context, w *order, f waitFor) (*Result, error) {
	life := time.NewTimer(w.item.Life - time.Since(f.began))
	defer life.Stop()
	full := time.NewTimer(w.item.wanted() - time.Since(f.began))
	defer full.Stop()
	for {
		select {
		case r := <-w.result:
			return r, nil
		case <-f.retry:
			f.retry = f.again()
		case <-life.C:
			if o.abandoned(w, f) {
				return nil, o.unanswered(w, f.began, f.fleet, nil)
			}
			life.Reset(look)
		case <-full.C:
			return nil, o.unanswered(w, f.began, f.fleet, nil)
		case <-f.over:
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// abandoned tells that an order has no worker and can get none. One that was begun
// is left to its worker until the server would give it to another one.
func (o *orders) abandoned(w *order, f waitFor) bool {
	o.mu.Lock()
	begun := w.begun
	o.mu.Unlock()
	if f.news > 0 && begun == "" && time.Since(f.began) >= w.item.Life+f.news {
		return true
	}
	return f.fleet.Gone(w.item.Zone) && (begun == "" || f.fleet.Deserted(w.item.Zone) >= f.lease)
}
