package engine

import (
	"context"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// startDue takes every due object out of the schedule and starts its work, as
// far as there are places; the rest waits in line, oldest first.
func (e *Engine) startDue(ctx context.Context) {
	s := &e.state
	if !s.live || s.stopped || e.halted() {
		return
	}
	if s.sharing.drill.holds() {
		s.moreDue = false
		return
	}
	now := object.At(time.Now())
	if jump := s.skew.check(time.Now()); jump != 0 {
		e.log.Warn("the wall clock jumped, every object is scheduled anew", "jump", jump)
		e.addChore(&sweep{})
		e.reconcileAll() // when a rule is looked at next was said by the other clock
	}
	s.moreDue = e.catchUp(now)
	began := time.Now()
	for i := range duePerTurn {
		if i%16 == 15 && time.Since(began) > turnTime {
			break
		}
		key, due, ok := s.queue.Pop(now)
		if !ok {
			break
		}
		e.onDue(key, due, now)
	}
	if due, ok := s.queue.Next(); ok && due <= now {
		s.moreDue = true
	}
	for len(s.line) > 0 && s.places < e.opt.Concurrency {
		key := s.line[0]
		s.line = s.line[1:]
		e.launch(ctx, key)
	}
	e.metrics.waitingChecks.Store(int64(len(s.line)))
}

// onDue asks the core what a due object needs: that time passes, a check, an
// expiry, or only to be asked again later. An object that waits for the log is
// planned when that has answered.
func (e *Engine) onDue(key int32, due, now object.Time) {
	ent := &e.state.entries[key]
	if ent.obj == nil || e.state.pending[key] != nil {
		return
	}
	if !e.owns(ent.obj.ID) {
		e.disown(key)
		return
	}
	work, next := e.due(key, now)
	switch {
	case work == fold.PassTime:
		e.passTime(key, next, now)
	case ent.running:
		e.plan(key, now)
	case work == fold.RunCheck:
		e.runCheck(key, due, now)
	case work == fold.ForceCheck:
		e.enqueue(key, due)
	case work == fold.ExpireCheck:
		e.decide(key, job{command: e.expired(key, now)})
	case next > now:
		e.state.queue.Set(key, next)
	}
}

// due asks the core. For an object that stands in line for time to pass, it asks
// what there is to do beside that: its checks do not wait for the line.
func (e *Engine) due(key int32, now object.Time) (fold.Work, object.Time) {
	ent := &e.state.entries[key]
	env := e.env(key)
	env.Late = ent.late
	return fold.Due(&env, e.proj.State(ent.obj.ID), now)
}

// tickAgain is when time is let pass again for an object where that had no effect
// although it was due.
const tickAgain object.Time = 100

// passTime lets time pass for an object: downtimes start and end, what expires
// does so. due is since when. While very many decisions wait for the log it stands
// in line.
func (e *Engine) passTime(key int32, due, now object.Time) {
	ent := &e.state.entries[key]
	switch {
	case len(e.state.pending) >= maxUnderWay:
		ent.late = true
		e.state.late = append(e.state.late, key)
		e.onDue(key, now, now) // what there is to do beside it
		return
	case due == ent.ticked:
		ent.ticked = 0
		e.state.queue.Set(key, now+tickAgain)
		return
	}
	ent.ticked = due
	e.metrics.ticks.Inc()
	if due >= e.started {
		e.metrics.tickLateness.Observe(now.Sub(due).Seconds())
	}
	e.decide(key, job{command: fold.Tick{}})
}

// catchUp lets time pass for objects that stand in line for it, and tells whether
// there are more.
func (e *Engine) catchUp(now object.Time) (more bool) {
	s := &e.state
	for range ordersPerTurn {
		if len(s.late) == 0 || len(s.pending) >= maxUnderWay {
			return false // else the log's next answer wakes the loop
		}
		key := s.late[0]
		s.late = s.late[1:]
		s.entries[key].late = false
		e.onDue(key, now, now)
	}
	return len(s.late) > 0
}

// runCheck puts a due check in line unless something forbids it now; then the
// next one is planned from here.
func (e *Engine) runCheck(key int32, due, now object.Time) {
	ent := &e.state.entries[key]
	env := e.env(key)
	why, _ := fold.Blocked(&env, e.proj.State(ent.obj.ID), now)
	if why == "" {
		e.enqueue(key, due)
		return
	}
	e.metrics.blocked.WithLabelValues(string(why)).Inc()
	ent.skipped = now
	e.plan(key, now)
	if at, ok := e.state.queue.Due(key); ok && at <= now {
		e.state.queue.Set(key, now.Add(skipPause))
	}
}

// skipPause is when a check that was not run is looked at again at the soonest.
const skipPause = time.Second

// enqueue puts an object in line for the runner.
func (e *Engine) enqueue(key int32, due object.Time) {
	ent := &e.state.entries[key]
	ent.running, ent.due = true, due
	e.state.line = append(e.state.line, key)
	e.plan(key, object.At(time.Now()))
}

// launch hands an object to the runner. The runner's context ends with the
// engine's work, not with the stop signal: running checks may finish.
func (e *Engine) launch(ctx context.Context, key int32) {
	ent := &e.state.entries[key]
	switch {
	case ent.obj == nil: // removed while it waited
		e.release(key)
		return
	case !e.owns(ent.obj.ID): // another's since it began to wait
		ent.running, ent.again = false, 0
		return
	}
	e.state.places++
	e.metrics.runningChecks.Store(int64(e.state.places))
	ent.began = object.At(time.Now())
	j := Job{Object: ent.obj, Timeout: ent.obj.Rule.Timeout, Due: ent.due}
	go func() {
		r := e.opt.Runner.Run(ctx, j)
		e.inbox.finish(finished{key: key, object: j.Object.ID, result: r})
	}()
}

// onFinished takes the result of an execution.
func (e *Engine) onFinished(f *finished) {
	e.state.places--
	e.metrics.runningChecks.Store(int64(e.state.places))
	ent := &e.state.entries[f.key]
	if ent.obj == nil {
		// It left the config while its check ran.
		e.release(f.key)
		return
	}
	ent.running = false
	e.observe(ent.obj, &f.result)
	if ent.began < e.state.sharing.returned && f.result.Start < e.proj.State(f.object).Measure.LastCheck {
		e.metrics.lostDecisions.Inc() // another engine has checked it while this one was out
		e.plan(f.key, object.At(time.Now()))
		return
	}
	e.decide(f.key, job{command: f.result})
	e.checkAgain(f.key)
}

func (e *Engine) observe(o *object.Object, r *fold.Result) {
	late := float64(r.Latency) / 1e6
	e.metrics.checks.WithLabelValues(string(o.Rule.Check.Kind)).Inc()
	e.metrics.lateness.Observe(late)
	e.recent.add(late)
}

// expired makes the result of an object that nothing was heard of for too long.
func (e *Engine) expired(key int32, now object.Time) fold.Result {
	env := e.env(key)
	r := fold.Result{State: object.Unknown, Expired: true, Start: now}
	if env.Object.Kind() == object.Host {
		r.State = object.Down
	}
	r.Output = fmt.Sprintf("no result arrived within %s", fold.Threshold(&env, e.proj.State(env.Object.ID)))
	return r
}

// planAll schedules every object at a start without others.
func (e *Engine) planAll(now object.Time) {
	for key := range e.state.entries {
		if e.state.entries[key].obj != nil {
			e.claim(&e.state.entries[key])
			e.planSpread(int32(key), now)
		}
	}
}

// planSpread schedules an object as plan does, but a check that is overdue gets
// the first place on its own grid that is still ahead: after a pause, or a reload
// that adds many, everything would be due at once.
func (e *Engine) planSpread(key int32, now object.Time) {
	e.plan(key, now)
	due, ok := e.state.queue.Due(key)
	if !ok || due > now {
		return
	}
	st := e.proj.State(e.state.entries[key].obj.ID)
	if x := st.Status.Extra; x != nil && x.CheckAt != 0 && x.CheckAt <= now {
		return // somebody asked for it
	}
	e.state.queue.Set(key, e.slot(key, now))
}

// slot returns the next place of an object on its own grid, or when time has something
// to do for it before.
func (e *Engine) slot(key int32, now object.Time) object.Time {
	o := e.state.entries[key].obj
	env, st := e.env(key), e.proj.State(o.ID)
	interval := o.Rule.Interval
	if st.Status.Type == object.Soft || interval <= 0 {
		interval = o.Rule.Retry
	}
	slot := fold.NextSlot(o.ID, interval, now)
	if tick := fold.NextAsk(&env, st, now); tick != 0 && tick < slot {
		slot = tick
	}
	return slot
}

// plan sets when an object is asked for next. While its check runs or waits for a
// place, only time has something to do for it.
func (e *Engine) plan(key int32, now object.Time) {
	ent := &e.state.entries[key]
	if ent.obj == nil || !ent.ours || e.state.pending[key] != nil {
		return
	}
	var at object.Time
	switch {
	case !ent.running:
		_, at = e.due(key, now)
	case !ent.late:
		env := e.env(key)
		at = fold.NextAsk(&env, e.proj.State(ent.obj.ID), now)
	}
	if at == 0 {
		e.state.queue.Remove(key)
		return
	}
	if at == ent.ticked && at <= now { // it had no effect a moment ago
		at = now + tickAgain
	}
	e.state.queue.Set(key, at)
}

// skew notices when wall clock and monotonic clock part.
type skew struct{ last time.Time }

// tolerance is how far the clocks may part between two looks before every
// object is scheduled anew; time synchronisation slews far less than this.
const tolerance = 3 * time.Second

// check returns by how much the wall clock jumped since the last call, 0 if it
// did not.
func (s *skew) check(now time.Time) time.Duration {
	last := s.last
	s.last = now
	if last.IsZero() {
		return 0
	}
	jump := now.Round(0).Sub(last.Round(0)) - now.Sub(last)
	if jump.Abs() < tolerance {
		return 0
	}
	return jump
}
