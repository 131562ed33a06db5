package fold_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// must decides a command and folds it as the log would.
func must(t *testing.T, env *fold.Env, s *fold.State, c fold.Command, now object.Time) fold.Decision {
	t.Helper()
	d, err := fold.Decide(env, s, c, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*event.Event{&d.Log, &d.Result} {
		if e == &d.Log && !d.HasLog || e == &d.Result && !d.HasResult {
			continue
		}
		e.Seq = s.Sub + 1
		*s, _ = fold.Apply(*s, e)
	}
	return d
}

func result(state object.State) fold.Result { return fold.Result{State: state, Start: started} }

func hostEnv(parents ...*object.Object) (*fold.Env, *fold.State) {
	env, _ := probed()
	env.Object.ID, env.Object.Host, env.Object.Parents = "web01", nil, parents
	s := fold.New(env.Object)
	return env, &s
}

func TestDecideRefuses(t *testing.T) {
	service := func() (*fold.Env, *fold.State) { return probed() }
	host := func() (*fold.Env, *fold.State) { return hostEnv() }
	tests := []struct {
		name   string
		make   func() (*fold.Env, *fold.State)
		set    func(*fold.Env, *fold.State)
		give   fold.Command
		reason fold.Reason
		text   string
	}{
		{"a state no service has", service, nil, result(4), fold.BadState, "decide web01!http: a service has no state 4; use 0 to 3"},
		{"a state no host has", host, nil, result(3), fold.BadState, "decide web01: a host has no state 3; use 0 to 2"},
		{
			"a submitted result while the program takes none", service,
			func(e *fold.Env, _ *fold.State) { e.Settings.On &^= object.ProgramPassiveServices },
			fold.Result{Passive: true},
			fold.PassiveOff, "whole program",
		},
		{
			"a submitted result for an object that takes none", service,
			func(e *fold.Env, _ *fold.State) { e.Object.Rule.Passive = false },
			fold.Result{Passive: true},
			fold.PassiveOff, "switch its passive checks on",
		},
		{
			"a submitted result after an operator switched them off", service,
			func(_ *fold.Env, s *fold.State) { s.Status.Off = object.SwitchPassive },
			fold.Result{Passive: true},
			fold.PassiveOff, "for this service",
		},
		{
			"a writer whose view is older than the log", service,
			func(_ *fold.Env, s *fold.State) { s.Fence = 2 }, result(0), fold.Behind, "epoch 1 is older than 2",
		},
		{
			"a writer whose view is older than the measurements", service,
			func(_ *fold.Env, s *fold.State) { s.Measure.Epoch = 3 }, result(0), fold.Behind, "epoch 1 is older than 3",
		},
		{"a sample of a service", service, nil, fold.SampleHost{}, fold.BadCommand, "only hosts"},
		{"a switch that does not exist", service, nil, fold.Switch{What: 1 << 9}, fold.BadCommand, "active_checks,passive_checks,notifications"},
		{"no command at all", service, nil, nil, fold.BadCommand, "unknown to this build"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := tt.make()
			if tt.set != nil {
				tt.set(env, s)
			}
			_, err := fold.Decide(env, s, tt.give, started)
			var refusal *fold.Refusal
			if !errors.As(err, &refusal) || refusal.Reason != tt.reason || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, want a refusal for %q with %q", err, tt.reason, tt.text)
			}
		})
	}
}

