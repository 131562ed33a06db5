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
	if commands < 7 {
		t.Errorf("only %d commands were found", commands)
	}
	t.Logf("%d commands", commands)
	for _, refused := range []string{"-target worker -queue memory", "-target all -config c -queue memory"} {
		if _, err := Parse(strings.Fields(refused), world(nil)); err == nil {
			t.Errorf("jaque %s is taken", refused)
		}
	}
}

// S147, S148, S149, S153: the pages about security say of every listener who gets in, and
// what credentials of the log server amount to.
func TestThePagesOnSecurityNameEveryListener(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(string(text)), " ")
	}
	page, rights := read("deployment/security.md"), read("reference/security.md")
	listeners := 0
	for _, f := range Flags() {
		if strings.Contains(f.Name, "listen") || strings.Contains(f.Name, "socket") || f.Name == "command-file" {
			if listeners++; !strings.Contains(page, "`-"+f.Name+"`") {
				t.Errorf("the page does not say who gets in at -%s", f.Name)
			}
		}
	}
	if listeners < 6 {
		t.Errorf("only %d listeners were found", listeners)
	}
	for _, s := range []string{"these credentials are full control over the monitoring", "jaque itself checks nobody's rights there", "packaging/nats/nats-server.conf"} {
		if !strings.Contains(rights, s) {
			t.Errorf("the reference does not say %q", s)
		}
	}
	if !strings.Contains(page, "(../reference/security.md)") || !strings.Contains(page, "log server's network is part of the perimeter") {
		t.Error("the page does not lead to the rights, or not say that the network of the log server belongs to what is guarded")
	}
}
