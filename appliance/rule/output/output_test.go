package output_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/output"
	"pgregory.net/rapid"
)

type expected struct {
	State       string
	Output      *string
	OutputHas   []string `json:"output_contains"`
	Long        *string  `json:"long_output"`
	Perfdata    *string
	Alternative []expected `json:"any_of"`
}

type testCase struct {
	ID, Area, Title string
	Input           struct {
		Kind, Stdout, Stderr string
		Exit, Signal         *int
		TimedOut             bool `json:"timed_out"`
	}
	Expect expected
}

func run(c testCase) *output.Run {
	r := &output.Run{
		Kind: object.Service, ID: "h1!s1", Stdout: []byte(c.Input.Stdout), Stderr: []byte(c.Input.Stderr),
		Took: time.Second, Timeout: object.Critical,
	}
	if c.Input.Kind == "host" {
		r.Kind, r.ID = object.Host, "h1"
	}
	switch {
	case c.Input.TimedOut:
		r.Ended = output.TimedOut
	case c.Input.Exit != nil:
		r.Exit = *c.Input.Exit
	case c.Input.Signal != nil:
		r.Ended = output.Killed
	default:
		r.Ended = output.Failed
	}
	return r
}

func (e expected) matches(kind object.Kind, got output.Result) bool {
	if len(e.Alternative) > 0 {
		for _, a := range e.Alternative {
			if a.matches(kind, got) {
				return true
			}
		}
		return false
	}
	for _, part := range e.OutputHas {
		if !strings.Contains(got.Output, part) {
			return false
		}
	}
	return (e.State == "" || got.State.Name(kind) == e.State) &&
		(e.Output == nil || got.Output == *e.Output) &&
		(e.Long == nil || got.Long == strings.TrimRight(*e.Long, "\n")) &&
		(e.Perfdata == nil || got.Perfdata == *e.Perfdata)
}