func TestTheFirstResultIsATransitionFromPending(t *testing.T) {
	env, s := probed()
	env.Writer, env.Instance, env.ID = "engine-a", "i1", "d1"
	d := must(t, env, s, fold.Result{Start: started + 5, Output: "HTTP OK", Took: 12, Latency: 3}, started+20)
	want := event.Event{
		Seq: 1, Version: event.Version, ID: "d1", Kind: event.CheckResult, Object: "web01!http", Epoch: 1,
		Writer: "engine-a", Instance: "i1", Time: started + 20, Transition: true, Was: &event.Was{Attempt: 1},
		Status: &event.Status{
			Checked: true, Attempt: 1, MaxAttempts: 3, LastChange: started + 20, LastHardChange: started + 20,
		},
		Measure: &event.Measure{
			Epoch: 1, N: 1, LastCheck: started + 5, NextCheck: s.Measure.NextCheck, Latency: 3, Took: 12,
			Output: "HTTP OK", LastIn: [4]object.Time{started + 5},
		},
	}
	if !reflect.DeepEqual(d.Log, want) {
		t.Errorf("wrote\n%s, want\n%s", event.AppendJSON(nil, &d.Log), event.AppendJSON(nil, &want))
	}
	if d.Result.Measure != d.Log.Measure || d.Result.Stream != event.Results || d.Result.Status != nil || d.Result.Prev != 0 {
		t.Errorf("beside it the measurement %s", event.AppendJSON(nil, &d.Result))
	}
}

func TestWhatAResultWrites(t *testing.T) {
	env, s := probed()
	steps := []struct {
		name            string
		state           object.State
		log, transition bool
	}{
		{"the first", object.OK, true, true},
		{"the same again", object.OK, false, false},
		{"a soft problem", object.Warning, true, true},
		{"another attempt in another state", object.Critical, true, true},
		{"the last attempt", object.Critical, true, true},
		{"the hard problem again", object.Critical, false, false},
		{"another hard problem", object.Unknown, true, true},
		{"the recovery", object.OK, true, true},
		{"a soft problem", object.Critical, true, true},
		{"another attempt", object.Critical, true, false},
	}
	for i, st := range steps {
		d := must(t, env, s, result(st.state), started+object.Time(i))
		if d.HasLog != st.log || d.Log.Transition != st.transition || !d.HasResult {
			t.Errorf("%s: on the log %t, transition %t, measurement %t", st.name, d.HasLog, d.Log.Transition, d.HasResult)
		}
		if s.Measure.N != uint64(i+1) {
			t.Errorf("%s has number %d, want %d", st.name, s.Measure.N, i+1)
		}
	}
	st := &s.Status
	if st.Problem != started+8 || st.LastChange != started+8 || st.LastHardChange != started+7 || st.LastHard != object.OK {
		t.Errorf("times %+v", st)
	}
}

// An operator may change the number of attempts while a problem lasts.
func TestAnotherNumberOfAttempts(t *testing.T) {
	tests := []struct {
		name  string
		state event.Status
		limit int
		want  event.Status
	}{
		{
			"lowered below a soft attempt",
			event.Status{State: object.Critical, Type: object.Soft, Attempt: 3, MaxAttempts: 5},
			2,
			event.Status{Type: object.Hard, Attempt: 2, MaxAttempts: 2},
		},
		{
			"raised over a hard problem",
			event.Status{State: object.Critical, Attempt: 3, MaxAttempts: 3},
			5,
			event.Status{Type: object.Hard, Attempt: 5, MaxAttempts: 5},
		},
		{
			"raised over a problem that is hard because of the host",
			event.Status{State: object.Critical, Attempt: 1, MaxAttempts: 3},
			5,
			event.Status{Type: object.Hard, Attempt: 1, MaxAttempts: 5},
		},
		{
			"not a number at all",
			event.Status{State: object.Critical, Attempt: 3, MaxAttempts: 3},
			0,
			event.Status{Type: object.Hard, Attempt: 1, MaxAttempts: 1},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			s.Status = tt.state
			s.Status.Checked, env.Object.Rule.Attempts = true, tt.limit
			d := must(t, env, s, result(object.Critical), started)
			got := s.Status
			if got.Type != tt.want.Type || got.Attempt != tt.want.Attempt || got.MaxAttempts != tt.want.MaxAttempts || !d.HasLog {
				t.Errorf("%s %d of %d, on the log %t; want %s %d of %d", got.Type, got.Attempt, got.MaxAttempts, d.HasLog,
					tt.want.Type, tt.want.Attempt, tt.want.MaxAttempts)
			}
		})
	}
}

