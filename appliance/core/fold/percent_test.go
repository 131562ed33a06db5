package fold_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/fold"
)

// naive walks a history from the oldest state to the newest as the monitoring
// reference describes it.
func naive(ring uint64) float64 {
	var states [21]uint64
	for i := range states {
		states[20-i] = ring >> (2 * i) & 3
	}
	sum := 0.0
	for x := 1; x <= 20; x++ {
		if states[x] != states[x-1] {
			sum += 0.75 + float64(x-1)*(0.5/19)
		}
	}
	return sum * 100 / 20
}

func TestPercentAgreesWithTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ring := rapid.Uint64Range(0, 1<<42-1).Draw(t, "ring")
		if got, want := fold.Percent(ring), naive(ring); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%v percent, want %v", got, want)
		}
	})
}

func TestPercentOfNamedHistories(t *testing.T) {
	all := uint64(0)
	for i := range 21 {
		all = all<<2 | uint64(i%2)
	}
	for ring, want := range map[uint64]float64{0: 0, all: 100, 1: 6.25, 1 << 40: 3.75} {
		if got := fold.Percent(ring); got != want {
			t.Errorf("history %#x is %v percent, want %v", ring, got, want)
		}
	}
}
