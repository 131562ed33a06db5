package fold_test

import (
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// What has a check is looked at when it goes stale, whatever its switches say.
func TestStaleObjectsAreChecked(t *testing.T) {
	tests := []struct {
		name string
		set  func(*fold.Env, *fold.State)
		now  time.Duration
		want string
	}{
		{"the check is forced although active checks are off", nil, 6 * time.Minute, "force 300000"},
		{"also when they are off for the program", func(e *fold.Env, _ *fold.State) {
			e.Object.Rule.Active = true
			e.Settings.On &^= object.ProgramServiceChecks
		}, 6 * time.Minute, "force 300000"},
		{"not while neither results nor checks are wanted", func(e *fold.Env, _ *fold.State) {
			e.Object.Rule.Passive = false
		}, 6 * time.Minute, "never"},
		{"not while freshness is off for services", func(e *fold.Env, _ *fold.State) {
			e.Settings.On &^= object.ProgramServiceFreshness
		}, 6 * time.Minute, "never"},
		{"freshness of hosts does not matter to services", func(e *fold.Env, _ *fold.State) {
			e.Settings.On &^= object.ProgramHostFreshness
		}, 6 * time.Minute, "force 300000"},
		{"not outside of the check period", func(e *fold.Env, _ *fold.State) {
			e.Object.Rule.CheckPeriod = never{}
		}, 6 * time.Minute, "never"},
		{"the automatic threshold is interval, latency and 15 s", func(e *fold.Env, s *fold.State) {
			e.Object.Rule.Freshness, e.Object.Rule.FreshAuto = 0, true
			s.Measure.Latency = 2e6
		}, 0, "nothing 77000"},
		{"of a soft problem it is the retry interval", func(e *fold.Env, s *fold.State) {
			e.Object.Rule.Freshness, e.Object.Rule.FreshAuto = 0, true
			s.Status.State, s.Status.Type = object.Critical, object.Soft
		}, 0, "nothing 30000"},
		{"without an interval there is none", func(e *fold.Env, _ *fold.State) {
			e.Object.Rule.Freshness, e.Object.Rule.FreshAuto, e.Object.Rule.Interval = 0, true, 0
		}, 6 * time.Minute, "never"},
		{"submitters get time to report after a start", func(e *fold.Env, s *fold.State) {
			e.Object.Rule.Check.Kind = object.CheckPassive
			s.Measure.Passive, s.Measure.LastCheck = true, started.Add(-4*time.Minute)
		}, 2 * time.Minute, "nothing 300000"},
		{"not if they were heard of just before", func(e *fold.Env, s *fold.State) {
			e.Object.Rule.Check.Kind = object.CheckPassive
			s.Measure.Passive, s.Measure.LastCheck = true, started.Add(-time.Minute)
		}, 2 * time.Minute, "nothing 240000"},
		{"checks that a start finds stale run one by one", func(_ *fold.Env, s *fold.State) {
			s.Measure.LastCheck = started.Add(-time.Hour)
		}, 0, "nothing 153936"},
		{"what was never checked is, one by one", func(_ *fold.Env, s *fold.State) {
			s.Status.Checked = false
		}, 0, "nothing 333936"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			env.Object.Rule.Active, env.Object.Rule.Freshness = false, 5*time.Minute
			checked(s, object.OK, object.Hard, started)
			if tt.set != nil {
				tt.set(env, s)
			}
			if got := due(env, s, started.Add(tt.now), started); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A schedule that is shorter than the freshness is never disturbed by it.
func TestAScheduleKeepsFresh(t *testing.T) {
	env, s := probed()
	env.Object.Rule.FreshAuto = true
	checked(s, object.OK, object.Hard, started)
	work, at := fold.Due(env, s, started)
	env.Object.Rule.FreshAuto = false
	if plain, when := fold.Due(env, s, started); plain != work || when != at {
		t.Errorf("%s at %d, without freshness %s at %d", work, at, plain, when)
	}
	env.Object.Rule.Freshness = 10 * time.Second
	if work, at := fold.Due(env, s, started.Add(11*time.Second)); work != fold.ForceCheck || at != started.Add(10*time.Second) {
		t.Errorf("a freshness under the interval: %s at %d", work, at)
	}
}
