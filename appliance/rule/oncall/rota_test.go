package oncall_test

import (
	"slices"
	"testing"

	"jaque.sh/jaque/appliance/rule/oncall"
)

func TestARotaSaysWhatTheScheduleSays(t *testing.T) {
	s := made(t, oncall.Spec{
		Name: "primary", Layers: []oncall.LayerSpec{weekly("week", "bob", "ada")},
		Overrides: []oncall.OverrideSpec{{From: "2026-01-06 10:00", To: "2026-01-06 12:00", Contact: "cai", Reason: "a visit"}},
	})
	r := s.Rota()
	if r.Name() != "primary" || !slices.Equal(r.Members(), []string{"ada", "bob", "cai"}) {
		t.Errorf("the rota %s has %v", r.Name(), r.Members())
	}
	for _, tt := range []struct{ at, contact, why, until string }{
		{"2026-01-01 00:00", "", "no layer has anybody", "2026-01-05 09:00"},
		{"2026-01-05 09:00", "bob", "layer week", "2026-01-06 10:00"},
		{"2026-01-06 10:00", "cai", "override 2026-01-06 10:00 - 2026-01-06 12:00 (a visit)", "2026-01-06 12:00"},
		{"2026-01-12 09:00", "ada", "layer week", "2026-01-19 09:00"},
	} {
		contact, why, until := r.OnCall(at(t, tt.at))
		if contact != tt.contact || why != tt.why || until != at(t, tt.until) {
			t.Errorf("at %s %q is on call, %s, until %v", tt.at, contact, why, until.Std())
		}
	}
}
