package event_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// full has a value in every field there is.
func full() *event.Event {
	return &event.Event{
		Version: 1, ID: "d1", Kind: event.CheckResult, Also: []event.Kind{event.AckCleared, event.FlappingStarted},
		Object: "web01!http", Epoch: 4, Writer: "engine-a", Instance: "i1", Prev: 17, Time: 1779962460456, Transition: true,
		Was: &event.Was{State: object.Warning, Type: object.Soft, Attempt: 2, Checked: true},
		Status: &event.Status{
			State: object.Critical, Type: object.Soft, Checked: true, Flapping: true, Attempt: 2, MaxAttempts: 3, LastHard: object.Unknown,
			LastChange: 11, LastHardChange: 12, Problem: 13, Root: "sw1", Ack: object.AckSticky, AckExpires: 14, DowntimeDepth: 1,
			NotificationNumber: 5, Notified: 6, LastNotification: 15, NextNotification: 16,
			Hard: 23, Told: "ann\nbob\n",
			Off: object.SwitchActive, On: object.SwitchFlapDetection,
			Extra: &event.Extra{
				AckAuthor: "ann", AckText: "on it", AckTime: 17, CheckAt: 18, CheckForced: true, Modified: 4096,
				Settings: []event.Setting{{Name: "attempts", Value: "9", Config: "3", Author: "ann", Time: 19}},
				Comments: []event.Comment{
					{ID: "c1", Number: 7, Kind: "user", Author: "ann", Text: "look", Time: 21, Expires: 22, Persistent: true}, {ID: "c2"},
				},
				Downtimes: []event.Downtime{
					{ID: "t1", Number: 8, Comment: 9, Author: "bob", Text: "move", Entry: 30, Start: 31, End: 32, Duration: 33, Trigger: "t0", Rule: "r1", Started: 34}, {ID: "t2"},
				},
			},
		},
		Measure: &event.Measure{
			Epoch: 4, N: 99, State: object.Critical, Passive: true, LastCheck: 41, NextCheck: 42, Ring: 43, RingTime: 44,
			Latency: 45, Took: 46, Output: "HTTP CRITICAL", Long: "line 2\nline 3", Perfdata: "time=3s", LastIn: [4]object.Time{51, 52, 53, 54},
		},
		Program: &event.Program{
			Switches: &event.Switches{
				Off: object.ProgramNotifications, On: object.ProgramObsessHosts,
				Settings: []event.Setting{{Name: "notifications", Value: "off", Config: "on", Author: "bob", Time: 61}},
			},
			Contact: &event.ContactStatus{
				Name: "ops", HostOff: true, ServiceOff: true, HostModified: 1, ServiceModified: 2, Modified: 3,
				Settings: []event.Setting{{Name: "host_notification_period", Value: "office", Config: "24x7", Author: "bob", Time: 62}},
			},
			Rule: &event.DowntimeRule{
				ID: "r1", Number: 10, Author: "bob", Text: "patching", Entry: 63, Object: "web01", WithServices: true, Group: "g", Filter: "problem",
				Start: 64, End: 65, Duration: 66, Ranges: []string{"sunday 02:00-04:00"}, Zone: "Europe/Berlin",
			},
			RuleGone: "r0",
		},
		Notes: []event.Note{
			{
				Kind: "PROBLEM", Send: true, By: "none", Until: 71, Number: 2, Policy: "web", Steps: []string{"after 30m"},
				Group: object.Grouping{By: object.GroupRoot, Wait: 10 * time.Second, Interval: 5 * time.Minute},
				Gates: []event.Gate{{Name: "program", Verdict: event.GatePassed, Why: "forced"}, {Name: "contacts", Verdict: event.GatePassed}},
				People: []event.Person{
					{Name: "ann", Told: true, By: "none", Channels: []string{"email", "chat:2"}, Gates: []event.Gate{{Name: "chosen", Verdict: event.GatePassed, Why: "on call"}}},
					{Name: "bob", By: "contact_switch", Channels: []string{"email"}, Gates: []event.Gate{{Name: "contact_switch", Verdict: event.GateBlocked, Why: "an operator - ann + bob"}}},
				},
			},
			{Kind: "FLAPPINGSTART", By: "hard", Until: 70, Gates: []event.Gate{{Name: "hard", Verdict: event.GateBlocked, Why: "soft"}, {Name: "delay"}}},
		},
		Author: "ann", Text: "why", Facts: map[string]string{"expired": "true"},
	}
}

// The keys are kept for years: a change here is a change of every log there is.
func TestTheEncodingOfEveryField(t *testing.T) {
	want, err := os.ReadFile("testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	got := string(event.AppendJSON(nil, full()))
	if one := strings.ReplaceAll(string(want), "\n", ""); got != one {
		t.Errorf("wrote\n%s, want\n%s", got, one)
	}
	var back event.Event
	if err := event.Decode(want, &back); err != nil || !reflect.DeepEqual(&back, full()) {
		t.Errorf("read back %+v, %v", back, err)
	}
}

// A field that full leaves out would not be guarded by the test above.
func TestTheFullEventHasEveryField(t *testing.T) {
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			walk(path, v.Elem())
		case reflect.Slice:
			walk(path, v.Index(0))
		case reflect.Struct:
			for i := range v.NumField() {
				name := v.Type().Field(i).Name
				if path == "Event" && (name == "Stream" || name == "Seq") {
					continue
				}
				if v.Field(i).IsZero() {
					t.Errorf("%s.%s has no value", path, name)
					continue
				}
				walk(path+"."+name, v.Field(i))
			}
		}
	}
	walk("Event", reflect.ValueOf(*full()))
}

func TestWrongTextsInEveryPart(t *testing.T) {
	tests := []struct{ name, give, want string }{
		{"the condition before", `{"was":{"t":-1}}`, "at byte 12: expected a number that is not negative"},
		{"a measure", `{"m":{"pa":1}}`, "at byte 11: expected true or false"},
		{"the last times", `{"m":{"ls":[1,"2"]}}`, "at byte 14: expected an integer"},
		{"a comment", `{"s":{"x":{"c":[{"t":null}]}}}`, "at byte 21: expected an integer"},
		{"a downtime", `{"s":{"x":{"d":[{"st":1.5}]}}}`, "at byte 22: expected an integer"},
		{"a switch that does not fit", `{"s":{"off":65536}}`, "expected a smaller number"},
		{"an attempt that does not fit", `{"s":{"a":2147483648}}`, "expected a number nearer to 0"},
		{"further kinds", `{"also":{}}`, "at byte 8: expected ["},
		{"a fact that is no text", `{"f":{"a":1}}`, "at byte 10: expected a string"},
		{"half an escape", `{"x":"\u12"}`, "expected four hexadecimal digits"},
		{"an escape of nothing", `{"x":"\q"}`, "at byte 6: expected an escape sequence"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var e event.Event
			if err := event.Decode([]byte(tt.give), &e); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("error %v, want one that ends in %q", err, tt.want)
			}
		})
	}
}
