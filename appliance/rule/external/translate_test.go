package external_test

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/external"
	"jaque.sh/jaque/appliance/rule/operate"
	"pgregory.net/rapid"
)

// site is three hosts in a row with services, groups and contacts.
func site(t rapid.TB) *world {
	t.Helper()
	text, err := os.ReadFile("testdata/site.cfg")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, string(text), "", now-60_000)
	w.now = now
	return w
}

func translate(t rapid.TB, w *world, line string) ([]operate.Action, error) {
	t.Helper()
	c, err := external.Parse(line, w.now)
	if err != nil {
		return nil, err
	}
	return external.Translate(w.view(), c)
}

// objectsOf lists what actions are about, "+" before one with a comment.
func objectsOf(actions []operate.Action) string {
	var all []string
	for _, a := range actions {
		name := string(a.Object)
		if _, note := a.Command.(fold.AddComment); note {
			name = "+" + name
		}
		all = append(all, name)
	}
	return strings.Join(all, " ")
}

func TestWhatCommandsAreAbout(t *testing.T) {
	const dt = ";1779963000;1779963600;1;0;0;ada;work"
	for line, want := range map[string]string{
		"DISABLE_HOST_CHECK;web":                              "web",
		"DISABLE_HOST_CHECK;web;ada;on it":                    "web +web",
		"DISABLE_HOST_CHECK;web;ada":                          "web",
		"DISABLE_HOST_CHECK;web;ada;":                         "web",
		"DISABLE_SVC_CHECK;web;http;ada;on it":                "web!http +web!http",
		"DISABLE_HOST_SVC_CHECKS;web;ada;x":                   "web!http web!ping +web",
		"DISABLE_HOST_SVC_CHECKS;sw":                          "",
		"DISABLE_ALL_NOTIFICATIONS_BEYOND_HOST;gw":            "sw web web!http web!ping",
		"DISABLE_ALL_NOTIFICATIONS_BEYOND_HOST;web":           "",
		"DISABLE_HOST_AND_CHILD_NOTIFICATIONS;sw;ada;x":       "sw web +sw",
		"SCHEDULE_HOST_SVC_CHECKS;web;1779963000;ada;x":       "web!http web!ping +web",
		"SCHEDULE_FORCED_SVC_CHECK;web;http;1779963000;ada;x": "web!http +web!http",
		"DELAY_HOST_NOTIFICATION;web;1779963000":              "web",
		"DISABLE_HOSTGROUP_HOST_CHECKS;edge;ada;x":            "gw sw +gw +sw",
		"DISABLE_HOSTGROUP_SVC_CHECKS;edge;ada;x":             "gw!ping +gw!ping",
		"DISABLE_HOSTGROUP_PASSIVE_SVC_CHECKS;edge":           "gw!ping",
		"DISABLE_HOSTGROUP_HOST_CHECKS;none;ada;x":            "",
		"DISABLE_SERVICEGROUP_HOST_CHECKS;front;ada;x":        "gw web +gw +web",
		"DISABLE_SERVICEGROUP_SVC_CHECKS;front":               "gw!ping web!http web!ping",
		"SCHEDULE_HOST_DOWNTIME;web" + dt:                     "web",
		"SCHEDULE_HOST_SVC_DOWNTIME;web" + dt:                 "web!http web!ping",
		"SCHEDULE_HOSTGROUP_HOST_DOWNTIME;edge" + dt:          "gw sw",
		"SCHEDULE_HOSTGROUP_SVC_DOWNTIME;edge" + dt:           "gw!ping",
		"SCHEDULE_SERVICEGROUP_HOST_DOWNTIME;front" + dt:      "gw web",
		"SCHEDULE_SERVICEGROUP_SVC_DOWNTIME;front" + dt:       "gw!ping web!http web!ping",
		"SCHEDULE_AND_PROPAGATE_HOST_DOWNTIME;gw" + dt:        "gw sw web",
		"PROCESS_HOST_CHECK_RESULT;192.0.2.3;0;up":            "web",
		"PROCESS_SERVICE_CHECK_RESULT;192.0.2.3;http;0;ok":    "web!http",
		"DISABLE_CONTACTGROUP_HOST_NOTIFICATIONS;team":        " ",
		"SAVE_STATE_INFORMATION":                              "",
		"RESTART_PROCESS":                                     "",
	} {
		t.Run(line, func(t *testing.T) {
			actions, err := translate(t, site(t), line)
			if got := objectsOf(actions); err != nil || got != want {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
		})
	}
}

var ten = uint32(10)

// meanings are the first actions of lines.
var meanings = map[string]any{
	"ENABLE_HOST_NOTIFICATIONS;web;ada;x":                                  fold.Switch{What: object.SwitchNotifications, On: true, Author: "ada"},
	"STOP_OBSESSING_OVER_SVC;web;http":                                     fold.Switch{What: object.SwitchObsess},
	"SCHEDULE_HOST_CHECK;web;1779963000":                                   fold.Reschedule{At: 1779963000_000},
	"SCHEDULE_FORCED_HOST_CHECK;web;1779963000123;ada;x":                   fold.Reschedule{At: 1779963000_123, Forced: true, Author: "ada"},
	"DELAY_SVC_NOTIFICATION;web;http;1779963000.5":                         fold.DelayNotification{Until: 1779963000_500},
	"ACKNOWLEDGE_HOST_PROBLEM;web;2;1;0;ada;on it; later":                  fold.Acknowledge{Kind: object.AckSticky, Notify: true, Author: "ada", Text: "on it; later", Entry: now},
	"ACKNOWLEDGE_HOST_PROBLEM;web;1;0;5;;x":                                fold.Acknowledge{Kind: object.AckNormal, Persistent: true, Text: "x", Entry: now},
	"[1779962399] ACKNOWLEDGE_SVC_PROBLEM;web;http;0;-1;0;ada;x":           fold.Acknowledge{Kind: object.AckNormal, Author: "ada", Text: "x", Entry: now - 1000},
	"ACKNOWLEDGE_HOST_PROBLEM_EXPIRE;web;2;0;0;1779963000;ada;x":           fold.Acknowledge{Kind: object.AckSticky, Expires: 1779963000_000, Author: "ada", Text: "x", Entry: now},
	"ACKNOWLEDGE_SVC_PROBLEM_EXPIRE;web;http;2;0;0;0;ada;x":                fold.Acknowledge{Kind: object.AckSticky, Author: "ada", Text: "x", Entry: now},
	"REMOVE_HOST_ACKNOWLEDGEMENT;web":                                      fold.RemoveAcknowledgement{},
	"[1779962399] ADD_SVC_COMMENT;web;http;1;ada;a;b":                      fold.AddComment{Author: "ada", Text: "a;b", Persistent: true, Entry: now - 1000},
	"[3357936000] ADD_HOST_COMMENT;web;1;ada;from a clock that runs ahead": fold.AddComment{Author: "ada", Text: "from a clock that runs ahead", Persistent: true, Entry: now},
	"[3357936000] ACKNOWLEDGE_HOST_PROBLEM;web;0;0;0;ada;x":                fold.Acknowledge{Kind: object.AckNormal, Author: "ada", Text: "x", Entry: now},
	"DEL_ALL_HOST_COMMENTS;web":                                            fold.RemoveComments{},
	"SEND_CUSTOM_HOST_NOTIFICATION;web;5;ada;hello":                        fold.Notify{Broadcast: true, Increment: true, Author: "ada", Text: "hello"},
	"SEND_CUSTOM_SVC_NOTIFICATION;web;http;2;ada;hello":                    fold.Notify{Forced: true, Author: "ada", Text: "hello"},
	"SET_SVC_NOTIFICATION_NUMBER;web;http;3":                               fold.SetNotificationNumber{Number: 3},
	"CLEAR_HOST_FLAPPING_STATE;web":                                        fold.ClearFlapping{},
	"CHANGE_NORMAL_SVC_CHECK_INTERVAL;web;http;12.9":                       fold.Tune{Name: "interval", Value: "12m0s"},
	"CHANGE_RETRY_HOST_CHECK_INTERVAL;web;0":                               fold.Tune{Name: "retry", Value: "0s"},
	"CHANGE_MAX_HOST_CHECK_ATTEMPTS;web;9":                                 fold.Tune{Name: "attempts", Value: "9"},
	"CHANGE_HOST_CHECK_TIMEPERIOD;web;always":                              fold.Tune{Name: "check_period", Value: "always"},
	"CHANGE_SVC_NOTIFICATION_TIMEPERIOD;web;http;always":                   fold.Tune{Name: "notification_period", Value: "always"},
	"CHANGE_HOST_EVENT_HANDLER_TIMEPERIOD;web;always":                      fold.Tune{Name: "event_handler_period", Value: "always"},
	"CHANGE_SVC_MODATTR;web;http;0xA":                                      fold.SetModified{Bits: 10},
	"CHANGE_CUSTOM_SVC_VAR;web;http;_port;8443;tls":                        fold.Tune{Name: "var.PORT", Value: "8443;tls"},
	"CHANGE_CUSTOM_HOST_VAR;web;os;BSD":                                    fold.Tune{Name: "var.OS", Value: "BSD"},
	"PROCESS_HOST_CHECK_RESULT;web;2;no way":                               fold.Result{State: object.Unreachable, Passive: true, Output: "no way", Start: now},
	"[1779962390] PROCESS_SERVICE_CHECK_RESULT;web;http;-1;x":              fold.Result{State: object.Unknown, Passive: true, Stamped: true, Output: "x", Start: now - 10_000, Latency: 10_000_000},
	"[1779969999] PROCESS_SERVICE_CHECK_RESULT;web;http;0;x":               fold.Result{Passive: true, Stamped: true, Output: "x", Start: now},
	`PROCESS_SERVICE_CHECK_RESULT;web;http;1;a;b\\n|x=1\nlong`:             fold.Result{State: object.Warning, Passive: true, Output: `a:b\n`, Perfdata: "x=1", Long: "long", Start: now},
	"PROCESS_SERVICE_CHECK_RESULT;web;http;1":                              fold.Result{State: object.Warning, Passive: true, Output: "(No output returned from plugin)", Start: now},
	"DISABLE_FLAP_DETECTION":                                               program.Switch{What: object.ProgramFlapDetection},
	"ENTER_ACTIVE_MODE":                                                    program.Switch{What: object.ProgramNotifications, On: true},
	"START_OBSESSING_OVER_HOST_CHECKS":                                     program.Switch{What: object.ProgramObsessHosts, On: true},
	"DISABLE_CONTACT_HOST_NOTIFICATIONS;ada":                               program.SwitchContact{Name: "ada", Hosts: true},
	"ENABLE_CONTACT_SVC_NOTIFICATIONS;ada":                                 program.SwitchContact{Name: "ada", Services: true, On: true},
	"CHANGE_CONTACT_SVC_NOTIFICATION_TIMEPERIOD;ada;always":                program.TuneContact{Name: "ada", Setting: "service_notification_period", Value: "always"},
	"CHANGE_CUSTOM_CONTACT_VAR;ada;rank;2":                                 program.TuneContact{Name: "ada", Setting: "var.RANK", Value: "2"},
	"CHANGE_CONTACT_MODATTR;ada;10":                                        program.SetContactModified{Name: "ada", Bits: &ten},
	"CHANGE_CONTACT_MODHATTR;ada;10":                                       program.SetContactModified{Name: "ada", HostBits: &ten},
	"CHANGE_CONTACT_MODSATTR;ada;10":                                       program.SetContactModified{Name: "ada", SvcBits: &ten},
	"SCHEDULE_SVC_DOWNTIME;web;http;1779963000;1779963600;0;0;60;;x":       fold.ScheduleDowntime{Downtime: event.Downtime{Text: "x", Entry: now, Start: 1779963000_000, End: 1779963600_000, Duration: 60_000}},
	"SCHEDULE_HOST_DOWNTIME;web;1779963000;1779963600;1;0;60;ada;x; y":     fold.ScheduleDowntime{Downtime: event.Downtime{Author: "ada", Text: "x; y", Entry: now, Start: 1779963000_000, End: 1779963600_000}},
}

func TestWhatCommandsMean(t *testing.T) {
	for line, want := range meanings {
		t.Run(line, func(t *testing.T) {
			actions, err := translate(t, site(t), line)
			if err != nil || len(actions) == 0 {
				t.Fatalf("%v, %v", actions, err)
			}
			var got any = actions[0].Command
			if actions[0].Program != nil {
				got = actions[0].Program
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
		})
	}
}

// refusedCommands are for TestCommandsThatAreRefused.
var refusedCommands = []struct {
	name, line string
	why        external.Reason
	want       string
}{
	{"an unknown host", "DISABLE_HOST_CHECK;wbe", external.Target, `no host "wbe"; did you mean web?`},
	{"a service as a host", "DISABLE_HOST_CHECK;web!http", external.Target, "names have no ! in them"},
	{"an unknown service", "DISABLE_SVC_CHECK;web;htpp", external.Target, `no service "htpp"; did you mean web!http?`},
	{"a result for an unknown host", "PROCESS_HOST_CHECK_RESULT;ghost;1;x", external.Target, `no host "ghost"`},
	{"a result for an unknown address", "PROCESS_SERVICE_CHECK_RESULT;192.0.2.9;http;1;x", external.Target, `no host "192.0.2.9"`},
	{"a state that hosts have not", "PROCESS_HOST_CHECK_RESULT;web;3;x", external.Argument, "3 is no host state"},
	{"an unknown hostgroup", "DISABLE_HOSTGROUP_HOST_CHECKS;egde", external.Target, `no group "egde"; did you mean edge?`},
	{"a servicegroup as a hostgroup", "DISABLE_HOSTGROUP_HOST_CHECKS;front", external.Target, `"front" is no hostgroup`},
	{"a hostgroup as a servicegroup", "DISABLE_SERVICEGROUP_SVC_CHECKS;edge", external.Target, `"edge" is no servicegroup`},
	{"an unknown contact", "DISABLE_CONTACT_HOST_NOTIFICATIONS;zed", external.Target, `no contact "zed"`},
	{"an unknown contactgroup", "DISABLE_CONTACTGROUP_HOST_NOTIFICATIONS;taem", external.Target, "did you mean team?"},
	{"bits of an unknown contact", "CHANGE_CONTACT_MODATTR;zed;1", external.Target, `no contact "zed"`},
	{"a variable of an unknown contact", "CHANGE_CUSTOM_CONTACT_VAR;zed;RANK;1", external.Target, `no contact "zed"`},
	{"a period for an unknown contact", "CHANGE_CONTACT_HOST_NOTIFICATION_TIMEPERIOD;zed;always", external.Target, `no contact "zed"`},
	{"an unknown period", "CHANGE_HOST_CHECK_TIMEPERIOD;web;alway", external.Target, `no time period "alway"; did you mean always?`},
	{"an unknown period of a contact", "CHANGE_CONTACT_HOST_NOTIFICATION_TIMEPERIOD;ada;x", external.Target, `no time period "x"`},
	{"an unknown variable", "CHANGE_CUSTOM_HOST_VAR;web;CPU;4", external.Target, `no custom variable "CPU"`},
	{"an unknown variable of a contact", "CHANGE_CUSTOM_CONTACT_VAR;ada;CPU;4", external.Target, `no custom variable "CPU"`},
	{"a downtime that ends before it starts", "SCHEDULE_HOST_DOWNTIME;web;1779963600;1779963000;1;0;0;ada;x", external.Argument, "ends before it starts"},
	{"a downtime that is over", "SCHEDULE_HOST_DOWNTIME;web;1779900000;1779900600;1;0;0;ada;x", external.Argument, "over already"},
	{"a flexible downtime without length", "SCHEDULE_HOST_DOWNTIME;web;1779963000;1779963600;0;0;0;ada;x", external.Argument, "needs a duration"},
	{"an unknown trigger", "SCHEDULE_HOST_DOWNTIME;web;1779963000;1779963600;1;77;0;ada;x", external.Target, `no downtime "77"`},
	{"a service's downtime as a host's", "DEL_HOST_DOWNTIME;2", external.Target, "use the command for a service"},
	{"an unknown downtime", "DEL_SVC_DOWNTIME;9", external.Target, `no downtime "9"`},
	{"a host's comment as a service's", "DEL_SVC_COMMENT;3", external.Target, "use the command for a host"},
	{"an unknown comment", "DEL_HOST_COMMENT;9", external.Target, `no comment "9"`},
	{"downtimes of a host that has none", "DEL_DOWNTIME_BY_HOST_NAME;gw", external.Target, "no downtime fits"},
	{"downtimes of an unknown host", "DEL_DOWNTIME_BY_HOST_NAME;zed", external.Target, `no host "zed"`},
	{"downtimes of an unknown service", "DEL_DOWNTIME_BY_HOST_NAME;web;zed", external.Target, `no service "zed"`},
	{"downtimes with another text", "DEL_DOWNTIME_BY_HOST_NAME;web;;;walking", external.Target, "no downtime fits"},
	{"downtimes of a host that is not in the group", "DEL_DOWNTIME_BY_HOSTGROUP_NAME;edge;web", external.Target, "no downtime fits"},
	{"downtimes of nothing", "DEL_DOWNTIME_BY_START_TIME_COMMENT;;", external.Argument, "both missing"},
	{"downtimes of the start 0", "DEL_DOWNTIME_BY_START_TIME_COMMENT;0", external.Argument, "both missing"},
	{"an acknowledgement that is over", "ACKNOWLEDGE_HOST_PROBLEM_EXPIRE;web;2;0;0;1779900000;ada;x", external.Argument, "lies in the past"},
	{"problems where there is none", "ACKNOWLEDGE_HOST_SVC_PROBLEM;web;2;0;0;ada;x", external.Target, "has a problem"},
}

func TestCommandsThatAreRefused(t *testing.T) {
	w := site(t)
	for _, line := range []string{
		"SCHEDULE_HOST_DOWNTIME;web;1779962000;1779963600;1;0;0;ada;running",
		"SCHEDULE_SVC_DOWNTIME;web;http;1779962000;1779963600;1;0;0;ada;running",
		"ADD_HOST_COMMENT;web;1;ada;note",
	} {
		if err := w.command(line); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range refusedCommands {
		t.Run(c.name, func(t *testing.T) {
			actions, err := translate(t, w, c.line)
			var r *external.Refusal
			if !errorAs(err, &r) || actions != nil {
				t.Fatalf("got %v, %v", actions, err)
			}
			if r.Reason != c.why || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %q, want %s: %q", r.Reason, err, c.why, c.want)
			}
		})
	}
	if _, err := external.Translate(w.view(), external.Command{Name: "X"}); err == nil {
		t.Error("a command that was not parsed was translated")
	}
}

func TestCancellingDowntimes(t *testing.T) {
	for _, c := range []struct{ line, left string }{
		{"DEL_HOST_DOWNTIME;1", "gw!ping:2 web:3 web!http:4"},
		{"DEL_SVC_DOWNTIME; 02", "gw:1 web:3 web!http:4"},
		{"DEL_DOWNTIME_BY_HOST_NAME;gw", "web:3 web!http:4"},
		{"DEL_DOWNTIME_BY_HOST_NAME;gw;ping", "gw:1 web:3 web!http:4"},
		{"DEL_DOWNTIME_BY_HOST_NAME;web;;1779963000", "gw:1 gw!ping:2 web!http:4"},
		{"DEL_DOWNTIME_BY_HOST_NAME;web;;;late", "gw:1 gw!ping:2 web:3"},
		{"DEL_DOWNTIME_BY_HOSTGROUP_NAME;edge", "web:3 web!http:4"},
		{"DEL_DOWNTIME_BY_HOSTGROUP_NAME;edge;gw;ping", "gw:1 web:3 web!http:4"},
		{"DEL_DOWNTIME_BY_HOSTGROUP_NAME;edge;;;1779963000;x", "gw!ping:2 web:3 web!http:4"},
		{"DEL_DOWNTIME_BY_START_TIME_COMMENT;1779963000", "gw!ping:2 web!http:4"},
		{"DEL_DOWNTIME_BY_START_TIME_COMMENT;;late", "gw:1 web:3"},
		{"DEL_DOWNTIME_BY_START_TIME_COMMENT;1779963060;late", "gw:1 web:3"},
	} {
		t.Run(c.line, func(t *testing.T) {
			w := site(t)
			for _, line := range []string{
				"SCHEDULE_HOST_DOWNTIME;gw;1779963000;1779963600;1;0;0;ada;x",
				"SCHEDULE_SVC_DOWNTIME;gw;ping;1779963060;1779963600;1;0;0;ada;late",
				"SCHEDULE_HOST_DOWNTIME;web;1779963000;1779963600;1;0;0;ada;x",
				"SCHEDULE_SVC_DOWNTIME;web;http;1779963060;1779963600;1;0;0;ada;late",
				c.line,
			} {
				if err := w.command(line); err != nil {
					t.Fatal(err)
				}
			}
			if got := w.downtimes(); got != c.left {
				t.Errorf("left %q, want %q", got, c.left)
			}
		})
	}
}

// downtimes lists the downtimes that there are by number.
func (w *world) downtimes() string {
	var all []string
	for _, o := range w.set.Objects {
		if x := w.states[o.ID].Status.Extra; x != nil {
			for _, d := range x.Downtimes {
				all = append(all, fmt.Sprintf("%s:%d", o.ID, d.Number))
			}
		}
	}
	return strings.Join(all, " ")
}

func TestTriggeredDowntimesHangTogether(t *testing.T) {
	w := site(t)
	const line = "SCHEDULE_AND_PROPAGATE_TRIGGERED_HOST_DOWNTIME;gw;1779962000;1779963600;1;0;0;ada;x"
	actions, err := translate(t, w, line)
	if err != nil || len(actions) != 3 || !actions[1].Wait || actions[0].Wait || actions[2].Wait {
		t.Fatalf("%+v, %v", actions, err)
	}
	first := actions[0].Command.(fold.ScheduleDowntime).Downtime
	for _, a := range actions[1:] {
		if d := a.Command.(fold.ScheduleDowntime).Downtime; d.Trigger != first.ID || d.ID == first.ID || d.ID == "" {
			t.Errorf("%s has %+v", a.Object, d)
		}
	}
	again, _ := translate(t, w, line)
	if !reflect.DeepEqual(again, actions) {
		t.Error("the same line was translated differently")
	}
	if err := w.command(line); err != nil {
		t.Fatal(err)
	}
	for _, id := range []object.ID{"gw", "sw", "web"} {
		if err := w.decide(id, fold.Tick{}); err != nil || w.states[id].Status.DowntimeDepth != 1 {
			t.Errorf("%s has depth %d, %v", id, w.states[id].Status.DowntimeDepth, err)
		}
	}
	if err := w.command("SCHEDULE_SVC_DOWNTIME;web;http;1779963000;1779963600;1;1;0;ada;y"); err != nil {
		t.Fatal(err)
	}
	if got := w.downtimes(); got != "gw:1 sw:2 web:3 web!http:4" {
		t.Errorf("there are %q", got)
	}
	if err := w.command("DEL_HOST_DOWNTIME;1"); err != nil {
		t.Fatal(err)
	}
	if got := w.downtimes(); got != "" {
		t.Errorf("left %q", got)
	}
}

func TestADowntimeForManyIsCancelledByItsNumber(t *testing.T) {
	w := site(t)
	w.program.Rules = map[string]event.DowntimeRule{"r": {ID: "r", Number: 7, Filter: "*"}}
	for _, line := range []string{"DEL_HOST_DOWNTIME;7", "DEL_SVC_DOWNTIME;7"} {
		actions, err := translate(t, w, line)
		if err != nil || len(actions) != 1 || actions[0].Program != (program.RemoveRule{ID: "r"}) {
			t.Errorf("%s: %+v, %v", line, actions, err)
		}
	}
	if _, err := translate(t, w, "SCHEDULE_HOST_DOWNTIME;web;1779963000;1779963600;1;7;0;ada;x"); err == nil || !strings.Contains(err.Error(), "cannot trigger another one") {
		t.Errorf("as a trigger: %v", err)
	}
}

func TestProblemsOfAHostAndItsServicesAreAcknowledgedTogether(t *testing.T) {
	w := site(t)
	w.check("web!http", 2, "bad", true)
	w.check("web!ping", 0, "ok", true)
	actions, err := translate(t, w, "ACKNOWLEDGE_HOST_SVC_PROBLEM;web;2;0;0;ada;x")
	if got := objectsOf(actions); err != nil || got != "web!http" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAddressesCanBeIndexed(t *testing.T) {
	w := site(t)
	view := w.view()
	view.Address = func(address string) *object.Object {
		if address == "front" {
			return w.set.Get("sw")
		}
		return nil
	}
	for line, want := range map[string]string{"PROCESS_HOST_CHECK_RESULT;front;0;x": "sw", "PROCESS_HOST_CHECK_RESULT;192.0.2.3;0;x": ""} {
		c, err := external.Parse(line, now)
		if err != nil {
			t.Fatal(err)
		}
		actions, _ := external.Translate(view, c)
		if got := objectsOf(actions); got != want {
			t.Errorf("%s is about %q, want %q", line, got, want)
		}
	}
}
