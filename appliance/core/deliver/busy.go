package deliver

import "jaque.sh/jaque/appliance/core/object"

// AddBusy is Add for a request whose owner was another process until now, which lives
// and may be sending it: if it is due at the first Take after that, it is left alone
// until then, unless End comes first, and so is what goes out together with it
// or after it. What was not due goes its way: the owner before has let go of it.
func (p *Planner) AddBusy(r *Pending, until object.Time) {
	if p.entries[r.ID] != nil {
		return
	}
	p.Add(r, true)
	p.entries[r.ID].asked = until
}

// occupy leaves a request alone that another process may be sending, now that it is
// known whether it was due.
func (p *Planner) occupy(e *entry, now object.Time) {
	until := e.asked
	if e.asked = 0; !e.repeat || until <= now {
		return
	}
	u := e.unit
	u.lane.due.remove(u)
	e.busy = until
	u.occupy(e)
	p.settle(u)
}

// occupy takes a member into account that another process may be sending.
func (u *unit) occupy(e *entry) {
	if e.busy != 0 {
		u.busy++
		u.until = max(u.until, e.busy)
	}
}

// vacate is the inverse of occupy.
func (u *unit) vacate(e *entry) {
	if e.busy == 0 {
		return
	}
	if u.busy--; u.busy == 0 {
		u.until = 0
	}
}
