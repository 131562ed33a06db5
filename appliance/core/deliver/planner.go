package deliver

import (
	"math"
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

	kinds    map[string]*kind // of channels
	ages     heap[*entry]     // those that expire and are not taken
	fresh    []*entry         // were added since a world was last seen
	passed   int              // of them, those that the time was compared with
	expiring [][]*entry       // whose time is over, by message
	flying   int              // messages that are taken
	doubt    int              // of them those that are on lanes that fail
	yielded  bool             // the newest message that was taken went before others although its lane fails
	held     int              // units that another root would let go out earlier
	scanned  object.Time      // when all objects were last looked at
	now      object.Time      // of the last Pass or Take; 0 = there was none
}

// entry is one request with the planner.
type entry struct {
	p        *Pending
	subject  *subject
	slot     int         // in the subject's entries
	unit     *unit       // that it waits in; nil while it is taken
	group    string      // "" = it goes alone
	value    string      // of what it is grouped by
	from     object.Time // of its event, but not later than it came: another clock may be ahead
	ready    object.Time
	tried    object.Time // the first time, from which the deadline counts; 0 = it was not
	expires  object.Time // 0 = not before it was tried
	over     bool        // its round is over, whatever the clock that wrote it says
	attempts int
	old      bool // was open when the process began
	repeat   bool // may have gone out before
	ended    bool

	asked object.Time // until when another process may be sending it, if it was due when it came; 0 = none
	busy  object.Time // the same, once it is known that it was due

	inUnit, inAges int // places
}

// subject is an object that requests wait for.
type subject struct {
	id      object.ID
	root    object.ID // that explained its problem when it was last looked at
	entries []*entry

	judged  object.Time // turn in which it was last asked for a suspect of
	since   object.Time // its problem since then
	suspect object.ID   // "" = there was none
}

// memory is what the planner remembers of a group beyond its requests.
type memory struct {
	Last
	tried   object.Time // when a new message of the group was last taken
	several object.Time // when one that was not about a single object was
	headed  object.Time // until when the interval holds for its head too: one was told
	failed  *unit       // the newest message with some of the group that failed
	asked   bool        // the world was asked what earlier processes sent
	users   int         // units
}

// NewPlanner returns a planner without requests.
func NewPlanner(l Limits) *Planner {
	return &Planner{
		limits: l, entries: map[string]*entry{}, subjects: map[object.ID]*subject{}, lanes: map[laneKey]*lane{},
		groups: map[GroupKey]*memory{}, pruneAt: minPrune,
		kinds: map[string]*kind{},
		ages:  heap[*entry]{less: (*entry).older, place: func(e *entry) *int { return &e.inAges }},
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
		if !heartbeat(e.p) {
			e.expires = p.limits.deadline(e.tried)
		}
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
		p: r, attempts: r.Failures, old: repeat, inUnit: -1, inAges: -1,
	}
	e.begin(r.Time)
	if l := p.lane(r); r.Failures > 0 && !l.heard {
		l.fails = true // as far as the log knows
	}
	p.entries[r.ID] = e
	s := p.subjects[r.Event.Object]
	if s == nil {
		s = &subject{id: r.Event.Object}
		p.subjects[s.id] = s
	}
	e.subject, e.slot = s, len(s.entries)
	s.entries = append(s.entries, e)
	if heartbeat(r) {
		e.expires = e.from.Add(round(r))
		p.ages.push(e)
		p.supersede(s, r)
	}
	p.enter(e, value(r, "", nil), nil)
	p.fresh = append(p.fresh, e)
}

// Over tells that the round of a heartbeat is over, whatever the clock says that wrote
// it: the next Take gives it up. What is taken, and any other request, goes on.
func (p *Planner) Over(id string) {
	e := p.entries[id]
	if e == nil || !heartbeat(e.p) || e.inAges < 0 {
		return
	}
	e.over, e.expires = true, longOver
	p.ages.fix(e)
}

// longOver is before any other time at which something expires; 0 is none.
const longOver object.Time = 1

// supersede lets go of all rounds of a heartbeat to somebody but the newest: that an
// older one arrives late would say that all is well when it may not be.
func (p *Planner) supersede(s *subject, r *Pending) {
	newest := r
	same := func(e *entry) bool { return heartbeat(e.p) && e.p.Contact == r.Contact && e.p.Channel == r.Channel }
	for _, e := range s.entries {
		if same(e) && newest.compare(e.p) < 0 {
			newest = e.p
		}
	}
	for _, e := range s.entries {
		if !same(e) || e.p == newest {
			continue
		}
		if e.over {
			continue
		}
		// Before anything else that expires: it must be gone when the newest goes.
		e.expires = e.from
		if e.inAges >= 0 {
			p.ages.fix(e)
		}
	}
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
	if len(p.expiring)+len(p.fresh) > 0 {
		return now
	}
	at := object.Time(math.MaxInt64)
	if p.ages.len() > 0 {
		at = p.ages.first().expires
	}
	if l := p.first(now); l != nil {
		at = min(at, l.next)
	}
	if p.held > 0 {
		at = min(at, p.nextScan(now))
	}
	if at == math.MaxInt64 {
		return 0
	}
	return at
}

// full tells whether too many messages are taken.
func (p *Planner) full() bool { return p.limits.Queue > 0 && p.flying >= p.limits.Queue }

// Done takes back a message that was sent. What failed over the same kind of channel
// does not wait much longer then.
func (p *Planner) Done(b *Batch, now object.Time) {
	for _, e := range b.entries {
		if e.group != "" && !prompt(e.p) {
			p.memory(b.key(e.group), now, nil).Last = Last{now, b.Thread}
		}
	}
	k := p.kind(b.Channel)
	p.Abandoned(b)
	if k.fails {
		k.fails = false
		p.wake(k, now)
	}
}

// Abandoned takes back a message that is given up: it counts as none of its group's. Its
// way does not count as failing, as somebody has said that there is no use in trying.
func (p *Planner) Abandoned(b *Batch) {
	for _, e := range b.entries {
		p.forget(e)
	}
	p.heardOf(b.lane, false)
	p.land(b)
}

// land lets those go on that waited for a message to come back.
func (p *Planner) land(b *Batch) {
	p.flying--
	if l := b.lane; l != nil {
		l.flying--
		l.kind.flying--
		if b.doubt {
			l.kind.doubt--
			p.doubt--
		}
		p.settleLane(l)
		b.lane = nil
	}
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
	l := p.lane(b.entries[0].p)
	again = max(pause, now.Add(backoff(b.ID, b.Attempt, l.key.heartbeat)))
	if retryAfter > 0 && !l.key.heartbeat {
		l.rest(pause)
	}
	u := &unit{lane: l, group: b.Group, thread: b.Thread, retry: true, again: again, woken: b.woken, inLane: -1}
	l.kind.fails = true
	p.heardOf(b.lane, true)
	u.members = members()
	for _, e := range b.entries {
		if e.ended {
			continue
		}
		e.attempts = max(1, b.Attempt)
		switch {
		case b.Expired:
			e.expires = again
		case !l.key.heartbeat:
			e.expires = p.limits.deadline(e.tried)
		}
		u.add(e)
		p.ages.push(e)
		p.remember(u, e, now)
	}
	p.land(b)
	p.wait(u)
	p.settleLane(l)
	return again
}

// remember lets what comes next of a group know that a message about it failed.
func (p *Planner) remember(failed *unit, e *entry, now object.Time) {
	if e.group != "" && !prompt(e.p) {
		p.memory(GroupKey{e.p.Contact, e.p.Channel, e.group}, now, nil).failed = failed
	}
}
