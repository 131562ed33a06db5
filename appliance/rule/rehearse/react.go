package rehearse

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// react does what an event about an object asks for at others. before is the
// object's state in front of it.
func (w *world) react(key int32, before *fold.State, ev *event.Event) {
	if ev.Stream == event.Log && ev.Status != nil {
		w.reactDowntimes(before.Status.Extra, ev.Status.Extra)
	}
	w.relate(key, before, ev)
	w.moveRoots(key, before, ev)
	w.remindOfHost(key, before, ev)
}

// reactDowntimes plans the objects that wait for a downtime which started or ended.
func (w *world) reactDowntimes(was, is *event.Extra) {
	var moved []string
	for _, d := range downtimes(was) {
		if n := downtime(is, d.ID); n == nil || n.Started != d.Started {
			moved = append(moved, d.ID)
		}
	}
	for _, d := range downtimes(is) {
		if downtime(was, d.ID) == nil && d.Started != 0 {
			moved = append(moved, d.ID)
		}
	}
	for _, id := range moved {
		for key := range w.things {
			for _, d := range downtimes(w.things[key].state.Status.Extra) {
				if d.Trigger == id {
					w.plan(int32(key))
				}
			}
		}
	}
}

func downtimes(x *event.Extra) []event.Downtime {
	if x == nil {
		return nil
	}
	return x.Downtimes
}

// moveRoots lets the roots of problems follow a host that went down, came back or
// names another root itself.
func (w *world) moveRoots(key int32, before *fold.State, ev *event.Event) {
	if ev.Stream != event.Log || ev.Status == nil {
		return
	}
	w.reroot(key)
	if !fold.MovesRoots(before, ev) {
		return
	}
	o := w.things[key].obj
	for _, all := range [][]*object.Object{o.Services, o.Children} {
		for _, other := range all {
			if k, ok := w.keys[other.ID]; ok {
				w.reroot(k)
			}
		}
	}
}

func (w *world) reroot(key int32) {
	t := &w.things[key]
	if t.state.Status.State == object.OK && t.state.Status.Root == "" {
		return
	}
	if env := w.env(key); fold.RootStale(&env, t.state) {
		w.decide(key, job{command: fold.Reroot{}})
	}
}

// relate starts the checks that a result asks for at other objects.
func (w *world) relate(key int32, before *fold.State, ev *event.Event) {
	if ev.Kind != event.CheckResult {
		return
	}
	env, after := w.env(key), w.things[key].state
	since := fold.Fresh(before, after, ev, w.now)
	for _, id := range fold.OnDemand(&env, before, after, ev) {
		if other, ok := w.keys[id]; ok {
			w.demand(other, since)
		}
	}
}

// demand starts a check unless one that began since a time has a result or will have
// one, or something forbids the check.
func (w *world) demand(key int32, since object.Time) {
	t := &w.things[key]
	st := &t.state.Status
	switch {
	case t.running && t.started < since:
		t.again = since
		return
	case t.running, t.now.begun() >= since, st.Checked && t.state.Measure.LastCheck >= since:
		return
	case st.Type == object.Soft && st.State != object.OK:
		return
	}
	env := w.env(key)
	if why, _ := fold.Blocked(&env, t.state, w.now); why == "" {
		w.launch(key)
	}
}

// begun is when the check began whose result is being decided, 0 if there is none.
func (j *job) begun() object.Time {
	if j == nil {
		return 0
	}
	r, _ := j.command.(fold.Result)
	return r.Start
}

// remindOfHost tells of a host's problem again with the results of its services,
// where that is not a matter of time.
func (w *world) remindOfHost(key int32, before *fold.State, ev *event.Event) {
	t := &w.things[key]
	if t.obj.Host == nil || ev.Kind != event.CheckResult || t.obj.Host.Notify == nil || t.obj.Host.Notify.Timed {
		return
	}
	host := w.look(t.obj.Host.ID)
	if host.Status.State == object.Up {
		return
	}
	other, ok := w.keys[t.obj.Host.ID]
	if ok && notify.HostAgain(&w.settings, &host.Status, &before.Status, &t.state.Status) {
		w.decide(other, job{command: fold.Remind{}})
	}
}
