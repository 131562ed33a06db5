package fold

import (
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// tuned returns the value that an operator set for a setting. Most objects have
// none, so that is found out without a call.
func tuned(st *event.Status, name string) (string, bool) {
	if st.Extra == nil || len(st.Extra.Settings) == 0 {
		return "", false
	}
	return st.Setting(name)
}

// intervalOf returns the time between regular checks: as an operator set it, else
// as configured; 0 = never scheduled regularly.
func intervalOf(env *Env, st *event.Status) time.Duration {
	return durationOf(st, event.SettingInterval, env.Object.Rule.Interval)
}

// retryOf returns the time between checks of a soft problem. Where it is 0 a
// problem is retried at the pace of the regular checks, or every minute, so that
// no check follows the other without a pause.
func retryOf(env *Env, st *event.Status) time.Duration {
	if d := durationOf(st, event.SettingRetry, env.Object.Rule.Retry); d > 0 {
		return d
	}
	if d := intervalOf(env, st); d > 0 {
		return d
	}
	return time.Minute
}

func durationOf(st *event.Status, name string, config time.Duration) time.Duration {
	if text, ok := tuned(st, name); ok {
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	}
	return config
}

// attemptsOf returns how many results make a problem hard, at least 1.
func attemptsOf(env *Env, st *event.Status) int32 {
	if text, ok := tuned(st, event.SettingAttempts); ok {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil && n > 0 {
			return int32(n)
		}
	}
	return attempts(env.Object)
}

// checkPeriodOf returns when scheduled checks run; nil = always.
func checkPeriodOf(env *Env, st *event.Status) object.Period {
	return periodOf(env, st, event.SettingCheckPeriod, env.Object.Rule.CheckPeriod)
}

// NotePeriod returns when people are told about an object: as an operator set it,
// else as configured; nil = always.
func NotePeriod(env *Env, st *event.Status) object.Period {
	return periodOf(env, st, event.SettingNotePeriod, env.Object.Rule.NotePeriod)
}

// HandlerPeriod returns when an object's event handlers run: as an operator set
// it, else as configured; nil = always.
func HandlerPeriod(env *Env, st *event.Status) object.Period {
	return periodOf(env, st, event.SettingHandlerPeriod, env.Object.Rule.HandlerPeriod)
}

// periodOf falls back to the config when a reload has taken away the period that
// an operator chose.
func periodOf(env *Env, st *event.Status, name string, config object.Period) object.Period {
	if chosen, ok := tuned(st, name); ok {
		if p, known := env.Periods[chosen]; known {
			return p
		}
	}
	return config
}
