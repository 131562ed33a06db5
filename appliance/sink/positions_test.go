package sink

import (
	"testing"

	"jaque.sh/jaque/appliance/journal"
)

func TestPositionsInMemory(t *testing.T) {
	var m Memory
	if _, saved, err := m.Load(t.Context(), "x"); !saved.IsZero() || err != nil {
		t.Fatalf("a sink that never ran has a position: %v %v", saved, err)
	}
	for n := range uint64(3) {
		want := journal.Position{Log: n, Results: 10 * n}
		if err := m.Save(t.Context(), "x", want); err != nil {
			t.Fatal(err)
		}
		if got, saved, err := m.Load(t.Context(), "x"); got != want || saved.IsZero() || err != nil {
			t.Fatalf("got %+v %v %v, want %+v", got, saved, err, want)
		}
	}
	if _, saved, _ := m.Load(t.Context(), "y"); !saved.IsZero() {
		t.Error("sinks share a position")
	}
}
