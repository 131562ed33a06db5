package fold

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// freshGrace bounds how much later than its freshness an object goes stale
// because nobody listened: so long submitters get after a start.
const freshGrace = 10 * time.Minute

// freshLatency is what the automatic threshold allows beside the interval
// (Nagios: additional_freshness_latency).
const freshLatency = 15 * time.Second

// staleWork is what a stale object needs: its check, whatever its switches say,
// or, if it has none, a result that says that none arrived.
func staleWork(env *Env) Work {
	if checkable(env.Object) {
		return ForceCheck
	}
	return ExpireCheck
}

// Threshold returns how old the newest result of an object may become before it
// counts as stale, 0 = any age: what the config says, else what follows from the
// time between its checks.
func Threshold(env *Env, s *State) time.Duration {
	rule := env.Object.Rule
	switch {
	case rule.Freshness > 0:
		return rule.Freshness
	case !rule.FreshAuto || intervalOf(env, &s.Status) <= 0:
		return 0
	}
	return pace(env, &s.Status) + time.Duration(s.Measure.Latency)*time.Microsecond + freshLatency
}

// stale returns when an object goes stale, 0 for never. Outside its check period
// it does not.
func stale(env *Env, s *State, now object.Time) object.Time {
	return stillOpen(env, &s.Status, shift(env, &s.Status, expiry(env, s, now)), now)
}

// expiry returns when the newest result is too old, 0 for never.
func expiry(env *Env, s *State, now object.Time) object.Time {
	threshold, scheduled := Threshold(env, s), active(env, &s.Status)
	switch {
	case threshold <= 0 || !env.Settings.Freshness(env.Object.Kind()):
		return 0
	case !scheduled && !listens(env, &s.Status):
		return 0
	case scheduled && env.Object.Rule.Freshness <= 0:
		// The schedule itself keeps it as fresh as the automatic threshold asks.
		return 0
	case !s.Status.Checked && checkable(env.Object):
		// Checks start one by one, not all together.
		return env.Started.Add(threshold + Phase(env.Object.ID, min(threshold, time.Minute)))
	case !s.Status.Checked:
		return env.Started.Add(threshold)
	}
	// A result that nobody submitted, of an object without a check, is an expiry.
	again := !s.Measure.Passive && !checkable(env.Object)
	if again && s.Status.Type == object.Soft && s.Status.State != object.OK {
		return silent(env, s, now, retryOf(env, &s.Status))
	}
	at := silent(env, s, now, threshold)
	if at >= env.Started && !unheard(env, s, threshold) {
		return at
	}
	grace := min(threshold, freshGrace)
	if checkable(env.Object) {
		return max(at, env.Started.Add(Phase(env.Object.ID, grace)))
	}
	return max(at, env.Started.Add(grace))
}

// heardApart is how far the time of a result and that at which it was got must be apart
// until one of two clocks counts as set.
const heardApart = time.Second

// silent returns when nothing was heard for a time.
func silent(env *Env, s *State, now object.Time, wait time.Duration) object.Time {
	last := s.Measure.LastCheck
	if env.Heard != 0 && env.Heard.Sub(last).Abs() >= heardApart {
		return env.Heard.Add(wait)
	}
	return last.Over(now, wait)
}

// unheard tells whether a submitter may have had nobody to report to: nothing
// came since before the start for a good part of the threshold, as in Nagios.
func unheard(env *Env, s *State, threshold time.Duration) bool {
	last := s.Measure.LastCheck
	return s.Measure.Passive && last < env.Started && float64(env.Started.Sub(last)) > 0.618*float64(threshold)
}

// listens tells whether submitted results of the object are accepted.
func listens(env *Env, st *event.Status) bool {
	return env.Settings.PassiveChecks(env.Object.Kind()) && Enabled(env.Object, st, object.SwitchPassive)
}
