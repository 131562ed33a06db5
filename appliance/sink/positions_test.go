package sink

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/journal"
)

func TestPositionsInFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "sinks")
	p := NewFiles(dir)
	if _, found, err := p.Load(t.Context(), "a/b ..!"); found || err != nil {
		t.Fatalf("a sink that never ran has a position: %v %v", found, err)
	}
	for n := range uint64(3) {
		want := journal.Position{Log: n, Results: 10 * n}
		if err := p.Save(t.Context(), "a/b ..!", want); err != nil {
			t.Fatal(err)
		}
		if got, found, err := NewFiles(dir).Load(t.Context(), "a/b ..!"); got != want || !found || err != nil {
			t.Fatalf("got %+v %v %v, want %+v", got, found, err, want)
		}
	}
	if _, found, err := p.Load(t.Context(), "a_b"); found || err != nil {
		t.Error("sinks share a file")
	}
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("files %v, %v", all, err)
	}
	path := filepath.Join(dir, all[0].Name())
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Load(t.Context(), "a/b ..!"); err == nil || !strings.Contains(err.Error(), "remove the file") {
		t.Errorf("a damaged file: %v", err)
	}
}
