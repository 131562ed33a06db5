package config

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the texts that Check prints into the scripts")

var took = regexp.MustCompile(`loaded in \S+`)

// TestCheckScripts runs every script of testdata/check. A script is an archive
// of config files; its member "stderr" or "stdout" is the exact text that Check
// must print about site.cue, or about the folder site if there is one.
func TestCheckScripts(t *testing.T) {
	names, err := filepath.Glob("testdata/check/*.txtar")
	if err != nil || len(names) < 40 {
		t.Fatalf("found %d scripts, want at least 40 (%v)", len(names), err)
	}
	for _, name := range names {
		full, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { runScript(t, full) })
	}
}

func runScript(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	want := map[string]string{}
	target := "site.cue"
	for _, f := range archive.Files {
		if f.Name == "stdout" || f.Name == "stderr" {
			want[f.Name] = string(f.Data)
			continue
		}
		if strings.HasPrefix(f.Name, "site/") {
			target = "site"
		}
		if err := os.MkdirAll(filepath.Dir(f.Name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.Name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var stdout, stderr bytes.Buffer
	env := func(name string) (string, bool) { return "from the environment", name == "KNOWN" }
	code := Check(target, Options{LookupEnv: env, AllZonesLocal: true, IsPlugin: installed, Now: today}, &stdout, &stderr)
	got := map[string]string{"stdout": took.ReplaceAllString(stdout.String(), "loaded in 1ms"), "stderr": stderr.String()}
	if *update {
		rewrite(t, name, archive, got)
		return
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if got[stream] != want[stream] {
			t.Errorf("%s\ngot:\n%swant:\n%s", stream, got[stream], want[stream])
		}
	}
	if failed := strings.Contains(stderr.String(), "nothing was changed."); (code == 2) != failed {
		t.Errorf("exit code %d with stderr %q", code, stderr.String())
	}
	refuseRaw(t, stderr.String())
}

// today is the day on which the scripts are read.
func today() time.Time { return time.Date(2026, time.January, 14, 12, 0, 0, 0, time.UTC) }

// installed stands in for a machine that has the plugins named check_...
func installed(path string) bool { return strings.HasPrefix(path, "/usr/lib/nagios/plugins/check_") }

// refuseRaw fails on words that only CUE's own texts have.
func refuseRaw(t *testing.T, text string) {
	for _, raw := range []string{"conflicting values", "field not allowed", "incomplete value", "empty disjunction", "out of bound", "_|_", "#Config", "the schema does not allow"} {
		if strings.Contains(text, raw) {
			t.Errorf("the text contains %q, which is for developers", raw)
		}
	}
}

func rewrite(t *testing.T, name string, archive *txtar.Archive, got map[string]string) {
	files := archive.Files[:0:0]
	for _, f := range archive.Files {
		if f.Name != "stdout" && f.Name != "stderr" {
			files = append(files, f)
		}
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if got[stream] != "" {
			files = append(files, txtar.File{Name: stream, Data: []byte(got[stream])})
		}
	}
	archive.Files = files
	if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(fmt.Errorf("rewrite script: %w", err))
	}
}
