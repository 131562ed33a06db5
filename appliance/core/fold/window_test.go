package fold_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// daily is a period of one window a day, in UTC.
type daily struct{ from, to time.Duration }

func (daily) Name() string     { return "daily" }
func (p daily) String() string { return fmt.Sprint(p.from, "-", p.to) }

func (p daily) Window(at object.Time) (bool, object.Time) {
	const day = object.Time(24 * 3600 * 1000)
	midnight := at - at%day
	opens, closes := midnight.Add(p.from), midnight.Add(p.to)
	switch {
	case at < opens:
		return false, opens
	case at < closes:
		return true, closes
	}
	return false, opens + day
}

// never is a period without any window.
type never struct{}

func (never) Name() string                           { return "never" }
func (never) String() string                         { return "" }
func (never) Window(object.Time) (bool, object.Time) { return false, 0 }

func TestChecksStayInTheirPeriod(t *testing.T) {
	office := daily{9 * time.Hour, 17 * time.Hour}
	night := object.Time(1_780_012_800_000) // midnight
	tests := []struct {
		name string
		set  func(*fold.Env, *fold.State)
		now  object.Time
		want string // kind of work, time after midnight
	}{
		{
			"a check at night waits for its place in the morning", func(*fold.Env, *fold.State) {},
			night.Add(time.Hour), "nothing 9h0m33.936s",
		},
		{
			"a soft problem is not retried at night",
			func(_ *fold.Env, s *fold.State) {
				checked(s, object.Critical, object.Soft, night.Add(17*time.Hour-5*time.Second))
			}, night.Add(17 * time.Hour), "nothing 33h0m33.936s",
		},
		{
			"what was due before the window closed waits for the next one",
			func(_ *fold.Env, s *fold.State) {
				checked(s, object.OK, object.Hard, night.Add(16*time.Hour+58*time.Minute+34*time.Second))
			}, night.Add(17*time.Hour + time.Minute), "nothing 33h0m33.936s",
		},
		{
			"and runs in it", func(_ *fold.Env, s *fold.State) { checked(s, object.OK, object.Hard, night.Add(9*time.Hour)) },
			night.Add(9*time.Hour + 2*time.Minute), "run 9h0m33.936s",
		},
		{
			"a period without a window lets no check run",
			func(e *fold.Env, _ *fold.State) { e.Object.Rule.CheckPeriod = never{} }, night, "never",
		},
		{
			"an operator's period goes before the config's",
			func(e *fold.Env, s *fold.State) {
				e.Periods = map[string]object.Period{"early": daily{6 * time.Hour, 7 * time.Hour}}
				s.Status.Extra = &event.Extra{Settings: []event.Setting{{Name: event.SettingCheckPeriod, Value: "early"}}}
			}, night.Add(time.Hour), "nothing 6h0m33.936s",
		},
		{
			"a check that was skipped is planned from there",
			func(e *fold.Env, s *fold.State) {
				checked(s, object.OK, object.Hard, night.Add(10*time.Hour))
				e.Skipped = night.Add(11*time.Hour + 34*time.Second)
			}, night.Add(11*time.Hour + 40*time.Second), "nothing 11h1m33.936s",
		},
		{
			"what was skipped and has no interval is tried again after a while",
			func(e *fold.Env, _ *fold.State) {
				e.Object.Rule.Interval = 0
				e.Skipped = night.Add(11 * time.Hour)
			}, night.Add(11*time.Hour + time.Second), "nothing 11h5m0s",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			env.Object.Rule.CheckPeriod, env.Started = office, night
			tt.set(env, s)
			work, at := fold.Due(env, s, tt.now)
			got := fmt.Sprint(work, " ", at.Sub(night))
			if work == fold.Nothing && at == 0 {
				got = "never"
			}
			if got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// However long the interval and however narrow the window, no window is missed
// and no check runs outside of one.
func TestALongIntervalMeetsANarrowWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		env, s := probed()
		rule := env.Object.Rule
		from := time.Duration(rapid.IntRange(0, 22*60).Draw(t, "opens")) * time.Minute
		rule.CheckPeriod = daily{from, from + time.Duration(rapid.IntRange(1, 100).Draw(t, "length"))*time.Minute}
		rule.Interval = time.Duration(rapid.IntRange(1, 48*60).Draw(t, "interval")) * time.Minute
		env.Object.ID = object.ServiceID("web01", rapid.StringN(1, 8, 8).Draw(t, "name"))
		now, last := env.Started, env.Started
		for range 20 {
			work, at := fold.Due(env, s, now)
			if work != fold.Nothing || at <= now {
				t.Fatalf("at %d: %s since %d", now, work, at)
			}
			now = at
			if work, _ = fold.Due(env, s, now); work != fold.RunCheck {
				t.Fatalf("due at %d and then %s", at, work)
			}
			if !object.Inside(rule.CheckPeriod, now) {
				t.Fatalf("a check at %s is outside %s", now.Std(), rule.CheckPeriod)
			}
			if wait := now.Sub(last); wait > rule.Interval+rule.Interval/2+48*time.Hour {
				t.Fatalf("no check for %s", wait)
			}
			last = now
			checked(s, object.OK, object.Hard, now)
		}
	})
}

