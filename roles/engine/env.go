package engine

import (
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
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

// decisionEnv is what a decision about an object may see, and its id.
func (e *Engine) decisionEnv(key int32, id string) fold.Env {
	env := e.env(key)
	env.ID = id
	n := e.numbers()
	env.Comment, env.Downtime = n.Comment+1, n.Downtime+1
	return env
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
