package roles

import (
	"os"
	"path/filepath"
	"strconv"
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
		"split-authority":       "engine ui worker",
		"odd":                   "engine notifier ui worker",
		"odd-standalone":        "all",
		"production":            "engine notifier sink ui worker",
	}
	for name, roles := range want {
		text, err := os.ReadFile(filepath.Join("..", "packaging", "helm", "check", "testdata", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]int{}
		for _, args := range argsIn(t, string(text)) {
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
			// The odd values of the chart's own test arrive as they are written there.
			if from := `Jaque: "ops" #1 $$(HOME) $ <a@b>`; strings.HasPrefix(name, "odd") && s.Notify.SMTPHost != "" && s.Notify.SMTPFrom != from {
				t.Errorf("%s: mails of %s come from %s, want %s", name, s.Role.Name, s.Notify.SMTPFrom, from)
			}
			if name == "odd" && s.Role.Name == Worker && strings.Join(s.Zones, "|") != "a: b|#2|c'd" {
				t.Errorf("%s: the worker serves %q", name, s.Zones)
			}
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

// argsIn returns the arguments of each container in a manifest, as the kubelet hands them over.
func argsIn(t *testing.T, text string) (all [][]string) {
	t.Helper()
	kubelet := strings.NewReplacer("$$", "$", "$(POD_NAME)", "site-jaque-engine-0")
	var args []string
	for line := range strings.Lines(text + "\nend\n") {
		line = strings.TrimSpace(line)
		item, listed := strings.CutPrefix(line, "- ")
		switch {
		case item == "args:":
			args = []string{}
		case args != nil && listed && strings.HasPrefix(strings.TrimLeft(item, `"'`), "-"):
			args = append(args, kubelet.Replace(scalar(t, item)))
		case args != nil:
			all, args = append(all, args), nil
		}
	}
	return all
}

// scalar reads a text that stands on one line of YAML, quoted or not.
func scalar(t *testing.T, text string) string {
	t.Helper()
	switch inner := strings.TrimPrefix(text, "'"); {
	case strings.HasPrefix(text, `"`):
		s, err := strconv.Unquote(text)
		if err != nil {
			t.Fatalf("the argument %s: %v", text, err)
		}
		return s
	case inner != text:
		if !strings.HasSuffix(inner, "'") {
			t.Fatalf("the argument %s goes on in the next line, which this test does not read", text)
		}
		return strings.ReplaceAll(strings.TrimSuffix(inner, "'"), "''", "'")
	}
	return text
}
