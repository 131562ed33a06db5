package external_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/external"
)

const now object.Time = 1779962400_000

func errorAs(err error, to **external.Refusal) bool { return errors.As(err, to) }

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, line string
		time       object.Time
		stamped    bool
		want       string // name and arguments, which are joined by "|"
	}{
		{"a time in seconds", "[1779962399] DISABLE_SVC_CHECK;web;HTTP", 1779962399_000, true, "DISABLE_SVC_CHECK web|HTTP"},
		{"no time", "DISABLE_SVC_CHECK;web;HTTP", now, false, "DISABLE_SVC_CHECK web|HTTP"},
		{"a time with a fraction", "[1779962399.5] DISABLE_SVC_CHECK;web;HTTP", 1779962399_500, true, "DISABLE_SVC_CHECK web|HTTP"},
		{"a fraction of nanoseconds", "[1779962399.123456789] DISABLE_SVC_CHECK;web;HTTP", 1779962399_123, true, "DISABLE_SVC_CHECK web|HTTP"},
		{"a time in milliseconds", "[1779962399123] DISABLE_SVC_CHECK;web;HTTP", 1779962399_123, true, "DISABLE_SVC_CHECK web|HTTP"},
		{"time 0", "[0] ENABLE_NOTIFICATIONS", 0, true, "ENABLE_NOTIFICATIONS"},
		{"lower case", "[1] disable_svc_check;web;HTTP", 1000, true, "DISABLE_SVC_CHECK web|HTTP"},
		{"an alias", "ENTER_STANDBY_MODE", now, false, "DISABLE_NOTIFICATIONS"},
		{"line feed, carriage return and blanks around", " \t[1] ENABLE_NOTIFICATIONS\r\n", 1000, true, "ENABLE_NOTIFICATIONS"},
		{"what follows a command without arguments is dropped", "ENABLE_NOTIFICATIONS;a;b", now, false, "ENABLE_NOTIFICATIONS"},
		{"what follows the last argument is dropped", "DEL_HOST_COMMENT;5;x", now, false, "DEL_HOST_COMMENT 5"},
		{"author and comment behind a switch", "DISABLE_HOST_CHECK;web;ada;on it; really", now, false, "DISABLE_HOST_CHECK web|ada|on it; really"},
		{"the last text takes the rest", "ADD_HOST_COMMENT;web;1;ada;a;b;;c;", now, false, "ADD_HOST_COMMENT web|1|ada|a;b;;c;"},
		{"an empty author", "ADD_HOST_COMMENT;web;1;;x", now, false, "ADD_HOST_COMMENT web|1||x"},
		{"a blank in a name", "DISABLE_SVC_CHECK;web 1; HTTP", now, false, "DISABLE_SVC_CHECK web 1| HTTP"},
		{"output is optional", "PROCESS_HOST_CHECK_RESULT;web;0", now, false, "PROCESS_HOST_CHECK_RESULT web|0"},
		{"output may be empty", "PROCESS_HOST_CHECK_RESULT;web;0;", now, false, "PROCESS_HOST_CHECK_RESULT web|0|"},
		{"control characters in a text become blanks", "ADD_HOST_COMMENT;web;1;a\x07b;c\td\x00e\x7f", now, false, "ADD_HOST_COMMENT web|1|a b|c d e"},
		{"broken UTF-8 in a text is replaced", "ADD_HOST_COMMENT;web;1;a;x\xffy", now, false, "ADD_HOST_COMMENT web|1|a|x\uFFFDy"},
		{"optional arguments may be empty to reach the next", "DEL_DOWNTIME_BY_HOST_NAME;web;;;x;y", now, false, "DEL_DOWNTIME_BY_HOST_NAME web|||x;y"},
		{"bits in hex", "CHANGE_HOST_MODATTR;web;0x10", now, false, "CHANGE_HOST_MODATTR web|0x10"},
		{"a negative code", "PROCESS_SERVICE_CHECK_RESULT;web;HTTP;-1;x", now, false, "PROCESS_SERVICE_CHECK_RESULT web|HTTP|-1|x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := external.Parse(c.line, now)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.TrimSuffix(got.Name+" "+strings.Join(got.Args, "|"), " "); got.Args != nil && text != strings.TrimSuffix(c.want, " ") && text != c.want ||
				got.Args == nil && got.Name != c.want {
				t.Errorf("got %q, want %q", text, c.want)
			}
			if got.Time != c.time || got.Stamped != c.stamped {
				t.Errorf("time %d, stamped %v; want %d, %v", got.Time, got.Stamped, c.time, c.stamped)
			}
		})
	}
}

