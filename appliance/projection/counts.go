package projection

import (
	"sync"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Counts is the number of configured objects by state. An object that was
// never checked is counted as Pending alone.
type Counts struct {
	Hosts           [3]int // by object.State
	Services        [4]int // by object.State
	PendingHosts    int
	PendingServices int
	// Objects for which Unhandled holds.
	UnhandledHosts    int
	UnhandledServices int
	Flapping          int
	Acknowledged      int
	InDowntime        int
}

type counters struct {
	mu       sync.Mutex
	n        Counts
	problems problems
}

func (c *counters) load() Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

func (c *counters) rebuild(set *object.Set, state func(object.ID) *fold.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n = Counts{}
	c.problems = problems{}
	for _, o := range set.Objects {
		c.enter(o.ID, state(o.ID))
	}
}

// enter counts an object that was not counted. The lock is held.
func (c *counters) enter(id object.ID, s *fold.State) {
	c.problems.move(id, &fold.State{}, s)
	c.n.add(id.Kind(), s, 1)
}

// change counts the objects that a generation adds and no longer those that it
// removes.
func (c *counters) change(added, removed []object.ID, state func(object.ID) *fold.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range removed {
		c.problems.move(id, state(id), &fold.State{})
		c.n.add(id.Kind(), state(id), -1)
	}
	for _, id := range added {
		c.enter(id, state(id))
	}
}

func (c *counters) move(id object.ID, old, next *fold.State, set *object.Set) {
	if set.Get(id) == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n.add(id.Kind(), old, -1)
	c.n.add(id.Kind(), next, 1)
	c.problems.move(id, old, next)
}

func (n *Counts) add(k object.Kind, s *fold.State, d int) {
	switch {
	case !s.Status.Checked && k == object.Host:
		n.PendingHosts += d
	case !s.Status.Checked:
		n.PendingServices += d
	case k == object.Host:
		n.Hosts[min(int(s.Status.State), 2)] += d
	default:
		n.Services[min(int(s.Status.State), 3)] += d
	}
	if Unhandled(s) {
		if k == object.Host {
			n.UnhandledHosts += d
		} else {
			n.UnhandledServices += d
		}
	}
	if s.Status.Flapping {
		n.Flapping += d
	}
	if s.Status.Ack != object.AckNone {
		n.Acknowledged += d
	}
	if s.Status.DowntimeDepth > 0 {
		n.InDowntime += d
	}
}

// Unhandled tells whether an object has a hard problem of its own that nobody
// acknowledged and that is in no downtime.
func Unhandled(s *fold.State) bool {
	return s.Status.Checked && s.Status.State != object.OK && s.Status.Type == object.Hard &&
		s.Status.Ack == object.AckNone && s.Status.DowntimeDepth == 0
}
