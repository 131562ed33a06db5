package fold_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

// traceConfig is a gateway, a host behind it, one behind that, and a service of
// the host in the middle. The arguments are further lines of each.
const traceConfig = `
define command {
  command_name chk
  command_line /bin/true
}
define host {
  name base
  register 0
  check_command chk
  max_check_attempts 3
  check_interval 5
}
define host {
  use base
  host_name gw
  %s
}
define host {
  use base
  host_name web
  parents gw
  %s
}
define host {
  use base
  host_name leaf
  parents web
}
define service {
  host_name web
  service_description x
  check_command chk
  max_check_attempts 3
  check_interval 5
  %s
}
`

// trace is a story: steps a minute apart, each with what must come of it behind
// the arrow. "gw 2" is the exit code of a check, "web passive 1" a submitted
// state, "!COMMAND" an external command and "wait 3" three more minutes; a
// command says which object to look at in brackets.
type trace struct {
	name                      string
	gw, web, service, program string
	steps                     string
}

func (c *trace) run(t *testing.T) {
	config := fmt.Sprintf(traceConfig, c.gw, c.web, c.service)
	w := newWorld(t, config, c.program, 1e12)
	now := object.Time(1e12)
	for i, line := range strings.Split(c.steps, ",") {
		now += 60e3
		do, want, ok := strings.Cut(strings.TrimSpace(line), " > ")
		if rest, wait := strings.CutPrefix(do, "wait "); wait {
			n, err := strconv.Atoi(rest)
			if err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			now += object.Time(n-1) * 60e3
			continue
		}
		if !ok {
			t.Fatalf("step %d, %q, expects nothing", i, line)
		}
		id := w.traceStep(do, now)
		if got := describe(id, w.states[id], want); got != want {
			t.Fatalf("step %d, %s: got %s, want %s", i, do, got, want)
		}
	}
}

func (w *world) traceStep(do string, now object.Time) object.ID {
	w.t.Helper()
	words := strings.Fields(do)
	names := map[string]object.ID{"gw": "gw", "web": "web", "leaf": "leaf", "svc": "web!x"}
	if strings.HasPrefix(do, "!") {
		w.command(words[0][1:], now)
		return names[strings.Trim(words[1], "[]")]
	}
	rc, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		w.t.Fatal(err)
	}
	id := names[words[0]]
	w.check(id, rc, "x", words[1] == "passive", now)
	return id
}

