package engine_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/roles/engine"
)

// Right after a start the log may take nothing for a while: what an engine says of itself
// is tried again until it is there, once and in order, for others wait for it.
func TestWhatAnEngineSaysOfItselfIsSaidUntilTheLogHasIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		var mu sync.Mutex
		refused, lost := 0, 0
		open := time.Now().Add(20 * time.Second)
		j.append = func(e *event.Event, expect uint64, done journal.Done) bool {
			if e.Object != "" || e.Program != nil {
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case time.Now().Before(open):
				refused++
				go done(0, journal.ErrUnknown)
				return true
			case lost == 0: // it lands, and nobody is told
				lost++
				j.Journal.Append(e, expect, func(uint64, error) { done(0, journal.ErrUnknown) })
				return true
			}
			return false
		}
		g := start(t, site(1, 1), j, &runner{answer: critical})
		g.e.Reject(engine.Rejection{Author: "ann", Reason: "no"})
		time.Sleep(15 * time.Second)
		if all := g.e.Trouble(); !slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, "what this engine says of itself") }) {
			t.Errorf("trouble while the log takes nothing: %q", all)
		}
		time.Sleep(time.Minute)
		if all := g.e.Trouble(); len(all) != 0 {
			t.Errorf("trouble afterwards: %q", all)
		}
		events, err := g.j.History(t.Context(), journal.Query{})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, e := range slices.Backward(events) {
			if e.Object == "" {
				kinds = append(kinds, string(e.Kind))
			}
		}
		if got := strings.Join(kinds, " "); got != "engine.joined config.loaded command.rejected" {
			t.Errorf("on the log stand %s", got)
		}
		// Waiting twice as long each time, 20 s are eight tries.
		if refused < 6 || refused > 12 || lost != 1 {
			t.Errorf("%d appends were refused, %d lost", refused, lost)
		}
		if err := g.end(); err != nil {
			t.Error(err)
		}
	})
}
