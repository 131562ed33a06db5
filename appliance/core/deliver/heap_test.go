package deliver

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// thing is something in a heap.
type thing struct{ value, place int }

// Whatever is put in, taken out of the middle and moved: what comes out is sorted.
func TestAHeapKeepsTheSmallestAtHand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := heap[*thing]{less: func(a, b *thing) bool { return a.value < b.value }, place: func(x *thing) *int { return &x.place }}
		var in []*thing
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			switch what := rapid.IntRange(0, 4).Draw(t, "step"); {
			case what < 3 || len(in) == 0:
				x := &thing{value: rapid.IntRange(0, 20).Draw(t, "value"), place: -1}
				h.push(x)
				in = append(in, x)
			case what == 3:
				i := rapid.IntRange(0, len(in)-1).Draw(t, "which")
				h.remove(in[i])
				h.remove(in[i]) // it is not there any more
				in = slices.Delete(in, i, i+1)
			default:
				x := in[rapid.IntRange(0, len(in)-1).Draw(t, "which")]
				x.value = rapid.IntRange(0, 20).Draw(t, "value")
				h.fix(x)
			}
		}
		slices.SortFunc(in, func(a, b *thing) int { return a.value - b.value })
		for _, want := range in {
			if got := h.pop(); got.value != want.value || got.place != -1 {
				t.Fatalf("got %d, want %d", got.value, want.value)
			}
		}
		if h.len() != 0 {
			t.Fatalf("%d are left", h.len())
		}
	})
}
