package fold_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// every is a period whose windows are equally far apart.
type every struct{ distance, from, length time.Duration }

func (every) Name() string     { return "every" }
func (p every) String() string { return fmt.Sprint(p.distance, p.from, p.length) }

func (p every) Window(at object.Time) (bool, object.Time) {
	opens := p.opens(at)
	if at < opens.Add(p.length) {
		return true, opens.Add(p.length)
	}
	return false, opens.Add(p.distance)
}

// opens returns when the newest window opened.
func (p every) opens(at object.Time) object.Time {
	step := object.Time(p.distance.Milliseconds())
	return at - (at-object.Time(p.from.Milliseconds()))%step
}

// follow runs an object's checks as they come due, each a moment late, and
// returns when they ran.
func follow(env *fold.Env, s *fold.State, late, until time.Duration) (ran []object.Time) {
	for now := env.Started; ; {
		work, at := fold.Due(env, s, now)
		if work == fold.Nothing && (at == 0 || at.Sub(env.Started) > until) {
			return ran
		}
		if now = at; work == fold.RunCheck {
			now = now.Add(late)
			ran = append(ran, now)
			checked(s, object.OK, object.Hard, now)
		}
	}
}

// No window is without a check if windows are as far apart as the interval or
// farther, from the start on, and also after a check that somebody forced.
func TestNoWindowIsMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, s := probed()
		minutes := func(label string, least, most int) time.Duration {
			return time.Duration(rapid.IntRange(least, most).Draw(t, label)) * time.Minute
		}
		p := every{distance: minutes("distance", 60, 3000)}
		p.from, p.length = minutes("from", 0, 3000), minutes("length", 2, int(p.distance/time.Minute)-1)
		rule := env.Object.Rule
		rule.CheckPeriod, rule.Interval = p, minutes("interval", 1, int(p.distance/time.Minute))
		env.Object.ID = object.ServiceID("web01", rapid.StringN(1, 8, 8).Draw(t, "name"))
		first := p.opens(env.Started).Add(p.distance) // of the windows that are there as a whole
		switch rapid.IntRange(0, 2).Draw(t, "before") {
		case 1:
			checked(s, object.OK, object.Hard, env.Started.Add(-minutes("ago", 1, 5000)))
		case 2: // forced, or on demand, whatever the period says
			checked(s, object.OK, object.Hard, env.Started)
		}
		if s.Status.Checked {
			// The pace of the checks goes before a window.
			for first < s.Measure.LastCheck.Add(rule.Interval/2) {
				first = first.Add(p.distance)
			}
		}
		ran := follow(env, s, 300*time.Millisecond, 6*p.distance)
		counts := map[object.Time]int{}
		for i, at := range ran {
			if !object.Inside(p, at.Add(-300*time.Millisecond)) {
				t.Fatalf("a check at %s is outside of %s", at.Std(), p)
			}
			opens := p.opens(at)
			if counts[opens]++; i > 0 && at.Sub(ran[i-1]) <= rule.Interval/2 {
				t.Fatalf("two checks within %s", at.Sub(ran[i-1]))
			}
		}
		for opens := first; opens < env.Started.Add(5*p.distance); opens = opens.Add(p.distance) {
			if counts[opens] == 0 {
				t.Fatalf("no check in the window from %s: %v", opens.Std(), counts)
			}
			if most := int((p.length-1)/rule.Interval) + 2; counts[opens] > most {
				t.Fatalf("%d checks in a window of %s every %s", counts[opens], p.length, rule.Interval)
			}
		}
	})
}

// What runs how often, on average over many objects and windows.
func TestThePaceInWindows(t *testing.T) {
	const objects = 200
	day := 24 * time.Hour
	tests := []struct {
		name        string
		period      every
		interval    time.Duration
		least, most float64 // checks of one object in 10 days
	}{
		{"20 h and an hour a day", every{day, 9 * time.Hour, time.Hour}, 20 * time.Hour, 10, 10},
		{"24 h and an hour a day", every{day, 9 * time.Hour, time.Hour}, day, 10, 10},
		{"25 h and an hour a day", every{day, 9 * time.Hour, time.Hour}, 25 * time.Hour, 9.5, 10},
		{"48 h and an hour a day", every{day, 9 * time.Hour, time.Hour}, 2 * day, 4.9, 5.6},
		{"1 h and two minutes a day", every{day, 9 * time.Hour, 2 * time.Minute}, time.Hour, 10, 10},
		{"1 h and an hour a day", every{day, 9 * time.Hour, time.Hour}, time.Hour, 10, 10},
		{"1 min and 8 h a day", every{day, 9 * time.Hour, 8 * time.Hour}, time.Minute, 4800, 4800},
		{"24 h and ten minutes each hour", every{time.Hour, 0, 10 * time.Minute}, day, 9.5, 10.5},
		{"20 h and ten minutes each hour", every{time.Hour, 0, 10 * time.Minute}, 20 * time.Hour, 11.5, 12.5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := 0
			var tenths [10]int
			for i := range objects {
				env, s := probed()
				env.Object.ID = object.ServiceID(fmt.Sprintf("web%d", i), "x")
				env.Object.Rule.CheckPeriod, env.Object.Rule.Interval = tt.period, tt.interval
				ran := follow(env, s, 0, 10*day)
				if len(ran) == 0 || ran[0].Sub(env.Started) > day+time.Hour {
					t.Fatalf("no check of object %d within a day", i)
				}
				runs += len(ran)
				for _, at := range ran {
					tenths[at.Sub(tt.period.opens(at))*10/tt.period.length]++
				}
			}
			if got := float64(runs) / objects; got < tt.least || got > tt.most {
				t.Errorf("%.2f checks each, want %v to %v", got, tt.least, tt.most)
			}
			for i, n := range tenths {
				if n > runs/10*2 {
					t.Errorf("%d of %d checks in tenth %d of the windows", n, runs, i)
				}
			}
		})
	}
}

// An object that was due while nobody looked does not miss what is left of a
// window, nor the next one.
func TestARestartMissesNoWindow(t *testing.T) {
	p := every{24 * time.Hour, 9 * time.Hour, time.Hour}
	opens := p.opens(started).Add(p.distance)
	tests := []struct {
		name        string
		start       time.Duration // after the window opens
		from, until time.Duration // the next check
	}{
		{"in the middle of the window", 30 * time.Minute, 30 * time.Minute, time.Hour},
		{"before it", -3 * time.Minute, 0, time.Hour},
		{"long before it", -20 * time.Hour, 0, time.Hour},
		{"at its very end", time.Hour - time.Second, 24 * time.Hour, 25 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range 200 {
				env, s := probed()
				env.Object.ID = object.ServiceID(fmt.Sprintf("web%d", i), "x")
				env.Object.Rule.CheckPeriod, env.Object.Rule.Interval = p, 20*time.Hour
				env.Started = opens.Add(tt.start)
				checked(s, object.OK, object.Hard, opens.Add(-47*time.Hour))
				_, at := fold.Due(env, s, env.Started)
				if in := at.Sub(opens); in < tt.from || in >= tt.until {
					t.Fatalf("object %d is planned %s after the window opens", i, in)
				}
			}
		})
	}
}

func TestDueCostsNoMemory(t *testing.T) {
	env, s := probed()
	var p object.Period = every{24 * time.Hour, 9 * time.Hour, time.Hour}
	env.Object.Rule.CheckPeriod, env.Object.Rule.Interval = p, 20*time.Hour
	checked(s, object.OK, object.Hard, started)
	if n := testing.AllocsPerRun(100, func() { fold.Due(env, s, started+5) }); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}
