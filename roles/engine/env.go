package engine

import (
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
)

// env is what a look at an object may see.
func (e *Engine) env(key int32) fold.Env {
	ent := &e.state.entries[key]
	o := ent.obj
	env := fold.Env{
		Object: o, Settings: &e.state.settings, Periods: e.state.periods, Look: e.look, Trigger: e.trigger,
		Contacts: e.proj.Program().Contacts, Known: e.state.known,
		Skipped: ent.skipped, Started: max(e.started, e.added[o.ID]),
		Epoch: e.view.Load().Epoch, Writer: e.opt.ID, Instance: e.opt.Instance,
	}
	if ent.heard != 0 && (o.Rule.Freshness > 0 || o.Rule.FreshAuto) {
		env.Heard = object.At(time.Now().Add(ent.heard - time.Since(e.state.base)))
	}
	if o.Host != nil {
		env.Host = e.proj.State(o.Host.ID)
		return env
	}
	for _, p := range o.Parents {
		if e.proj.State(p.ID).Status.State == object.Up {
			env.ParentsUp++
		}
	}
	return env
}

// hear takes note of how long ago a new result is, which no clock that is set changes: how
// old it was when it was written is told by the writer's clock alone.
func (e *Engine) hear(key int32, before *fold.State, ev *event.Event) {
	if m := ev.Measure; m != nil && m.LastCheck != before.Measure.LastCheck {
		e.state.entries[key].heard = time.Since(e.state.base) - max(0, ev.Time.Sub(m.LastCheck))
	}
}

// decisionEnv is what a decision about an object may see, and its id.
func (e *Engine) decisionEnv(key int32, id string) fold.Env {
	env := e.env(key)
	env.ID = id
	n := e.numbers()
	env.Comment, env.Downtime = e.free(n.Comment), e.free(n.Downtime)
	return env
}

// free returns the least number above one that this engine gives. Members take turns
// by their place in the view, so that two of one view never give the same.
func (e *Engine) free(above uint64) uint64 {
	v := e.view.Load()
	all := uint64(max(len(v.Members), 1))
	mine := uint64(max(slices.IndexFunc(v.Members, func(m membership.Member) bool { return m.ID == e.opt.ID }), 0))
	n := above + 1
	return n + (mine+all-n%all)%all
}

// numbers are the highest that were given, or may be by a decision which the log
// has not brought back yet.
func (e *Engine) numbers() projection.Numbers {
	known, n := e.proj.Numbers(), &e.state.numbers
	n.Comment, n.Downtime = max(n.Comment, known.Comment), max(n.Downtime, known.Downtime)
	return *n
}

// reserve takes note of the numbers that a decision gives.
func (e *Engine) reserve(d *fold.Decision) {
	if !d.HasLog || d.Log.Status == nil || d.Log.Status.Extra == nil {
		return
	}
	x, n := d.Log.Status.Extra, &e.state.numbers
	for i := range x.Comments {
		n.Comment = max(n.Comment, x.Comments[i].Number)
	}
	for i := range x.Downtimes {
		n.Comment = max(n.Comment, x.Downtimes[i].Comment)
		n.Downtime = max(n.Downtime, x.Downtimes[i].Number)
	}
}
