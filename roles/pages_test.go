package roles

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// S094, S095, S096, S155: every command and every list of arguments on the pages about
// deployment is one that the program takes.
func TestCommandsOfTheDeploymentPagesAreRight(t *testing.T) {
	names, err := filepath.Glob("../docs/deployment/*.md")
	if err != nil || len(names) < 6 {
		t.Fatal(names, err)
	}
	lists := regexp.MustCompile(`(?s)args: (\[.*?\])`)
	commands := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var all [][]string
		for _, line := range strings.Split(string(text), "\n") {
			if rest, ok := strings.CutPrefix(line, "jaque -"); ok {
				all = append(all, strings.Fields("-"+rest))
			}
		}
		for _, m := range lists.FindAllStringSubmatch(string(text), -1) {
			var args []string
			if err := json.Unmarshal([]byte(m[1]), &args); err != nil {
				t.Errorf("%s: %s: %v", name, m[1], err)
			}
			all = append(all, args)
		}
		for _, args := range all {
			commands++
			s, err := Parse(args, world(map[string]string{"HOME": "/home/a"}))
			if err != nil {
				t.Errorf("%s: jaque %s: %v", name, strings.Join(args, " "), err)
			}
			for _, w := range s.Warnings {
				t.Errorf("%s: jaque %s: %s", name, strings.Join(args, " "), w)
			}
		}
	}
	if commands < 8 {
		t.Errorf("only %d commands were found", commands)
	}
	t.Logf("%d commands", commands)
	for _, refused := range []string{"-target worker -queue memory", "-target all -config c -queue memory"} {
		if _, err := Parse(strings.Fields(refused), world(nil)); err == nil {
			t.Errorf("jaque %s is taken", refused)
		}
	}
}
