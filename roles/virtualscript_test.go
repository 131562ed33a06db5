package roles

import (
	"fmt"
	"time"
)

// virtualConfig has passive objects, and a few with a check every five minutes.
const virtualConfig = `package site

defaults: {attempts: 2, interval: "5m", retry: "1m", flap_detection: false}
hosts: {
	web01: {address: "192.0.2.1", labels: role: "web", groups: ["crowd"], attempts: 1, check: passive: {}}
	db01: {address: "192.0.2.2", labels: role: "db", groups: ["crowd"], attempts: 1, check: passive: {}}
	many01: {address: "192.0.2.3", labels: role: "many", check: passive: {}}
	night01: {address: "192.0.2.4", labels: role: "night", check: passive: {}}
	probe01: {address: "192.0.2.5", labels: role: "probe", check: passive: {}}
}
services: {
	door: {on: role: "web", attempts: 1, check: passive: {}}
	disk: {on: role: "web", attempts: 1, check: passive: {}}
	tables: {on: role: "db", attempts: 1, check: passive: {}}
	job: {on: role: "night", check: passive: {}}
	ping: {on: {role: "probe"}, service_groups: ["probes"], check: dummy: {}}
	http: {on: {role: "probe"}, service_groups: ["probes"], check: dummy: {}}
}
services: {for i in [0, 1, 2, 3, 4] for k in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] {"s\(i)\(k)": {on: role: "many", check: passive: {}}}}
`

// virtualStart is when the script begins: the morning before the night in which
// the clocks of Berlin go from 02:00 to 03:00.
func virtualStart() time.Time { return time.Date(2027, 3, 27, 8, 0, 0, 0, time.UTC) }

// virtualEnd is when it is over, behind the start.
const virtualEnd = 48 * time.Hour

// virtualStep is what an operator does at one moment, in the words of each surface.
// A time in braces, as in {5h30m}, counts from the start of the script.
type virtualStep struct {
	at      time.Duration
	name    string
	http    []string // bodies of POST /api/v1/commands
	cli     []string // command lines, words separated by "¦"
	fifo    []string // lines; without a time in front it is the moment's
	refused int      // how many of them are
}

// virtualScript is the two days. Each step may rely on those before it.
func virtualScript() []virtualStep {
	var all []virtualStep
	for _, part := range [][]virtualStep{problemSteps(), floodSteps(), switchSteps(), laterSteps()} {
		all = append(all, part...)
	}
	return all
}

func problemSteps() []virtualStep {
	return []virtualStep{
		{
			at: time.Minute, name: "a host and a service have a problem",
			http: []string{
				`{"command":"submit-result","object":"db01","state":"DOWN","output":"no answer"}`,
				`{"command":"submit-result","object":"web01!door","state":"CRITICAL","output":"open","perfdata":"width=80cm"}`,
			},
			cli:  []string{"submit¦db01¦DOWN¦no answer", "submit¦web01!door¦CRITICAL¦open | width=80cm"},
			fifo: []string{`PROCESS_HOST_CHECK_RESULT;db01;1;no answer`, `PROCESS_SERVICE_CHECK_RESULT;web01;door;2;open | width=80cm`},
		},
		{
			at: 5 * time.Minute, name: "both are acknowledged",
			http: []string{
				`{"command":"acknowledge","object":"web01!door","comment":"on my way"}`,
				`{"command":"acknowledge","object":"db01","comment":"power cut","sticky":false}`,
			},
			cli: []string{"ack¦web01!door¦-comment¦on my way", "ack¦db01¦-comment¦power cut¦-sticky=false"},
			fifo: []string{
				`ACKNOWLEDGE_SVC_PROBLEM;web01;door;2;1;0;ada;on my way`,
				`ACKNOWLEDGE_HOST_PROBLEM;db01;1;1;0;ada;power cut`,
			},
		},
		{
			at: 6 * time.Minute, name: "what is no problem cannot be", refused: 1,
			http: []string{`{"command":"acknowledge","object":"web01","comment":"why"}`},
			cli:  []string{"ack¦web01¦-comment¦why"},
			fifo: []string{`ACKNOWLEDGE_HOST_PROBLEM;web01;2;1;0;ada;why`},
		},
		{
			at: 7 * time.Minute, name: "a comment",
			http: []string{`{"command":"add-comment","object":"db01","comment":"a; new disk"}`},
			cli:  []string{"comment¦db01¦-comment¦a; new disk"},
			fifo: []string{`ADD_HOST_COMMENT;db01;1;ada;a; new disk`},
		},
		{
			at: 10 * time.Minute, name: "a downtime for a host and all of its services",
			http: []string{`{"command":"schedule-downtime","object":"db01","scope":"with-services","start":"{30m}","end":"{150m}","comment":"move"}`},
			cli:  []string{"downtime¦db01¦-scope¦with-services¦-start¦{30m}¦-end¦{150m}¦-comment¦move"},
			fifo: []string{
				`SCHEDULE_HOST_DOWNTIME;db01;{30m};{150m};1;0;7200;ada;move`,
				`SCHEDULE_HOST_SVC_DOWNTIME;db01;{30m};{150m};1;0;7200;ada;move`,
			},
		},
		{
			at: 40 * time.Minute, name: "one of them is cancelled while it runs",
			http: []string{`{"command":"cancel-downtime","object":"db01!tables"}`},
			cli:  []string{"downtime cancel¦-object¦db01!tables"},
			fifo: []string{`DEL_DOWNTIME_BY_HOST_NAME;db01;tables`},
		},
	}
}

