package output_test

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/output"
)

// TestShapesOfOutput holds the forms that plugins in the field print and that
// the simple cases leave out. The expected parts follow from three rules: the
// first line is cut at its first bar, the further lines at the first bar among
// them, and only the first line is stripped.
func TestShapesOfOutput(t *testing.T) {
	long := strings.Repeat("x", 70000)
	for _, c := range []struct {
		name, in          string
		short, long, perf string
	}{
		{"text lines after the performance data belong to it", "OK\ntext|a=1\nno metric at all\nb=2", "OK", "text", "a=1 no metric at all b=2"},
		{"a blank line within the performance data leaves two blanks", "OK\n|a=1\n\nb=2", "OK", "", "a=1  b=2"},
		{"bars in three lines", "A|a=1\nB|b=2\nC|c=3", "A", "B", "a=1 b=2 C|c=3"},
		{"a bar alone in the second line", "A\n|\nb=1", "A", "", "b=1"},
		{"a bar alone in the first line and text behind", "A|\nmore", "A", "more", ""},
		{"the first line is empty, the second has the bar", "\nx|a=1", "", "x", "a=1"},
		{"only blanks", "   \t ", "", "", ""},
		{"only a line feed", "\n", "", "", ""},
		{"only bars", "|||", "", "", "||"},
		{"a carriage return before the line feed", "A|a=1\r\nB\r\n", "A", "B\r", "a=1"},
		{"a carriage return alone does not end a line", "A\rB|a=1", "A\rB", "", "a=1"},
		{"blanks of long lines stay", "A\n  indented\t\n last ", "A", "  indented\t\n last ", ""},
		{"line feeds at the end go, blanks before them stay", "A\nB \n\n\n", "A", "B ", ""},
		{"a line of seventy thousand characters", long + "|a=1", long, "", "a=1"},
		{"long text of seventy thousand characters", "A\n" + long + "|a=1", "A", long, "a=1"},
		{"semicolons of text behind the bar stay", "a;b|c;d;e", "a:b", "", "c;d;e"},
		{"quotes do not protect a bar", `say "a|b" c`, `say "a`, "", `b" c`},
		{"a tab between text and bar goes", "A\t|\ta=1\t", "A", "", "a=1"},
		{"wide letters", "Größe ✓|größe=1µs", "Größe ✓", "", "größe=1µs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := output.Result{Output: c.short, Long: c.long, Perfdata: c.perf}
			if got := output.Parse(c.in); got != want {
				t.Errorf("got  %.200q\nwant %.200q", got, want)
			}
		})
	}
}

// TestEndsOfChecks goes through the table of exit codes for both kinds.
func TestEndsOfChecks(t *testing.T) {
	const down, up = object.Down, object.Up
	for _, c := range []struct {
		name          string
		run           output.Run
		service, host object.State
		text          string // must be in the output; "" for the plugin's own
	}{
		{"exit 0", output.Run{Exit: 0}, object.OK, up, ""},
		{"exit 1", output.Run{Exit: 1}, object.Warning, up, ""},
		{"exit 2", output.Run{Exit: 2}, object.Critical, down, ""},
		{"exit 3", output.Run{Exit: 3}, object.Unknown, down, ""},
		{"exit 1 with aggressive host checks", output.Run{Exit: 1, Aggressive: true}, object.Warning, down, ""},
		{"exit 0 with aggressive host checks", output.Run{Exit: 0, Aggressive: true}, object.OK, up, ""},
		{"exit 4", output.Run{Exit: 4}, object.Critical, down, "Return code of 4 for"},
		{"exit 13, as a program that may not be run", output.Run{Exit: 13}, object.Critical, down, "Return code of 13 for"},
		{"exit 126", output.Run{Exit: 126}, object.Critical, down, "Return code of 126 is out of bounds"},
		{"exit 127", output.Run{Exit: 127}, object.Critical, down, "Return code of 127 is out of bounds"},
		{"exit 128", output.Run{Exit: 128}, object.Critical, down, "out of bounds"},
		{"exit 255", output.Run{Exit: 255}, object.Critical, down, "Return code of 255 for"},
		{"killed by a signal", output.Run{Ended: output.Killed}, object.Unknown, down, ""},
		{"killed with an exit code left over", output.Run{Ended: output.Killed, Exit: 0}, object.Unknown, down, ""},
		{"not run at all", output.Run{Ended: output.Failed}, object.Critical, down, "check did not exit properly)"},
		{"timed out", output.Run{Ended: output.TimedOut}, object.Critical, down, "timed out after 61.20 seconds)"},
		{"timed out and yet exited with 0", output.Run{Ended: output.TimedOut, Exit: 0}, object.Critical, down, "timed out"},
	} {
		for _, kind := range []object.Kind{object.Service, object.Host} {
			t.Run(c.name+" of a "+kind.String(), func(t *testing.T) {
				r := c.run
				r.Kind, r.ID, r.Stdout, r.Stderr = kind, "h!s", []byte("said|a=1\nmore"), []byte("ignored")
				r.Took, r.Timeout = 61200*time.Millisecond, object.Critical
				want := c.service
				if kind == object.Host {
					want, r.ID = c.host, "h"
				}
				got := output.Judge(&r)
				if got.State != want {
					t.Errorf("state %s, want %s", got.State.Name(kind), want.Name(kind))
				}
				own := got == output.Result{State: want, Output: "said", Long: "more", Perfdata: "a=1"}
				// A text of our own replaces everything that the plugin said.
				replaced := strings.Contains(got.Output, c.text) && got.Long == "" && got.Perfdata == ""
				if c.text == "" && !own || c.text != "" && !replaced {
					t.Errorf("got %+v", got)
				}
			})
		}
	}
}

// TestWhatSilenceMeans looks at plugins that print nothing to stdout.
func TestWhatSilenceMeans(t *testing.T) {
	const service, host = "(No output returned from plugin)", "(No output returned from host check)"
	for _, c := range []struct {
		name           string
		stdout, stderr string
		ended          output.End
		service, host  string
		long           string
	}{
		{"nothing anywhere", "", "", output.Exited, service, host, ""},
		{"killed without a word", "", "", output.Killed, service, host, ""},
		{"a line feed on stdout hides stderr", "\n", "boom", output.Exited, service, host, ""},
		{"an empty line before the text", "\nreal", "", output.Exited, service, host, "real"},
		{"only stderr", "", "boom\n", output.Exited, "(No output on stdout) stderr: boom", "(No output on stdout) stderr: boom", ""},
		{"stderr of two lines", "", "boom; bang\ntrace", output.Killed, "(No output on stdout) stderr: boom: bang", "(No output on stdout) stderr: boom: bang", "trace"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := output.Run{Kind: object.Service, Stdout: []byte(c.stdout), Stderr: []byte(c.stderr), Ended: c.ended}
			if got := output.Judge(&r); got.Output != c.service || got.Long != c.long {
				t.Errorf("service: got %q, %q", got.Output, got.Long)
			}
			r.Kind = object.Host
			if got := output.Judge(&r); got.Output != c.host || got.Long != c.long {
				t.Errorf("host: got %q, %q", got.Output, got.Long)
			}
		})
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`a\nb`:   "a\nb",
		`a\\nb`:  `a\nb`,
		`a\\\nb`: "a\\\nb",
		`a\tb`:   `a\tb`,
		`end\`:   `end\`,
		`\\`:     `\`,
		"":       "",
		"plain":  "plain",
	} {
		if got := output.Unescape(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}
