package engine

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// react does what an accepted event about an object asks for at others, whoever wrote
// it: of several engines, the one does it that owns the object which is decided about.
// before is the object's state in front of the event.
func (e *Engine) react(key int32, before *fold.State, ev *event.Event) {
	if ev.Stream == event.Log && ev.Status != nil {
		e.reactDowntimes(key, before.Status.Extra, ev.Status.Extra)
	}
	// The checks that are asked for come before the decisions, for which objects wait.
	e.relate(key, before, ev)
	e.sampleHost(key, ev)
	e.moveRoots(key, before, ev)
	e.remindOfHost(key, before, ev)
	e.followSending(key, before, ev)
	e.handle(key, ev)
}

// remindOfHost tells of a host's problem again with the results of its services,
// where that is not a matter of time.
func (e *Engine) remindOfHost(key int32, before *fold.State, ev *event.Event) {
	o := e.state.entries[key].obj
	if o.Host == nil || ev.Kind != event.CheckResult || e.state.stopped || o.Host.Notify == nil || o.Host.Notify.Timed {
		return
	}
	host := e.proj.State(o.Host.ID)
	if host.Status.State == object.Up {
		return // what most hosts are
	}
	other, ok := e.state.keys[o.Host.ID]
	if ok && e.owns(o.Host.ID) && notify.HostAgain(&e.state.settings, &host.Status, &before.Status, &e.proj.State(o.ID).Status) {
		e.decide(other, job{command: fold.Remind{}})
	}
}

// sampleHost lets a service's result count in the flap history of its host, as
// Nagios does. A history without any change in it cannot change by a sample of
// the same state, so most hosts cost nothing here.
func (e *Engine) sampleHost(key int32, ev *event.Event) {
	host := e.state.entries[key].obj.Host
	if host == nil || ev.Kind != event.CheckResult || fold.Steady(e.proj.State(host.ID)) {
		return
	}
	if other, ok := e.state.keys[host.ID]; ok && e.state.pending[other] == nil && e.owns(host.ID) {
		e.decide(other, job{command: fold.SampleHost{}})
	}
}

// reactDowntimes looks at what became of an object's downtimes: those that others
// wait for, and those whose rule has gone in the meantime.
func (e *Engine) reactDowntimes(key int32, old, next *event.Extra) {
	was, is := downtimes(old), downtimes(next)
	for i := range was {
		if d := findDowntime(is, was[i].ID); d == nil || d.Started != was[i].Started {
			e.fire(was[i].ID)
		}
	}
	rules := e.proj.Program().Rules
	for i := range is {
		if findDowntime(was, is[i].ID) != nil {
			continue
		}
		if is[i].Started != 0 {
			e.fire(is[i].ID)
		}
		if _, ok := rules[is[i].Rule]; is[i].Rule != "" && !ok && e.owns(e.state.entries[key].obj.ID) {
			e.decide(key, job{command: fold.CancelDowntimes{Rule: is[i].Rule}})
		}
	}
}

// fire plans the objects that wait for a downtime: it started, ended or was
// cancelled.
func (e *Engine) fire(downtime string) {
	ids := e.proj.TriggeredBy(downtime)
	switch {
	case len(ids) == 0:
	case len(ids) > pieceDecisions:
		e.addChore(&replan{ids})
	default:
		(&replan{ids}).step(e, object.At(time.Now()))
	}
}

func downtimes(x *event.Extra) []event.Downtime {
	if x == nil {
		return nil
	}
	return x.Downtimes
}

func findDowntime(all []event.Downtime, id string) *event.Downtime {
	for i := range all {
		if all[i].ID == id {
			return &all[i]
		}
	}
	return nil
}
