package notify_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

type step struct {
	At            int64
	Host, Service string
	RC            int
	Output, Kind  string
	Cmd           string
}

type expectedStep struct {
	State, Type string
	Attempt     int32
	Notify      *[]string
}

type testCase struct {
	ID, Area, Title string
	Input           struct {
		Config, Main, Line string
		Start              int64
		Setup, Steps       []step
	}
	Expect struct {
		Steps  []expectedStep
		Notify json.RawMessage
		AnyOf  []json.RawMessage `json:"any_of"`
	}
}

func readCases(t *testing.T) []testCase {
	t.Helper()
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("case files %v: %v", files, err)
	}
	var all []testCase
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
			all = append(all, c)
		}
	}
	return all
}

// step runs one step of a case and returns the object it is about.
func (w *world) step(start int64, st *step) object.ID {
	w.t.Helper()
	w.pass(object.Time(start+st.At) * 1000)
	if st.Cmd != "" {
		w.command(st.Cmd)
		return ""
	}
	id := object.ID(strings.Replace(st.Host+st.Service, "/", "!", 1))
	w.check(id, st.RC, st.Output, st.Kind == "passive")
	return id
}

// Every case that says who is told: the areas notification and state-machine step
// by step, flapping and external-command as far as they have such a list.
func TestCases(t *testing.T) {
	ran := map[string]int{}
	for _, c := range readCases(t) {
		run := map[string]func(*testing.T, *testCase){
			"notification": runSteps, "state-machine": runSteps, "flapping": runFlapping, "external-command": runCommand,
		}[c.Area]
		if run == nil || c.Area != "notification" && c.Area != "state-machine" && c.Expect.Notify == nil {
			continue
		}
		ran[c.Area]++
		t.Run(c.ID+" "+c.Title, func(t *testing.T) { run(t, &c) })
	}
	t.Logf("cases: %v", ran)
}

func (c *testCase) world(t *testing.T) *world {
	return newWorld(t, c.Input.Config, c.Input.Main, object.Time(c.Input.Start-60)*1000)
}

func runSteps(t *testing.T, c *testCase) {
	w := c.world(t)
	for i := range c.Input.Steps {
		id := w.step(c.Input.Start, &c.Input.Steps[i])
		sent := w.take()
		if i >= len(c.Expect.Steps) {
			continue
		}
		want := c.Expect.Steps[i]
		if id != "" {
			got := &w.states[id].Status
			name, typ := got.State.Name(id.Kind()), strings.ToUpper(got.Type.String())
			if want.State != "" && name != want.State || want.Type != "" && typ != want.Type || want.Attempt != 0 && got.Attempt != want.Attempt {
				t.Errorf("step %d: %s is %s %s %d, want %+v", i, id, name, typ, got.Attempt, want)
			}
		}
		if want.Notify != nil {
			compare(t, i, sent, *want.Notify)
		}
	}
}

func compare(t *testing.T, step int, got, want []string) {
	t.Helper()
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("step %d: told %q, want %q", step, got, want)
	}
}

// Flapping cases list, for every step, what people are told of flapping.
func runFlapping(t *testing.T, c *testCase) {
	var want [][]string
	if err := json.Unmarshal(c.Expect.Notify, &want); err != nil {
		t.Fatal(err)
	}
	w := c.world(t)
	for i := range c.Input.Steps {
		w.step(c.Input.Start, &c.Input.Steps[i])
		var flapping []string
		for _, s := range w.take() {
			if strings.Contains(s, " FLAPPING") {
				flapping = append(flapping, s)
			}
		}
		if i < len(want) {
			compare(t, i, flapping, want[i])
		}
	}
}

// Cases of external commands list what the command makes people be told.
func runCommand(t *testing.T, c *testCase) {
	var want []string
	if err := json.Unmarshal(c.Expect.Notify, &want); err != nil {
		t.Fatal(err)
	}
	w := c.world(t)
	for i := range c.Input.Setup {
		w.step(c.Input.Start, &c.Input.Setup[i])
	}
	w.pass(object.Time(c.Input.Start) * 1000)
	w.take()
	w.command(c.Input.Line)
	compare(t, 0, w.take(), want)
}
