package engine_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/roles/engine"
)

// One object whose append is never answered is told of, although the log goes on for all
// others.
func TestAnAppendOfOneObjectThatHangsIsMeasuredAndCalledTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		var silent atomic.Bool
		var held atomic.Pointer[func()]
		j.append = func(e *event.Event, expect uint64, done journal.Done) bool {
			if e.Object != "h0!s0" || !silent.Load() {
				return false
			}
			later := func() { j.Journal.Append(e, expect, done) }
			held.Store(&later)
			return true
		}
		registry := prometheus.NewRegistry()
		g := start(t, site(2, 1), j, &runner{}, func(o *engine.Options) { o.Registerer = registry })
		oldest := func() float64 { return gathered(t, registry, "jaque_engine_oldest_append_seconds") }
		time.Sleep(time.Minute)
		if got := oldest(); got > 1 {
			t.Errorf("the oldest append is %v s old in a calm engine", got)
		}
		silent.Store(true)
		for held.Load() == nil { // until something is decided about the object
			_ = g.one("h0!s0", fold.Result{State: object.Critical, Output: "late", Start: object.At(time.Now())})
		}
		time.Sleep(30 * time.Second)
		if got := oldest(); got < 30 || got > 60 {
			t.Errorf("the oldest append is %v s old, want more than 30", got)
		}
		if trouble := g.e.Trouble(); len(trouble) != 0 && !strings.Contains(trouble[0], "confirmed nothing") {
			t.Errorf("trouble %q so soon", trouble)
		}
		time.Sleep(3 * time.Minute)
		trouble := g.e.Trouble()
		if len(trouble) != 1 || !strings.Contains(trouble[0], "what was decided about h0!s0") {
			t.Errorf("trouble %q, want the object that hangs", trouble)
		}
		silent.Store(false)
		(*held.Load())()
		time.Sleep(2 * time.Second)
		if got, trouble := oldest(), g.e.Trouble(); got > 1 || len(trouble) != 0 {
			t.Errorf("after the answer: %v s, trouble %q", got, trouble)
		}
		g.end()
	})
}
