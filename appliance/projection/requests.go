package projection

import (
	"slices"
	"sync"
	"sync/atomic"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// requests is what is to be delivered and not yet settled. The goroutine that
// applies events writes it, everybody reads.
type requests struct {
	mu      sync.Mutex
	open    deliver.Open
	watches []*watch // replaced, never changed in place
	settled atomic.Pointer[func(*deliver.Pending, *event.Event)]
}

// watch hands changes to one reader.
type watch struct {
	mu     sync.Mutex // held while the reader is called
	closed bool
	fn     func(added []*deliver.Pending, ended []string)
}

func (w *watch) call(added []*deliver.Pending, ended []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.fn(added, ended)
	}
}

// changes are what one event has done to the requests, and who is told of it.
type changes struct {
	added   []*deliver.Pending
	ended   []string
	watches []*watch
	settled func() // nil = nobody asks, or nothing was
}

func (c *changes) tell() {
	if len(c.added)+len(c.ended) == 0 {
		return
	}
	if c.settled != nil {
		c.settled()
	}
	for _, w := range c.watches {
		w.call(c.added, c.ended)
	}
}

// apply folds an accepted event.
func (r *requests) apply(e *event.Event) (c changes) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.open.Get(e.Facts[event.FactRequest])
	c.added, c.ended = r.open.Apply(e)
	c.watches = r.watches
	if fn := r.settled.Load(); fn != nil && len(c.ended) > 0 {
		c.settled = func() { (*fn)(p, e) }
	}
	return c
}

// copy returns what there is now, for a snapshot.
func (r *requests) copy() *deliver.Open {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open.Clone()
}

// take replaces everything by what a snapshot holds.
func (r *requests) take(o *deliver.Open) {
	r.mu.Lock()
	r.open = *o
	c := changes{added: r.open.All(), watches: r.watches}
	r.mu.Unlock()
	c.tell()
}

// OpenRequests returns the requests without a final outcome, in the order of the
// log.
func (p *Projection) OpenRequests() []*deliver.Pending {
	p.requests.mu.Lock()
	defer p.requests.mu.Unlock()
	return p.requests.open.All()
}

// OpenRequest returns the open request with an ID, nil if there is none.
func (p *Projection) OpenRequest(id string) *deliver.Pending {
	p.requests.mu.Lock()
	defer p.requests.mu.Unlock()
	return p.requests.open.Get(id)
}

// WatchRequests returns the open requests, and calls fn with every later change in
// order, on the goroutine that applies events. fn must not block and must not call
// cancel; after cancel it is not called any more.
func (p *Projection) WatchRequests(fn func(added []*deliver.Pending, ended []string)) (open []*deliver.Pending, cancel func()) {
	r, w := &p.requests, &watch{fn: fn}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watches = append(slices.Clone(r.watches), w)
	return r.open.All(), func() {
		w.mu.Lock()
		w.closed = true
		w.mu.Unlock()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.watches = slices.DeleteFunc(slices.Clone(r.watches), func(o *watch) bool { return o == w })
	}
}

// Release returns what a process run that delivers last said of what it has begun, nil
// if it said nothing.
func (p *Projection) Release(instance string) *deliver.Release {
	p.requests.mu.Lock()
	defer p.requests.mu.Unlock()
	return p.requests.open.Release(instance)
}

// Doubted tells whether anybody who delivers has said that it may have sent a request.
func (p *Projection) Doubted(id string) bool {
	p.requests.mu.Lock()
	defer p.requests.mu.Unlock()
	return p.requests.open.Doubted(id)
}

// OnSettled has fn called with every request that gets its final outcome and the event
// that says so, on the goroutine that applies events; fn must not block. A second call
// replaces the first.
func (p *Projection) OnSettled(fn func(*deliver.Pending, *event.Event)) {
	p.requests.settled.Store(&fn)
}

// GroupSent returns what the outcomes say of the newest message of a group within a
// day.
func (p *Projection) GroupSent(k deliver.GroupKey) deliver.Last {
	p.requests.mu.Lock()
	defer p.requests.mu.Unlock()
	return p.requests.open.Sent(k)
}

// RepeatedOutcomes returns how many outcomes settled a request that was settled
// before.
func (p *Projection) RepeatedOutcomes() uint64 {
	p.requests.mu.Lock()
	defer p.requests.mu.Unlock()
	return p.requests.open.Repeated()
}

// World returns what a plan of deliveries looks at.
func (p *Projection) World() *deliver.World {
	return &deliver.World{
		Status: func(id object.ID) *event.Status {
			if s := p.Look(id); s != nil {
				return &s.Status
			}
			return nil
		},
		Object: func(id object.ID) *object.Object { return p.Set().Get(id) },
		Sent:   p.GroupSent,
		Seen: func(id object.ID) object.Time {
			if s := p.Look(id); s != nil {
				return s.Measure.LastCheck
			}
			return 0
		},
	}
}
