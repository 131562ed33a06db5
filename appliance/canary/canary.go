package canary

import (
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Hop is one station of a round.
type Hop string

// The hops in their order.
const (
	Scheduled Hop = "scheduled" // the schedule started the check
	Executed  Hop = "executed"  // the check gave a result
	Folded    Hop = "folded"    // the result came back from the log
	Decided   Hop = "decided"   // a notification of it is on the log
	Delivered Hop = "delivered" // it was sent, and the log knows
)

// Hops returns all hops in their order.
func Hops() []Hop { return []Hop{Scheduled, Executed, Folded, Decided, Delivered} }

// station is the newest round that passed a hop: the start of its check, and when it
// passed.
type station struct{ round, at object.Time }

// hops is how many there are.
const hops = 5

// Tracker knows how far the rounds came. Any goroutine may use it; the zero Tracker
// is not useful, see New.
type Tracker struct {
	mu       sync.Mutex
	id       object.ID
	every    time.Duration // 0 = there is no canary
	since    object.Time   // it is watched
	stations [hops]station
	// waits is since when a round has passed the hop before and none since has passed
	// this one; 0 = none waits.
	waits    [hops]object.Time
	patience time.Duration // until a round counts as not begun, at least
}

// New returns a tracker that watches nothing yet.
func New() *Tracker { return &Tracker{} }

// Watch begins to watch the canary of another config generation. Every is the time
// between two rounds; 0 means that there is no canary.
func (t *Tracker) Watch(id object.ID, every time.Duration, now object.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.id != id || (t.every == 0) != (every == 0) {
		t.stations, t.waits, t.since = [hops]station{}, [hops]object.Time{}, now
	}
	t.id, t.every = id, every
}

// Handed takes note that another process than before checks the canary, or tells of
// it: what was under way is not waited for, the next round is. Patience is how long that
// may take at least once it is due, because it may have to be noticed first that a
// process has died; 0 = there is only one.
func (t *Tracker) Handed(patience time.Duration, now object.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits, t.since, t.patience = [hops]object.Time{}, now, patience
}

// Is tells whether an object is the canary.
func (t *Tracker) Is(id object.ID) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.every > 0 && t.id == id
}

// ID returns the canary's id, "" if there is none.
func (t *Tracker) ID() object.ID {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.every <= 0 {
		return ""
	}
	return t.id
}

// Completed takes over what an earlier process is known to have completed.
func (t *Tracker) Completed(round object.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.stations {
		t.pass(i, station{round, round})
	}
}

// Pass takes note that a round, which is named by the start of its check, has passed
// a hop, and with it all hops before.
func (t *Tracker) Pass(h Hop, round, now object.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, hop := range Hops() {
		t.pass(i, station{round, now})
		if hop == h {
			return
		}
	}
}

// pass lets a round be the newest at a hop, if it is. That others come after it does
// not end the wait of one that is stuck behind this hop.
func (t *Tracker) pass(i int, s station) {
	if s.round <= t.stations[i].round {
		return
	}
	t.stations[i] = s
	switch {
	case i == 0:
	case t.stations[i-1].round <= s.round:
		t.waits[i] = 0
	default:
		t.waits[i] = t.stations[i-1].at
	}
	if i+1 < hops && t.waits[i+1] == 0 && t.stations[i+1].round < s.round {
		t.waits[i+1] = s.at
	}
}

// Status is how the canary stands.
type Status struct {
	Enabled bool
	Every   time.Duration
	Last    object.Time // when the last round was complete; 0 = none was yet
	Hop     Hop         // at which the present round has stopped; "" = nothing is overdue
	Passed  map[Hop]object.Time
}

// grace is how long a round may take for one hop: a part of the time between two
// rounds, so that a fault is named before the next one would be complete.
func grace(every time.Duration) time.Duration {
	return min(max(every/3, time.Second), 20*time.Second)
}

// Status returns how the canary stands at a time.
func (t *Tracker) Status(now object.Time) Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Status{Enabled: t.every > 0, Every: t.every, Passed: map[Hop]object.Time{}}
	if !s.Enabled {
		return s
	}
	for i, h := range Hops() {
		if at := t.stations[i].at; at != 0 {
			s.Passed[h] = at
		}
	}
	s.Last = t.stations[len(t.stations)-1].at
	s.Hop = t.stopped(now)
	return s
}

// stopped returns the hop that keeps a round waiting. The last one that waits counts:
// what came through the first hops proves them.
func (t *Tracker) stopped(now object.Time) Hop {
	wait := grace(t.every)
	for i := len(t.stations) - 1; i > 0; i-- {
		if since := t.waits[i]; since != 0 && now >= since.Add(wait) {
			return Hops()[i]
		}
	}
	if now >= max(t.stations[0].at, t.since).Add(t.every+max(wait, t.patience)) {
		return Scheduled
	}
	return ""
}
