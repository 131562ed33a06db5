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
	if !s.live || s.stopped {
		return
	}
	now := object.At(time.Now())
	if jump := s.skew.check(time.Now()); jump != 0 {
		e.log.Warn("the wall clock jumped, every object is scheduled anew", "jump", jump)
		e.planAll(now)
	}
	for {
		key, due, ok := s.queue.Pop(now)
		if !ok {
			break
		}
		e.onDue(key, due, now)
	}
	for len(s.line) > 0 && s.places < e.opt.Concurrency {
		key := s.line[0]
		s.line = s.line[1:]
		e.launch(ctx, key)
	}
	e.metrics.waitingChecks.Store(int64(len(s.line)))
}

// onDue asks the core what a due object needs: a check, an expiry, or only to
// be asked again later.
func (e *Engine) onDue(key int32, due, now object.Time) {
	ent := &e.state.entries[key]
	if ent.obj == nil || ent.running {
		return
	}
	env := e.env(ent.obj, "")
	work, next := fold.Due(&env, e.proj.State(ent.obj.ID), now)
	switch {
	case work == fold.RunCheck:
		e.enqueue(key, due)
	case work == fold.ExpireCheck && e.state.pending[key] == nil:
		e.decide(key, job{command: e.expired(ent.obj, now)})
	case next > now:
		e.state.queue.Set(key, next)
	}
}

// enqueue puts an object in line for the runner.
func (e *Engine) enqueue(key int32, due object.Time) {
	ent := &e.state.entries[key]
	ent.running, ent.due = true, due
	e.state.queue.Remove(key)
	e.state.line = append(e.state.line, key)
}

// launch hands an object to the runner. The runner's context ends with the
// engine's work, not with the stop signal: running checks may finish.
func (e *Engine) launch(ctx context.Context, key int32) {
	ent := &e.state.entries[key]
	if ent.obj == nil { // removed while it waited
		e.release(key)
		return
	}
	e.state.places++
	e.metrics.runningChecks.Store(int64(e.state.places))
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
	e.decide(f.key, job{command: f.result})
}

func (e *Engine) observe(o *object.Object, r *fold.Result) {
	late := float64(r.Latency) / 1e6
	e.metrics.checks.WithLabelValues(string(o.Rule.Check.Kind)).Inc()
	e.metrics.lateness.Observe(late)
	e.recent.add(late)
}

// expired makes the result of an object that nothing was heard of for too long.
func (e *Engine) expired(o *object.Object, now object.Time) fold.Result {
	r := fold.Result{State: object.Unknown, Expired: true, Start: now}
	if o.Kind() == object.Host {
		r.State = object.Down
	}
	r.Output = fmt.Sprintf("no result arrived within %s", o.Rule.Freshness)
	return r
}

// planAll schedules every object after a pause: a start, or a jump of the clock.
func (e *Engine) planAll(now object.Time) {
	for key := range e.state.entries {
		e.planSpread(int32(key), now)
	}
}

// planSpread schedules an object as plan does, but what is overdue gets the
// first place on its own grid that is still ahead: after a pause, or a reload
// that adds many, everything would be due at once.
func (e *Engine) planSpread(key int32, now object.Time) {
	e.plan(key, now)
	due, ok := e.state.queue.Due(key)
	if !ok || due > now {
		return
	}
	o := e.state.entries[key].obj
	interval := o.Rule.Interval
	if e.proj.State(o.ID).Status.Type == object.Soft || interval <= 0 {
		interval = o.Rule.Retry
	}
	e.state.queue.Set(key, fold.NextSlot(o.ID, interval, now))
}

// plan sets when an object is asked for next.
func (e *Engine) plan(key int32, now object.Time) {
	ent := &e.state.entries[key]
	if ent.obj == nil || ent.running || e.state.pending[key] != nil {
		return
	}
	env := e.env(ent.obj, "")
	if _, at := fold.Due(&env, e.proj.State(ent.obj.ID), now); at != 0 {
		e.state.queue.Set(key, at)
		return
	}
	e.state.queue.Remove(key)
}

// onOrder handles a command of a person.
func (e *Engine) onOrder(o *order) {
	key, ok := e.state.keys[o.object]
	switch {
	case !ok:
		e.answer(o, fmt.Errorf("%s: %w", o.object, ErrNotFound))
	case e.state.stopped:
		e.answer(o, ErrStopping)
	case !o.forced:
		e.decide(key, job{command: o.command, order: o})
	case e.state.entries[key].running:
		// The running check answers the wish; it started a moment ago.
		e.answer(o, nil)
	default:
		e.enqueue(key, object.At(time.Now()))
		e.answer(o, nil)
	}
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
