package deliver

import (
	"cmp"
	"strings"

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

	single bool        // its requests go one by one
	retry  bool        // it is a message that failed, with
	again  object.Time // when it is tried again and
	thread string      // its thread

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
func (u *unit) dueAt() object.Time {
	if u.retry {
		return u.again
	}
	first := u.members.first()
	if u.memory == nil {
		return first.ready
	}
	if last := max(u.memory.Last.Time, u.memory.tried); last != 0 {
		g := &first.p.Note.Group
		return max(first.ready, last.Add(max(g.Interval, 0)))
	}
	return first.ready
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
	if key == "" {
		key = aloneKey(e.p)
	}
	u := l.units[key]
	if u == nil {
		u = &unit{lane: l, key: key, group: e.group, single: e.group == "", inLane: -1, members: members()}
		if !u.single {
			u.memory = p.memory(GroupKey{l.key.contact, l.key.channel, u.group}, e.p.Time, nil)
			u.memory.users++
		}
		l.units[key] = u
	}
	if u.memory != nil && w != nil && !u.memory.asked {
		p.memory(GroupKey{l.key.contact, l.key.channel, u.group}, e.p.Time, w)
	}
	e.unit = u
	l.due.remove(u)
	u.members.push(e)
	p.settle(u)
}

// leave takes a request out of the unit it waits in.
func (p *Planner) leave(e *entry) {
	u := e.unit
	u.lane.due.remove(u)
	u.members.remove(e)
	e.unit = nil
	p.settle(u)
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
			m.Last = last
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
