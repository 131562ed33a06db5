package ingress

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Patience is how long a submitted command may go without a word on the log before
// it counts as not confirmed.
const Patience = 30 * time.Second

// grace is how long actions without an event of their own are waited for after the
// engine said that all is done: the log may be read a moment later.
const grace = time.Second

// Tracked is how many commands a Tracker knows; the oldest is forgotten first.
const Tracked = 1000

// Stage is how far a submitted command is.
type Stage string

// The stages.
const (
	Submitted   Stage = "submitted"   // an engine has it
	Applied     Stage = "applied"     // its events are on the log, or there was nothing to change
	Partly      Stage = "partly"      // some of it is applied, the rest was refused or is not confirmed
	Refused     Stage = "refused"     // nothing of it was done
	Unconfirmed Stage = "unconfirmed" // nothing was heard in time; it may still be applied
)

// Facts of a command.rejected event.
const (
	FactCommand = "command" // id of the command
	FactTotal   = "actions"
	FactRefused = "refused"
	FactUnknown = "unconfirmed"
	FactObject  = "object" // the first of those that were refused; absent = the program
)

// Progress is how far a submitted command is.
type Progress struct {
	ID       string
	Stage    Stage
	At       time.Time // when it was submitted
	Total    int       // actions
	Applied  int
	Refused  int
	Unknown  int
	Failures []Failure // the first, as far as they are known
}

// Tracker recognises on the log what became of the commands of this process. Its
// methods may be called from any goroutine.
type Tracker struct {
	now  func() time.Time
	open atomic.Int32 // commands that are not settled; 0 = See has nothing to do

	mu    sync.Mutex
	byID  map[string]*tracked
	order []string
}

type tracked struct {
	at       time.Time
	total    int
	seen     []uint64  // actions whose event was read, one bit each
	applied  int       // of them
	said     time.Time // when the engine, or the log, said that all is done; zero = not yet
	refused  int
	unknown  int
	failures []Failure
	settled  bool
}

// NewTracker returns a tracker that reads the time from now.
func NewTracker(now func() time.Time) *Tracker {
	return &Tracker{now: now, byID: map[string]*tracked{}}
}

// Add begins to watch for a command, before it is submitted.
func (t *Tracker) Add(id string, actions int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byID[id] = &tracked{at: t.now(), total: actions, seen: make([]uint64, (actions+63)/64)}
	t.order = append(t.order, id)
	t.open.Add(1)
	for len(t.order) > Tracked {
		t.forget(t.order[0])
		t.order = t.order[1:]
	}
}

// Drop forgets a command that was not taken.
func (t *Tracker) Drop(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forget(id)
	for i := len(t.order) - 1; i >= 0; i-- {
		if t.order[i] == id {
			t.order = append(t.order[:i], t.order[i+1:]...)
			return
		}
	}
}

func (t *Tracker) forget(id string) {
	c := t.byID[id]
	if c == nil {
		return
	}
	if !c.settled {
		t.open.Add(-1)
	}
	delete(t.byID, id)
}

// See looks at an event that was just folded.
func (t *Tracker) See(e *event.Event) {
	if t.open.Load() == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Kind == event.CommandRejected {
		t.rejected(e)
		return
	}
	id, n, batch := strings.Cut(e.ID, ".")
	c := t.byID[id]
	if c == nil || batch == (c.total == 1) {
		return
	}
	i := uint64(0)
	if batch {
		var err error
		if i, err = strconv.ParseUint(n, 36, 32); err != nil || i >= uint64(c.total) {
			return
		}
	}
	if bit := uint64(1) << (i % 64); c.seen[i/64]&bit == 0 {
		c.seen[i/64] |= bit
		c.applied++
		t.settle(c)
	}
}

// rejected takes in what the log says of a command as a whole; what the engine has
// told is more.
func (t *Tracker) rejected(e *event.Event) {
	c := t.byID[e.Facts[FactCommand]]
	if c == nil || !c.said.IsZero() {
		return
	}
	number := func(fact string) int {
		n, err := strconv.Atoi(e.Facts[fact])
		if err != nil {
			return 0
		}
		return min(max(n, 0), c.total)
	}
	c.said, c.refused, c.unknown = t.now(), number(FactRefused), number(FactUnknown)
	c.failures = []Failure{{Object: object.ID(e.Facts[FactObject]), Why: e.Text}}
	t.settle(c)
}

// Ended takes in what the engine says that became of a command.
func (t *Tracker) Ended(o Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.byID[o.ID]
	if c == nil {
		return
	}
	if c.said.IsZero() {
		c.said = t.now()
	}
	c.refused, c.unknown, c.failures = min(max(o.Refused, 0), c.total), min(max(o.Unknown, 0), c.total), o.Failures
	t.settle(c)
}

// settle takes note that there is nothing more to come of a command.
func (t *Tracker) settle(c *tracked) {
	if !c.settled && c.applied+c.refused >= c.total {
		c.settled = true
		t.open.Add(-1)
	}
}

// Look returns how far a command is; false if it is not known, or not any more.
func (t *Tracker) Look(id string) (Progress, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.byID[id]
	if c == nil {
		return Progress{}, false
	}
	now := t.now()
	p := Progress{ID: id, At: c.at, Total: c.total, Applied: c.applied, Refused: c.refused, Unknown: c.unknown, Failures: c.failures}
	if !c.said.IsZero() && now.Sub(c.said) >= grace {
		p.Applied = max(p.Applied, c.total-c.refused-c.unknown) // the rest changed nothing
	}
	open := max(p.Total-p.Applied-p.Refused, 0)
	if p.Unknown = min(p.Unknown, open); now.Sub(c.at) >= Patience { // the log had the others after all
		p.Unknown = open
	}
	p.Stage = p.stage(open)
	return p, true
}

// stage says it in a word; open is how many actions nothing is known of.
func (p *Progress) stage(open int) Stage {
	switch {
	case p.Applied >= p.Total:
		return Applied
	case p.Refused >= p.Total:
		return Refused
	case p.Unknown < open:
		return Submitted
	case p.Applied+p.Refused > 0:
		return Partly
	}
	return Unconfirmed
}
