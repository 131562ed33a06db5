package fold

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// timely refuses a submitted result that was overtaken by a newer one, and one
// that is in already: submitters repeat what they are not sure of. A time in the
// future is the present. state is the result's as judged.
func (d *decider) timely(r *Result, state object.State) error {
	if !r.Passive || !r.Stamped {
		return nil
	}
	r.Start = min(r.Start, d.now)
	if r.Latency == 0 {
		r.Latency = d.now.Sub(r.Start).Microseconds() // how long it was on its way
	}
	m := &d.old.Measure
	if !d.base.Checked {
		return nil
	}
	newest := m.LastCheck
	if newest > d.now {
		newest = 0 // of a clock that was ahead: it says nothing of their order
	}
	if r.Start%1000 == 0 {
		// Many submitters know only whole seconds.
		newest -= newest % 1000
	}
	switch {
	case r.Start < newest && !d.revives(r):
		return refuse(d.env, Late, "the result of %s is older than the newest, of %s; submit results in their order",
			stampText(r.Start), stampText(m.LastCheck))
	case m.Passive && r.Start == m.LastCheck && state == m.State &&
		r.Output == m.Output && r.Long == m.Long && r.Perfdata == m.Perfdata:
		return refuse(d.env, Duplicate, "the result of %s is in already; give another one its own time", stampText(r.Start))
	}
	return nil
}

// revives tells whether the result is younger than the freshness of an object
// that was only found stale: what jaque says then must not beat a real result.
func (d *decider) revives(r *Result) bool {
	limit := Threshold(d.env, d.old)
	return limit > 0 && !d.old.Measure.Passive && !checkable(d.env.Object) && d.now.Sub(r.Start) < limit
}

func stampText(t object.Time) string { return t.Std().Format(time.RFC3339Nano) }

// The reasons why a submitted result with a time of its own is refused.
const (
	Late      Reason = "late"      // a newer result is in already
	Duplicate Reason = "duplicate" // the same result is in already
)
