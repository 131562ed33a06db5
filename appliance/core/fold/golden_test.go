package fold_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

const goldenConfig = `
define command {
  command_name chk
  command_line /bin/true
}
define host {
  host_name web
  check_command chk
  max_check_attempts %[1]d
  check_interval 5
}
define service {
  host_name web
  service_description HTTP
  check_command chk
  max_check_attempts %[1]d
  check_interval 5
  %[2]s
}
`

// The traces that were taken from a running Nagios Core 4.5. A step is "svc 2"
// or "host 2" (an exit code, submitted unless the step says active), or "ack 1"
// and "ack 2" for an acknowledgement of the service, "down 4" for a downtime of
// four minutes from now, "flex 30" for one of two minutes inside the next thirty;
// what follows the arrow is the state that must come of it.
func TestGoldenTraces(t *testing.T) {
	tests := []struct {
		name     string
		attempts int
		service  string // further lines of the service
		main     string
		trace    string
	}{
		{
			name: "service with three attempts", attempts: 3,
			trace: `svc 0 > OK H1, svc 2 > C S1, svc 1 > W S2, svc 2 > C H3, svc 1 > W H3, svc 1 > W H3,
				svc 0 > OK H1, svc 0 > OK H1, svc 3 > U S1, svc 0 > OK H1`,
		},
		{
			name: "service with one attempt", attempts: 1,
			trace: `svc 0 > OK H1, svc 2 > C H1, svc 2 > C H1, svc 1 > W H1, svc 0 > OK H1`,
		},
		{
			name: "host checked actively with three attempts", attempts: 3,
			trace: `active 0 > UP H1, active 2 > DOWN S1, active 2 > DOWN S2, active 2 > DOWN H3, active 2 > DOWN H3,
				active 0 > UP H1, active 2 > DOWN S1, active 0 > UP S1, active 0 > UP H1`,
		},
		{
			name: "submitted host results are hard at once", attempts: 3,
			trace: `host 0 > UP H1, host 1 > DOWN H1, host 1 > DOWN H1, host 2 > UNREACHABLE H1, host 0 > UP H1`,
		},
		{
			name: "submitted host results count attempts if the program says so", attempts: 3,
			main:  "passive_host_checks_are_soft=1\n",
			trace: `host 0 > UP H1, host 1 > DOWN S1, host 1 > DOWN S2, host 1 > DOWN H3, host 1 > DOWN H3, host 0 > UP H1`,
		},
		{
			name: "host goes down under a service", attempts: 3,
			trace: `active 2 > DOWN S1, svc 2 > C H1, svc 2 > C H1, active 2 > DOWN S2, active 2 > DOWN H3,
				svc 2 > C H1, svc 1 > W H3, svc 0 > OK H1, svc 2 > C H1, active 0 > UP H1,
				svc 2 > C H1, svc 2 > C H1, svc 2 > C H1, svc 0 > OK H1`,
		},
		{
			name: "host goes down while the service is soft", attempts: 3,
			trace: `svc 0 > OK H1, svc 2 > C S1, active 2 > DOWN S1, svc 2 > C H3, svc 2 > C H3, active 0 > UP S1, svc 2 > C H3`,
		},
		{
			name: "a sticky acknowledgement stays until OK", attempts: 1,
			trace: `svc 1 > W H1, ack 2 > acked, svc 1 > acked, svc 2 > acked, svc 0 > not acked`,
		},
		{
			name: "a normal acknowledgement ends with any other state", attempts: 1,
			trace: `svc 1 > W H1, ack 1 > acked, svc 1 > acked, svc 2 > not acked, svc 0 > not acked`,
		},
		{
			name: "an acknowledgement of a soft problem survives its hardening", attempts: 3,
			trace: `svc 0 > OK H1, svc 1 > W S1, ack 1 > acked, svc 1 > W S2, svc 1 > acked, svc 1 > W H3, svc 1 > acked, svc 0 > not acked`,
		},
		{
			name: "a soft recovery ends a normal acknowledgement", attempts: 3,
			trace: `svc 0 > OK H1, svc 1 > W S1, ack 1 > acked, svc 0 > not acked`,
		},
		{
			name: "a problem and its recovery inside a downtime", attempts: 3,
			trace: `svc 2 > C S1, svc 2 > C S2, svc 2 > C H3, down 4 > C H3 in 1 downtime, svc 2 > C H3 in 1 downtime,
				svc 0 > OK H1 in 1 downtime, svc 0 > OK H1 in 1 downtime, tick 0 > no downtime, svc 0 > OK H1`,
		},
		{
			name: "a downtime that is deleted early", attempts: 1,
			trace: `svc 0 > OK H1, down 60 > OK H1 in 1 downtime, svc 2 > C H1 in 1 downtime, cancel 0 > no downtime, svc 2 > C H1`,
		},
		{
			name: "a flexible downtime starts with the soft problem and outlasts the recovery", attempts: 3,
			trace: `svc 0 > OK H1, flex 30 > no downtime, svc 0 > no downtime, svc 2 > C S1 in 1 downtime,
				svc 0 > OK H1 in 1 downtime, tick 0 > no downtime, svc 2 > no downtime`,
		},
		{
			name: "a flexible downtime waits where the problem was there before its window", attempts: 1,
			trace: `svc 2 > C H1, flex 30 > no downtime, svc 2 > no downtime, svc 1 > W H1 in 1 downtime`,
		},
		{
			name: "flapping between 10 and 20 percent", attempts: 1,
			service: "low_flap_threshold 10\n  high_flap_threshold 20\n", main: "enable_flap_detection=1\n",
			trace: `svc 0 > 0.00, svc 2 > 6.25, svc 0 > 12.37, svc 2 > 18.36, svc 0 > 24.21 flapping, svc 2 > 29.93 flapping,
				svc 0 > 35.53 flapping, svc 2 > 40.99 flapping, svc 2 > 40.07 flapping, svc 2 > 39.14 flapping`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, fmt.Sprintf(goldenConfig, tt.attempts, tt.service), tt.main, 1e12)
			for i, line := range strings.Split(tt.trace, ",") {
				do, want, _ := strings.Cut(strings.TrimSpace(line), " > ")
				id := w.golden(do, object.Time(1e12+(i+1)*60e3))
				if got := describe(id, w.states[id], want); got != want {
					t.Fatalf("step %d, %s: got %s, want %s", i, do, got, want)
				}
			}
		})
	}
}