// TestTracesOfStates follows the tables of services and hosts of the monitoring
// semantics into the corners that the simple cases leave out.
func TestTracesOfStates(t *testing.T) {
	for _, c := range []trace{
		{
			name: "a host follows its parent between down and unreachable, soft and hard",
			steps: `gw 0 > UP H1, web 0 > UP H1, web 2 > DOWN S1, gw 2 > DOWN S1, web 2 > UNREACHABLE S2, gw 0 > UP S1,
				web 2 > DOWN H3, gw 2 > DOWN S1, web 2 > UNREACHABLE H3, gw 0 > UP S1, web 2 > DOWN H3, web 0 > UP H1`,
		},
		{
			name: "one attempt behind a parent", gw: "max_check_attempts 1", web: "max_check_attempts 1",
			steps: `gw 2 > DOWN H1, web 2 > UNREACHABLE H1, gw 0 > UP H1, web 2 > DOWN H1, gw 2 > DOWN H1, web 0 > UP H1, web 3 > UNREACHABLE H1`,
		},
		{
			name:  "unreachable reaches through two hosts",
			steps: `gw 2 > DOWN S1, web 2 > UNREACHABLE S1, leaf 2 > UNREACHABLE S1, web 0 > UP S1, leaf 2 > DOWN S2, web 2 > UNREACHABLE S1, leaf 2 > UNREACHABLE H3`,
		},
		{
			name:  "a problem right after a soft recovery starts again at one",
			steps: `web 2 > DOWN S1, web 2 > DOWN S2, web 0 > UP S1, web 2 > DOWN S1, web 2 > DOWN S2, web 2 > DOWN H3, web 0 > UP H1, web 0 > UP H1`,
		},
		{
			name:  "a hard host stays at its last attempt",
			steps: `web 2 > DOWN S1, web 2 > DOWN S2, web 2 > DOWN H3, web 3 > DOWN H3, web 2 > DOWN H3`,
		},
		{
			name:  "exit code 1 of a host is up",
			steps: `web 1 > UP H1, web 2 > DOWN S1, web 1 > UP S1`,
		},
		{
			name: "exit code 1 of a host is down where checks are aggressive", program: "use_aggressive_host_checking=1\n",
			steps: `web 1 > DOWN S1, web 1 > DOWN S2, web 1 > DOWN H3, web 0 > UP H1`,
		},
		{
			name:  "a submitted state is taken as it is, whatever the parents",
			steps: `gw 2 > DOWN S1, web passive 1 > DOWN H1, web passive 2 > UNREACHABLE H1, gw 0 > UP S1, web passive 2 > UNREACHABLE H1, web passive 0 > UP H1`,
		},
		{
			name: "a submitted state is translated by the parents if the program says so", program: "translate_passive_host_checks=1\n",
			steps: `gw 2 > DOWN S1, web passive 1 > UNREACHABLE H1, gw 0 > UP S1, web passive 2 > DOWN H1, web passive 0 > UP H1`,
		},
		{
			name:  "a submitted problem makes a soft host hard",
			steps: `web 2 > DOWN S1, web passive 1 > DOWN H1, web passive 0 > UP H1`,
		},
		{
			name: "soft submitted results climb and fall", program: "passive_host_checks_are_soft=1\n",
			steps: `web passive 1 > DOWN S1, web passive 2 > UNREACHABLE S2, web passive 0 > UP S1, web passive 0 > UP H1, web passive 1 > DOWN S1,
				web passive 1 > DOWN S2, web passive 1 > DOWN H3, web passive 2 > UNREACHABLE H3, web passive 0 > UP H1`,
		},
		{
			name: "a host that starts down", web: "initial_state d",
			steps: `web 2 > DOWN H3, web 0 > UP H1, web 2 > DOWN S1`,
		},
		{
			name: "a host that starts unreachable", web: "initial_state u",
			steps: `web 2 > DOWN H3, gw 2 > DOWN S1, web 2 > UNREACHABLE H3, web 0 > UP H1`,
		},
		{
			name: "a host that starts down and comes up", web: "initial_state d",
			steps: `web 0 > UP H1, web 0 > UP H1`,
		},
		{
			name: "a service that starts as a warning", service: "initial_state w",
			steps: `svc 1 > W H3, svc 2 > C H3, svc 0 > OK H1, svc 1 > W S1`,
		},
		{
			name: "a service that starts unknown and is fine", service: "initial_state u",
			steps: `svc 0 > OK H1, svc 3 > U S1`,
		},
		{
			name: "a volatile service passes its soft states after each recovery", service: "is_volatile 1",
			steps: `svc 2 > C S1, svc 2 > C S2, svc 2 > C H3, svc 2 > C H3, svc 1 > W H3, svc 0 > OK H1, svc 2 > C S1, svc 0 > OK H1`,
		},
		{
			name: "two attempts", service: "max_check_attempts 2",
			steps: `svc 1 > W S1, svc 2 > C H2, svc 1 > W H2, svc 3 > U H2, svc 0 > OK H1, svc 3 > U S1, svc 0 > OK H1`,
		},
		{
			name:  "active and submitted results of a service count alike",
			steps: `svc 0 > OK H1, svc passive 2 > C S1, svc 2 > C S2, svc passive 1 > W H3, svc passive 0 > OK H1`,
		},
		{
			name: "everything a service does behind a host that is down", service: "max_check_attempts 4",
			steps: `svc 0 > OK H1, svc 2 > C S1, svc 2 > C S2, web 2 > DOWN S1, svc 1 > W H4, svc 0 > OK H1, svc 3 > U H1, svc 3 > U H1,
				svc 2 > C H4, svc 2 > C H4, web 0 > UP S1, svc 2 > C H4, svc 0 > OK H1, svc 2 > C S1`,
		},
		{
			name:  "a service behind an unreachable host is hard at once",
			steps: `gw 2 > DOWN S1, web 2 > UNREACHABLE S1, svc 1 > W H1, svc 0 > OK H1, svc 3 > U H1`,
		},
		{
			name:  "the parent's state does not reach the service",
			steps: `web 0 > UP H1, gw 2 > DOWN S1, svc 2 > C S1, svc 2 > C S2, svc 2 > C H3`,
		},
		{
			name: "what is not accepted changes nothing",
			steps: `svc 1 > W S1, !DISABLE_PASSIVE_SVC_CHECKS;web;x [svc] > W S1, svc passive 2 > W S1, svc 2 > C S2,
				!ENABLE_PASSIVE_SVC_CHECKS;web;x [svc] > C S2, svc passive 1 > W H3`,
		},
		{
			name:  "a host that takes no submitted results",
			web:   "passive_checks_enabled 0",
			steps: `web passive 1 > UP H1, web 2 > DOWN S1, web passive 0 > DOWN S1, web 0 > UP S1`,
		},
		{
			name: "a command submits a result",
			steps: `!PROCESS_SERVICE_CHECK_RESULT;web;x;2;bad [svc] > C S1, !PROCESS_HOST_CHECK_RESULT;web;1;gone [web] > DOWN H1,
				!PROCESS_SERVICE_CHECK_RESULT;web;x;2;bad [svc] > C H3, !PROCESS_HOST_CHECK_RESULT;web;0;back [web] > UP H1`,
		},
	} {
		t.Run(c.name, c.run)
	}
}