// A window opens for everybody at once; the checks do not start at once.
func TestNoPileUpWhenAWindowOpens(t *testing.T) {
	const objects = 2000
	for _, length := range []time.Duration{5 * time.Minute, 8 * time.Hour} {
		var second [600]int
		for i := range objects {
			env, s := probed()
			env.Object.ID = object.ServiceID(fmt.Sprintf("web%04d", i), "http")
			env.Object.Rule.Interval = 10 * time.Minute
			env.Object.Rule.CheckPeriod = daily{9 * time.Hour, 9*time.Hour + length}
			env.Started = 1_780_012_800_000
			_, at := fold.Due(env, s, env.Started)
			second[at.Sub(env.Started.Add(9*time.Hour))/time.Second]++
		}
		want := objects / int(min(length, 10*time.Minute)/time.Second)
		for i, n := range second {
			if n > 6*want {
				t.Errorf("%s: %d checks in second %d, %d would be even", length, n, i, want)
			}
		}
	}
}

func TestWishes(t *testing.T) {
	slot := fold.NextSlot("web01!http", interval, started)
	at := func(t object.Time) string { return fmt.Sprint(int64(t - slot)) }
	tests := []struct {
		name string
		wish object.Time
		hard bool // forced
		set  func(*fold.Env, *fold.State)
		now  object.Time
		want string
	}{
		{"a check that was asked for runs when it was asked for", slot - 500, false, nil, slot - 400, "run -500"},
		{"a later one leaves the schedule as it is", slot + 500, false, nil, slot - 400, "nothing 0"},
		{"a forced one far ahead leaves the schedule as it is too", slot.Add(time.Hour), true, nil, slot + 5, "run 0"},
		{"and runs whatever the switches say", slot, true, func(e *fold.Env, s *fold.State) {
			s.Status.Off, e.Settings.On = object.SwitchActive, 0
		}, slot + 5, "force 0"},
		{"and outside of the period", slot, true, func(e *fold.Env, _ *fold.State) { e.Object.Rule.CheckPeriod = never{} }, slot + 5, "force 0"},
		{"one that was skipped is gone", slot + 500, false, func(e *fold.Env, _ *fold.State) { e.Skipped = slot + 600 }, slot + 700, "nothing " + at(slot.Add(minute))},
		{"an object without a check has none that could run", slot, true, func(e *fold.Env, _ *fold.State) {
			e.Object.Rule.Check.Kind = object.CheckPassive
		}, slot + 5, "never"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			s.Status.Extra = &event.Extra{CheckAt: tt.wish, CheckForced: tt.hard}
			if tt.set != nil {
				tt.set(env, s)
			}
			if got := due(env, s, tt.now, slot); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

func TestAWishEndsWithTheCheckThatGrantsIt(t *testing.T) {
	tests := []struct {
		name   string
		result fold.Result
		left   bool
	}{
		{"a check that started at the time", fold.Result{Start: started + 5}, false},
		{"one that started before", fold.Result{Start: started + 4}, true},
		{"a submitted result", fold.Result{Start: started + 50, Passive: true}, true},
		{"an expiry", fold.Result{Start: started + 50, Expired: true}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			checked(s, object.OK, object.Hard, started-5)
			before := &event.Extra{CheckAt: started + 5, CheckForced: true, Modified: 2}
			s.Status.Extra = before
			must(t, env, s, tt.result, started+100)
			x := s.Status.Extra
			if x == nil || x.Modified != 2 || (x.CheckAt != 0) != tt.left || x.CheckForced != tt.left {
				t.Errorf("%+v is left", x)
			}
			if before.CheckAt == 0 {
				t.Error("the state before was changed")
			}
		})
	}
}
