package fold_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

const (
	started  = object.Time(1_780_000_000_000)
	minute   = time.Minute
	interval = minute
	retry    = 15 * time.Second
)

func probed() (*fold.Env, *fold.State) {
	host := &object.Object{ID: "web01", Rule: &object.Rule{Attempts: 3}}
	settings := object.DefaultSettings()
	o := &object.Object{ID: "web01!http", Host: host, Rule: &object.Rule{
		Check: object.Check{Kind: object.CheckHTTP}, Interval: interval, Retry: retry, Attempts: 3, Active: true, Passive: true,
	}}
	s := fold.New(o)
	return &fold.Env{Object: o, Settings: &settings, Started: started, Epoch: 1}, &s
}

// checked gives the state of a check that started at a time.
func checked(s *fold.State, state object.State, typ object.StateType, last object.Time) {
	s.Status.Checked, s.Status.State, s.Status.Type = true, state, typ
	s.Measure.LastCheck = last
}

func TestDue(t *testing.T) {
	slot := fold.NextSlot("web01!http", interval, started)
	at := func(t object.Time) string { return fmt.Sprint(t - slot) }
	tests := []struct {
		name string
		set  func(*fold.Env, *fold.State)
		now  object.Time
		want string // kind of work and time after the first slot
	}{
		{
			"a new object waits for its place", func(*fold.Env, *fold.State) {}, slot - 1,
			"nothing " + at(slot),
		},
		{
			"a new object whose place has come is checked, however late one looks",
			func(*fold.Env, *fold.State) {}, slot + 700, "run " + at(slot),
		},
		{
			"the next check is at the next place although this one was late",
			func(_ *fold.Env, s *fold.State) { checked(s, object.OK, object.Hard, slot+700) },
			slot + 800, "nothing " + at(slot.Add(minute)),
		},
		{
			"a soft problem is looked at after the retry interval",
			func(_ *fold.Env, s *fold.State) { checked(s, object.Critical, object.Soft, slot+700) },
			slot + 800, "nothing " + at(slot+15700),
		},
		{
			"after the last retry the object returns to its place, at least half an interval later",
			func(_ *fold.Env, s *fold.State) { checked(s, object.Critical, object.Hard, slot+45000) },
			slot + 45100, "nothing " + at(slot.Add(2*minute)),
		},
		{
			"a host that is up and soft is no problem",
			func(e *fold.Env, s *fold.State) {
				e.Object.Host = nil
				checked(s, object.Up, object.Soft, slot+1)
			}, slot + 2, "nothing " + at(slot.Add(minute)),
		},
		{
			"what became due before the start waits for its place",
			func(e *fold.Env, s *fold.State) { checked(s, object.OK, object.Hard, started.Add(-time.Hour)) },
			started, "nothing " + at(slot),
		},
		{
			"where a clock was set back the place that has just come is taken",
			func(_ *fold.Env, s *fold.State) { checked(s, object.OK, object.Hard, slot.Add(10*time.Hour)) },
			slot + 5, "run " + at(slot),
		},
		{
			"where a clock was set back the place that is next is waited for",
			func(_ *fold.Env, s *fold.State) { checked(s, object.OK, object.Hard, slot.Add(10*time.Hour)) },
			slot.Add(40 * time.Second), "nothing " + at(slot.Add(minute)),
		},
		{
			"a check by a clock that is a little ahead is one",
			func(_ *fold.Env, s *fold.State) { checked(s, object.OK, object.Hard, slot+700) },
			slot, "nothing " + at(slot.Add(minute)),
		},
		{
			"submitted results do not push the planned check away",
			func(_ *fold.Env, s *fold.State) {
				checked(s, object.OK, object.Hard, slot.Add(50*time.Second))
				s.Measure.Passive, s.Measure.NextCheck = true, slot.Add(minute)
			}, slot.Add(55 * time.Second), "nothing " + at(slot.Add(minute)),
		},
		{
			"without an interval a service is checked once",
			func(e *fold.Env, _ *fold.State) { e.Object.Rule.Interval = 0 }, started, "run " + at(started),
		},
		{
			"without an interval a checked object is left alone",
			func(e *fold.Env, s *fold.State) {
				e.Object.Rule.Interval = 0
				checked(s, object.OK, object.Hard, slot)
			}, slot.Add(time.Hour), "never",
		},
		{
			"without an interval a host is checked on demand",
			func(e *fold.Env, _ *fold.State) { e.Object.Rule.Interval, e.Object.Host = 0, nil }, slot, "never",
		},
		{
			"active checks off for the program",
			func(e *fold.Env, _ *fold.State) { e.Settings.On &^= object.ProgramServiceChecks }, slot, "never",
		},
		{
			"active checks switched off for the object",
			func(_ *fold.Env, s *fold.State) { s.Status.Off = object.SwitchActive }, slot, "never",
		},
		{
			"a passive object without freshness",
			func(e *fold.Env, _ *fold.State) { e.Object.Rule.Active = false }, slot, "never",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			tt.set(env, s)
			if got := due(env, s, tt.now, slot); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func due(env *fold.Env, s *fold.State, now, from object.Time) string {
	work, next := fold.Due(env, s, now)
	if work == fold.Nothing && next == 0 {
		return "never"
	}
	return fmt.Sprint(work, " ", int64(next-from))
}

func TestFreshness(t *testing.T) {
	const fresh = 5 * time.Minute
	result := func(state object.State, typ object.StateType, passive bool, last object.Time) func(*fold.Env, *fold.State) {
		return func(_ *fold.Env, s *fold.State) {
			checked(s, state, typ, last)
			s.Measure.Passive = passive
		}
	}
	tests := []struct {
		name string
		set  func(*fold.Env, *fold.State)
		now  time.Duration
		want string // kind of work, milliseconds after the start
	}{
		{"what nobody ever reported goes stale after the start", func(*fold.Env, *fold.State) {}, minute, "nothing 300000"},
		{"and is then expired", func(*fold.Env, *fold.State) {}, fresh, "expire 300000"},
		{"a report counts for the freshness", result(object.OK, object.Hard, true, started.Add(minute)), 2 * minute, "nothing 360000"},
		{"a reported soft problem too", result(object.Critical, object.Soft, true, started.Add(minute)), 2 * minute, "nothing 360000"},
		{"a soft expiry comes again after the retry interval", result(object.Unknown, object.Soft, false, started.Add(minute)), 61 * time.Second, "nothing 75000"},
		{"a hard expiry after the freshness", result(object.Unknown, object.Hard, false, started.Add(minute)), 61 * time.Second, "nothing 360000"},
		{"what went stale while nobody listened gets time to report", result(object.OK, object.Hard, true, started.Add(-time.Hour)), 0, "nothing 300000"},
		{
			"but not more than ten minutes of a long freshness", func(e *fold.Env, s *fold.State) {
				e.Object.Rule.Freshness = 26 * time.Hour
				result(object.OK, object.Hard, true, started.Add(-48*time.Hour))(e, s)
			}, 0, "nothing 600000",
		},
		{"nothing expires while no results are accepted", func(e *fold.Env, _ *fold.State) { e.Settings.On &^= object.ProgramPassiveServices }, fresh, "never"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			env.Object.Rule.Check.Kind, env.Object.Rule.Freshness = object.CheckPassive, fresh
			tt.set(env, s)
			if got := due(env, s, started.Add(tt.now), started); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A check that runs when it is due is always followed by one at the same phase,
// and never by one at the same time.
func TestChecksKeepTheirPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		step := time.Duration(rapid.Int64Range(1, 1e6).Draw(t, "interval")) * time.Millisecond
		id := object.ID(rapid.String().Draw(t, "id"))
		from := object.Time(rapid.Int64Range(-1e13, 1e13).Draw(t, "from"))
		slot := fold.NextSlot(id, step, from)
		if slot < from || slot.Sub(from) >= step {
			t.Fatalf("the place %d is not the first from %d", slot, from)
		}
		if next := fold.NextSlot(id, step, slot+1); next.Sub(slot) != step {
			t.Fatalf("after %d comes %d, an interval is %s", slot, next, step)
		}
		if p := fold.Phase(id, step); p < 0 || p >= step {
			t.Fatalf("phase %s of %s", p, step)
		}
	})
}

// Names as people give them are spread over the interval as if by chance.
func TestPhasesAreSpreadEvenly(t *testing.T) {
	const objects, bins = 20000, 100
	var count [bins]int
	for i := range objects {
		id := object.ServiceID(fmt.Sprintf("web%04d", i/10), fmt.Sprintf("disk%d", i%10))
		count[fold.Phase(id, time.Minute)*bins/time.Minute]++
	}
	chi := 0.0
	for _, n := range count {
		chi += math.Pow(float64(n)-objects/bins, 2) / (objects / bins)
	}
	if chi > 160 { // 99 degrees of freedom: one in ten thousand by chance
		t.Errorf("chi-square %.0f over %d bins, counts %v", chi, bins, count)
	}
	if a, b := fold.Phase("web01!http", time.Minute), 33936*time.Millisecond; a != b {
		t.Errorf("the place of web01!http moved from %s to %s; objects must keep theirs over releases", b, a)
	}
}

// A result plans the next check by the same rule as Due.
func TestDecideAndDueAgreeOnTheNextCheck(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, s := probed()
		now := started
		for range 10 {
			now += object.Time(rapid.IntRange(1, 90000).Draw(t, "later"))
			d, err := fold.Decide(env, s, fold.Result{State: object.State(rapid.IntRange(0, 3).Draw(t, "state")), Start: now}, now+20)
			if err != nil {
				t.Fatal(err)
			}
			emit(t, s, &d, s.Sub)
			if _, next := fold.Due(env, s, now+20); next != s.Measure.NextCheck || next <= now {
				t.Fatalf("due at %d, planned for %d, started at %d", next, s.Measure.NextCheck, now)
			}
		}
	})
}

func TestACallersPlanIsKept(t *testing.T) {
	env, s := probed()
	d, err := fold.Decide(env, s, fold.Result{Start: started, Next: 77}, started)
	if err != nil || d.Result.Measure.NextCheck != 77 {
		t.Errorf("planned for %v, %v", d.Result.Measure, err)
	}
}

func TestNames(t *testing.T) {
	got := fmt.Sprint(fold.Nothing, fold.RunCheck, fold.ExpireCheck, fold.Accepted, fold.Stale, fold.Conflict, fold.Repeated, fold.Unknown)
	if want := "nothing run expire accepted stale conflict repeated unknown"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// BenchmarkUnchanged is a result that changes nothing, decided and folded.
func BenchmarkUnchanged(b *testing.B) {
	env, s := probed()
	d, _ := fold.Decide(env, s, fold.Result{Start: started}, started)
	d.Log.Seq = 1
	st, _ := fold.Apply(*s, &d.Log)
	b.ReportAllocs()
	now := started
	for b.Loop() {
		now += 60000
		d, err := fold.Decide(env, &st, fold.Result{Start: now, Output: "HTTP OK", Perfdata: "time=0.2s"}, now)
		if err != nil || d.HasLog {
			b.Fatal(err, d.HasLog)
		}
		st, _ = fold.Apply(st, &d.Result)
	}
}

// BenchmarkTransition is a result that changes the state every time.
func BenchmarkTransition(b *testing.B) {
	env, s := probed()
	b.ReportAllocs()
	now, st := started, *s
	for i := 0; b.Loop(); i++ {
		now += 60000
		d, err := fold.Decide(env, &st, fold.Result{State: object.State(i % 2), Start: now}, now)
		if err != nil || !d.HasLog {
			b.Fatal(err)
		}
		d.Log.Seq = uint64(i + 1)
		st, _ = fold.Apply(st, &d.Log)
	}
}

// BenchmarkApply is the fold alone, as a replay does it.
func BenchmarkApply(b *testing.B) {
	m, st := &event.Measure{Epoch: 1}, fold.State{}
	e := event.Event{Stream: event.Results, Measure: m}
	for b.Loop() {
		m.N++
		st, _ = fold.Apply(st, &e)
	}
}

// A newest check that lies ahead, or one that was skipped, stops no checks, whether that
// was this engine's clock or another's.
func TestAClockThatWasAheadStopsNoChecks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, s := probed()
		state := rapid.SampledFrom([]object.State{object.OK, object.Critical}).Draw(t, "state")
		typ := object.StateType(rapid.IntRange(0, 1).Draw(t, "type"))
		now := started.Add(time.Duration(rapid.Int64Range(0, int64(5*minute)).Draw(t, "now")))
		ahead := func(name string) object.Time {
			return now.Add(time.Duration(rapid.Int64Range(1, int64(30*24*time.Hour)).Draw(t, name)))
		}
		if rapid.Bool().Draw(t, "was checked") {
			checked(s, state, typ, ahead("checked"))
		}
		if rapid.Bool().Draw(t, "began") {
			env.Started = ahead("started")
		}
		if rapid.Bool().Draw(t, "skips") {
			env.Skipped = ahead("skipped")
		}
		for looked := now; ; {
			work, at := fold.Due(env, s, looked)
			if work == fold.RunCheck {
				return
			}
			late := time.Duration(rapid.Int64Range(0, int64(5*time.Second)).Draw(t, "late"))
			if looked = at.Add(late); looked.Sub(now) > 4*minute {
				t.Fatalf("nothing is checked within %s", looked.Sub(now))
			}
		}
	})
}
