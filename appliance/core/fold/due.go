package fold

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// skippedAgain is when a check that has no interval and could not run is tried
// again.
const skippedAgain = 5 * time.Minute

// Due says what is to be done for an object now and when. If work is due, the
// time is since when; else it is when to ask again, 0 for never. What became
// due before env.Started waits for the object's next place on its grid.
//
// Of several things that are due, the one that costs least comes first. The
// caller asks again once it is done.
func Due(env *Env, s *State, now object.Time) (Work, object.Time) {
	var plan [4]moment
	if !env.Late {
		plan[0] = moment{PassTime, NextAsk(env, s, now)}
	}
	plan[1] = wish(env, &s.Status, now)
	plan[2] = moment{RunCheck, regular(env, s, now)}
	plan[3] = moment{staleWork(env), stale(env, s, now)}
	next := object.Time(0)
	for _, m := range plan {
		switch {
		case m.at == 0:
		case m.at <= now:
			return m.work, m.at
		case next == 0 || m.at < next:
			next = m.at
		}
	}
	return Nothing, next
}

// moment is something to do at a time; 0 = never.
type moment struct {
	work Work
	at   object.Time
}

// wish returns the check that somebody asked for, if no check has started since
// and none was skipped.
func wish(env *Env, st *event.Status, now object.Time) moment {
	x := st.Extra
	if x == nil || x.CheckAt == 0 || !checkable(env.Object) {
		return moment{}
	}
	if x.CheckForced {
		return moment{ForceCheck, x.CheckAt}
	}
	// What obeys the rules may find that it must not run, and is then gone.
	if env.Skipped >= x.CheckAt && env.Skipped <= now {
		return moment{}
	}
	return moment{RunCheck, x.CheckAt}
}

// regular returns when the next scheduled check runs, 0 for never.
func regular(env *Env, s *State, now object.Time) object.Time {
	st := &s.Status
	last, skipped, step := s.Measure.LastCheck, env.Skipped, pace(env, st)
	// A clock that was set back, or one that was ahead at another engine, must not stop the
	// checks: what lies ahead by more than half a step is taken for a step ago, so that the
	// place on the grid that is next, or was a moment ago, is due. It must not be taken for
	// now, or no place were ever due. Half a step, because the next place may lie one and a
	// half behind a check, and nothing shall wait for more than two.
	if last.Ahead(now, step/2) {
		last = now.Add(-step)
	}
	if skipped.Ahead(now, step) {
		skipped = 0
	}
	if env.Started.Ahead(now, step) {
		since := *env
		since.Started = now.Add(-step)
		env = &since
	}
	at := placed(env, st, last, skipped)
	if planned := s.Measure.NextCheck; at != 0 && s.Measure.Passive && planned != 0 && planned < at && planned > env.Skipped {
		at = shift(env, st, planned)
	}
	if at != 0 && at < env.Started {
		at = begin(env, st, pace(env, st))
	}
	return stillOpen(env, st, at, now)
}

// checkable tells whether the object has a check that could run.
func checkable(o *object.Object) bool {
	kind := o.Rule.Check.Kind
	return kind != object.CheckPassive && kind != object.CheckNone
}

// active tells whether scheduled checks of the object run.
func active(env *Env, st *event.Status) bool {
	return env.Settings.ActiveChecks(env.Object.Kind()) && Enabled(env.Object, st, object.SwitchActive) && checkable(env.Object)
}

// nextActive returns when the next check follows a state and the start of the
// newest check, 0 for never: the regular one, or one that somebody asked for. In
// Nagios a forced one that is far ahead takes the place of all regular ones until
// then, so that the object goes unwatched; here they go on.
func nextActive(env *Env, st *event.Status, last object.Time) object.Time {
	at := placed(env, st, last, env.Skipped)
	w := wish(env, st, max(last, env.Skipped))
	if w.at != 0 && (at == 0 || w.at < at) {
		return w.at
	}
	return at
}

// unplaced returns when the next scheduled check follows the newest one, or one
// that was skipped, wherever the check period is; 0 for never. A soft problem is
// looked at again after the retry interval, all else at the object's places on
// the clock.
func unplaced(env *Env, st *event.Status, last, skipped object.Time) object.Time {
	interval := intervalOf(env, st)
	switch {
	case !active(env, st):
		return 0
	case skipped > last:
		if interval <= 0 {
			return skipped.Add(skippedAgain)
		}
		return after(env, interval, skipped)
	case !st.Checked && interval > 0:
		return NextSlot(env.Object.ID, interval, env.Started)
	case !st.Checked:
		// Without an interval a service is checked once, a host on demand.
		if env.Object.Kind() == object.Host {
			return 0
		}
		return max(env.Started, 1)
	case st.Type == object.Soft && st.State != object.OK:
		return last.Add(retryOf(env, st))
	case interval <= 0:
		return 0
	}
	return after(env, interval, last)
}

// after returns the next place on the grid strictly behind a check, and not so
// soon that two checks of a retried problem follow each other at once.
func after(env *Env, interval time.Duration, last object.Time) object.Time {
	return NextSlot(env.Object.ID, interval, last.Add(max(interval/2, time.Millisecond)))
}

// pace returns the time between two checks in the present state.
func pace(env *Env, st *event.Status) time.Duration {
	if step := intervalOf(env, st); step > 0 && (st.Type != object.Soft || st.State == object.OK) {
		return step
	}
	return retryOf(env, st)
}

// NextSlot returns the first place of an object's grid at or after t: the
// instants that lie Phase behind a multiple of the interval. Objects keep their
// places over restarts and reloads. An interval under a millisecond has no grid:
// it returns t.
func NextSlot(id object.ID, interval time.Duration, t object.Time) object.Time {
	step := object.Time(interval.Milliseconds())
	if step <= 0 {
		return t
	}
	wait := (object.Time(Phase(id, interval).Milliseconds()) - t) % step
	if wait < 0 {
		wait += step
	}
	return t + wait
}

// Phase returns an object's place within an interval, in whole milliseconds
// from 0 up to the interval. It depends on the two alone and spreads objects
// evenly.
func Phase(id object.ID, interval time.Duration) time.Duration {
	step := uint64(interval.Milliseconds())
	if interval <= 0 || step == 0 {
		return 0
	}
	return time.Duration(hash(id)%step) * time.Millisecond
}

// hash is 64-bit FNV-1a with a finishing mix, because FNV alone places names
// that differ in their last letters close to each other.
func hash(id object.ID) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(id); i++ {
		h = (h ^ uint64(id[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
