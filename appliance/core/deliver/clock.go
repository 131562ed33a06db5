package deliver

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// begin has a request wait for its group from a time.
func (e *entry) begin(from object.Time) {
	e.from, e.ready = from, from
	if !alone(e.p) && !prompt(e.p) {
		e.ready = from.Add(max(0, e.p.Note.Group.Wait))
	}
}

// Pass tells the planner what time it is. A request that came since it last knew, and
// whose event lies ahead, was written by a clock that is ahead of this one: it counts
// as of now, so that it waits for its group and not until that time has come. A round
// of a heartbeat that was over before it came is as long as it would have been. Take
// calls it; where a Take may be long in coming, call it when requests have come.
func (p *Planner) Pass(now object.Time) {
	p.now = now
	came := p.fresh[p.passed:]
	p.passed = len(p.fresh)
	for _, e := range came {
		switch {
		case e.unit == nil || e.over: // it has its outcome, or is about to
		case e.from > now:
			p.restart(e, now)
		case heartbeat(e.p) && !e.old && e.expires <= now && e.expires > e.from:
			// It was read just now: the clock that wrote it is behind, or the log was late.
			p.restart(e, now)
		}
	}
}

// restart has a request count as of another time.
func (p *Planner) restart(e *entry, from object.Time) {
	p.leave(e)
	e.begin(from)
	p.enter(e, e.value, nil)
	if heartbeat(e.p) && e.inAges >= 0 {
		e.expires = from.Add(round(e.p))
		p.ages.fix(e)
		p.supersede(e.subject, e.p)
	}
}

// Jump tells that the clock by which instants are given was set by so much: what the
// planner remembers and waits for keeps its distance from now. Else a clock that was set
// ahead would end what is tried for a day, and one that was set back would have
// everything wait for as long as it was ahead.
func (p *Planner) Jump(by time.Duration) {
	move := func(all ...*object.Time) {
		for _, t := range all {
			if *t != 0 {
				*t = t.Add(by)
			}
		}
	}
	move(&p.now)
	p.scanned = 0
	for _, e := range p.entries {
		move(&e.from, &e.ready, &e.tried, &e.expires, &e.asked, &e.busy)
	}
	for _, s := range p.subjects {
		s.judged = 0
	}
	for _, m := range p.groups {
		move(&m.Last.Time, &m.tried, &m.several, &m.headed)
	}
	for _, k := range p.kinds {
		move(&k.yield)
	}
	for _, l := range p.lanes {
		move(&l.pause, &l.freed)
		for i := range l.sent {
			move(&l.sent[i])
		}
		for u := range l.all() {
			move(&u.again, &u.waits, &u.until, &u.woken)
		}
	}
	p.resettle()
}

// all returns the units of a lane, those of messages that failed too.
func (l *lane) all() map[*unit]bool {
	all := make(map[*unit]bool, len(l.units)+l.due.len())
	for _, u := range l.units {
		all[u] = true
	}
	for _, u := range l.due.items {
		all[u] = true
	}
	return all
}

// resettle puts everything that waits where it belongs.
func (p *Planner) resettle() {
	for _, l := range p.lanes {
		for u := range l.all() {
			p.settle(u)
		}
	}
}
