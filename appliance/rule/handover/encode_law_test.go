package handover

import (
	"testing"

	"pgregory.net/rapid"
)

// walk takes random steps and calls f with each state.
func walk(t *rapid.T, m *model, f func(*world)) {
	w := m.first()
	for range rapid.IntRange(1, 40).Draw(t, "steps") {
		var all []world
		m.eachStep(&w, func(_ act, c *world) bool {
			all = append(all, *c)
			return true
		})
		w = all[rapid.IntRange(0, len(all)-1).Draw(t, "step")]
		f(&w)
	}
}

func TestAStateIsWhatItsBytesSay(t *testing.T) {
	for _, r := range []rules{{resets: 1, removals: 2}, {noCAS: true}, threeRules(), legacy()} {
		m := newModel(r).bounded(size{3, 2, 5, 6})
		rapid.Check(t, func(t *rapid.T) {
			walk(t, m, func(w *world) {
				var back world
				if back.decode(w.encode(nil, m), m); back != *w {
					t.Fatalf("%+v\nis read back as\n%+v", *w, back)
				}
			})
		})
	}
}

// What was remembered of the product's answers is what it answers.
func TestAnswersAreRememberedRight(t *testing.T) {
	m := newModel(rules{noCAS: true}).bounded(size{2, 1, 5, 6})
	rapid.Check(t, func(t *rapid.T) {
		walk(t, m, func(w *world) {
			var f held
			for i := range w.nlog {
				want := m.apply(&f, &w.log[i], i+1)
				if got := m.fold(&f, &w.log[i], i+1); got != want.outcome || f.body != want.body || f.fence != want.fence || f.sub != want.sub {
					t.Fatalf("%s, want %s", got, want.outcome)
				}
			}
		})
	})
}

// The walk is deep and wide: it sees what the search would find.
func TestRandomWalksKeepTheInvariantsInALargeWorld(t *testing.T) {
	m := newModel(rules{resets: 1, removals: 1}).bounded(size{3, 2, mostEvents, mostViews})
	m.check, m.accepted = safety, true
	rapid.Check(t, func(t *rapid.T) {
		walk(t, m, func(w *world) {
			if m.broken = 0; m.violated(w) != 0 {
				t.Fatalf("%s violated in %+v", m.violated(w), *w)
			}
		})
	})
}
