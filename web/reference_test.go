package web

import (
	"os"
	"strings"
	"testing"

	"jaque.sh/jaque/web/wire"
)

// TestThePageOfTheAPITellsEveryCommand compares docs/reference/api.md with the
// commands, and plans its examples.
func TestThePageOfTheAPITellsEveryCommand(t *testing.T) {
	data, err := os.ReadFile("../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	names := append(commandNames(), fieldNames()...)
	for _, s := range switchables {
		names = append(names, s.name)
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name) && name != "command" {
			t.Errorf("%s is not on the page", name)
		}
	}
	_, rest, _ := strings.Cut(page, "```json\n")
	examples, _, _ := strings.Cut(rest, "```")
	s, seen := bare(t, operated()), 0
	for body := range strings.Lines(examples) {
		seen++
		if _, _, err := s.planOf(body); err != nil {
			t.Errorf("the example %s: %v", body, err)
		}
	}
	if seen < len(verbs()) {
		t.Errorf("%d examples for %d commands", seen, len(verbs()))
	}
}

func TestTheDescriptionNamesTheCommands(t *testing.T) {
	doc, ok := wire.OpenAPI("", nil).(map[string]any)
	if !ok {
		t.Fatal("the description is no object")
	}
	var words any = doc
	for _, key := range []string{"components", "schemas", "Command", "properties", "command", "enum"} {
		words = words.(map[string]any)[key]
	}
	if got, want := strings.Join(words.([]string), " "), strings.Join(commandNames(), " "); got != want {
		t.Errorf("described %s, there are %s", got, want)
	}
}
