package notify_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

const people = `
define command {
  command_name c
  command_line /bin/true
}
define contact {
  contact_name ops
  host_notification_options d,u,r,f,s
  service_notification_options w,u,c,r,f,s
  host_notification_commands c
  service_notification_commands c
}
`

const goldenConfig = people + `
define host {
  host_name web
  check_command c
  max_check_attempts %[1]d
  notification_interval 1
  contacts ops
}
define service {
  host_name web
  service_description HTTP
  check_command c
  max_check_attempts %[1]d
  notification_interval 1
  contacts ops
  %[2]s
}
`

// The traces that were taken from a running Nagios Core 4.5, as far as they are
// about notifications. A step a minute is "svc 2" or "host 2" (an exit code,
// submitted unless the step says active), "ack 1" and "ack 2" for an
// acknowledgement, "down 4" for a downtime of four minutes from now. After the
// arrow stand the notifications of the step: P for a problem, R for a recovery, else
// the type; then the number that the service, or the host, has reached.
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
			trace: "svc 0 > /0, svc 2 > /0, svc 1 > /0, svc 2 > P/1, svc 1 > P/2, svc 1 > P/3, svc 0 > R/0, svc 0 > /0, svc 3 > /0, svc 0 > /0",
		},
		{
			name: "service with one attempt", attempts: 1,
			trace: "svc 0 > /0, svc 2 > P/1, svc 2 > P/2, svc 1 > P/3, svc 0 > R/0",
		},
		{
			name: "host checked actively with three attempts", attempts: 3,
			trace: `active 0 > /0, active 2 > /0, active 2 > /0, active 2 > P/1, active 2 > P/2, active 0 > R/0, active 2 > /0, active 0 > /0, active 0 > /0`,
		},
		{
			name: "submitted host results are hard at once", attempts: 3,
			trace: "host 0 > /0, host 1 > P/1, host 1 > P/2, host 2 > P/3, host 0 > R/0",
		},
		{
			name: "submitted host results count attempts if the program says so", attempts: 3,
			main:  "passive_host_checks_are_soft=1\n",
			trace: "host 0 > /0, host 1 > /0, host 1 > /0, host 1 > P/1, host 1 > P/2, host 0 > R/0",
		},
		{
			name: "host goes down under a service", attempts: 3,
			trace: `active 2 > /0, svc 2 > /0, svc 2 > /0, active 2 > /0, active 2 > P/1, svc 1 > /0, svc 0 > /0, svc 2 > /0, active 0 > R/0,
				svc 2 > P/1, svc 2 > P/2, svc 2 > P/3, svc 0 > R/0`,
		},
		{
			name: "host goes down while the service is soft", attempts: 3,
			trace: "svc 0 > /0, svc 2 > /0, active 2 > /0, svc 2 > /0, svc 2 > /0, active 0 > /0, svc 2 > P/1",
		},
		{
			name: "a recovery inside a downtime is owed until after it", attempts: 3,
			trace: `svc 2 > /0, svc 2 > /0, svc 2 > P/1, down 4 > DOWNTIMESTART/1, svc 2 > /1, svc 0 > /1, svc 0 > /1,
				tick 0 > DOWNTIMEEND/1, svc 0 > R/0`,
		},
		{
			name: "a sticky acknowledgement keeps every problem quiet", attempts: 1,
			trace: "svc 1 > P/1, ack 2 > ACKNOWLEDGEMENT/1, svc 1 > /1, svc 2 > /1, svc 0 > R/0",
		},
		{
			name: "a normal acknowledgement ends with another state", attempts: 1,
			trace: "svc 1 > P/1, ack 1 > ACKNOWLEDGEMENT/1, svc 1 > /1, svc 2 > P/2, svc 0 > R/0",
		},
		{
			name: "what was acknowledged while it was soft stays quiet", attempts: 3,
			trace: "svc 0 > /0, svc 1 > /0, ack 1 > ACKNOWLEDGEMENT/0, svc 1 > /0, svc 1 > /0, svc 1 > /0, svc 0 > /0",
		},
		{
			name: "flapping hides the problem until it stops", attempts: 1,
			service: "low_flap_threshold 10\n  high_flap_threshold 20\n", main: "enable_flap_detection=1\n",
			trace: "svc 0 > /0, svc 2 > P/1, svc 0 > R/0, svc 2 > P/1, svc 0 > FLAPPINGSTART/1, svc 2 > /0, svc 0 > /0, svc 2 > /0" +
				strings.Repeat(", svc 2 > /0", 17) + ", svc 2 > FLAPPINGSTOP P/1",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, fmt.Sprintf(goldenConfig, tt.attempts, tt.service), tt.main, 1e12)
			var said []string
			w.decided = func(_ *notify.Input, out *notify.Outcome) {
				what := map[notify.Kind]string{notify.Problem: "P", notify.Recovery: "R"}[out.Kind]
				if what == "" {
					what = string(out.Kind)
				}
				if out.Send {
					said = append(said, what)
				}
			}
			for i, line := range strings.Split(tt.trace, ",") {
				do, want, _ := strings.Cut(strings.TrimSpace(line), " > ")
				said = nil
				id := w.golden(do, object.Time(1e12+(i+1)*60e3))
				if got := fmt.Sprintf("%s/%d", strings.Join(said, " "), w.states[id].Status.NotificationNumber); got != want {
					t.Errorf("step %d, %s: got %s, want %s", i, do, got, want)
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
	w.pass(now)
	switch verb {
	case "svc":
		w.check(service, n, "x", true)
	case "host", "active":
		w.check(host, n, "x", verb == "host")
		return host
	case "ack":
		w.command(fmt.Sprintf("ACKNOWLEDGE_SVC_PROBLEM;web;HTTP;%d;1;0;ops;on it", n))
	case "down":
		w.command(fmt.Sprintf("SCHEDULE_SVC_DOWNTIME;web;HTTP;%d;%d;1;0;0;ops;x", now/1000, int(now/1000)+n*60))
	}
	return service
}
