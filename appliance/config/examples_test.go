package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
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

var cueBlock = regexp.MustCompile("(?s)```cue\n(.*?)```")

// TestPackagesInTheGuideAreValid loads every block of the reference that is a whole
// package.
func TestPackagesInTheGuideAreValid(t *testing.T) {
	text, err := os.ReadFile("../../docs/guide/config.md")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, block := range cueBlock.FindAllStringSubmatch(string(text), -1) {
		body, whole := strings.CutPrefix(block[1], "package site\n")
		if !whole {
			continue
		}
		count++
		path := filepath.Join(t.TempDir(), "site.cue")
		if err := os.WriteFile(path, []byte("package site\n"+body), 0o600); err != nil {
			t.Fatal(err)
		}
		if c, problems := Load(path, Options{IsPlugin: func(string) bool { return true }}); len(problems) > 0 || len(c.Warnings) > 0 {
			t.Errorf("%s\n%s", block[1], problems)
		}
	}
	if t.Logf("%d packages", count); count < 5 {
		t.Errorf("found %d packages, want at least 5", count)
	}
}
