package fold_test

import (
	"errors"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

func TestSubmittedResultsComeInOrder(t *testing.T) {
	newest := started + 2500
	known := fold.Result{Passive: true, Stamped: true, State: object.Warning, Output: "one", Start: newest}
	tests := []struct {
		name   string
		change func(*fold.Result)
		want   fold.Reason
	}{
		{"a newer result is taken", func(r *fold.Result) { r.Start = newest + 1 }, ""},
		{"an older one is refused", func(r *fold.Result) { r.Start = newest - 1 }, fold.Late},
		{"the same once more is refused", func(*fold.Result) {}, fold.Duplicate},
		{"another state at the same time is taken", func(r *fold.Result) { r.State = object.Critical }, ""},
		{"another text at the same time is taken", func(r *fold.Result) { r.Output = "two" }, ""},
		{"other measurements at the same time are taken", func(r *fold.Result) { r.Perfdata = "a=1" }, ""},
		{"a time in whole seconds is not older than the same second", func(r *fold.Result) { r.Start = started + 2000 }, ""},
		{"the second before is", func(r *fold.Result) { r.Start = started + 1000 }, fold.Late},
		{"without a time of its own a result is new", func(r *fold.Result) { r.Stamped = false }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			must(t, env, s, known, newest)
			r := known
			tt.change(&r)
			_, err := fold.Decide(env, s, r, newest.Add(time.Minute))
			var refusal *fold.Refusal
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (!errors.As(err, &refusal) || refusal.Reason != tt.want):
				t.Errorf("%v, want a refusal for %q", err, tt.want)
			}
		})
	}
}

func TestAResultOfTheFutureIsOfNow(t *testing.T) {
	env, s := probed()
	must(t, env, s, fold.Result{Passive: true, Stamped: true, Start: started.Add(time.Hour)}, started)
	if s.Measure.LastCheck != started {
		t.Errorf("checked at %d, it is %d", s.Measure.LastCheck, started)
	}
	must(t, env, s, fold.Result{Passive: true, Stamped: true, Start: started + 10}, started+1510)
	if s.Measure.Latency != 1_500_000 {
		t.Errorf("it was on its way for 1.5 s, the latency is %d µs", s.Measure.Latency)
	}
}

// An expiry says that nothing arrived. What arrives then and is still fresh
// counts, though it was made before the expiry.
func TestALateResultRevivesWhatWentStale(t *testing.T) {
	for _, tt := range []struct {
		name  string
		age   time.Duration
		taken bool
	}{
		{"still fresh", 50 * time.Second, true},
		{"too old", 70 * time.Second, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			env.Object.Rule.Check.Kind, env.Object.Rule.Freshness = object.CheckPassive, minute
			must(t, env, s, fold.Result{State: object.Unknown, Expired: true, Start: started}, started)
			now := started + 10
			_, err := fold.Decide(env, s, fold.Result{Passive: true, Stamped: true, Start: now.Add(-tt.age)}, now)
			if taken := err == nil; taken != tt.taken {
				t.Errorf("taken: %v (%v)", taken, err)
			}
		})
	}
}

func TestACodeThatIsNoStateIsUnknown(t *testing.T) {
	env, s := probed()
	must(t, env, s, fold.Result{State: 17, Passive: true}, started)
	if s.Status.State != object.Unknown {
		t.Errorf("state %d", s.Status.State)
	}
}
