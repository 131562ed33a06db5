package fold_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

func TestWhichWishForACheckWins(t *testing.T) {
	soon, later := fold.Reschedule{At: started + 100}, fold.Reschedule{At: started + 200}
	forcedSoon, forcedLater := soon, later
	forcedSoon.Forced, forcedLater.Forced = true, true
	for _, tt := range []struct {
		name          string
		first, second fold.Reschedule
		wins          bool
	}{
		{"the earlier of two", later, soon, true},
		{"not the later of two", soon, later, false},
		{"not the same again", soon, soon, false},
		{"the earlier of two forced ones", forcedLater, forcedSoon, true},
		{"not the later of two forced ones", forcedSoon, forcedLater, false},
		{"a forced one, even later", soon, forcedLater, true},
		{"not an unforced one, even earlier", forcedLater, soon, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			must(t, env, s, result(object.OK), started)
			d := must(t, env, s, tt.first, started+1)
			if d.Log.Kind != event.CheckScheduled || (d.Log.Facts["forced"] == "true") != tt.first.Forced || d.Log.Facts["at"] == "" {
				t.Errorf("event %s with %v", d.Log.Kind, d.Log.Facts)
			}
			d = must(t, env, s, tt.second, started+2)
			want := tt.first
			if tt.wins {
				want = tt.second
			}
			if x := s.Status.Extra; x.CheckAt != want.At || x.CheckForced != want.Forced || s.Measure.NextCheck != want.At || d.HasLog != tt.wins {
				t.Errorf("at %d, forced %t, planned for %d", x.CheckAt-started, x.CheckForced, s.Measure.NextCheck-started)
			}
		})
	}
}

func TestAWishForACheckIsDueAndEndsWithIt(t *testing.T) {
	env, s := probed()
	must(t, env, s, result(object.OK), started)
	must(t, env, s, fold.Reschedule{Forced: true, Author: "ann"}, started+50)
	if work, at := fold.Due(env, s, started+50); work != fold.ForceCheck || at != started+50 {
		t.Errorf("%s at %d", work, at-started)
	}
	must(t, env, s, fold.Result{Start: started + 40}, started+60)
	if s.Status.Extra == nil {
		t.Error("a check that had started before ended the wish")
	}
	must(t, env, s, fold.Result{Start: started + 55}, started+60)
	if work, _ := fold.Due(env, s, started+60); s.Status.Extra != nil || work != fold.Nothing {
		t.Errorf("the wish is still there: %+v, %s", s.Status.Extra, work)
	}
	env.Object.Rule.Check.Kind = object.CheckPassive
	if _, err := fold.Decide(env, s, fold.Reschedule{}, started); err == nil || !strings.Contains(err.Error(), "submit a result instead") {
		t.Errorf("a wish for what cannot be checked: %v", err)
	}
}

// A wish that had to be skipped does not stand in the way of the next.
func TestASkippedWishIsGone(t *testing.T) {
	env, s := probed()
	must(t, env, s, result(object.OK), started)
	must(t, env, s, fold.Reschedule{At: started + 100}, started)
	env.Skipped = started + 110
	if d := must(t, env, s, fold.Reschedule{At: started + 200}, started+120); !d.HasLog || s.Status.Extra.CheckAt != started+200 {
		t.Errorf("wanted at %d", s.Status.Extra.CheckAt-started)
	}
}

func TestChecksBeginAgainWhenThePeriodOpens(t *testing.T) {
	env, s := probed()
	env.Object.Rule.CheckPeriod = hourly{}
	closed := started - started%3_600_000 + 2_000_000
	must(t, env, s, fold.Switch{What: object.SwitchActive}, closed)
	must(t, env, s, fold.Switch{What: object.SwitchActive, On: true}, closed)
	if _, opens := (hourly{}).Window(closed); s.Status.Extra.CheckAt != opens || s.Measure.NextCheck != opens {
		t.Errorf("wanted at %d, planned for %d; want %d", s.Status.Extra.CheckAt, s.Measure.NextCheck, opens)
	}
}

