package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A row is one configuration with what it declares.
type row struct {
	name     string // file name without .cfg
	module   string // module that it configures, without .tla
	text     string
	declared verdict
	distinct int // states of the reference, 0 = not given
	depth    int // of the reference, 0 = not given
	live     []string
}

// A verdict is what a search says: that all holds, or what is violated.
type verdict struct {
	violated string // invariant or property, "" = all hold
	steps    int    // on the way to the violation of an invariant, 0 = not said
}

func (v verdict) String() string {
	switch {
	case v.violated == "":
		return "holds"
	case v.steps == 0:
		return "violates " + v.violated
	}
	return fmt.Sprintf("violates %s in %d steps", v.violated, v.steps)
}

// modules maps the folders of configurations to their modules.
func modules() map[string]string {
	return map[string]string{"handover": "Handover", "delivery": "Delivery"}
}

// readRows reads every configuration below dir, the handover first, by name.
func readRows(dir string) ([]row, error) {
	var rows []row
	for folder, module := range modules() {
		files, err := filepath.Glob(filepath.Join(dir, folder, "*.cfg"))
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				return nil, fmt.Errorf("read configuration: %w", err)
			}
			r, err := parseRow(strings.TrimSuffix(filepath.Base(f), ".cfg"), string(text))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f, err)
			}
			r.module = module
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no configurations below %s; start this in the root of the repository or name the folder with -dir", dir)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(strings.Compare(b.module, a.module), strings.Compare(a.name, b.name))
	})
	return rows, nil
}

// parseRow reads the declared verdict in the first line, the numbers of the
// reference in the second and the names of the properties.
func parseRow(name, text string) (row, error) {
	declared := regexp.MustCompile(`^\\\* (?:holds|violates (\w+)(?: in (\d+) steps)?)$`)
	reference := regexp.MustCompile(`^\\\* reference: (\d+) distinct states(?:, depth (\d+))?$`)
	property := regexp.MustCompile(`(?m)^PROPERTY (\w+)$`)
	r := row{name: name, text: text}
	first, rest, _ := strings.Cut(text, "\n")
	m := declared.FindStringSubmatch(first)
	if m == nil {
		return row{}, fmt.Errorf("first line %q declares no verdict: write \"\\* holds\" or \"\\* violates Agree in 7 steps\"", first)
	}
	r.declared.violated = m[1]
	r.declared.steps, _ = strconv.Atoi(m[2])
	second, _, _ := strings.Cut(rest, "\n")
	if m := reference.FindStringSubmatch(second); m != nil {
		r.distinct, _ = strconv.Atoi(m[1])
		r.depth, _ = strconv.Atoi(m[2])
	}
	for _, m := range property.FindAllStringSubmatch(text, -1) {
		r.live = append(r.live, m[1])
	}
	return r, nil
}

// choose returns the named rows in the order of their files, all without names.
func choose(rows []row, names []string) ([]row, error) {
	if len(names) == 0 {
		return rows, nil
	}
	var out []row
	for _, r := range rows {
		if slices.Contains(names, r.name) {
			out = append(out, r)
		}
	}
	for _, n := range names {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.name == n }) {
			return nil, fmt.Errorf("no configuration %s; -list prints their names", n)
		}
	}
	return out, nil
}
