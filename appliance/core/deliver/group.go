package deliver

import (
	"strings"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// alone tells whether a request is a message of its own.
func alone(p *Pending) bool {
	switch by := p.Note.Group.By; {
	case heartbeat(p):
		return true
	case by == object.GroupRoot, by == object.GroupHost, by == object.GroupPolicy:
		return false
	default:
		return !strings.HasPrefix(string(by), string(object.GroupLabel))
	}
}

// value returns what a request has in common with those of its group. root is the
// host that explains the object's problem at present.
func value(p *Pending, root object.ID, w *World) string {
	id := p.Event.Object
	switch by := p.Note.Group.By; by {
	case object.GroupRoot:
		switch {
		case root != "":
			return string(root)
		case p.Root != "":
			return string(p.Root)
		}
		return string(id)
	case object.GroupHost:
		return id.Host()
	case object.GroupPolicy:
		return p.Note.Policy
	default:
		name, ok := strings.CutPrefix(string(by), string(object.GroupLabel))
		if !ok {
			return ""
		}
		if o := w.object(id); o != nil {
			v, _ := o.Label(name)
			return v
		}
		return ""
	}
}

// groupName returns the name of the group with a value, "" for a request that goes
// alone.
func groupName(p *Pending, value string) string {
	if alone(p) {
		return ""
	}
	return string(p.Note.Group.By) + "=" + value
}

// rootOf returns the host whose failure a group is about, "" if it is none.
func rootOf(group string) object.ID {
	value, ok := strings.CutPrefix(group, string(object.GroupRoot)+"=")
	if id := object.ID(value); ok && id.Kind() == object.Host {
		return id
	}
	return ""
}

// prompt tells whether a request waits neither for its group nor for its interval:
// somebody has just done something that others should know of.
func prompt(p *Pending) bool {
	k := p.Note.Kind
	return !alone(p) && (k == string(notify.Custom) || k == string(notify.Acknowledgement))
}

// promptKey names what of a group does not wait for the rest; it is the name of no
// group.
func promptKey(group string) string { return "\x01" + group }

// behind tells whether a request is about another object than the one that explains
// it and that its group is named after.
func (e *entry) behind() bool {
	return e.p.Note.Group.By == object.GroupRoot && e.group != "" && e.value != string(e.subject.id)
}

// aloneKey keeps the messages about one object in order; it is the name of no group.
func aloneKey(p *Pending) string { return "\x00" + string(p.Event.Object) }

// KeyOf returns the group that a request belongs to as things are; its Group is ""
// if the request goes alone.
func KeyOf(p *Pending, w *World) GroupKey {
	return GroupKey{p.Contact, p.Channel, groupName(p, value(p, w.root(p.Event.Object), w))}
}

// root returns the host that explains an object's problem at present.
func (w *World) root(id object.ID) object.ID {
	if st := w.status(id); st != nil {
		return st.Root
	}
	return ""
}

// moves tells whether what happens around the object may still change the group of a
// request: it waits for its first message or for a new one of its group, but not
// for ever.
func (e *entry) moves(now object.Time) bool {
	if e.unit == nil || e.unit.retry || e.group == "" {
		return false
	}
	g := &e.p.Note.Group
	return now <= e.ready.Add(2*max(g.Wait, g.Interval, 0))
}

// move puts a request where it belongs now and tells whether that is elsewhere.
func (p *Planner) move(e *entry, root object.ID, w *World) bool {
	v := value(e.p, root, w)
	if v == e.value {
		return false
	}
	p.leave(e)
	p.enter(e, v, w)
	return true
}

// place puts what was added into its group, now that there is a world to look at,
// and says which of it an earlier process may have sent.
func (p *Planner) place(now object.Time, w *World) {
	fresh := p.fresh
	if len(fresh) == 0 {
		return
	}
	p.fresh, p.passed = nil, 0
	for _, e := range fresh {
		e.repeat = e.old && e.unit != nil && e.unit.due <= now
	}
	for _, e := range fresh {
		if e.unit == nil || e.unit.memory == nil {
			continue
		}
		p.follow(e.subject, now, w)
		if !p.move(e, e.subject.root, w) && e.unit.memory != nil {
			p.ask(e.unit, now, w)
		}
	}
	first := map[laneKey]object.Time{} // when the oldest of a lane's groups was ready
	for _, e := range fresh {
		if l := p.laneKey(e.p); e.old && !alone(e.p) && (first[l] == 0 || e.ready < first[l]) {
			first[l] = e.ready
		}
	}
	for _, e := range fresh {
		if e.old && e.unit != nil {
			e.repeat = e.repeat || e.wentOut(now, first[p.laneKey(e.p)], w)
			p.occupy(e, now)
		}
	}
}

// wentOut tells whether an earlier process may have sent a request that was open
// when this one began: it was due, or in a group with one that was. Outcomes of a
// message may stand on the log in part. first is when the oldest request of the
// lane's groups was ready.
func (e *entry) wentOut(now, first object.Time, w *World) bool {
	if e.attempts > 0 || e.ready <= now || e.unit.due <= now || e.from < e.p.Time {
		return true
	}
	if e.p.Note.Group.By == object.GroupRoot {
		// The roots may have been others then.
		return first <= now || e.p.Time <= w.sent(GroupKey{Contact: e.p.Contact, Channel: e.p.Channel}).Time
	}
	return e.unit.memory != nil && e.p.Time <= e.unit.memory.Last.Time
}

// ask lets a unit know what earlier processes sent.
func (p *Planner) ask(u *unit, now object.Time, w *World) {
	if w != nil && !u.memory.asked {
		p.memory(GroupKey{u.lane.key.contact, u.lane.key.channel, u.key}, now, w)
		p.settle(u)
	}
}

// All waiting objects are looked at once in each second of the clock. The seconds
// begin at an odd time, so that nothing depends on who comes first where checks and
// messages fall on whole ones.
const (
	rescanEvery = 1000 // ms
	rescanPhase = 517  // ms
)

// turn numbers the times at which all objects are looked at.
func turn(t object.Time) object.Time { return (t - rescanPhase) / rescanEvery }

// nextScan returns when the objects are looked at next.
func (p *Planner) nextScan(now object.Time) object.Time {
	if turn(now) != turn(p.scanned) {
		return now
	}
	return (turn(now)+1)*rescanEvery + rescanPhase
}

// rescan looks at all objects that something waits for, once in a while, so that
// what was keyed alone joins the message of a root that is known by now, and what
// waits behind a message about a root that is not its own any more goes out.
func (p *Planner) rescan(now object.Time, w *World) bool {
	if turn(now) == turn(p.scanned) {
		return false
	}
	p.scanned = now
	for _, s := range p.subjects {
		p.follow(s, now, w)
	}
	return true
}

// follow moves what waits about an object to the root that it has now, if that is
// another one than when it was last looked at.
func (p *Planner) follow(s *subject, now object.Time, w *World) {
	root := w.root(s.id)
	if root == s.root {
		return
	}
	s.root = root
	for _, e := range s.entries {
		if e.moves(now) {
			p.move(e, root, w)
		}
	}
}

// refresh looks at the objects of a unit that is about to go out and tells whether
// any of them belongs elsewhere by now.
func (p *Planner) refresh(u *unit, now object.Time, w *World) bool {
	if now == p.scanned || u.memory == nil {
		return false
	}
	var moving []*entry
	for _, e := range u.members.items {
		if e.moves(now) && value(e.p, w.root(e.subject.id), w) != e.value {
			moving = append(moving, e)
		}
	}
	for _, e := range moving {
		p.move(e, w.root(e.subject.id), w)
	}
	return len(moving) > 0
}