func TestEveryHardResultOfAVolatileServiceIsOnTheLog(t *testing.T) {
	env, s := probed()
	env.Object.Rule.Volatile = true
	var logged []bool
	for _, state := range []object.State{0, 2, 2, 2, 2, 1, 0, 0} {
		logged = append(logged, must(t, env, s, result(state), started).HasLog)
	}
	if want := []bool{true, true, true, true, true, true, true, false}; !reflect.DeepEqual(logged, want) {
		t.Errorf("on the log %v, want %v", logged, want)
	}
}

func TestReachability(t *testing.T) {
	parent := &object.Object{ID: "gw"}
	tests := []struct {
		name      string
		parents   []*object.Object
		up        int
		translate bool
		give      fold.Result
		want      object.State
	}{
		{"without parents", nil, 0, false, result(object.Down), object.Down},
		{"with a parent that is up", []*object.Object{parent, parent}, 1, false, result(object.Down), object.Down},
		{"with no parent that is up", []*object.Object{parent}, 0, false, result(object.Down), object.Unreachable},
		{"up in spite of its parents", []*object.Object{parent}, 0, false, result(object.Up), object.Up},
		{"submitted as down", []*object.Object{parent}, 0, false, fold.Result{State: object.Down, Passive: true}, object.Down},
		{"submitted as unreachable", nil, 0, false, fold.Result{State: object.Unreachable, Passive: true}, object.Unreachable},
		{"submitted as down and translated", []*object.Object{parent}, 0, true, fold.Result{State: object.Down, Passive: true}, object.Unreachable},
		{"submitted as unreachable and translated", nil, 0, true, fold.Result{State: object.Unreachable, Passive: true}, object.Down},
		{"expired behind its parents", []*object.Object{parent}, 0, false, fold.Result{State: object.Down, Expired: true}, object.Unreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := hostEnv(tt.parents...)
			env.ParentsUp, env.Settings.TranslatePassiveHosts = tt.up, tt.translate
			must(t, env, s, tt.give, started)
			if s.Status.State != tt.want || s.Measure.State != tt.want {
				t.Errorf("%s, want %s", s.Status.State.Name(object.Host), tt.want.Name(object.Host))
			}
		})
	}
}

func TestASubmittedResultHardensASoftHost(t *testing.T) {
	env, s := hostEnv()
	must(t, env, s, result(object.Down), started)
	if got := brief("web01", s); got != "DOWN S1" {
		t.Fatalf("after an active result %s", got)
	}
	down := *s
	must(t, env, s, fold.Result{State: object.Down, Passive: true}, started)
	if got := brief("web01", s); got != "DOWN H1" {
		t.Errorf("after a submitted problem %s", got)
	}
	must(t, env, &down, fold.Result{State: object.Up, Passive: true}, started)
	if got := brief("web01", &down); got != "UP H1" {
		t.Errorf("after a submitted recovery %s", got)
	}
}

func TestAnExpiryIsMarked(t *testing.T) {
	env, s := probed()
	env.Object.Rule.Passive = false
	env.Settings.On &^= object.ProgramPassiveServices
	d := must(t, env, s, fold.Result{State: object.Unknown, Expired: true, Start: started}, started)
	if d.Log.Facts["expired"] != "true" || s.Measure.Passive || brief("web01!http", s) != "U S1" {
		t.Errorf("%s", event.AppendJSON(nil, &d.Log))
	}
}

