package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An outcome is what a search of one configuration came to.
type outcome struct {
	verdict
	temporal bool // a property is violated; TLC does not always say which
	distinct int
	depth    int // 0 = not said
}

// parseOutput reads what TLC printed. A text without a verdict is an error that
// holds the first complaint.
func parseOutput(text string) (outcome, error) {
	var o outcome
	number := func(s string) int {
		n, _ := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
		return n
	}
	counts := regexp.MustCompile(`(?m)^[\d,]+ states generated, ([\d,]+) distinct states found, [\d,]+ states left on queue\.`)
	if all := counts.FindAllStringSubmatch(text, -1); all != nil {
		o.distinct = number(all[len(all)-1][1])
	}
	depth := regexp.MustCompile(`(?m)^The depth of the complete state graph search is (\d+)\.`)
	if m := depth.FindStringSubmatch(text); m != nil {
		o.depth = number(m[1])
	}
	for _, m := range regexp.MustCompile(`(?m)^State (\d+): <`).FindAllStringSubmatch(text, -1) {
		o.steps = max(o.steps, number(m[1])-1)
	}
	invariant := regexp.MustCompile(`(?m)^Error: Invariant (\w+) is violated`)
	temporal := regexp.MustCompile(`(?m)^Error: Temporal propert(?:ies were|y (\w+) (?:is|was)) violated`)
	if m := invariant.FindStringSubmatch(text); m != nil {
		o.violated = m[1]
		return o, nil
	}
	if m := temporal.FindStringSubmatch(text); m != nil {
		o.violated, o.temporal, o.steps = m[1], true, 0
		return o, nil
	}
	if strings.Contains(text, "Model checking completed. No error has been found.") {
		return o, nil
	}
	return outcome{}, fmt.Errorf("no verdict: %s", complaint(text))
}

// complaint is the first line in which TLC or the machine it runs on says what
// is wrong.
func complaint(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, mark := range []string{"***Parse Error***", "*** Errors:", "Error:", "Exception"} {
		for i, l := range lines {
			if strings.Contains(l, mark) {
				return strings.TrimSpace(strings.Join(lines[i:min(i+3, len(lines))], " "))
			}
		}
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// compare says how an outcome differs from what the row declares, "" = not at
// all, and whether only in the length of the counterexample.
func compare(r row, o outcome) (complaint string, length bool) {
	want, got := r.declared, o.verdict
	if o.temporal && got.violated == "" && slices.Contains(r.live, want.violated) {
		got.violated = want.violated
	}
	switch {
	case want.violated == "" && got.violated == "" && !o.temporal:
		return "", false
	case want.violated == "":
		return fmt.Sprintf("declared to hold, but %s is violated", orProperty(got.violated)), false
	case got.violated == "" && !o.temporal:
		return fmt.Sprintf("%s is declared to be violated, but it holds: the configuration does not reach what it is about", want.violated), false
	case got.violated != want.violated:
		return fmt.Sprintf("%s is declared to be violated, but %s was", want.violated, orProperty(got.violated)), false
	case want.steps == 0 || got.steps == want.steps:
		return "", false
	}
	kind := "longer"
	if got.steps < want.steps {
		kind = "shorter"
	}
	return fmt.Sprintf("the counterexample has %d steps, %s than the declared %d", got.steps, kind, want.steps), true
}

func orProperty(name string) string {
	if name == "" {
		return "a property"
	}
	return name
}