// refusedLines are for TestLinesThatAreRefused.
var refusedLines = []struct {
	name, line string
	why        external.Reason
	want       string
}{
	{"nothing", " \n", external.Malformed, "write [time] COMMAND;arguments"},
	{"a time without brackets", "1780000000 DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "no brackets"},
	{"an open bracket", "[1780000000 DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "never closed"},
	{"an empty time", "[] DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "is no time"},
	{"a date", "[2026-05-28] DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "write seconds since 1970"},
	{"a negative time", "[-5] DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "is no time"},
	{"a time in nanoseconds", "[1779962399123456789] DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "too large"},
	{"a fraction that is none", "[1779962399.x] DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "is no time"},
	{"no blank behind the time", "[1779962399]DISABLE_SVC_CHECK;web;HTTP", external.Malformed, "a blank and a command must follow"},
	{"no command", "[1779962399]", external.Malformed, "must follow"},
	{"an empty name", "[1779962399] ;web", external.Malformed, "the name of the command is missing"},
	{"a control character in the name", "DISABLE\x01_SVC_CHECK;web;HTTP", external.Malformed, "control character"},
	{"a very long line", "ADD_HOST_COMMENT;web;1;a;" + strings.Repeat("x", external.Longest), external.Malformed, "at most 65536"},
	{"an unknown name", "DISABLE_THE_WORLD;web", external.Unknown, `no command "DISABLE_THE_WORLD"`},
	{"a misspelt name", "DISABEL_SVC_CHECK;web;HTTP", external.Unknown, "did you mean DISABLE_SVC_CHECK?"},
	{"two blanks", "[1779962399]  DISABLE_SVC_CHECK;web;HTTP", external.Unknown, "did you mean DISABLE_SVC_CHECK?"},
	{"a custom command", "_FIX_IT;web", external.Custom, "belong to modules"},
	{"shutting down", "SHUTDOWN_PROCESS", external.Unsupported, "stop the service"},
	{"by its other name", "[1] shutdown_program", external.Unsupported, "stop the service"},
	{"changing a command", "CHANGE_SVC_CHECK_COMMAND;web;HTTP;x", external.Unsupported, "change it there and reload"},
	{"no host", "DISABLE_HOST_CHECK", external.Argument, "host is missing; write DISABLE_HOST_CHECK;host"},
	{"an empty host", "DISABLE_HOST_CHECK;", external.Argument, "host is missing"},
	{"no service", "DISABLE_SVC_CHECK;web", external.Argument, "service is missing"},
	{"an empty service", "DISABLE_SVC_CHECK;web;", external.Argument, "service is missing"},
	{"an empty name before others", "DISABLE_SVC_CHECK;;HTTP", external.Argument, "host: it is empty"},
	{"no comment", "SCHEDULE_SVC_DOWNTIME;web;HTTP;1;2;1;0;600", external.Argument, "author is missing"},
	{"an empty comment", "ADD_HOST_COMMENT;web;1;ada;", external.Argument, "comment is missing"},
	{"a comment of control characters", "ADD_HOST_COMMENT;web;1;ada;\x07\x00", external.Argument, "comment: it is empty"},
	{"a text for a number", "ACKNOWLEDGE_SVC_PROBLEM;web;HTTP; or so;2;0;0;admin;ok", external.Argument, `sticky: " or so" is no whole number`},
	{"a number that begins well", "CHANGE_MAX_HOST_CHECK_ATTEMPTS;web;5x", external.Argument, "is no whole number"},
	{"a fraction for a number", "CHANGE_MAX_HOST_CHECK_ATTEMPTS;web;5.5", external.Argument, "is no whole number"},
	{"an empty number", "SCHEDULE_HOST_DOWNTIME;web;1;2;;0;5;a;b", external.Argument, "flag: it is empty"},
	{"no attempts", "CHANGE_MAX_HOST_CHECK_ATTEMPTS;web;0", external.Argument, "out of range"},
	{"an interval below a minute", "CHANGE_NORMAL_HOST_CHECK_INTERVAL;web;0.5", external.Argument, "no number of minutes"},
	{"a negative interval", "CHANGE_NORMAL_HOST_CHECK_INTERVAL;web;-1", external.Argument, "no number of minutes"},
	{"an endless interval", "CHANGE_NORMAL_HOST_CHECK_INTERVAL;web;NaN", external.Argument, "no number of minutes"},
	{"negative bits", "CHANGE_HOST_MODATTR;web;-1", external.Argument, "no set of attributes"},
	{"options of a later version", "SEND_CUSTOM_HOST_NOTIFICATION;web;8;a;b", external.Argument, "from 0 to 7"},
	{"a code that is a word", "PROCESS_HOST_CHECK_RESULT;web;DOWN;x", external.Argument, "code: \"DOWN\" is no whole number"},
	{"no number of a downtime", "DEL_HOST_DOWNTIME;0", external.Argument, "out of range"},
	{"a control character in a name", "DISABLE_HOST_CHECK;we\x00b", external.Argument, "control character 0x0"},
	{"a time that is none", "SCHEDULE_HOST_CHECK;web;now", external.Argument, `"now" is no time`},
}

func TestLinesThatAreRefused(t *testing.T) {
	for _, c := range refusedLines {
		t.Run(c.name, func(t *testing.T) {
			_, err := external.Parse(c.line, now)
			var r *external.Refusal
			if !errorAs(err, &r) {
				t.Fatalf("got %v, want a refusal", err)
			}
			if r.Reason != c.why || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %q, want %s: %q", r.Reason, err, c.why, c.want)
			}
			if len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}

func TestSpecialCommands(t *testing.T) {
	for line, want := range map[string]external.Special{
		"RESTART_PROCESS":             {Kind: external.Reload},
		"RESTART_PROGRAM;1779962400":  {Kind: external.Reload},
		"PROCESS_FILE;/tmp/a;1":       {Kind: external.ProcessFile, Path: "/tmp/a", Delete: true},
		"PROCESS_FILE;/tmp/a;0":       {Kind: external.ProcessFile, Path: "/tmp/a"},
		"PROCESS_FILE;/tmp/a":         {Kind: external.ProcessFile, Path: "/tmp/a"},
		"LOG;backup done; all well":   {Kind: external.WriteLog, Text: "backup done; all well"},
		"SAVE_STATE_INFORMATION":      {},
		"DISABLE_HOST_CHECK;web":      {},
		"[1] disable_event_handlers;": {},
	} {
		c, err := external.Parse(line, now)
		if err != nil || c.Special != want {
			t.Errorf("%s: %+v, %v; want %+v", line, c.Special, err, want)
		}
	}
}

func TestACommandIsALineAgain(t *testing.T) {
	for _, line := range []string{"ENABLE_NOTIFICATIONS", "ADD_HOST_COMMENT;web;1;ada;a;b", "PROCESS_HOST_CHECK_RESULT;web;0;"} {
		c, err := external.Parse("[5] "+line, now)
		if err != nil || c.String() != line {
			t.Errorf("%s: %q, %v", line, c.String(), err)
		}
	}
}

func TestParsingCostsLittle(t *testing.T) {
	line := "[1779962400] PROCESS_SERVICE_CHECK_RESULT;web;HTTP;2;Link down; admin 1|in=5;7"
	n := testing.AllocsPerRun(100, func() {
		if _, err := external.Parse(line, now); err != nil {
			t.Fatal(err)
		}
	})
	if n > 2 {
		t.Errorf("%v allocations for one line", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, r := range external.Commands() {
		f.Add("[1779962400] " + r.Form)
		f.Add(fmt.Sprintf("%s;web;HTTP;1;2;3;0;5;a;b", r.Name))
	}
	for _, line := range []string{"", "[", "]", "[1]", "[1] ", ";", "[1.5] _X;", "\x00", "[1e9] LOG;x", "ADD_HOST_COMMENT;web;1;;", "1 LOG;x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := external.Parse(line, now)
		if err != nil {
			var r *external.Refusal
			if !errorAs(err, &r) || r.Reason == "" || len(err.Error()) > 1000 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		again, err := external.Parse(c.String(), c.Time)
		if err != nil || again.String() != c.String() || again.Special != c.Special {
			t.Fatalf("%q was read as %q, and that as %q: %v", line, c.String(), again.String(), err)
		}
	})
}