func TestAClearedAcknowledgementTakesItsCommentsAlong(t *testing.T) {
	keep := event.Comment{ID: "1", Kind: "user"}
	stay := event.Comment{ID: "2", Kind: "acknowledgement", Persistent: true}
	end := event.Comment{ID: "3", Kind: "acknowledgement"}
	down := []event.Downtime{{ID: "4"}}
	tests := []struct {
		name       string
		give, want *event.Extra
	}{
		{"nothing beside it", &event.Extra{AckAuthor: "a", AckText: "b", Comments: []event.Comment{end}}, nil},
		{
			"comments and downtimes that stay", &event.Extra{AckAuthor: "a", Comments: []event.Comment{keep, end, stay}, Downtimes: down},
			&event.Extra{Comments: []event.Comment{keep, stay}, Downtimes: down},
		},
		{"no text at all", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			must(t, env, s, result(object.Critical), started)
			s.Status.Ack, s.Status.AckExpires, s.Status.Extra = object.AckSticky, started+9, tt.give
			before := digest(*s)
			old := *s
			d := must(t, env, s, result(object.OK), started)
			if st := &s.Status; st.Ack != object.AckNone || st.AckExpires != 0 || !reflect.DeepEqual(st.Extra, tt.want) {
				t.Errorf("left over %v", st.Extra)
			}
			if !d.Log.Has(event.AckCleared) {
				t.Errorf("happened besides: %v", d.Log.Also)
			}
			if digest(old) != before {
				t.Error("the state before was changed in place")
			}
		})
	}
}

// A reader that never heard of an object holds the zero state; a decision on it
// is the same as on a new object.
func TestTheZeroStateIsANewObject(t *testing.T) {
	env, s := probed()
	env.Object.Rule.Initial = object.Critical
	*s = fold.New(env.Object)
	if got := brief("web01!http", s); got != "C H3" {
		t.Errorf("a new object with an initial problem is %s", got)
	}
	must(t, env, s, result(object.Critical), started)
	zero := &fold.State{}
	must(t, env, zero, result(object.Critical), started)
	if digest(*s) != digest(*zero) {
		t.Errorf("%s, from the zero state %s", digest(*s), digest(*zero))
	}
}

// flappy returns a service that flaps.
func flappy(t *testing.T) (*fold.Env, *fold.State) {
	env, s := probed()
	env.Object.Rule.Attempts, env.Object.Rule.FlapDetection = 1, true
	for i := range 12 {
		must(t, env, s, result(object.State(i%2)), started)
	}
	if !s.Status.Flapping {
		t.Fatalf("%.2f percent do not flap", fold.Percent(s.Measure.Ring))
	}
	return env, s
}

func TestSwitchingFlapDetectionOffEndsFlapping(t *testing.T) {
	env, s := flappy(t)
	d := must(t, env, s, fold.Switch{What: object.SwitchFlapDetection, Author: "ops"}, started)
	if s.Status.Flapping || s.Status.Off != object.SwitchFlapDetection || d.Log.Kind != event.SettingChanged ||
		!d.Log.Has(event.FlappingStopped) || d.Log.Author != "ops" || d.HasResult {
		t.Errorf("off: %s", event.AppendJSON(nil, &d.Log))
	}
	if d.Log.Facts["switch"] != "flap_detection" || d.Log.Facts["to"] != "off" {
		t.Errorf("facts %v", d.Log.Facts)
	}
	ring := s.Measure.Ring
	must(t, env, s, result(object.OK), started)
	if s.Measure.Ring == ring {
		t.Error("the history stands still while detection is off")
	}
	d = must(t, env, s, fold.Switch{What: object.SwitchFlapDetection, On: true}, started)
	if !s.Status.Flapping || s.Status.Off != 0 || s.Status.On != 0 || !d.Log.Has(event.FlappingStarted) {
		t.Errorf("on again, the history is evaluated at once: %s", event.AppendJSON(nil, &d.Log))
	}
}

