package rehearse

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

const (
	// tickAgain is when time is let pass again where that had no effect although it
	// was due, skipPause when a check that was not run is looked at again.
	tickAgain object.Time = 100
	skipPause             = time.Second
)

// plan sets when an object is asked for next. While its check runs, only time has
// something to do for it.
func (w *world) plan(key int32) {
	t := &w.things[key]
	if t.now != nil {
		return
	}
	env := w.env(key)
	var at object.Time
	if t.running {
		at = fold.NextAsk(&env, t.state, w.now)
	} else {
		_, at = fold.Due(&env, t.state, w.now)
	}
	switch {
	case at == 0:
		w.due.Remove(key)
	case at == t.ticked && at <= w.now:
		w.due.Set(key, w.now+tickAgain)
	default:
		w.due.Set(key, at)
	}
}

// planSpread plans an object, but a check that is overdue gets the first place on
// its own grid that is still ahead.
func (w *world) planSpread(key int32) {
	w.plan(key)
	due, ok := w.due.Due(key)
	if !ok || due > w.now {
		return
	}
	t := &w.things[key]
	if x := t.state.Status.Extra; x != nil && x.CheckAt != 0 && x.CheckAt <= w.now {
		return
	}
	interval := t.obj.Rule.Interval
	if t.state.Status.Type == object.Soft || interval <= 0 {
		interval = t.obj.Rule.Retry
	}
	slot := fold.NextSlot(t.obj.ID, interval, w.now)
	env := w.env(key)
	if tick := fold.NextAsk(&env, t.state, w.now); tick != 0 && tick < slot {
		slot = tick
	}
	w.due.Set(key, slot)
}

// onDue asks the core what a due object needs.
func (w *world) onDue(key int32, due object.Time) {
	t := &w.things[key]
	if t.now != nil {
		return
	}
	env := w.env(key)
	work, next := fold.Due(&env, t.state, w.now)
	switch {
	case work == fold.PassTime:
		w.passTime(key, next)
	case t.running:
		w.plan(key)
	case work == fold.RunCheck:
		w.runCheck(key)
	case work == fold.ForceCheck:
		w.launch(key)
	case work == fold.ExpireCheck:
		w.decide(key, job{command: w.expired(key)})
	case next > w.now:
		w.due.Set(key, next)
	}
}

// passTime lets time pass for an object: downtimes start and end, people are told.
func (w *world) passTime(key int32, due object.Time) {
	t := &w.things[key]
	if due == t.ticked {
		t.ticked = 0
		w.due.Set(key, w.now+tickAgain)
		return
	}
	t.ticked = due
	w.decide(key, job{command: fold.Tick{}})
}

// runCheck starts a due check unless something forbids it now; then the next one is
// planned from here.
func (w *world) runCheck(key int32) {
	t := &w.things[key]
	env := w.env(key)
	if why, _ := fold.Blocked(&env, t.state, w.now); why == "" {
		w.launch(key)
		return
	}
	t.skipped = w.now
	w.plan(key)
	if at, ok := w.due.Due(key); ok && at <= w.now {
		w.due.Set(key, w.now.Add(skipPause))
	}
}

// launch starts a check.
func (w *world) launch(key int32) {
	t := &w.things[key]
	t.running, t.started, t.find = true, w.now, Finding{}
	if w.scene.Find != nil {
		t.find = w.scene.Find(t.obj, w.now)
	}
	w.plan(key)
	w.ends.Set(key, w.now.Add(t.find.Takes))
}

// finished takes the result of a check.
func (w *world) finished(key int32) {
	t := &w.things[key]
	since := t.again
	t.running, t.again = false, 0
	w.decide(key, job{command: fold.Result{State: t.find.State, Output: t.find.Output, Start: t.started, Took: t.find.Takes.Microseconds()}})
	if since != 0 {
		w.demand(key, since)
	}
}

// expired makes the result of an object that nothing was heard of for too long.
func (w *world) expired(key int32) fold.Result {
	env := w.env(key)
	r := fold.Result{State: object.Unknown, Expired: true, Start: w.now}
	if env.Object.Kind() == object.Host {
		r.State = object.Down
	}
	r.Output = fmt.Sprintf("no result arrived within %s", fold.Threshold(&env, w.things[key].state))
	return r
}
