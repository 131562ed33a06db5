package deliver

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Planner puts open requests into messages. Create it with NewPlanner; it has one
// owner. What it does depends on the requests, the instants and the worlds it is
// given, and not on the order in which requests are added.
type Planner struct {
	limits   Limits
	entries  map[string]*entry // by request
	subjects map[object.ID]*subject
	lanes    map[laneKey]*lane
	groups   map[GroupKey]*memory
	pruneAt  int // length of groups from which it is worth looking through them

	next     heap[*lane]  // lanes in which something waits
	ages     heap[*entry] // those that are not taken
	fresh    []*entry     // were added since a world was last seen
	expiring [][]*entry   // whose deadline is over, by message
	flying   int          // messages that are taken
	scanned  object.Time  // when all objects were last looked at
}

// entry is one request with the planner.
type entry struct {
	p        *Pending
	subject  *subject
	slot     int    // in the subject's entries
	unit     *unit  // that it waits in; nil while it is taken
	group    string // "" = it goes alone
	value    string // of what it is grouped by
	ready    object.Time
	expires  object.Time
	attempts int
	old      bool // was open when the process began
	repeat   bool // may have gone out before
	ended    bool

	inUnit, inAges int // places
}

// subject is an object that requests wait for.
type subject struct {
	id      object.ID
	root    object.ID // that explained its problem when it was last looked at
	entries []*entry
}

// memory is what the planner remembers of a group beyond its requests.
type memory struct {
	Last
	tried object.Time // when a new message of the group was last taken
	asked bool        // the world was asked what earlier processes sent
	users int         // units
}

// NewPlanner returns a planner without requests.
func NewPlanner(l Limits) *Planner {
	return &Planner{
		limits: l, entries: map[string]*entry{}, subjects: map[object.ID]*subject{}, lanes: map[laneKey]*lane{},
		groups: map[GroupKey]*memory{}, pruneAt: minPrune,
		next: heap[*lane]{less: (*lane).before, place: func(l *lane) *int { return &l.place }},
		ages: heap[*entry]{less: (*entry).older, place: func(e *entry) *int { return &e.inAges }},
	}
}

// SetLimits replaces the limits for what waits and what comes.
func (p *Planner) SetLimits(l Limits) {
	p.limits = l
	waiting := p.ages.items
	p.ages.items = nil
	for _, e := range waiting {
		e.inAges = -1
	}
	for _, e := range waiting {
		e.expires = l.deadline(e.p.Time)
		p.ages.push(e)
	}
	for k, lane := range p.lanes {
		if !k.heartbeat {
			lane.limit(l.rate(k.channel))
		}
		p.settleLane(lane)
	}
}

// Add takes a request in. One that the planner has already is left alone. repeat says
// that it was open when the process began: if it is due at the first Take after
// that, an earlier process may have sent it.
func (p *Planner) Add(r *Pending, repeat bool) {
	if p.entries[r.ID] != nil {
		return
	}
	e := &entry{
		p: r, ready: r.Time.Add(max(0, r.Note.Group.Wait)), expires: p.limits.deadline(r.Time),
		attempts: r.Failures, old: repeat, inUnit: -1, inAges: -1,
	}
	if alone(r) {
		e.ready = r.Time
	}
	p.entries[r.ID] = e
	s := p.subjects[r.Event.Object]
	if s == nil {
		s = &subject{id: r.Event.Object}
		p.subjects[s.id] = s
	}
	e.subject, e.slot = s, len(s.entries)
	s.entries = append(s.entries, e)
	p.ages.push(e)
	p.enter(e, value(r, "", nil), nil)
	p.fresh = append(p.fresh, e)
}

// End takes a request out that has its outcome. One that is taken stays in its
// message, and is not tried again.
func (p *Planner) End(id string) {
	e := p.entries[id]
	if e == nil {
		return
	}
	e.ended = true
	if e.unit != nil {
		p.leave(e)
	}
	p.forget(e)
}

// forget lets go of a request that waits nowhere.
func (p *Planner) forget(e *entry) {
	p.ages.remove(e)
	if p.entries[e.p.ID] != e {
		return
	}
	delete(p.entries, e.p.ID)
	s := e.subject
	last := s.entries[len(s.entries)-1]
	s.entries[e.slot], last.slot = last, e.slot
	s.entries[len(s.entries)-1] = nil
	s.entries = s.entries[:len(s.entries)-1]
	if len(s.entries) == 0 {
		delete(p.subjects, s.id)
	}
}

// Next returns when Take has something, which may be past; 0 = not by time alone.
// Whatever else is called may change it.
func (p *Planner) Next(now object.Time) object.Time {
	if p.full() {
		return 0
	}
	if len(p.expiring) > 0 {
		return now
	}
	var at object.Time
	if p.ages.len() > 0 {
		at = p.ages.first().expires
	}
	if p.next.len() > 0 {
		at = min(at, p.next.first().next)
	}
	return at
}

// full tells whether too many messages are taken.
func (p *Planner) full() bool { return p.limits.Queue > 0 && p.flying >= p.limits.Queue }

// Done takes back a message that was sent.
func (p *Planner) Done(b *Batch, now object.Time) {
	for _, e := range b.entries {
		if e.group != "" {
			p.memory(b.key(e.group), now, nil).Last = Last{now, b.Thread}
		}
	}
	p.Abandoned(b)
}

// Abandoned takes back a message that is given up: it counts as none of its group's.
func (p *Planner) Abandoned(b *Batch) {
	for _, e := range b.entries {
		p.forget(e)
	}
	p.land(b)
}

// land lets those go on that waited for a message to come back.
func (p *Planner) land(b *Batch) {
	p.flying--
	for _, u := range b.units {
		u.flying = false
		p.settle(u)
	}
	b.units = nil
}

// Failed takes back a message that could not be sent and returns when it is tried
// again, with the same requests as far as they are open then. retryAfter is what the
// other side has asked for, 0 = nothing; the channel then rests for the contact.
func (p *Planner) Failed(b *Batch, now object.Time, retryAfter time.Duration) (again object.Time) {
	pause := now.Add(min(max(0, retryAfter), maxPause))
	again = max(pause, now.Add(backoff(b.ID, b.Attempt)))
	l := p.lane(b.entries[0].p)
	if retryAfter > 0 && !l.key.heartbeat {
		l.rest(pause)
	}
	u := &unit{lane: l, group: b.Group, thread: b.Thread, retry: true, again: again, inLane: -1}
	u.members = members()
	for _, e := range b.entries {
		if e.ended {
			continue
		}
		e.attempts = b.Attempt
		if b.Expired {
			e.expires = again
		}
		e.unit = u
		u.members.push(e)
		p.ages.push(e)
	}
	p.land(b)
	p.settle(u)
	p.settleLane(l)
	return again
}
