package filter

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestThePageTellsEveryField compares docs/reference/filter.md with what can be
// asked for, and reads the examples on it.
func TestThePageTellsEveryField(t *testing.T) {
	data, err := os.ReadFile("../../../docs/reference/filter.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for _, name := range slices.AppendSeq(Fields(), maps.Keys(flags)) {
		if !strings.Contains(page, "| `"+name+"`") && !strings.Contains(page, ", `"+name+"` |") {
			t.Errorf("%s is not in a table of the page", name)
		}
	}
	for _, field := range []string{"state", "state_type", "kind", "disabled"} {
		for _, value := range words(field) {
			if !strings.Contains(page, "`"+value+"`") {
				t.Errorf("%s=%s is not on the page", field, value)
			}
		}
	}
	_, rest, _ := strings.Cut(page, "```\n")
	examples, _, _ := strings.Cut(rest, "```")
	for text := range strings.Lines(examples) {
		if _, err := Parse(strings.TrimSpace(text)); err != nil {
			t.Errorf("the example %q: %v", text, err)
		}
	}
}
