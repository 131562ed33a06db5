package fold_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

type step struct {
	At            int64
	Host, Service string
	RC            int
	Output, Kind  string
	Cmd           string
}

type flapEvent struct {
	Step  int
	Event string
}

type testCase struct {
	ID, Area, Title string
	Input           struct {
		Config, Main, Object string
		Start                int64
		Steps                []step
	}
	Expect struct {
		Steps []struct {
			State, Type string
			Attempt     int32
		}
		Percent []string
		Events  []flapEvent
	}
}

func readCases(t *testing.T) []testCase {
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("case files %v: %v", files, err)
	}
	var all []testCase
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<24)
		for in.Scan() {
			var c testCase
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			all = append(all, c)
		}
		if err := in.Err(); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_ = f.Close()
	}
	return all
}

// Every case of the areas state-machine and flapping that lies in testdata.
func TestCases(t *testing.T) {
	ran := 0
	for _, c := range readCases(t) {
		if c.Area != "state-machine" && c.Area != "flapping" && c.Area != "notification" {
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) { runCase(t, &c) })
	}
	t.Logf("%d cases", ran)
}

func runCase(t *testing.T, c *testCase) {
	w := newWorld(t, c.Input.Config, c.Input.Main, object.Time(c.Input.Start-60)*1000)
	subject := idOf(c.Input.Object)
	var percent []string
	var events []flapEvent
	for i, st := range c.Input.Steps {
		now := object.Time(c.Input.Start+st.At) * 1000
		flapped := subject != "" && w.states[subject].Status.Flapping
		about := w.step(&st, now)
		if about == subject && subject != "" {
			percent = append(percent, fmt.Sprintf("%.2f", fold.Percent(w.states[subject].Measure.Ring)))
		}
		if subject != "" && w.states[subject].Status.Flapping != flapped {
			events = append(events, flapEvent{i, map[bool]string{true: "stop", false: "start"}[flapped]})
		}
		if i >= len(c.Expect.Steps) || about == "" {
			continue
		}
		got, want := &w.states[about].Status, c.Expect.Steps[i]
		if name := got.State.Name(about.Kind()); want.State != "" && name != want.State {
			t.Errorf("%s: step %d: %s is %s, want %s", c.Title, i, about, name, want.State)
		}
		if typ := strings.ToUpper(got.Type.String()); want.Type != "" && typ != want.Type {
			t.Errorf("%s: step %d: %s is %s, want %s", c.Title, i, about, typ, want.Type)
		}
		if want.Attempt != 0 && got.Attempt != want.Attempt {
			t.Errorf("%s: step %d: %s has attempt %d, want %d", c.Title, i, about, got.Attempt, want.Attempt)
		}
	}
	if c.Expect.Percent != nil && !slices.Equal(percent, c.Expect.Percent) {
		t.Errorf("%s: percent\n%q, want\n%q", c.Title, percent, c.Expect.Percent)
	}
	if c.Expect.Events != nil && !slices.Equal(events, c.Expect.Events) {
		t.Errorf("%s: flapping %v, want %v", c.Title, events, c.Expect.Events)
	}
}

// idOf reads "host" or "host/description".
func idOf(name string) object.ID {
	return object.ID(strings.Replace(name, "/", "!", 1))
}

// step runs one step and returns the object it is about, "" for commands.
func (w *world) step(st *step, now object.Time) object.ID {
	w.t.Helper()
	w.pass(now)
	if st.Cmd != "" {
		w.command(st.Cmd, now)
		return ""
	}
	about := idOf(st.Host + st.Service)
	w.check(about, st.RC, st.Output, st.Kind == "passive", now)
	return about
}
