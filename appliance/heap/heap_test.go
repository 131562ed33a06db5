package heap_test

import (
	"context"
	"runtime/debug"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/heap"
)

func TestALargeHeapGetsLessHeadroomInProportion(t *testing.T) {
	for _, c := range []struct {
		name string
		live uint64
		want int
	}{
		{"before the first collection", 0, 100},
		{"a small heap keeps the default", 20 << 20, 100},
		{"at the headroom itself", 48 << 20, 100},
		{"twice the headroom", 96 << 20, 50},
		{"a large heap pays no more than the lowest", 1 << 30, 25},
	} {
		if got := heap.Percent(c.live); got != c.want {
			t.Errorf("%s: %d %%, want %d %%", c.name, got, c.want)
		}
	}
}

// Whoever set GOGC keeps it.
func TestAnOperatorsChoiceStands(t *testing.T) {
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	ready := false
	if err := heap.Service(true).Run(ctx, func() { ready = true }); err != nil || !ready {
		t.Fatalf("Run: %v, ready %t", err, ready)
	}
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("the percentage is %d, want the chosen 77", got)
	}
}
