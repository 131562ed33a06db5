package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// read returns a file of the repository.
func read(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// S126: what may happen in the specification is writing, change of the members,
// partition, restart and replay, each in every state.
func TestTheSpecificationHasEveryKindOfStep(t *testing.T) {
	_, next, ok := strings.Cut(read(t, "..", "Handover.tla"), "\nNext ==\n")
	next, _, closed := strings.Cut(next, "\n\n")
	if !ok || !closed {
		t.Fatal("Handover.tla has no Next")
	}
	var steps []string
	for _, m := range regexp.MustCompile(`(?m)^    \\/ (?:.* : )?(\w+)(?:\([\w, ]*\))?$`).FindAllStringSubmatch(next, -1) {
		steps = append(steps, m[1])
	}
	if lines := strings.Count(next, "\n") + 1; lines != len(steps) {
		t.Errorf("%d lines of Next, %d steps", lines, len(steps))
	}
	for kind, needed := range map[string][]string{
		"writing": {"Write", "Decide", "Land", "Timeout", "Lose"}, "members": {"Register", "Expire", "AdoptView", "RepairEpoch"},
		"partition": {"Cut", "Heal"}, "restart": {"Crash", "Start"}, "replay": {"Start", "Consume"},
	} {
		for _, step := range needed {
			if !slices.Contains(steps, step) {
				t.Errorf("no step %s for %s among %v", step, kind, steps)
			}
		}
	}
}

// S127, S128: the largest configuration that holds has two engines, checks that they
// never disagree, and has more than seventeen million states. A run of TLC counts them
// anew and prints its count beside this one.
func TestTheLargestConfigurationHasSeventeenMillionStates(t *testing.T) {
	rows, err := readRows("..")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(read(t, "..", "Handover.tla"), "\nAgree ==\n") {
		t.Error("Handover.tla does not define Agree")
	}
	var largest row
	agree := 0
	for _, r := range rows {
		if r.module == "Handover" && r.declared.violated == "" && r.distinct > largest.distinct {
			largest = r
		}
		if strings.Contains(r.text, "\nINVARIANT Agree\n") {
			agree++
		}
	}
	if largest.distinct <= 17_000_000 || !strings.Contains(largest.text, "\nINVARIANT Agree\n") || !strings.Contains(largest.text, "Engines = {1, 2}\n") {
		t.Errorf("the largest that holds is %s with %d states", largest.name, largest.distinct)
	}
	if agree < 20 {
		t.Errorf("only %d configurations check Agree", agree)
	}
	t.Logf("%s: %d states; %d configurations check Agree", largest.name, largest.distinct, agree)
}

// S129: the rules before these break after seven steps, also where no engine is ever cut
// off from the store.
func TestTheEarlierRulesBreakInSevenStepsWithoutAPartition(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "handover"), 0o755); err != nil {
		t.Fatal(err)
	}
	spec := read(t, "..", "Handover.tla")
	for _, step := range []string{"Cut", "Heal"} {
		line := "    \\/ \\E e \\in Engines : " + step + "(e)\n"
		if !strings.Contains(spec, line) {
			t.Fatalf("no line %q", line)
		}
		spec = strings.Replace(spec, line, "", 1)
	}
	for name, text := range map[string]string{
		"Handover.tla": spec, "handover/before_gap.cfg": read(t, "..", "handover", "before_gap.cfg"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for where, folder := range map[string]string{"with partitions": "..", "without": dir} {
		var out, errs bytes.Buffer
		code := run(t.Context(), []string{"-dir", folder, "-builtin", "before_gap"}, os.Getenv, &out, &errs)
		if code != 0 || !strings.Contains(out.String(), "violates Agree in 7 steps") {
			t.Errorf("%s: status %d\n%s%s", where, code, out.String(), errs.String())
		}
	}
}

// S125, S130: one command runs every configuration; its status says whether each
// verdict is the declared one, see TestTLCIsRunAndBelieved.
func TestOneCommandRunsEveryConfiguration(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	if text := read(t, root, "justfile"); !regexp.MustCompile(`(?m)^tla .*:\n\s+@make tla`).MatchString(text) {
		t.Error("just tla does not run make tla")
	}
	if text := read(t, root, "Makefile"); !regexp.MustCompile(`(?m)^tla:.*\n(?:\t.*\n)*?\t.*\./docs/formal/check;`).MatchString(text) {
		t.Error("make tla does not run the checker")
	}
}
