package fold

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// freshGrace bounds how much later than its freshness a passive object goes
// stale because nobody listened: so long submitters get after a start.
const freshGrace = 10 * time.Minute

// Due says what is to be done for an object now and when. If work is due, the
// time is since when; else it is when to ask again, 0 for never. What became
// due before env.Started waits for the object's next place on its grid.
func Due(env *Env, s *State, now object.Time) (Work, object.Time) {
	work, at := RunCheck, object.Time(0)
	if active(env, &s.Status) {
		// A clock that was set back must not stop the checks.
		at = nextActive(env, &s.Status, min(s.Measure.LastCheck, now))
		if planned := s.Measure.NextCheck; s.Measure.Passive && planned != 0 && planned < at {
			at = planned
		}
		if at != 0 && at < env.Started {
			at = restartAt(env, &s.Status)
		}
	} else {
		work, at = ExpireCheck, expiry(env, s)
	}
	switch {
	case at == 0:
		return Nothing, 0
	case at > now:
		return Nothing, at
	}
	return work, at
}

// active tells whether scheduled checks of the object run.
func active(env *Env, st *event.Status) bool {
	kind := env.Object.Rule.Check.Kind
	return env.Settings.ActiveChecks(env.Object.Kind()) && Enabled(env.Object, st, object.SwitchActive) &&
		kind != object.CheckPassive && kind != object.CheckNone
}

// nextActive returns when the next scheduled check follows a state and the
// start of the newest check, 0 for never. A soft problem is looked at again
// after the retry interval, all else at the object's places on the clock.
func nextActive(env *Env, st *event.Status, last object.Time) object.Time {
	rule := env.Object.Rule
	switch {
	case !active(env, st):
		return 0
	case !st.Checked && rule.Interval > 0:
		return NextSlot(env.Object.ID, rule.Interval, env.Started)
	case !st.Checked:
		// Without an interval a service is checked once, a host on demand.
		if env.Object.Kind() == object.Host {
			return 0
		}
		return max(env.Started, 1)
	case st.Type == object.Soft && st.State != object.OK:
		return last.Add(rule.Retry)
	case rule.Interval <= 0:
		return 0
	}
	// Strictly behind the last start, and not so soon that two checks of a
	// retried problem follow each other at once.
	return NextSlot(env.Object.ID, rule.Interval, last.Add(max(rule.Interval/2, time.Millisecond)))
}

// restartAt returns when a check runs that became due while nobody looked.
func restartAt(env *Env, st *event.Status) object.Time {
	step := env.Object.Rule.Interval
	if st.Type == object.Soft && st.State != object.OK || step <= 0 {
		step = env.Object.Rule.Retry
	}
	return NextSlot(env.Object.ID, step, env.Started)
}

// expiry returns when a passive object goes stale, 0 for never.
func expiry(env *Env, s *State) object.Time {
	rule := env.Object.Rule
	if rule.Freshness <= 0 || !env.Settings.PassiveChecks(env.Object.Kind()) || !Enabled(env.Object, &s.Status, object.SwitchPassive) {
		return 0
	}
	if !s.Status.Checked {
		return env.Started.Add(rule.Freshness)
	}
	// A passive object's result that nobody submitted is an expiry.
	if again := s.Status.Type == object.Soft && s.Status.State != object.OK && !s.Measure.Passive; again {
		return s.Measure.LastCheck.Add(rule.Retry)
	}
	at := s.Measure.LastCheck.Add(rule.Freshness)
	if at < env.Started {
		at = env.Started.Add(min(rule.Freshness, freshGrace))
	}
	return at
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
