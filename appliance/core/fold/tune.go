package fold

import (
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// tuned returns the value that an operator set for a setting, if it still counts.
// Most objects have none, so that is found out first.
func tuned(env *Env, st *event.Status, name string) (string, bool) {
	if st.Extra == nil {
		return "", false
	}
	for i := range st.Extra.Settings {
		if s := &st.Extra.Settings[i]; s.Name == name {
			return s.Value, !outdated(env, s)
		}
	}
	return "", false
}

// Outdated returns the settings of operators that the next Tick drops because the
// config counts again: it says something else by now, or has the period no more.
func Outdated(env *Env, st *event.Status) (all []event.Setting) {
	if st.Extra == nil {
		return nil
	}
	for i := range st.Extra.Settings {
		if s := &st.Extra.Settings[i]; outdated(env, s) {
			all = append(all, *s)
		}
	}
	return all
}

// outdated tells whether the config says something else than it did when an
// operator set something against it, or has lost the period that was set. Then the
// config counts.
func outdated(env *Env, s *event.Setting) bool {
	switch s.Name {
	case event.SettingCheckPeriod, event.SettingNotePeriod, event.SettingHandlerPeriod:
		if _, there := env.Periods[s.Value]; !there && env.Periods != nil {
			return true
		}
	}
	now, known := configOf(env.Object, s.Name)
	return known && s.Config != "" && s.Config != now
}

// configOf returns what the config says for a setting; known is false for
// settings that this build does not know.
func configOf(o *object.Object, name string) (value string, known bool) {
	rule := o.Rule
	switch name {
	case event.SettingInterval:
		return rule.Interval.String(), true
	case event.SettingRetry:
		return rule.Retry.String(), true
	case event.SettingAttempts:
		return strconv.Itoa(int(attempts(o))), true
	case event.SettingCheckPeriod:
		return nameOf(rule.CheckPeriod), true
	case event.SettingNotePeriod:
		return nameOf(rule.NotePeriod), true
	case event.SettingHandlerPeriod:
		return nameOf(rule.HandlerPeriod), true
	}
	if variable, ok := strings.CutPrefix(name, event.SettingVar); ok {
		return o.Vars[variable], true
	}
	for i, s := range switchNames {
		if s == name {
			return onOff(configured(o).Has(1 << i)), true
		}
	}
	return "", false
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// nameOf names a period of the config; none at all is always.
func nameOf(p object.Period) string {
	if p == nil {
		return "always"
	}
	return p.Name()
}

// intervalOf returns the time between regular checks: as an operator set it, else
// as configured; 0 = never scheduled regularly.
func intervalOf(env *Env, st *event.Status) time.Duration {
	return durationOf(env, st, event.SettingInterval, env.Object.Rule.Interval)
}

// retryOf returns the time between checks of a soft problem. Where it is 0 a
// problem is retried at the pace of the regular checks, or every minute, so that
// no check follows the other without a pause.
func retryOf(env *Env, st *event.Status) time.Duration {
	if d := durationOf(env, st, event.SettingRetry, env.Object.Rule.Retry); d > 0 {
		return d
	}
	if d := intervalOf(env, st); d > 0 {
		return d
	}
	return time.Minute
}

func durationOf(env *Env, st *event.Status, name string, config time.Duration) time.Duration {
	if text, ok := tuned(env, st, name); ok {
		if d, err := time.ParseDuration(text); err == nil {
			return d
		}
	}
	return config
}

// attemptsOf returns how many results make a problem hard, at least 1.
func attemptsOf(env *Env, st *event.Status) int32 {
	if text, ok := tuned(env, st, event.SettingAttempts); ok {
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

// HandlerPeriod returns when an object's event handlers run: as an operator set
// it, else as configured; nil = always.
func HandlerPeriod(env *Env, st *event.Status) object.Period {
	return periodOf(env, st, event.SettingHandlerPeriod, env.Object.Rule.HandlerPeriod)
}

// periodOf falls back to the config where the periods are not known, and when a
// reload has taken away the one that an operator chose.
func periodOf(env *Env, st *event.Status, name string, config object.Period) object.Period {
	if chosen, ok := tuned(env, st, name); ok {
		if p, known := env.Periods[chosen]; known {
			return p
		}
	}
	return config
}
