package delivery

import (
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
)

// place is where an open request is in this process.
type place uint8

const (
	foreign place = iota // another process delivers to its contact
	held                 // it may not go out yet
	planned              // the planner has it
	sending              // a message with it is being sent
	settled              // it was sent or given up; its outcome is on the way to the log
)

// Hold is whether a request may go out.
type Hold uint8

// What Held answers.
const (
	Go   Hold = iota // it may
	Wait             // not yet
	Over             // not any more: a heartbeat whose round has ended is given up
)

// request is what this process knows of an open request.
type request struct {
	*deliver.Pending
	place  place
	before bool   // an attempt of another process may have been made
	judged bool   // before is known: this process has, or had, its contact
	unsure bool   // an attempt of this process has failed, but may have arrived
	reason string // why the last attempt failed; "" = none has
	told   int    // failures that the log has
	noWay  bool   // the last attempt has found no channel; another config may have it
	marked bool   // the last attempt said that it may be a repetition

	rivals bool        // there were some when it came
	due    object.Time // when a message with it was first due; 0 = none was
}

// again tells whether another process may have sent it, as far as is known now that it
// is to go out: it may not have been due yet when it came, and one that lived on may have
// sent it since.
func (d *Delivery) again(r *request) bool {
	return r.unsure || r.rivals && d.opt.Begun(r.Pending, r.due) || (r.before || r.rivals) && d.opt.Doubted(r.ID)
}

// tried tells whether an attempt of this process or of one before may have arrived, as
// far as it knows.
func (r *request) tried() bool { return r.unsure || r.reason != "" || r.Failures > 0 }

// enter takes an open request in, unless it is known already. before says that
// another process, or the one before this, may have sent it.
func (d *Delivery) enter(p *deliver.Pending, before bool) {
	if r := d.requests[p.ID]; r != nil {
		r.Pending = p // it has failed in the meantime, as the log knows too
		return
	}
	r := &request{Pending: p, told: p.Failures}
	d.requests[p.ID] = r
	d.channelOf(p.Channel).Open++
	if p.Reason != "" {
		d.mark(r, p.Reason)
	}
	if d.opt.Owner(p.Contact) {
		r.before, r.judged, r.rivals = before, true, d.opt.Rivals()
		d.plan(r, before)
	}
}

// plan gives a request of this process to the planner, or keeps it as long as it may
// not go out.
func (d *Delivery) plan(r *request, before bool) {
	hold := d.opt.Held(r.Pending)
	if hold == Wait {
		r.place = held
		d.held[r.ID] = d.held[r.ID] || before
		return
	}
	r.place = planned
	if until := d.busy(r, before); until != 0 {
		d.planner.AddBusy(r.Pending, until)
	} else {
		d.planner.Add(r.Pending, before)
	}
	if hold == Over {
		d.planner.Over(r.ID)
	}
	delete(d.held, r.ID)
}

// busy returns until when another process may be sending a request, 0 if none is.
func (d *Delivery) busy(r *request, before bool) object.Time {
	if !before {
		return 0
	}
	until := d.opt.Busy(r.Pending)
	if !until.After(time.Now()) {
		return 0
	}
	return object.At(until)
}

// unhold plans what is held no more.
func (d *Delivery) unhold() {
	for id, before := range d.held {
		d.plan(d.requests[id], before)
	}
}

// leave forgets a request that has an outcome on the log, whoever wrote it.
func (d *Delivery) leave(id string) {
	d.planner.End(id)
	r := d.requests[id]
	if r == nil {
		return
	}
	delete(d.requests, id)
	delete(d.held, id)
	d.attempts.forget(id)
	c := d.channelOf(r.Channel)
	c.Open--
	if r.reason != "" {
		c.Failed--
	}
}

// disown leaves a request to another process.
func (d *Delivery) disown(id string) {
	d.planner.End(id)
	delete(d.held, id)
	if r := d.requests[id]; r != nil {
		r.place = foreign
	}
}

// review looks at everything again that may have changed without the log. What was
// another process's until now may have been sent by it, unless it has said otherwise.
func (d *Delivery) review() {
	d.planner.SetLimits(d.limits())
	for id, r := range d.requests {
		switch owned := d.opt.Owner(r.Contact); {
		case owned && r.place == foreign:
			r.before, r.judged = r.before || r.tried() || d.opt.Former(r.Pending), true
			r.rivals = r.rivals || d.opt.Rivals()
			d.plan(r, r.before)
		case owned && r.place == planned && r.noWay:
			// The way may be there now: it is tried at once.
			r.noWay = false
			d.planner.End(id)
			d.planner.Add(r.Pending, r.marked)
		case !owned && (r.place == planned || r.place == held):
			d.disown(id)
		}
	}
	d.release(false)
	for _, r := range d.requests {
		r.judged = r.judged && r.place != foreign
	}
}
