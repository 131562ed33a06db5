package deliver

import (
	"slices"

	"jaque.sh/jaque/appliance/core/object"
)

// Take returns a message that is due, the oldest first; ok is false if there is none.
// Its requests are the caller's until Done, Failed or Abandoned. Call it until there
// is none.
func (p *Planner) Take(now object.Time, w *World) (b *Batch, ok bool) {
	p.Pass(now)
	if p.full() {
		return nil, false
	}
	p.place(now, w)
	if b := p.tooLate(now); b != nil {
		return b, true
	}
	for {
		l := p.first(now)
		due := l != nil && l.next <= now
		if !due && p.held == 0 {
			return nil, false
		}
		if p.rescan(now, w) {
			continue
		}
		if !due {
			return nil, false
		}
		if b := p.from(l, now, w); b != nil {
			return b, true
		}
	}
}

// from takes the next message of a lane, nil if what was due belongs elsewhere.
func (p *Planner) from(l *lane, now object.Time, w *World) *Batch {
	units := l.merged(now)
	if units == nil {
		u := l.due.first()
		if p.refresh(u, now, w) || p.waitsFor(u, now, w) {
			return nil
		}
		l.due.remove(u)
		units = p.gather(u, now, w)
	}
	var all []*entry
	due := units[0].due
	for _, u := range units {
		from, others := len(all), u.others
		due = min(due, u.due)
		if h := u.head; h != nil && u.memory != nil {
			u.memory.headed = now.Add(h.p.Note.Group.Interval)
		}
		all = u.take(all)
		if others > 0 && u.memory != nil {
			u.memory.several = now
		}
		for _, e := range all[from:] {
			e.try(now, u.due)
		}
	}
	for _, e := range all {
		p.ages.remove(e)
	}
	b := p.batch(l, all)
	b.lane, b.Due = l, due
	b.doubt = p.fly(l, now)
	if l.key.heartbeat {
		b.Until = all[0].from.Add(round(all[0].p))
	}
	b.Group, b.Thread = units[0].group, p.thread(units[0], all, now, w)
	if len(units) > 1 {
		b.Group, b.Thread = GroupRate, b.ID
	}
	for _, u := range units {
		if u.memory != nil {
			u.memory.tried = now
		}
		b.woken = max(b.woken, u.woken)
		if !u.retry {
			u.flying = true
			b.units = append(b.units, u)
		}
		p.settle(u)
	}
	l.count(now)
	p.settleLane(l)
	return b
}

// try notes the first attempt. What an earlier process left counts from when that
// could have sent it: what is older than the deadline then gets this one attempt.
func (e *entry) try(now, due object.Time) {
	switch {
	case e.tried != 0:
	case e.old:
		e.tried = min(now, max(due, e.ready))
	default:
		e.tried = now
	}
}

// take moves requests of the unit to those of a message, as many as it can hold.
func (u *unit) take(all []*entry) []*entry {
	for u.members.len() > 0 && len(all) < maxRequests {
		e := u.members.first()
		u.drop(e)
		all = append(all, e)
		if u.single {
			break
		}
	}
	return all
}

// batch makes a message of requests that wait nowhere any more.
func (p *Planner) batch(l *lane, all []*entry) *Batch {
	slices.SortFunc(all, func(a, b *entry) int { return a.p.compare(b.p) })
	b := &Batch{Contact: l.key.contact, Channel: l.key.channel, entries: all, Requests: make([]*Pending, len(all))}
	root, others := rootOf(all[0].group), false
	for i, e := range all {
		b.Requests[i] = e.p
		b.Repeat = b.Repeat || e.repeat
		b.Attempt = max(b.Attempt, e.attempts+1)
		if rootOf(e.group) != root {
			root = ""
		}
		others = others || e.subject.id != root
	}
	if others {
		b.Root = root
	}
	b.ID = batchID(b.Requests)
	p.flying++
	return b
}

// key returns the key of one of the batch's groups.
func (b *Batch) key(group string) GroupKey { return GroupKey{b.Contact, b.Channel, group} }

// thread names the incident that a unit's message is about: what is grouped and
// when its problem began. A group whose first problem is not known any more goes on
// in the thread of its last message.
func (p *Planner) thread(u *unit, all []*entry, now object.Time, w *World) string {
	if u.thread != "" {
		return u.thread
	}
	start := all[0].p.Time
	for _, e := range all {
		if e.p.Since != 0 {
			start = min(start, e.p.Since)
		}
	}
	root := rootOf(u.group)
	if u.memory == nil || root == "" && all[0].p.Note.Group.By == object.GroupRoot {
		return threadID(string(all[0].subject.id), start)
	}
	what := u.group
	if root != "" {
		what = string(root)
		if st := w.status(root); st != nil && st.Problem != 0 {
			return threadID(what, st.Problem)
		}
	}
	m := u.memory
	if u.prompt {
		m = p.memory(GroupKey{u.lane.key.contact, u.lane.key.channel, u.group}, now, w)
	}
	if last := m.Last; last.Thread != "" && last.Time.Add(day) > now {
		return last.Thread
	}
	return threadID(what, start)
}

// tooLate returns a message whose requests were tried until their deadline, or a
// heartbeat that is over, nil if there is none.
func (p *Planner) tooLate(now object.Time) *Batch {
	if len(p.expiring) == 0 {
		p.expire(now)
	}
	for len(p.expiring) > 0 {
		all := slices.DeleteFunc(p.expiring[0], func(e *entry) bool { return e.ended })
		p.expiring = p.expiring[1:]
		if len(all) == 0 {
			continue
		}
		b := p.batch(p.lane(all[0].p), all)
		b.Expired = true
		b.Attempt--
		b.Group = all[0].group
		b.Thread = b.ID
		return b
	}
	return nil
}

// expire takes everything out of its unit whose deadline is over and gathers it by
// unit, oldest first.
func (p *Planner) expire(now object.Time) {
	place := map[*unit]int{}
	for p.ages.len() > 0 && p.ages.first().expires <= now {
		e := p.ages.pop()
		u := e.unit
		p.leave(e)
		i, ok := place[u]
		if !ok || len(p.expiring[i]) == maxRequests {
			i = len(p.expiring)
			place[u] = i
			p.expiring = append(p.expiring, nil)
		}
		p.expiring[i] = append(p.expiring[i], e)
	}
}
