package fold_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// anyDue draws an object that may have a check, a period, a freshness, a wish, a
// downtime and checks that were skipped, and a moment to look at it.
func anyDue(t *rapid.T) (*fold.Env, *fold.State, object.Time) {
	env, s := probed()
	rule := env.Object.Rule
	minutes := func(label string, most int) time.Duration {
		return time.Duration(rapid.IntRange(0, most).Draw(t, label)) * time.Minute
	}
	rule.Check.Kind = rapid.SampledFrom([]object.CheckKind{object.CheckHTTP, object.CheckPassive}).Draw(t, "check")
	rule.Active, rule.Passive = rapid.Bool().Draw(t, "active"), rapid.Bool().Draw(t, "passive")
	rule.Interval, rule.Retry = minutes("interval", 3000), minutes("retry", 10)
	rule.Freshness, rule.FreshAuto = minutes("freshness", 100), rapid.Bool().Draw(t, "automatic")
	if rapid.Bool().Draw(t, "period") {
		from := minutes("opens", 1380)
		rule.CheckPeriod = daily{from, from + time.Minute + minutes("length", 58)}
	}
	env.Object.ID = object.ServiceID("web01", rapid.StringN(1, 4, 4).Draw(t, "name"))
	now := started.Add(minutes("later", 5000))
	if rapid.Bool().Draw(t, "checked") {
		state := object.State(rapid.IntRange(0, 3).Draw(t, "state"))
		checked(s, state, object.StateType(rapid.IntRange(0, 1).Draw(t, "type")), now.Add(-minutes("ago", 4000)))
		s.Measure.Passive = rapid.Bool().Draw(t, "submitted")
	}
	if rapid.Bool().Draw(t, "skips") {
		env.Skipped = now.Add(-minutes("skipped", 100))
	}
	if rapid.Bool().Draw(t, "wishes") {
		s.Status.Extra = &event.Extra{CheckAt: now.Add(minutes("wish", 100)), CheckForced: rapid.Bool().Draw(t, "forced")}
	}
	return env, s, now
}

// What is due is due at the time that was announced, neither earlier nor never,
// and a check that obeys its period is never called for outside of it.
func TestDueKeepsItsWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, s, now := anyDue(t)
		work, at := fold.Due(env, s, now)
		if work != fold.Nothing {
			if at > now {
				t.Fatalf("%s is due since %d, it is %d", work, at, now)
			}
			if wished := s.Status.Extra != nil && s.Status.Extra.CheckAt <= now; work == fold.RunCheck && !wished && !object.Inside(env.Object.Rule.CheckPeriod, now) {
				t.Fatal("a check runs outside of its period")
			}
			return
		}
		if at == 0 {
			if work, later := fold.Due(env, s, now.Add(1000*time.Hour)); work != fold.Nothing || later != 0 {
				t.Fatalf("never, and then %s at %d", work, later)
			}
			return
		}
		if at <= now {
			t.Fatalf("nothing is due, ask again at %d, it is %d", at, now)
		}
		between := now + object.Time(rapid.Int64Range(0, int64(at-now)-1).Draw(t, "between"))
		if work, again := fold.Due(env, s, between); work != fold.Nothing || again != at {
			t.Fatalf("announced for %d, asked at %d: %s at %d", at, between, work, again)
		}
		if work, _ := fold.Due(env, s, at); work == fold.Nothing {
			t.Fatalf("nothing is due at the time that was announced, %d", at)
		}
	})
}
