package roles

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The chart refuses in an env what the process would refuse: by the table of flags.
func TestTheChartKnowsWhatRolesRefuse(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Flags that roles refuse, by their names in the environment. Made from the table of flags:\n# go test ./roles -run TheChartKnows -update\n")
	for _, f := range Flags() {
		if f.Env() == "" || len(f.Refused) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s:\n", f.Env())
		for _, role := range slices.Sorted(maps.Keys(f.Refused)) {
			fmt.Fprintf(&b, "  %s: %q\n", role, f.Refused[role])
		}
	}
	path := filepath.Join("..", "packaging", "helm", "jaque", "files", "refused.yaml")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the table of flags says (%v); run go test ./roles -run TheChartKnows -update", path, err)
	}
}
