package handover_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/rule/handover"
	"jaque.sh/jaque/appliance/rule/membership"
)

func TestWhoMayWriteNow(t *testing.T) {
	a, b := membership.Member{ID: "a"}, membership.Member{ID: "b"}
	both := membership.View{Epoch: 4, Members: []membership.Member{a, b}}
	owner, other := both.Owner("web01"), "a"
	if owner == "a" {
		other = "b"
	}
	tests := []struct {
		name        string
		writer      handover.Writer
		state       fold.State
		outstanding bool
		want        handover.Verdict
	}{
		{"the owner may", handover.Writer{ID: owner, View: both, Replayed: true}, fold.State{Fence: 4}, false, handover.Granted},
		{"the other member may not", handover.Writer{ID: other, View: both, Replayed: true}, fold.State{}, false, handover.NotOwner},
		{"nobody may before it is registered", handover.Writer{ID: owner, Replayed: true}, fold.State{}, false, handover.NotOwner},
		{"no name is owner in a view without members", handover.Writer{View: membership.View{Epoch: 4}, Replayed: true}, fold.State{}, false, handover.NotOwner},
		{"the owner may not while it replays", handover.Writer{ID: owner, View: both}, fold.State{}, false, handover.Replaying},
		{"nor while an append is outstanding", handover.Writer{ID: owner, View: both, Replayed: true}, fold.State{}, true, handover.Outstanding},
		{"nor behind an event of a newer epoch", handover.Writer{ID: owner, View: both, Replayed: true}, fold.State{Fence: 5}, false, handover.Behind},
		{"nor behind a measurement of a newer epoch", handover.Writer{ID: owner, View: both, Replayed: true}, fold.State{Measure: event.Measure{Epoch: 5}}, false, handover.Behind},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.writer.May("web01", &tt.state, tt.outstanding); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