// TestTracesOfFlapping gives the percentages that the newest changes weigh: 1.25
// of 20 for the newest and 0.5/19 less for each step further back.
func TestTracesOfFlapping(t *testing.T) {
	const on = "enable_flap_detection=1\n"
	const one, narrow = "max_check_attempts 1\n  ", "low_flap_threshold 10\n  high_flap_threshold 20\n  "
	for _, c := range []trace{
		{
			name: "soft states of a host count", program: on,
			steps: `web 0 > 0.00, web 2 > 6.25, web 0 > 12.37, web 2 > 18.36, web 0 > 24.21, web 2 > 29.93, web 0 > 35.53 flapping, web 0 > 34.74 flapping`,
		},
		{
			name: "a change from down to unreachable counts", program: on,
			steps: `web 2 > 6.25, gw 2 > 6.25, web 2 > 12.37, gw 0 > 12.37, web 2 > 18.36`,
		},
		{
			name: "a service's results sample its host every five minutes", program: on,
			steps: `web 0 > 0.00, web 2 > 6.25, svc 0 > 0.00, web 2 > 6.12, wait 2, svc 0 > 0.00, !NOTHING [web] > 6.12,
				svc 0 > 0.00, !NOTHING [web] > 5.99, svc 0 > 0.00, !NOTHING [web] > 5.99, wait 4, svc 0 > 0.00, !NOTHING [web] > 5.86`,
		},
		{
			name: "the host's own results restart the wait", program: on,
			steps: `web 2 > 6.25, wait 4, web 2 > 6.12, wait 3, svc 0 > 0.00, !NOTHING [web] > 6.12, svc 0 > 0.00, !NOTHING [web] > 5.99`,
		},
		{
			name: "states that the options leave out are not recorded", program: on, service: one + "flap_detection_options o,c",
			steps: `svc 0 > 0.00, svc 1 > 0.00, svc 2 > 6.25, svc 1 > 6.25, svc 3 > 6.25, svc 0 > 12.37`,
		},
		{
			name: "only warnings are recorded, upon a history of zeros", program: on, service: one + "flap_detection_options w",
			steps: `svc 0 > 0.00, svc 1 > 6.25, svc 0 > 6.25, svc 1 > 6.12, svc 2 > 6.12`,
		},
		{
			name: "a host's options", program: on, web: "flap_detection_options d,u",
			steps: `web 0 > 0.00, web 2 > 6.25, web 0 > 6.25, web 2 > 6.12, gw 2 > 6.25, web 2 > 12.24`,
		},
		{
			name: "no option at all records nothing", program: on, service: one + "flap_detection_options n",
			steps: `svc 2 > 0.00, svc 0 > 0.00, svc 2 > 0.00`,
		},
		{
			name: "thresholds of the object start and stop", program: on, service: one + "low_flap_threshold 12.2\n  high_flap_threshold 12.3",
			steps: `svc 0 > 0.00, svc 2 > 6.25, svc 0 > 12.37 flapping, svc 0 > 12.11, svc 2 > 18.09 flapping`,
		},
		{
			name: "thresholds of the program", program: on + "low_service_flap_threshold=6.2\nhigh_service_flap_threshold=6.25\n", service: one,
			steps: `svc 0 > 0.00, svc 2 > 6.25 flapping, svc 2 > 6.12, svc 2 > 5.99`,
		},
		{
			name: "thresholds of the program for hosts", program: on + "low_host_flap_threshold=6.2\nhigh_host_flap_threshold=6.25\n",
			steps: `web 0 > 0.00, web 2 > 6.25 flapping, web 2 > 6.12, web 2 > 5.99`,
		},
		{
			name: "between the thresholds everything stays", program: on, service: one + narrow,
			steps: `svc 2 > 6.25, svc 0 > 12.37, svc 0 > 12.11, svc 2 > 18.09, svc 0 > 23.95 flapping, svc 0 > 23.42 flapping`,
		},
		{
			name: "the program's switch stops at once and starts at once", program: on, service: one + narrow,
			steps: `svc 2 > 6.25, svc 0 > 12.37, svc 2 > 18.36, svc 0 > 24.21 flapping, !DISABLE_FLAP_DETECTION [svc] > 24.21,
				svc 2 > 29.93, !ENABLE_FLAP_DETECTION [svc] > 29.93 flapping, svc 2 > 29.28 flapping`,
		},
		{
			name: "so does the object's", program: on, service: one + narrow,
			steps: `svc 2 > 6.25, svc 0 > 12.37, svc 2 > 18.36, svc 0 > 24.21 flapping, !DISABLE_SVC_FLAP_DETECTION;web;x [svc] > 24.21,
				svc 2 > 29.93, !ENABLE_SVC_FLAP_DETECTION;web;x [svc] > 29.93 flapping`,
		},
		{
			name: "one switch alone does not start it", service: one + narrow,
			steps: `svc 2 > 6.25, svc 0 > 12.37, svc 2 > 18.36, svc 0 > 24.21, !ENABLE_SVC_FLAP_DETECTION;web;x [svc] > 24.21,
				!ENABLE_FLAP_DETECTION [svc] > 24.21 flapping`,
		},
		{
			name: "an object that does not want it", program: on, service: one + narrow + "flap_detection_enabled 0",
			steps: `svc 2 > 6.25, svc 0 > 12.37, svc 2 > 18.36, svc 0 > 24.21, svc 2 > 29.93`,
		},
		{
			name: "cleared, the history is one of zeros", program: on, service: one + narrow,
			steps: `svc 2 > 6.25, svc 0 > 12.37, svc 2 > 18.36, svc 0 > 24.21 flapping, !CLEAR_SVC_FLAPPING_STATE;web;x [svc] > 0.00,
				svc 0 > 0.00, svc 2 > 6.25, svc 2 > 6.12`,
		},
		{
			name: "cleared on a host", program: on, web: narrow,
			steps: `web 2 > 6.25, web 0 > 12.37, web 2 > 18.36, web 0 > 24.21 flapping, !CLEAR_HOST_FLAPPING_STATE;web [web] > 0.00, web 2 > 6.25`,
		},
		{
			name: "soft problems of a service are left out, recoveries from them are not", program: on, service: "max_check_attempts 2",
			steps: `svc 2 > 0.00, svc 2 > 6.25, svc 1 > 12.37, svc 0 > 18.36, svc 2 > 18.36, svc 0 > 17.96, svc 2 > 17.96, svc 3 > 23.82`,
		},
		{
			name: "behind a host that is down every result is hard and counts", program: on,
			steps: `web 2 > 6.25, svc 2 > 6.25, svc 0 > 12.37, svc 1 > 18.36`,
		},
	} {
		t.Run(c.name, c.run)
	}
}
