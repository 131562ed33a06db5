package projection

import (
	"sync"
	"sync/atomic"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
)

// Item is one object with its present state. Both are immutable.
type Item struct {
	Object *object.Object
	State  *fold.State
}

// slot holds the state of one object; it outlives config generations.
type slot struct {
	state atomic.Pointer[fold.State]
}

// Projection is the fold of both streams. Create it with New.
type Projection struct {
	mu    sync.RWMutex // guards slots and set as maps; never held while folding many events
	slots map[object.ID]*slot
	set   atomic.Pointer[object.Set]

	counts   counters
	index    index
	requests requests
	program  atomic.Pointer[program.State]
	position atomic.Pointer[journal.Position]
	newest   atomic.Int64 // object.Time of the newest applied event
	fence    atomic.Uint64
	outcomes [5]atomic.Uint64

	subs subscribers
}

// New returns a projection that knows the objects of set, all PENDING.
func New(set *object.Set) *Projection {
	p := &Projection{slots: make(map[object.ID]*slot, len(set.Objects))}
	p.position.Store(&journal.Position{})
	p.program.Store(&program.State{})
	p.index.clear()
	p.subs.list = map[*Subscription]struct{}{}
	p.Replace(set)
	return p
}

// Set returns the objects of the running config generation.
func (p *Projection) Set() *object.Set { return p.set.Load() }

// Replace switches to another config generation and counts anew. States are kept
// by ID. It takes time in proportion to the objects; see Switch.
func (p *Projection) Replace(set *object.Set) {
	p.addSlots(set.Objects)
	p.set.Store(set)
	p.counts.rebuild(set, p.State)
}

// Switch switches to another config generation whose objects differ from the
// present one's by those added and removed; it takes time in proportion to these
// alone. The same goroutine as Apply must call it.
func (p *Projection) Switch(set *object.Set, added, removed []object.ID) {
	fresh := make([]*object.Object, 0, len(added))
	for _, id := range added {
		fresh = append(fresh, set.Get(id))
	}
	p.addSlots(fresh)
	p.set.Store(set)
	p.counts.change(added, removed, p.State)
}

// addSlots makes a state for each object that has none.
func (p *Projection) addSlots(objects []*object.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range objects {
		if p.slots[o.ID] == nil {
			s := &slot{}
			s.state.Store(initial(o))
			p.slots[o.ID] = s
		}
	}
}

// initial is the state of an object nothing was ever heard of.
func initial(o *object.Object) *fold.State {
	s := fold.New(o)
	return &s
}

// Get returns an object of the running generation with its state.
func (p *Projection) Get(id object.ID) (Item, bool) {
	o := p.Set().Get(id)
	if o == nil {
		return Item{}, false
	}
	return Item{Object: o, State: p.State(id)}, true
}

// State returns the state of an object, also of one that is not configured any
// more; the zero state if nothing was ever heard of it.
func (p *Projection) State(id object.ID) *fold.State {
	if s := p.Look(id); s != nil {
		return s
	}
	return &fold.State{}
}

// Look returns the state of an object, nil if nothing is known of it.
func (p *Projection) Look(id object.ID) *fold.State {
	p.mu.RLock()
	s := p.slots[id]
	p.mu.RUnlock()
	if s == nil {
		return nil
	}
	return s.state.Load()
}

// Apply folds one event. Only one goroutine may call it. Events about objects
// that are not configured are folded too.
func (p *Projection) Apply(e *event.Event) fold.Outcome {
	outcome := fold.Accepted
	switch {
	case e.Object != "":
		outcome = p.applyObject(e)
	case e.Program != nil:
		outcome = p.applyProgram(e)
	case e.Stream == event.Log && e.Kind == event.NotificationReleased:
		p.requests.apply(e)
	}
	// What delivers counts the epochs of a membership of its own.
	if e.Epoch > p.fence.Load() && !e.Kind.Outcome() {
		p.fence.Store(e.Epoch)
	}
	p.outcomes[outcome].Add(1)
	p.advance(e)
	if outcome == fold.Accepted {
		p.subs.publish(e)
	}
	return outcome
}

func (p *Projection) applyObject(e *event.Event) fold.Outcome {
	p.mu.RLock()
	s := p.slots[e.Object]
	p.mu.RUnlock()
	if s == nil {
		s = &slot{}
		s.state.Store(&fold.State{})
		p.mu.Lock()
		p.slots[e.Object] = s
		p.mu.Unlock()
	}
	old := s.state.Load()
	next, outcome := fold.Apply(*old, e)
	var asked changes
	if outcome == fold.Accepted && deliver.Concerns(e) {
		// Before the state shows it: a snapshot reads the states first.
		asked = p.requests.apply(e)
	}
	s.state.Store(&next)
	asked.tell()
	if outcome == fold.Accepted {
		p.counts.move(e.Object, old, &next, p.Set())
		p.index.move(e.Object, old.Status.Extra, next.Status.Extra, e.Time)
	}
	return outcome
}

func (p *Projection) advance(e *event.Event) {
	at := *p.position.Load()
	if e.Stream == event.Log {
		at.Log = max(at.Log, e.Seq)
	} else {
		at.Results = max(at.Results, e.Seq)
	}
	p.position.Store(&at)
	if t := int64(e.Time); t > p.newest.Load() {
		p.newest.Store(t)
	}
}

// Position returns how far both streams have been folded.
func (p *Projection) Position() journal.Position { return *p.position.Load() }

// Newest returns the time of the newest folded event, 0 if there is none.
func (p *Projection) Newest() object.Time { return object.Time(p.newest.Load()) }

// Epoch returns the newest epoch seen on the log.
func (p *Projection) Epoch() uint64 { return p.fence.Load() }

// Outcome returns how many events had an outcome since the start.
func (p *Projection) Outcome(o fold.Outcome) uint64 { return p.outcomes[o].Load() }

// Counts returns the present number of objects by state.
func (p *Projection) Counts() Counts { return p.counts.load() }
