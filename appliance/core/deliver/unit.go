package deliver

import (
	"cmp"
	"strings"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// unit is what waits for one and the same message: the open requests of a group,
// those of one object that go one by one, or those of a message that failed.
type unit struct {
	lane    *lane
	key     string // in the lane; "" for one that failed
	group   string
	memory  *memory // nil for those that are no group
	members heap[*entry]
	due     object.Time
	held    bool // it is counted as held
	flying  bool // a message of it is taken: the rest waits until that is back

	head   *entry // the oldest that tells of the problem of what the group is named after
	others int    // members about another object than the one they are grouped by
	prompt bool   // its requests do not wait for the rest of their group
	single bool   // its requests go one by one

	retry   bool        // it is a message that failed, with
	again   object.Time // when it is tried again and
	thread  string      // its thread
	waits   object.Time // until when it waits for its suspect to be looked at
	suspect object.ID   // a host that may explain it; "" = there is none

	busy  int         // members that another process may be sending
	until object.Time // when that is over; 0 = there are none

	woken object.Time // when it was last due early because others got through; 0 = never

	inLane int // place
}

func members() heap[*entry] {
	return heap[*entry]{less: (*entry).before, place: func(e *entry) *int { return &e.inUnit }}
}

// before orders the requests of a unit: what it waits for first, then by the log.
func (e *entry) before(o *entry) bool {
	return cmp.Or(cmp.Compare(e.ready, o.ready), e.p.compare(o.p)) < 0
}

func (e *entry) older(o *entry) bool {
	return cmp.Or(cmp.Compare(e.expires, o.expires), e.p.compare(o.p)) < 0
}

// before orders units by when they are due.
func (u *unit) before(o *unit) bool {
	return cmp.Or(cmp.Compare(u.due, o.due), u.members.first().p.compare(o.members.first().p), strings.Compare(u.key, o.key)) < 0
}

// dueAt returns when the unit, which is not empty, may go out.
func (u *unit) dueAt() object.Time { return max(u.dueByItself(), u.until) }

// dueByItself is dueAt as if no other process were sending any of it.
func (u *unit) dueByItself() object.Time {
	if u.retry {
		return u.again
	}
	first := u.members.first()
	if u.memory == nil {
		return first.ready
	}
	due, m, g := first.ready, u.memory, &first.p.Note.Group
	last, apart := max(m.Last.Time, m.tried), g.Interval
	switch alone := u.alone(); {
	case u.prompt && alone:
		return due // it never waits for a suspect
	case u.prompt:
		// Somebody who acknowledges a thousand services makes no thousand messages.
		apart = g.Wait
	case alone:
		last = m.several
		if f := m.failed; f != nil && f.members.len() > 0 {
			due = max(due, f.again) // what happened first is told first
		}
	}
	if last != 0 {
		due = max(due, last.Add(max(apart, 0)))
	}
	if u.head != nil {
		due = min(due, max(first.ready, u.head.ready, m.headed))
	}
	return max(due, u.waits)
}

// heads tells whether a request is the first about the problem of the host that its
// group is named after. What fails with the host may have been told before the host's
// own problem was hard; that it is down must not wait for the group's interval then.
func (e *entry) heads() bool {
	n, id := e.p.Note, e.subject.id
	if n.Kind != string(notify.Problem) || n.Number > 1 || e.group == "" || id.Kind() != object.Host {
		return false
	}
	return n.Group.By == object.GroupRoot && e.value == string(id) || n.Group.By == object.GroupHost
}

// alone tells whether a group that is named after a root is about a single object,
// which nothing explains: there is nothing to gather, so it has no interval.
func (u *unit) alone() bool {
	return u.memory != nil && u.members.len() > 0 && u.members.first().p.Note.Group.By == object.GroupRoot && u.others == 0
}

// add lets a request wait in the unit.
func (u *unit) add(e *entry) {
	e.unit = u
	u.members.push(e)
	u.occupy(e)
	if e.behind() {
		u.others++
	}
	if e.heads() && (u.head == nil || e.before(u.head)) {
		u.head = e
	}
}

// drop takes a request out of the unit.
func (u *unit) drop(e *entry) {
	u.members.remove(e)
	e.unit = nil
	u.vacate(e)
	if e.behind() {
		u.others--
	}
	if e == u.head {
		u.head = nil
		for _, o := range u.members.items {
			if o.heads() && (u.head == nil || o.before(u.head)) {
				u.head = o
			}
		}
	}
}

// settle puts a unit where it belongs after it has changed.
func (p *Planner) settle(u *unit) {
	l := u.lane
	l.due.remove(u)
	defer p.hold(u)
	switch {
	case u.members.len() > 0 && !u.flying:
		u.due = u.dueAt()
		l.due.push(u)
	case u.members.len() == 0 && !u.flying && u.key != "" && l.units[u.key] == u:
		delete(l.units, u.key)
		if u.memory != nil {
			u.memory.users--
		}
	}
	p.settleLane(l)
}

// hold counts the units whose requests might go out earlier if another host
// explained their problems: what waits for its own time alone cannot.
func (p *Planner) hold(u *unit) {
	held := u.members.len() > 0 && u.memory != nil && u.members.first().p.Note.Group.By == object.GroupRoot &&
		(u.flying || u.due > u.members.first().ready)
	if held == u.held {
		return
	}
	u.held = held
	if held {
		p.held++
	} else {
		p.held--
	}
}

// enter lets a request wait in the group of a value.
func (p *Planner) enter(e *entry, value string, w *World) {
	e.value, e.group = value, groupName(e.p, value)
	l := p.lane(e.p)
	key := e.group
	switch {
	case key == "":
		key = aloneKey(e.p)
	case prompt(e.p):
		key = promptKey(key)
	}
	u := l.units[key]
	if u == nil {
		u = &unit{lane: l, key: key, group: e.group, single: e.group == "", prompt: prompt(e.p), inLane: -1, members: members()}
		if !u.single {
			u.memory = p.memory(GroupKey{l.key.contact, l.key.channel, key}, p.now, nil)
			u.memory.users++
		}
		l.units[key] = u
	}
	if u.memory != nil && w != nil && !u.memory.asked {
		p.memory(GroupKey{l.key.contact, l.key.channel, key}, p.now, w)
	}
	l.due.remove(u)
	u.add(e)
	p.hurry(u, e.ready)
	p.settle(u)
}

// hurry has a message that failed tried again when something new of its object is
// to be told: what the new one waits for is then not how often the old one failed.
func (p *Planner) hurry(u *unit, ready object.Time) {
	if u.prompt || !u.alone() {
		return
	}
	if f := u.memory.failed; f != nil && f.members.len() > 0 && f.again > max(ready, u.lane.pause) {
		f.again = max(ready, u.lane.pause)
		p.wait(f)
	}
}

// leave takes a request out of the unit it waits in.
func (p *Planner) leave(e *entry) {
	u := e.unit
	u.lane.due.remove(u)
	u.drop(e)
	p.settle(u)
	if next := u.lane.units[e.group]; u.retry && next != nil && u.members.len() == 0 {
		p.settle(next) // has nothing to wait for any more
	}
}

// minPrune is the length from which what is remembered is looked through.
const minPrune = 256

// memory returns what is remembered of a group; a world tells what was sent before.
func (p *Planner) memory(k GroupKey, now object.Time, w *World) *memory {
	m := p.groups[k]
	if m == nil {
		if len(p.groups) >= p.pruneAt {
			p.prune(now)
		}
		m = &memory{}
		p.groups[k] = m
	}
	if w != nil && !m.asked {
		m.asked = true
		if last := w.sent(k); last.Time > m.Last.Time {
			last.Time = min(last.Time, now) // whoever sent it may have had another clock
			m.Last = last
			if rootOf(k.Group) != "" {
				m.several = max(m.several, last.Time) // it may have been
			}
		}
	}
	return m
}

// prune forgets groups in which nothing waits and nothing went out for a day.
func (p *Planner) prune(now object.Time) {
	for k, m := range p.groups {
		if m.users == 0 && max(m.Last.Time, m.tried).Add(day) < now {
			delete(p.groups, k)
		}
	}
	p.pruneAt = max(minPrune, 2*len(p.groups))
}
