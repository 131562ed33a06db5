package period_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the cases, whatever the machine has

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
)

// instant is a result of a case; next is absent where it is not tested.
type instant struct {
	T    int64
	In   bool
	Next json.RawMessage `json:"next_valid"`
}

// expected is what a case wants, in one of several ways if there is more than one.
type expected struct {
	Error       bool
	Results     []instant
	Transitions []struct {
		T  int64
		In bool
	}
	Alternative []expected `json:"any_of"`
}

type periodCase struct {
	ID, Area, Title string
	Input           struct {
		TZ, Config, Period string
		Window             [2]int64
	}
	Expect expected
}

func TestCasesOfTimePeriods(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	ran := 0
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<22)
		for in.Scan() {
			var c periodCase
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			if c.Area != "timeperiod" {
				continue
			}
			ran++
			t.Run(c.ID+" "+c.Title, func(t *testing.T) { runCase(t, c) })
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d cases", ran)
}

func runCase(t *testing.T, c periodCase) {
	zone, err := time.LoadLocation(c.Input.TZ)
	if err != nil {
		t.Fatal(err)
	}
	objects, problems := objectfile.Read(objectfile.Source{Path: "objects.cfg", Text: c.Input.Config})
	set, more := build.BuildIn(zone, objects, nil)
	problems = append(problems, more...)
	ways := c.Expect.Alternative
	if len(ways) == 0 {
		ways = []expected{c.Expect}
	}
	var why string
	for _, want := range ways {
		switch {
		case want.Error && len(problems) > 0:
			return
		case want.Error:
			why = "the definition is accepted"
		case len(problems) > 0:
			why = problems.Error()
		default:
			if why = differs(set.Periods[c.Input.Period], c.Input.Window, want); why == "" {
				return
			}
		}
	}
	t.Error(why)
}

// differs says how a period is not as expected, "" if it is.
func differs(p object.Period, window [2]int64, want expected) string {
	for _, r := range want.Results {
		in, until := p.Window(object.Time(r.T * 1000))
		if in != r.In || object.Inside(p, object.Time(r.T*1000)) != in {
			return said("at", r.T, "inside is", in)
		}
		next := r.T
		if !in {
			next = int64(until / 1000)
		}
		switch {
		case len(r.Next) == 0:
		case string(r.Next) == "null":
			if next != 0 {
				return said("at", r.T, "the next valid time is", next, "want none")
			}
		default:
			var n int64
			if err := json.Unmarshal(r.Next, &n); err != nil || next < n-1 || next > n+1 {
				return said("at", r.T, "the next valid time is", next, "want", n, err)
			}
		}
	}
	i := 0
	_, until := p.Window(object.Time(window[0] * 1000))
	for ; until != 0 && int64(until/1000) < window[1]; i++ {
		at := int64(until / 1000)
		in, next := p.Window(until)
		until = next
		if i >= len(want.Transitions) {
			return said("transition", i, "at", at, "to", in, "is one too many")
		}
		if w := want.Transitions[i]; w.In != in || at < w.T-1 || at > w.T+1 {
			return said("transition", i, "at", at, "to", in, "want", w.T, w.In)
		}
	}
	if i < len(want.Transitions) {
		return said("transition", i, "is missing:", want.Transitions[i].T)
	}
	return ""
}