// S073
func TestCasesOfPluginOutput(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	ran := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(strings.NewReader(string(text)))
		in.Buffer(nil, len(text)+1)
		for in.Scan() {
			var c testCase
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if c.Area != "plugin-output" {
				continue
			}
			ran++
			r := run(c)
			if got := output.Judge(r); !c.Expect.matches(r.Kind, got) {
				t.Errorf("%s: %s\n got %v %+v\nwant %s", c.ID, c.Title, got.State.Name(r.Kind), got, in.Text())
			}
		}
	}
	t.Logf("%d cases", ran)
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, in          string
		short, long, perf string
	}{
		{"performance data on both ends is joined", "OK first|a=1\nlong1\nlong2|b=2\nc=3\nd=4 e=5", "OK first", "long1\nlong2", "a=1 b=2 c=3 d=4 e=5"},
		{"further bars stay in the performance data", "no perf\nl1 | p=1 | q=2\nr=3", "no perf", "l1 ", "p=1 | q=2 r=3"},
		{"only performance data", "| only=1", "", "", "only=1"},
		{"an empty first line is an empty text", "\n\nreal\nsecond", "", "\nreal\nsecond", ""},
		{"semicolons change only in the first line", "a;b;c | x=1;2;3\nlong;x", "a:b:c", "long;x", "x=1;2;3"},
		{"blanks around everything", "  pad \t| p=1  ", "pad", "", "p=1"},
		{"a bar at the start of a further line", "OK\n|a=1\nb=2", "OK", "", "a=1 b=2"},
		{"a bar at the end", "OK|", "OK", "", ""},
		{"two bars", "OK||a=1", "OK", "", "|a=1"},
		{"nothing", "", "", "", ""},
		{"backslashes stay", `C:\temp` + "\n" + `a\nb`, `C:\temp`, `a\nb`, ""},
		{"blank lines between long lines stay", "x\n\ny\n\n", "x", "\ny", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := output.Result{Output: c.short, Long: c.long, Perfdata: c.perf}
			if got := output.Parse(c.in); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name string
		run  output.Run
		want output.Result
	}{
		{
			"an aggressive host check makes a warning mean down",
			output.Run{Exit: 1, Aggressive: true, Stdout: []byte("slow")},
			output.Result{State: object.Down, Output: "slow"},
		},
		{
			"only stderr",
			output.Run{Kind: object.Service, Exit: 2, Stderr: []byte("no; such file\nmore|x=1\n")},
			output.Result{State: object.Critical, Output: "(No output on stdout) stderr: no: such file", Long: "more", Perfdata: "x=1"},
		},
		{
			"stderr does not count beside stdout",
			output.Run{Kind: object.Service, Stdout: []byte("fine"), Stderr: []byte("warning")},
			output.Result{Output: "fine"},
		},
		{
			"a killed service keeps its text",
			output.Run{Kind: object.Service, Ended: output.Killed, Stdout: []byte("half|a=1")},
			output.Result{State: object.Unknown, Output: "half", Perfdata: "a=1"},
		},
		{
			"a killed host is down",
			output.Run{Ended: output.Killed},
			output.Result{State: object.Down, Output: "(No output returned from host check)"},
		},
		{
			"a check that could not be run",
			output.Run{Kind: object.Service, Ended: output.Failed},
			output.Result{State: object.Critical, Output: "(Service check did not exit properly)"},
		},
		{
			"the state of a timeout is a setting",
			output.Run{Kind: object.Service, Ended: output.TimedOut, Timeout: object.Unknown, Took: 1500 * time.Millisecond},
			output.Result{State: object.Unknown, Output: "(Service check timed out after 1.50 seconds)"},
		},
		{
			"an exit code out of bounds names the object",
			output.Run{Kind: object.Service, ID: "h!s", Exit: 255, Stdout: []byte("x")},
			output.Result{State: object.Critical, Output: "(Return code of 255 for service 's' on host 'h' was out of bounds)"},
		},
		{"a missing plugin", output.Run{Exit: 127}, output.Result{State: object.Down, Output: "(Return code of 127 is out of bounds. Check if plugin exists)"}},
		{"only performance data leaves the text empty", output.Run{Kind: object.Service, Stdout: []byte("| a=1")}, output.Result{Perfdata: "a=1"}},
		{
			"an empty first line",
			output.Run{Kind: object.Service, Stdout: []byte("\nmore\n")},
			output.Result{Output: "(No output returned from plugin)", Long: "more"},
		},
		{
			"bytes that are no text",
			output.Run{Kind: object.Service, Stdout: []byte("a\xff\xfeb|\xc3=1")},
			output.Result{Output: "a\uFFFDb", Perfdata: "\uFFFD=1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := output.Judge(&c.run); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestPassive(t *testing.T) {
	for _, c := range []struct {
		name string
		kind object.Kind
		code int
		text string
		want output.Result
	}{
		{"a service's code is its state", object.Service, 2, "bad|a=1", output.Result{State: object.Critical, Output: "bad", Perfdata: "a=1"}},
		{"an impossible code is unknown and keeps the text", object.Service, 9, "odd", output.Result{State: object.Unknown, Output: "odd"}},
		{"a host's code is taken literally", object.Host, 2, "gone", output.Result{State: object.Unreachable, Output: "gone"}},
		{"an empty text", object.Service, 1, "", output.Result{State: object.Warning, Output: "(No output returned from plugin)"}},
		{"an empty text of a host", object.Host, 1, "", output.Result{State: object.Down, Output: "(No output returned from host check)"}},
		{"several lines", object.Service, 0, output.Unescape(`short;|a=1\nlong|b=2`), output.Result{Output: "short:", Long: "long", Perfdata: "a=1 b=2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := output.Passive(c.kind, c.code, []byte(c.text))
			if err != nil || got != c.want {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
	for _, code := range []int{-1, 3, 255} {
		if _, err := output.Passive(object.Host, code, nil); err == nil {
			t.Errorf("host code %d was taken", code)
		}
	}
}

func TestEscapingIsReversible(t *testing.T) {
	escape := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune{'a', 'n', '\\', '\n', 'ü'}), 0, 20, -1).Draw(t, "text")
		e := escape(s)
		if strings.Contains(e, "\n") || output.Unescape(e) != s {
			t.Fatalf("%q became %q, then %q", s, e, output.Unescape(e))
		}
	})
}

// A second, slower way to the same result: line by line, as Nagios goes.
func slowly(s string) output.Result {
	var long []string
	var perf []string
	short, inPerf := "", false
	for i, line := range strings.Split(s, "\n") {
		before, after, found := strings.Cut(line, "|")
		switch {
		case i == 0:
			short = before
			perf = append(perf, after)
		case inPerf:
			perf = append(perf, line)
		default:
			long = append(long, before)
			if inPerf = found; found {
				perf = append(perf, after)
			}
		}
	}
	return output.Result{Output: short, Long: strings.Join(long, "\n"), Perfdata: strings.Join(perf, " ")}
}

func TestParseAgreesWithReadingLineByLine(t *testing.T) {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.SampledFrom([]rune("ab=1;|\n \r")), 0, 40, -1).Draw(t, "text")
		got, want := output.Parse(s), slowly(s)
		if got.Long != strings.TrimRight(want.Long, "\n") || squeeze(got.Perfdata) != squeeze(want.Perfdata) ||
			got.Output != strings.ReplaceAll(strings.TrimSpace(want.Output), ";", ":") {
			t.Fatalf("%q\n got %q\nwant %q", s, got, want)
		}
	})
}

func FuzzJudge(f *testing.F) {
	f.Add([]byte("OK|a=1\nlong\nmore|b=2\nc=3"), []byte(""), 0)
	f.Add([]byte(""), []byte("err\xff"), 3)
	f.Add([]byte("\r\n|\n|"), []byte(""), 130)
	f.Fuzz(func(t *testing.T, stdout, stderr []byte, exit int) {
		for _, kind := range []object.Kind{object.Host, object.Service} {
			r := output.Judge(&output.Run{Kind: kind, ID: "h!s", Stdout: stdout, Stderr: stderr, Exit: exit})
			if strings.ContainsAny(r.Output, "\n;") || strings.Contains(r.Perfdata, "\n") {
				t.Errorf("%+v", r)
			}
			for _, s := range []string{r.Output, r.Long, r.Perfdata} {
				if !utf8.ValidString(s) {
					t.Errorf("not UTF-8: %q", s)
				}
			}
		}
	})
}

func TestOneLineCostsOneAllocation(t *testing.T) {
	r := &output.Run{Kind: object.Service, Stdout: []byte("DISK OK - 41% free on /srv|free=41%;20;10\n")}
	if n := testing.AllocsPerRun(100, func() { output.Judge(r) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkJudge(b *testing.B) {
	r := &output.Run{Kind: object.Service, Stdout: []byte("DISK OK - 41% free on /srv|free=41%;20;10\nlong one\nlong two|used=59%\n")}
	b.ReportAllocs()
	for b.Loop() {
		output.Judge(r)
	}
}