// The flood: rounds of one result for each service. Of five results of a service
// the fourth was overtaken, and the fifth is the third once more.
const (
	floodServices = 50
	floodRounds   = 20
	floodParts    = 4 // steps of five rounds each
	floodTaken    = 3 // of five rounds
)

func floodSteps() []virtualStep {
	const rounds = floodRounds / floodParts
	var all []virtualStep
	for part := range floodParts {
		at := time.Hour + time.Duration(part)*time.Minute
		s := virtualStep{at: at, name: fmt.Sprintf("a flood of results, part %d", part), refused: floodServices * (rounds - floodTaken)}
		for round := range rounds {
			for i := range floodServices {
				s.result(fmt.Sprintf("s%02d", i), part*rounds+round, at)
			}
		}
		all = append(all, s)
	}
	return all
}

// result adds a result with a time of its own, within the minute before.
func (s *virtualStep) result(service string, round int, at time.Duration) {
	number, second := round, round%5*10
	switch round % 5 {
	case 3:
		second = 5
	case 4:
		number, second = round-2, 20
	}
	when, state, text := at-time.Minute+time.Duration(second)*time.Second, number/2%3, floodText(service, number)
	s.http = append(s.http, fmt.Sprintf(`{"command":"submit-result","object":"many01!%s","state":%d,"output":%q,"time":"{%s}"}`, service, state, text, when))
	s.cli = append(s.cli, fmt.Sprintf("submit¦many01!%s¦%d¦%s¦-time¦{%s}", service, state, text, when))
	s.fifo = append(s.fifo, fmt.Sprintf("[{%s}] PROCESS_SERVICE_CHECK_RESULT;many01;%s;%d;%s", when, service, state, text))
}

func floodText(service string, number int) string { return fmt.Sprintf("%s says %d", service, number) }

// floodLast is the output that a service ends with.
func floodLast(service string) string { return floodText(service, floodRounds-3) }

// toggle makes a step that switches.
func toggle(at time.Duration, on bool, what, target, args string, fifo ...string) virtualStep {
	word := "disable"
	if on {
		word = "enable"
	}
	return virtualStep{
		at: at, name: word + " " + what + " " + args,
		http: []string{fmt.Sprintf(`{"command":%q,"what":[%q],%s}`, word, what, target)},
		cli:  []string{word + "¦" + what + "¦" + args}, fifo: fifo,
	}
}

func switchSteps() []virtualStep {
	const door, ping, all = `"object":"web01!door"`, `"object":"probe01!ping"`, `"program":true`
	const crowd, probes = `"group":"crowd","kind":"host"`, `"group":"probes","kind":"service"`
	const crowdArgs, probesArgs = "-group¦crowd¦-kind¦host", "-group¦probes¦-kind¦service"
	return []virtualStep{
		toggle(2*time.Hour, false, "notifications", door, "web01!door", "DISABLE_SVC_NOTIFICATIONS;web01;door"),
		toggle(121*time.Minute, false, "active_checks", ping, "probe01!ping", "DISABLE_SVC_CHECK;probe01;ping"),
		toggle(140*time.Minute, true, "active_checks", ping, "probe01!ping", "ENABLE_SVC_CHECK;probe01;ping"),
		toggle(141*time.Minute, false, "passive_checks", door, "web01!door", "DISABLE_PASSIVE_SVC_CHECKS;web01;door"),
		{
			at: 142 * time.Minute, name: "a result that nobody wants", refused: 1,
			http: []string{`{"command":"submit-result","object":"web01!door","state":"OK","output":"shut"}`},
			cli:  []string{"submit¦web01!door¦OK¦shut"},
			fifo: []string{`PROCESS_SERVICE_CHECK_RESULT;web01;door;0;shut`},
		},
		toggle(143*time.Minute, true, "passive_checks", door, "web01!door", "ENABLE_PASSIVE_SVC_CHECKS;web01;door"),
		toggle(3*time.Hour, false, "notifications", crowd, crowdArgs, "DISABLE_HOSTGROUP_HOST_NOTIFICATIONS;crowd"),
		toggle(181*time.Minute, false, "active_checks", probes, probesArgs, "DISABLE_SERVICEGROUP_SVC_CHECKS;probes"),
		toggle(200*time.Minute, true, "active_checks", probes, probesArgs, "ENABLE_SERVICEGROUP_SVC_CHECKS;probes"),
		toggle(201*time.Minute, true, "notifications", crowd, crowdArgs, "ENABLE_HOSTGROUP_HOST_NOTIFICATIONS;crowd"),
		toggle(220*time.Minute, false, "service_checks", all, "-program", "STOP_EXECUTING_SVC_CHECKS"),
		toggle(221*time.Minute, false, "notifications", all, "-program", "DISABLE_NOTIFICATIONS"),
		toggle(238*time.Minute, true, "service_checks", all, "-program", "START_EXECUTING_SVC_CHECKS"),
		toggle(239*time.Minute, true, "notifications", all, "-program", "ENABLE_NOTIFICATIONS"),
	}
}

