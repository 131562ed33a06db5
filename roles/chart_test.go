package roles

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// S074, S076, S085: the command lines that the Helm chart renders are right for their roles.
// What it renders stands in files, so that Helm is not needed here.
func TestTheChartsCommandLinesAreAccepted(t *testing.T) {
	want := map[string]string{
		"standalone":            "all",
		"standalone-everything": "all",
		"split-1":               "engine ui worker",
		"split-2":               "engine ui worker",
		"split-3":               "engine notifier sink ui worker worker",
		"split-plain":           "engine",
		"production":            "engine notifier sink ui worker",
	}
	for name, roles := range want {
		text, err := os.ReadFile(filepath.Join("..", "packaging", "helm", "check", "testdata", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, args := range argsIn(string(text)) {
			env := world(nil)
			env.ReadFile = func(path string) ([]byte, error) {
				if !strings.HasPrefix(path, "/run/jaque/") {
					t.Errorf("%s: the secret %s is not where secrets are", name, path)
				}
				return []byte("s3cret"), nil
			}
			s, err := Parse(args, env)
			if err != nil {
				t.Errorf("%s: %v: %v", name, args, err)
				continue
			}
			if s.Listen != "0.0.0.0:8420" {
				t.Errorf("%s: %s listens on %s, where the probes do not ask", name, s.Role.Name, s.Listen)
			}
			found[string(s.Role.Name)]++
		}
		var got []string
		for _, r := range []string{"all", "engine", "notifier", "sink", "ui", "worker"} {
			for range found[r] {
				got = append(got, r)
			}
		}
		if strings.Join(got, " ") != roles {
			t.Errorf("%s starts %v, want %s", name, got, roles)
		}
	}
}

// argsIn returns the arguments of each container in a manifest.
func argsIn(text string) (all [][]string) {
	var args []string
	for line := range strings.Lines(text + "\nend\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.TrimPrefix(line, "- ") == "args:":
			args = []string{}
		case args != nil && strings.HasPrefix(line, "- -"):
			args = append(args, strings.ReplaceAll(strings.TrimPrefix(line, "- "), "$(POD_NAME)", "site-jaque-engine-0"))
		case args != nil:
			all, args = append(all, args), nil
		}
	}
	return all
}
