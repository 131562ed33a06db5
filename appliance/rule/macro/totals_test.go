package macro_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
)

// TestWhoTakesCareOfAProblem counts one critical service of one host and
// changes one thing at a time.
func TestWhoTakesCareOfAProblem(t *testing.T) {
	critical := event.Status{State: object.Critical, Checked: true, Attempt: 1, MaxAttempts: 1}
	up := event.Status{State: object.Up, Checked: true, Attempt: 1, MaxAttempts: 1}
	with := func(st event.Status, change func(*event.Status)) event.Status {
		change(&st)
		return st
	}
	const text = "$TOTALSERVICESCRITICAL$ $TOTALSERVICESCRITICALUNHANDLED$ $TOTALSERVICEPROBLEMSUNHANDLED$ " +
		"$TOTALHOSTSDOWNUNHANDLED$ $TOTALHOSTSUNREACHABLEUNHANDLED$ $TOTALHOSTPROBLEMSUNHANDLED$"
	for _, c := range []struct {
		name          string
		host, service event.Status
		want          string
	}{
		{"nobody", up, critical, "1 1 1 0 0 0"},
		{"it is acknowledged", up, with(critical, func(s *event.Status) { s.Ack = object.AckNormal }), "1 0 0 0 0 0"},
		{"it is in a downtime", up, with(critical, func(s *event.Status) { s.DowntimeDepth = 2 }), "1 0 0 0 0 0"},
		{"its checks were switched off", up, with(critical, func(s *event.Status) { s.Off = object.SwitchActive }), "1 0 0 0 0 0"},
		{"it was never checked", up, with(critical, func(s *event.Status) { s.Checked = false }), "0 0 0 0 0 0"},
		{"its host is down", with(up, func(s *event.Status) { s.State = object.Down }), critical, "1 0 0 1 0 1"},
		{"its host is unreachable", with(up, func(s *event.Status) { s.State = object.Unreachable }), critical, "1 0 0 0 1 1"},
		{"its host is down and in a downtime", with(up, func(s *event.Status) { s.State, s.DowntimeDepth = object.Down, 1 }), critical, "1 0 0 0 0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rule := &object.Rule{Attempts: 1, Active: true}
			host := &object.Object{ID: "h", Name: "h", Rule: rule}
			service := &object.Object{ID: "h!s", Name: "s", Host: host, Rule: rule}
			set := object.NewSet("", object.DefaultSettings(), []*object.Object{host, service})
			states := map[object.ID]*fold.State{"h": {Status: c.host}, "h!s": {Status: c.service}}
			src := &macro.Source{Objects: set.Objects, State: func(id object.ID) *fold.State { return states[id] }}
			if got := macro.Expand(text, src, macro.Options{}); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// What a notification already counted for its contact is not counted again.
func TestGivenTotalsAreTaken(t *testing.T) {
	src := shop()
	src.Static["TOTALHOSTSUP"] = "41"
	if got := macro.Expand("$TOTALHOSTSUP$ $TOTALHOSTSDOWN$", src, macro.Options{}); got != "41 0" {
		t.Error(got)
	}
}
