package deliver

import (
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

const (
	// unsureFor is how long after its event a problem waits at most for the hosts in
	// front of it to be looked at.
	unsureFor = 30 * time.Second
	// maxClimb bounds the hosts that are looked at for one problem.
	maxClimb = 64
)

// suspect returns the host that may explain a problem and that nobody has looked at
// since the problem began, "" if there is none: each way is known to work, or to be
// down. It is the one that is furthest away, so that what is behind it has one.
func (w *World) suspect(id object.ID, since object.Time) object.ID {
	if w == nil || w.Seen == nil {
		return ""
	}
	c := climb{World: w, left: maxClimb}
	return c.from(w.object(id), since)
}

// climb is one look at the hosts in front of an object.
type climb struct {
	*World
	left   int         // hosts that may still be looked at
	unseen []object.ID // that nobody has looked at
}

func (w *climb) from(o *object.Object, since object.Time) (found object.ID) {
	if o == nil {
		return ""
	}
	ahead := o.Parents
	if o.Host != nil {
		ahead = []*object.Object{o.Host}
	}
	for _, h := range ahead {
		if w.left--; w.left < 0 {
			return found
		}
		st, unseen, began := w.status(h.ID), object.ID(""), since
		switch {
		case st == nil || !st.Checked:
			return ""
		case st.State != object.Up:
			began = st.Problem // those ahead of it were asked for when it failed
		case w.Seen(h.ID) >= since || !looked(h):
			return "" // this way works
		default:
			unseen = h.ID
			w.unseen = append(w.unseen, h.ID)
		}
		if further := w.from(h, began); further != "" {
			unseen = further
		}
		if found == "" {
			found = unseen
		}
	}
	return found
}

// looked tells whether checks of a host run by its config: else nobody will look.
func looked(h *object.Object) bool {
	return h.Rule != nil && h.Rule.Active && h.Rule.Check.Kind != object.CheckNone && h.Rule.Check.Kind != object.CheckPassive
}

// unsure returns the suspect of the unit's problems, "" if each is known to be its own
// or to have its root.
func (p *Planner) unsure(u *unit, now object.Time, w *World) (suspect object.ID) {
	if u.retry || u.flying || u.prompt || u.memory == nil || w == nil || w.Seen == nil {
		return ""
	}
	for _, e := range u.members.items {
		n := e.p.Note
		if n.Group.By != object.GroupRoot || n.Group.Wait <= 0 || n.Kind != string(notify.Problem) {
			continue
		}
		s, since := e.subject, e.began()
		if s.judged != turn(now) || s.since != since {
			s.judged, s.since, s.suspect = turn(now), since, w.suspect(s.id, since)
		}
		if s.suspect != "" && (suspect == "" || s.suspect < suspect) {
			suspect = s.suspect
		}
	}
	return suspect
}

// began returns when the problem began that a request is about.
func (e *entry) began() object.Time {
	if e.p.Since != 0 {
		return e.p.Since
	}
	return e.p.Time
}

// waitsFor lets a unit that is due wait until its suspect has been looked at, but not
// for long, and tells whether it does.
func (p *Planner) waitsFor(u *unit, now object.Time, w *World) bool {
	if u.suspect = p.unsure(u, now, w); u.suspect == "" {
		return false
	}
	most := unsureFor
	if d := p.limits.Deadline; d > 0 {
		most = min(most, d)
	}
	until := object.Time(0)
	for _, e := range u.members.items {
		if at := e.from.Add(most); until == 0 || at < until {
			until = at
		}
	}
	if until <= now {
		return false
	}
	u.waits = min(until, (turn(now)+1)*rescanEvery+rescanPhase)
	p.settle(u)
	return true
}

// gather returns the units that go out with one whose suspect was not looked at in
// time: all that have the same. It counts as a message about every host that nobody has
// looked at, so that more of its group waits for the interval if it turns out to be down.
func (p *Planner) gather(u *unit, now object.Time, w *World) []*unit {
	l, all := u.lane, []*unit{u}
	if u.suspect == "" {
		return all
	}
	for _, o := range l.units {
		if o != u && o.members.len() > 0 && o.until <= now && p.unsure(o, now, w) == u.suspect {
			all = append(all, o)
		}
	}
	slices.SortFunc(all[1:], func(a, b *unit) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	c := climb{World: w}
	for _, o := range all {
		l.due.remove(o)
		for _, e := range o.members.items {
			c.left = maxClimb
			c.from(w.object(e.subject.id), e.began())
		}
	}
	slices.Sort(c.unseen)
	for _, id := range slices.Compact(c.unseen) {
		group := string(object.GroupRoot) + "=" + string(id)
		m := p.memory(GroupKey{l.key.contact, l.key.channel, group}, now, w)
		m.tried, m.several = now, now
		if about := l.units[group]; about != nil && !slices.Contains(all, about) {
			p.settle(about)
		}
	}
	return all
}
