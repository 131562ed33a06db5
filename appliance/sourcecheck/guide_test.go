package sourcecheck

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/config"
)

// configs returns the whole configurations that a Markdown text shows: its CUE
// blocks that begin with a package line. Others are fragments.
func configs(text string) []string {
	var out []string
	for i, part := range strings.Split(text, "```") {
		if body, ok := strings.CutPrefix(part, "cue\n"); ok && i%2 == 1 && strings.HasPrefix(body, "package ") {
			out = append(out, body)
		}
	}
	return out
}

func TestConfigurationsOfTheGuideAreRight(t *testing.T) {
	found := 0
	everyFile(t, func(name string, src []byte) {
		if filepath.Ext(name) != ".md" {
			return
		}
		for _, text := range configs(string(src)) {
			found++
			path := filepath.Join(t.TempDir(), "site.cue")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if code := config.Check(path, config.Options{}, &out, &out); code != 0 {
				t.Errorf("%s shows a configuration that is refused:\n%s\n%s", name, text, out.String())
			}
		}
	})
	if found < 2 {
		t.Fatalf("%d configurations found in README.md and the guide, want at least 2", found)
	}
}

func TestThePackagedConfigurationIsRight(t *testing.T) {
	var out bytes.Buffer
	if code := config.Check(filepath.Join(root(t), "packaging", "etc", "jaque"), config.Options{}, &out, &out); code != 0 {
		t.Fatal(out.String())
	}
}

func TestConfigurationsAreFoundInMarkdown(t *testing.T) {
	got := configs("a\n```cue\npackage a\nx: 1\n```\nb\n```cue\nx: 2\n```\n```\npackage b\n```\n")
	if len(got) != 1 || got[0] != "package a\nx: 1\n" {
		t.Fatalf("got %q", got)
	}
}
