package config

import (
	"path/filepath"
	"testing"
)

// TestExamplesOfTheGuideAreValid loads every example an operator may copy.
func TestExamplesOfTheGuideAreValid(t *testing.T) {
	const dir = "../../docs/guide/examples"
	paths, err := filepath.Glob(filepath.Join(dir, "*.cue"))
	if err != nil || len(paths) < 3 {
		t.Fatalf("found %d examples (%v)", len(paths), err)
	}
	for _, path := range append(paths, filepath.Join(dir, "fleet")) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			c, problems := Load(path, Options{AllZonesLocal: true, IsPlugin: func(string) bool { return true }})
			if len(problems) > 0 {
				t.Fatalf("\n%s", problems)
			}
			if len(c.Warnings) > 0 {
				t.Errorf("\n%s", c.Warnings.Lines())
			}
			if len(c.Set.Hosts) == 0 || len(c.Set.Objects) == len(c.Set.Hosts) {
				t.Errorf("got %s", c.Summary())
			}
		})
	}
}