func laterSteps() []virtualStep {
	return []virtualStep{
		{
			at: 4 * time.Hour, name: "another problem",
			http: []string{`{"command":"submit-result","object":"web01!disk","state":"WARNING","output":"full","long_output":"/ 91%\n/var 95%"}`},
			cli:  []string{"submit¦web01!disk¦1¦full\n/ 91%\n/var 95%"},
			fifo: []string{`PROCESS_SERVICE_CHECK_RESULT;web01;disk;1;full\n/ 91%\n/var 95%`},
		},
		{
			at: 241 * time.Minute, name: "an acknowledgement that expires",
			http: []string{`{"command":"acknowledge","object":"web01!disk","comment":"until six","expires":"{6h}"}`},
			cli:  []string{"ack¦web01!disk¦-comment¦until six¦-expires¦{6h}"},
			fifo: []string{`ACKNOWLEDGE_SVC_PROBLEM_EXPIRE;web01;disk;2;1;0;{6h};ada;until six`},
		},
		{
			at: 5 * time.Hour, name: "a flexible downtime",
			http: []string{`{"command":"schedule-downtime","object":"web01","start":"{5h}","end":"{10h}","flexible":1800,"comment":"reboot"}`},
			cli:  []string{"downtime¦web01¦-start¦{5h}¦-end¦{10h}¦-flexible¦30m¦-comment¦reboot"},
			fifo: []string{`SCHEDULE_HOST_DOWNTIME;web01;{5h};{10h};0;0;1800;ada;reboot`},
		},
		{
			at: 310 * time.Minute, name: "a downtime that recurs over the night the clocks change",
			http: []string{`{"command":"schedule-downtime","object":"night01","scope":"with-services","ranges":["sunday 01:30-03:30","monday 01:30-03:30"],"timezone":"Europe/Berlin","comment":"backup"}`},
			cli:  []string{"downtime¦night01¦-scope¦with-services¦-every¦sunday 01:30-03:30¦-every¦monday 01:30-03:30¦-timezone¦Europe/Berlin¦-comment¦backup"},
			fifo: []string{ // 00:30 to 01:30 and, a day later, 23:30 to 01:30 in UTC
				`SCHEDULE_HOST_DOWNTIME;night01;{16h30m};{17h30m};1;0;3600;ada;backup`,
				`SCHEDULE_HOST_SVC_DOWNTIME;night01;{16h30m};{17h30m};1;0;3600;ada;backup`,
				`SCHEDULE_HOST_DOWNTIME;night01;{39h30m};{41h30m};1;0;7200;ada;backup`,
				`SCHEDULE_HOST_SVC_DOWNTIME;night01;{39h30m};{41h30m};1;0;7200;ada;backup`,
			},
		},
		{
			at: 7 * time.Hour, name: "a failure starts the flexible one",
			http: []string{`{"command":"submit-result","object":"web01","state":"DOWN","output":"reboots"}`},
			cli:  []string{"submit¦web01¦DOWN¦reboots"},
			fifo: []string{`PROCESS_HOST_CHECK_RESULT;web01;1;reboots`},
		},
		{
			at: 425 * time.Minute, name: "and it is up again",
			http: []string{`{"command":"submit-result","object":"web01","state":"UP","output":"back"}`},
			cli:  []string{"submit¦web01¦UP¦back"},
			fifo: []string{`PROCESS_HOST_CHECK_RESULT;web01;0;back`},
		},
		{
			at: 17 * time.Hour, name: "a failure in the night",
			http: []string{`{"command":"submit-result","object":"night01","state":"DOWN","output":"late"}`},
			cli:  []string{"submit¦night01¦DOWN¦late"},
			fifo: []string{`PROCESS_HOST_CHECK_RESULT;night01;1;late`},
		},
		{
			at: 24 * time.Hour, name: "all is well",
			http: []string{
				`{"command":"submit-result","object":"db01","state":"UP","output":"moved"}`,
				`{"command":"submit-result","object":"web01!door","state":"OK","output":"shut"}`,
			},
			cli:  []string{"submit¦db01¦UP¦moved", "submit¦web01!door¦OK¦shut"},
			fifo: []string{`PROCESS_HOST_CHECK_RESULT;db01;0;moved`, `PROCESS_SERVICE_CHECK_RESULT;web01;door;0;shut`},
		},
		{
			// The command file knows no downtimes of later weeks.
			at: 47 * time.Hour, name: "the recurring one is cancelled",
			http: []string{`{"command":"cancel-downtime","object":"night01","scope":"with-services"}`},
			cli:  []string{"downtime cancel¦-object¦night01¦-scope¦with-services"},
		},
	}
}
