package build_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
	"jaque.sh/jaque/appliance/rule/objectfile/build"
)

// set builds a text, which must have no problem.
func set(t *testing.T, text, main string) *object.Set {
	t.Helper()
	s, problems := read(text, main)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

func read(text, main string) (*object.Set, objectfile.Problems) {
	objects, problems := objectfile.Read(objectfile.Source{Path: "objects.cfg", Text: text})
	m, more := objectfile.ParseMain(objectfile.Source{Path: "nagios.cfg", Text: main})
	problems = append(problems, more...)
	s, more := build.Build(objects, m)
	return s, append(problems, more...)
}

func TestEveryCaseConfigBuilds(t *testing.T) {
	files, err := filepath.Glob("testdata/cases/*.jsonl")
	if err != nil {
		t.Fatal(err)
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
			var c struct {
				ID    string
				Input struct{ Config, Main string }
			}
			if err := json.Unmarshal(in.Bytes(), &c); err != nil {
				t.Fatal(err)
			}
			s, problems := read(c.Input.Config, c.Input.Main)
			if err := problems.Err(); err != nil {
				t.Errorf("%s: %v", c.ID, err)
			}
			if len(s.Objects) == 0 {
				t.Errorf("%s: no objects", c.ID)
			}
			ran++
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d cases", ran)
}

func TestDefaultsAreThoseOfNagios(t *testing.T) {
	s := set(t, `
define command {
  command_name  c
  command_line  /bin/true
}
define host {
  host_name           h
  check_command       c
  max_check_attempts  3
}
define service {
  host_name            h
  service_description  d
  check_command        c
  max_check_attempts   4
}
`, "")
	h, d := s.Get("h"), s.Get("h!d")
	if s.Settings.On.Has(object.ProgramFlapDetection) || s.Settings.HostFlapLow != 20 || s.Settings.HostFlapHigh != 30 || s.Settings.TimeoutState != object.Critical {
		t.Errorf("settings: %+v", s.Settings)
	}
	if h.Address != "h" || h.Rule.Attempts != 3 || h.Rule.Timeout != 30*time.Second {
		t.Errorf("host: %+v %+v", h, h.Rule)
	}
	r := d.Rule
	if r.Interval != 5*time.Minute || r.Retry != time.Minute || r.NoteInterval != 30*time.Minute || r.Timeout != time.Minute ||
		!r.Active || !r.Passive || !r.FlapDetection || r.FlapIgnore != 0 || r.Freshness != 0 {
		t.Errorf("service: %+v", r)
	}
}
