package near_test

import (
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/rule/near"
)

func TestDistanceIsADistance(t *testing.T) {
	word := rapid.StringMatching("[a-c]{0,6}")
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := near.Distance(a, b, 100)
		switch {
		case (d == 0) != (a == b):
			t.Fatalf("distance of %q and %q is %d", a, b, d)
		case d != near.Distance(b, a, 100):
			t.Fatalf("distance of %q and %q depends on the direction", a, b)
		case d > max(len(a), len(b)) || d < max(len(a), len(b))-min(len(a), len(b)):
			t.Fatalf("distance of %q and %q is %d", a, b, d)
		}
		for limit := range 4 {
			if got := near.Distance(a, b, limit); (got <= limit) != (d <= limit) {
				t.Fatalf("distance of %q and %q with limit %d is %d, want %d", a, b, limit, got, d)
			}
		}
	})
}

func TestTwoSwappedLettersAreOneSlip(t *testing.T) {
	if d := near.Distance("zoen", "zone", 9); d != 1 {
		t.Errorf("zoen is %d from zone, want 1", d)
	}
}