// golden runs one step of a trace and returns the object it is about.
func (w *world) golden(do string, now object.Time) object.ID {
	w.t.Helper()
	const host, service = object.ID("web"), object.ID("web!HTTP")
	verb, arg, _ := strings.Cut(do, " ")
	n, err := strconv.Atoi(arg)
	if err != nil {
		w.t.Fatal(err)
	}
	switch verb {
	case "svc":
		w.check(service, n, "x", true, now)
		return service
	case "host", "active":
		w.check(host, n, "x", verb == "host", now)
		return host
	case "ack":
		w.must(service, fold.Acknowledge{Kind: object.AckKind(n), Author: "ops", Text: "on it"}, now)
		return service
	case "down", "flex":
		d := event.Downtime{Start: now, End: now + object.Time(n)*60e3, Author: "ops", Text: "maintenance"}
		if verb == "flex" {
			d.Start, d.Duration = now+1, 120e3
		}
		w.must(service, fold.ScheduleDowntime{Downtime: d}, now)
		return service
	case "cancel":
		w.must(service, fold.CancelDowntimes{All: true}, now)
		return service
	case "tick":
		w.must(service, fold.Tick{}, now)
		return service
	}
	w.t.Fatalf("no step %q", do)
	return ""
}

func (w *world) must(id object.ID, c fold.Command, now object.Time) {
	w.t.Helper()
	if _, err := w.decide(id, c, now); err != nil {
		w.t.Fatal(err)
	}
}

// describe says about a state what the wanted text is about.
func describe(id object.ID, s *fold.State, want string) string {
	switch {
	case strings.HasSuffix(want, "acked"):
		if s.Status.Ack != object.AckNone {
			return "acked"
		}
		return "not acked"
	case strings.HasSuffix(want, "downtime"):
		if s.Status.DowntimeDepth == 0 {
			return "no downtime"
		}
		return fmt.Sprintf("%s in %d downtime", brief(id, s), s.Status.DowntimeDepth)
	case strings.Contains(want, "."):
		text := fmt.Sprintf("%.2f", fold.Percent(s.Measure.Ring))
		if s.Status.Flapping {
			text += " flapping"
		}
		return text
	}
	return brief(id, s)
}

// The flapping of the last golden trace ends when the window has moved on.
func TestFlappingStopsWhenTheLastChangesLeaveTheWindow(t *testing.T) {
	config := fmt.Sprintf(goldenConfig, 1, "low_flap_threshold 10\n  high_flap_threshold 20\n")
	w := newWorld(t, config, "enable_flap_detection=1\n", 1e12)
	const id = object.ID("web!HTTP")
	var last string
	for i := range 40 {
		rc := 2 * (i % 2)
		if i > 7 {
			rc = 2
		}
		before := w.states[id].Status.Flapping
		w.check(id, rc, "x", true, object.Time(1e12+(i+1)*60e3))
		last = fmt.Sprintf("%.2f", fold.Percent(w.states[id].Measure.Ring))
		if before && !w.states[id].Status.Flapping {
			break
		}
	}
	if last != "7.63" {
		t.Errorf("stopped at %s %%, want 7.63", last)
	}
	e := w.events[len(w.events)-1]
	if !e.Has(event.FlappingStopped) || e.Transition {
		t.Errorf("the last event is %s with %v, transition %t", e.Kind, e.Also, e.Transition)
	}
}