func TestWhatOperatorsSayAboutNotifications(t *testing.T) {
	env, s := probed()
	d := must(t, env, s, fold.DelayNotification{Until: started + 99, Author: "ann"}, started)
	if s.Status.NextNotification != started+99 || d.Log.Kind != event.SettingChanged || d.Log.Author != "ann" || d.Log.Facts["setting"] != "next_notification" {
		t.Errorf("%+v, %+v", s.Status, d.Log)
	}
	if d = must(t, env, s, fold.DelayNotification{Until: started + 99}, started); d.HasLog {
		t.Error("the same was written again")
	}
	must(t, env, s, fold.SetNotificationNumber{Number: 4}, started)
	if d = must(t, env, s, fold.SetNotificationNumber{Number: 4}, started); s.Status.NotificationNumber != 4 || d.HasLog {
		t.Errorf("number %d, written again: %t", s.Status.NotificationNumber, d.HasLog)
	}
	before := s.Status
	d = must(t, env, s, fold.Notify{Broadcast: true, Increment: true, Author: "ann", Text: "lunch"}, started)
	want := map[string]string{"broadcast": "true", "increment": "true"}
	if d.Log.Kind != event.NotificationRequested || d.Log.Text != "lunch" || !maps.Equal(d.Log.Facts, want) || s.Status != before {
		t.Errorf("%+v", d.Log)
	}
}

// What is submitted only has no check to switch on: off and on again leaves
// nothing behind, and other switches go as they are told.
func TestSwitchingOnWhatHasNoCheckLeavesNothing(t *testing.T) {
	env, s := probed()
	env.Object.Rule.Active, env.Object.Rule.Check.Kind = false, object.CheckPassive
	must(t, env, s, fold.Switch{What: object.SwitchActive}, started)
	_, err := fold.Decide(env, s, fold.Switch{What: object.SwitchActive, On: true}, started)
	if err == nil || !strings.Contains(err.Error(), "no check of its own") {
		t.Errorf("switched on: %v", err)
	}
	both := object.SwitchActive | object.SwitchNotifications
	must(t, env, s, fold.Switch{What: both}, started)
	must(t, env, s, fold.Switch{What: both, On: true}, started)
	if x := s.Status.Extra; s.Status.On|s.Status.Off != 0 || len(x.Settings) != 0 || x.CheckAt != 0 || s.Measure.NextCheck != 0 {
		t.Errorf("on %d, off %d, %+v is left", s.Status.On, s.Status.Off, x)
	}
}

// Checks of many objects that begin together do not start together.
func TestSwitchingOnManyObjectsSpreadsTheirChecks(t *testing.T) {
	const objects = 600
	for _, interval := range []time.Duration{time.Hour, 30 * time.Second} {
		span := min(interval, time.Minute)
		var tenths [10]int
		for i := range objects {
			env, s := probed()
			env.Object.ID, env.Object.Rule.Interval = object.ServiceID(fmt.Sprintf("web%d", i), "x"), interval
			must(t, env, s, fold.Switch{What: object.SwitchActive}, started)
			must(t, env, s, fold.Switch{What: object.SwitchActive, On: true, Spread: true}, started+5)
			after := s.Status.Extra.CheckAt.Sub(started + 5)
			if after < 0 || after >= span {
				t.Fatalf("interval %s: wanted after %s", interval, after)
			}
			tenths[after*10/span]++
		}
		for i, n := range tenths {
			if n > objects/10*2 {
				t.Errorf("interval %s: %d of %d in tenth %d", interval, n, objects, i)
			}
		}
	}
}

func TestAStrictWishIsRefusedIfItsCheckWouldNotRun(t *testing.T) {
	tests := []struct {
		name string
		set  func(*fold.Env, *fold.State)
		want string
	}{
		{"nothing is in the way", func(*fold.Env, *fold.State) {}, ""},
		{"its checks are off", func(_ *fold.Env, s *fold.State) { s.Status.Off = object.SwitchActive }, "active checks of the service are off"},
		{"its period is closed", func(e *fold.Env, _ *fold.State) {
			e.Object.Rule.CheckPeriod = daily{0, time.Hour}
		}, `check period "daily" is closed at 2026-05-28T20:26:41Z and opens at 2026-05-29T00:00:00Z`},
		{"its period has no window", func(e *fold.Env, _ *fold.State) { e.Object.Rule.CheckPeriod = never{} }, "opens never again"},
		{"what it depends on has failed", func(e *fold.Env, _ *fold.State) {
			master := &object.Object{ID: "db", Rule: &object.Rule{}}
			e.Object.Depends = []*object.Dependency{{Master: master, Execution: 1 << object.Down}}
			e.Look = func(object.ID) *fold.State {
				down := fold.New(master)
				checked(&down, object.Down, object.Hard, started)
				return &down
			}
		}, "depends on db, which has failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			tt.set(env, s)
			now := started + 1000
			switch _, err := fold.Decide(env, s, fold.Reschedule{Strict: true}, now); {
			case err == nil && tt.want != "", err != nil && (tt.want == "" || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			}
			for _, c := range []fold.Reschedule{{}, {Strict: true, Forced: true}} {
				must(t, env, s, c, now)
			}
		})
	}
}
