package fold_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// A writer whose clock is off by anything has the last word about an object; whoever owns
// it then has a clock that is right. No check, no expiry and no result waits longer for that
// than for its time, and once more.
func TestNothingWaitsForAClockThatWasOff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, s := probed()
		env.Started = started.Add(-100 * time.Hour)
		rule := env.Object.Rule
		rule.Interval, rule.Retry = time.Duration(rapid.IntRange(1, 30).Draw(t, "interval"))*time.Minute, minute
		rule.Passive = true
		passive := rapid.Bool().Draw(t, "passive")
		if passive {
			rule.Check.Kind, rule.Freshness = object.CheckPassive, time.Duration(rapid.IntRange(1, 60).Draw(t, "freshness"))*time.Minute
		}
		off := time.Duration(rapid.IntRange(-400*86400, 400*86400).Draw(t, "off")) * time.Second
		theirs, seq := started.Add(off), uint64(0)
		for range rapid.IntRange(1, 4).Draw(t, "results") {
			d, err := fold.Decide(env, s, fold.Result{State: object.State(rapid.IntRange(0, 3).Draw(t, "state")), Passive: passive, Start: theirs}, theirs)
			if err != nil {
				t.Fatal(err)
			}
			e := &d.Result
			if d.HasLog {
				e = &d.Log
			}
			seq++
			e.Seq = seq
			*s, _ = fold.Apply(*s, e)
			theirs = theirs.Add(time.Second)
		}
		now, most := started.Add(10*time.Second), 2*rule.Interval
		if passive {
			most = 2 * rule.Freshness
			again := *s
			if _, err := fold.Decide(env, &again, fold.Result{Passive: true, Stamped: true, Start: now, Output: "it comes"}, now); err != nil {
				t.Fatalf("a result of now is refused: %v", err)
			}
		}
		for end := now.Add(most + time.Second); ; {
			work, at := fold.Due(env, s, now)
			if work != fold.Nothing {
				return
			}
			if at == 0 || at > end {
				t.Fatalf("it is looked at again at %v, want within %v", at.Sub(started), most)
			}
			now = at
		}
	})
}

func TestFreshnessGoesByWhenAResultWasGot(t *testing.T) {
	const fresh = 5 * time.Minute
	for _, c := range []struct {
		name        string
		last, heard time.Duration // since the start; heard 0 = not known
		now         time.Duration
		want        string
	}{
		{"both agree", 10 * time.Minute, 10*time.Minute + 200*time.Millisecond, 11 * time.Minute, "nothing 900000"},
		{"nobody knows when it came", 10 * time.Minute, 0, 11 * time.Minute, "nothing 900000"},
		{"the clock was set ahead by an hour: it is not stale at once", 10 * time.Minute, 70 * time.Minute, 71 * time.Minute, "nothing 4500000"},
		{"it was set back by a day: it is stale when it would have been", 25 * time.Hour, time.Hour, time.Hour + 6*time.Minute, "expire 3900000"},
		{"of a clock that was ahead, and nobody knows when it came", 25 * time.Hour, 0, time.Hour, "expire 3600000"},
		{"of a clock that was a little ahead, and nobody knows when it came", time.Hour + time.Minute, 0, time.Hour, "nothing 3960000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, s := probed()
			env.Object.Rule.Check.Kind, env.Object.Rule.Freshness, env.Object.Rule.Passive = object.CheckPassive, fresh, true
			checked(s, object.OK, object.Hard, started.Add(c.last))
			s.Measure.Passive = true
			if c.heard != 0 {
				env.Heard = started.Add(c.heard)
			}
			if got := due(env, s, started.Add(c.now), started); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestAHostIsSampledAgainAfterAClockThatWasAhead(t *testing.T) {
	for ahead, want := range map[time.Duration]bool{0: false, 10 * time.Second: false, time.Hour: true, 24 * time.Hour: true, -time.Hour: true} {
		env, s := probed()
		env.Object = env.Object.Host
		env.Host, env.Object.Rule.NoteInterval = nil, minute
		s.Status.Checked, s.Measure.RingTime, s.Measure.Ring = true, started.Add(ahead), 1
		d, err := fold.Decide(env, s, fold.SampleHost{}, started)
		if err != nil || d.HasResult != want {
			t.Errorf("the last entry is %v ahead: sampled %v (%v), want %v", ahead, d.HasResult, err, want)
		}
	}
}
