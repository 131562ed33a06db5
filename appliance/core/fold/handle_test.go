package fold_test

import (
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Each letter of results is the state of one check, a letter of handled whether
// handlers run for it.
func TestHandlersRun(t *testing.T) {
	tests := []struct {
		name             string
		results, handled string
		attempts         int
		volatile, host   bool
	}{
		{"for soft problems, for the hard one and for the recovery", "OCCCCO", ".xxx.x", 3, false, false},
		{"for a soft recovery", "OCO", ".xx", 3, false, false},
		{"for another hard problem", "CWWC", "xx.x", 1, false, false},
		{"not for a first result that is well", "OO", "..", 1, false, false},
		{"for every hard problem of a volatile service", "OCCCO", ".xxxx", 1, true, false},
		{"for a host's problems, and not when its recovery gets hard", "UDDDUU", ".xxxx.", 3, false, true},
		{"not for every problem of a volatile host", "DDD", "x..", 1, true, true},
		{"for a host's soft recovery once", "UDUU", ".xx.", 3, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := probed()
			env.Object.Rule.Attempts, env.Object.Rule.Volatile = tt.attempts, tt.volatile
			if tt.host {
				env.Object.ID, env.Object.Host = "web01", nil
			}
			got := ""
			for i, letter := range tt.results {
				state := object.State(max(strings.IndexRune("OWC", letter), 0))
				if letter == 'D' {
					state = object.Down
				}
				now := started + object.Time(i)
				d := must(t, env, s, fold.Result{State: state, Start: now}, now)
				got += map[bool]string{true: "x", false: "."}[d.HasLog && fold.Handles(&d.Log, env.Object.Rule)]
			}
			if got != tt.handled {
				t.Errorf("handled %s, want %s", got, tt.handled)
			}
		})
	}
}

func TestHandlersRunForResultsOnly(t *testing.T) {
	st := event.Status{State: object.Critical, Type: object.Soft}
	if e := (event.Event{Kind: event.AckSet, Status: &st}); fold.Handles(&e, &object.Rule{}) {
		t.Error("an acknowledgement is no result")
	}
	if e := (event.Event{Kind: event.CheckResult}); fold.Handles(&e, &object.Rule{}) {
		t.Error("a measurement has no status")
	}
}