func TestProgramWideFlapDetection(t *testing.T) {
	env, s := flappy(t)
	if d := must(t, env, s, fold.SetProgramSwitches{}, started); d.HasLog || d.HasResult {
		t.Errorf("nothing changed and yet %s", event.AppendJSON(nil, &d.Log))
	}
	env.Settings.On &^= object.ProgramFlapDetection
	if d := must(t, env, s, fold.SetProgramSwitches{}, started); s.Status.Flapping || !d.Log.Has(event.FlappingStopped) {
		t.Errorf("off: %s", event.AppendJSON(nil, &d.Log))
	}
	env.Settings.On |= object.ProgramFlapDetection
	if d := must(t, env, s, fold.SetProgramSwitches{}, started); !s.Status.Flapping || !d.Log.Has(event.FlappingStarted) {
		t.Errorf("on: %s", event.AppendJSON(nil, &d.Log))
	}
}

func TestClearFlapping(t *testing.T) {
	env, s := flappy(t)
	d := must(t, env, s, fold.ClearFlapping{Author: "ops"}, started)
	if s.Status.Flapping || s.Measure.Ring != 0 || !d.Log.Has(event.FlappingStopped) || d.Log.Author != "ops" {
		t.Errorf("%s", event.AppendJSON(nil, &d.Log))
	}
	d = must(t, env, s, fold.ClearFlapping{}, started)
	if d.Log.Has(event.FlappingStopped) {
		t.Errorf("it did not flap, and yet %v", d.Log.Also)
	}
}

func TestSwitches(t *testing.T) {
	env, s := probed() // passive and active on, flap detection off
	both := object.SwitchFlapDetection | object.SwitchPassive
	must(t, env, s, fold.Switch{What: both, On: true}, started)
	if s.Status.On != object.SwitchFlapDetection || s.Status.Off != 0 {
		t.Errorf("only what the config has off is set against it: on %b, off %b", s.Status.On, s.Status.Off)
	}
	if d := must(t, env, s, fold.Switch{What: both, On: true}, started); d.HasLog || d.HasResult {
		t.Error("what is on already was written again")
	}
	d := must(t, env, s, fold.Switch{What: both}, started)
	if s.Status.On != 0 || s.Status.Off != object.SwitchPassive || d.Log.Facts["switch"] != "passive_checks,flap_detection" {
		t.Errorf("off again: on %b, off %b, %v", s.Status.On, s.Status.Off, d.Log.Facts)
	}
	if fold.Enabled(env.Object, &s.Status, both) || !fold.Enabled(env.Object, &s.Status, object.SwitchActive) {
		t.Error("Enabled does not say what was set")
	}
}

// What was off for a while is looked at at once, as in Nagios.
func TestSwitchingActiveChecksChangesThePlan(t *testing.T) {
	env, s := probed()
	must(t, env, s, result(object.OK), started)
	must(t, env, s, fold.Switch{What: object.SwitchActive}, started+5)
	if s.Measure.NextCheck != 0 {
		t.Errorf("off, and yet planned for %d", s.Measure.NextCheck)
	}
	must(t, env, s, fold.Switch{What: object.SwitchActive, On: true}, started+9)
	if work, at := fold.Due(env, s, started+9); s.Measure.NextCheck != started+9 || work != fold.RunCheck || at != started+9 {
		t.Errorf("on again, planned for %d, due %s at %d; want it now", s.Measure.NextCheck, work, at)
	}
	must(t, env, s, fold.Result{Start: started + 10}, started+10)
	if want := fold.NextSlot("web01!http", interval, started+10); s.Measure.NextCheck != want {
		t.Errorf("then planned for %d, want its place on the grid, %d", s.Measure.NextCheck, want)
	}
}

func TestStatesThatAreIgnoredStayOutOfTheHistory(t *testing.T) {
	env, s := probed()
	env.Object.Rule.Attempts, env.Object.Rule.FlapIgnore = 1, 1<<object.Warning
	for _, state := range []object.State{0, 1, 0, 1, 0} {
		must(t, env, s, result(state), started)
	}
	if s.Measure.Ring != 0 {
		t.Errorf("history %#x", s.Measure.Ring)
	}
}

