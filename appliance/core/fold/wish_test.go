package fold_test

import (
	"maps"
	"strings"
	"testing"

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

// What is submitted only cannot be checked when it is switched on.
func TestSwitchingOnWhatHasNoCheckAsksForNone(t *testing.T) {
	env, s := probed()
	env.Object.Rule.Active, env.Object.Rule.Check.Kind = false, object.CheckPassive
	must(t, env, s, fold.Switch{What: object.SwitchActive, On: true}, started)
	if s.Status.Extra.CheckAt != 0 || s.Measure.NextCheck != 0 {
		t.Errorf("wanted at %d, planned for %d", s.Status.Extra.CheckAt, s.Measure.NextCheck)
	}
}