func TestOwnThresholdsOfHostsAndServices(t *testing.T) {
	env, s := hostEnv()
	env.Object.Rule.FlapDetection, env.Settings.HostFlapLow, env.Settings.HostFlapHigh = true, 2, 6
	must(t, env, s, result(object.Down), started)
	if !s.Status.Flapping {
		t.Error("the host ignores the program's thresholds for hosts")
	}
	env.Object.Rule.FlapLow, env.Object.Rule.FlapHigh = 50, 60
	if d := must(t, env, s, result(object.Down), started); s.Status.Flapping || !d.Log.Has(event.FlappingStopped) {
		t.Error("the host ignores its own thresholds")
	}
}

func TestAHostIsSampledOnceInTheMeanIntervalOfItsServices(t *testing.T) {
	env, s := hostEnv()
	host := env.Object
	host.Rule.NoteInterval = time.Hour
	if got := fold.SampleWait(host); got != time.Hour {
		t.Errorf("without services it waits %s", got)
	}
	for _, step := range []time.Duration{minute, 3 * minute} {
		host.Services = append(host.Services, &object.Object{Host: host, Rule: &object.Rule{Interval: step}})
	}
	if got := fold.SampleWait(host); got != 2*minute {
		t.Errorf("with services it waits %s", got)
	}
	must(t, env, s, result(object.Down), started)
	if d := must(t, env, s, fold.SampleHost{}, started.Add(minute)); d.HasResult || d.HasLog {
		t.Error("sampled too soon")
	}
	d := must(t, env, s, fold.SampleHost{}, started.Add(2*minute))
	if d.HasLog || d.Result.Kind != event.FlappingSampled || s.Measure.Ring != 0b0101 || s.Measure.N != 2 || s.Measure.LastCheck != started {
		t.Errorf("%s", event.AppendJSON(nil, &d.Result))
	}
	if fold.Steady(s) {
		t.Error("a history of two states is called steady")
	}
	host.Rule.FlapDetection, host.Rule.FlapLow, host.Rule.FlapHigh = true, 1, 2
	d = must(t, env, s, fold.SampleHost{}, started.Add(3*minute))
	if d.HasResult || d.Log.Kind != event.FlappingStarted || len(d.Log.Also) != 0 {
		t.Errorf("a sample starts flapping: %s", event.AppendJSON(nil, &d.Log))
	}
	for i := range 25 {
		d = must(t, env, s, fold.SampleHost{}, started.Add(time.Duration(i+3)*2*minute))
		if d.HasLog {
			break
		}
	}
	if d.Log.Kind != event.FlappingStopped {
		t.Errorf("and ends it: %s", event.AppendJSON(nil, &d.Log))
	}
}

// A hundred thousand of them are held in memory.
func TestAStateIsSmall(t *testing.T) {
	if size := reflect.TypeFor[fold.State]().Size(); size > 512 {
		t.Errorf("a state takes %d bytes beside its texts, at most 512 are planned for", size)
	}
}

func TestSteady(t *testing.T) {
	var s fold.State
	if !fold.Steady(&s) {
		t.Error("an empty history of an object that is fine is not steady")
	}
	s.Status.State = object.Critical
	if fold.Steady(&s) {
		t.Error("a problem that is not in the history is steady")
	}
}

// Every result of every object goes through here: hundreds in a second.
func TestAResultThatChangesNothingCostsTwoAllocations(t *testing.T) {
	env, s := probed()
	must(t, env, s, result(object.OK), started)
	cost := testing.AllocsPerRun(100, func() {
		if d, err := fold.Decide(env, s, result(object.OK), started); err != nil || d.HasLog {
			t.Error(err, d.HasLog)
		}
	})
	if cost > 2 {
		t.Errorf("%v allocations", cost)
	}
}
