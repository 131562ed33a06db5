package engine_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
)

// A process that was frozen for longer than its heartbeats count must not run what is due
// once more when it wakes: others have run it.
func TestAnEngineThatMayBeDeclaredDeadStartsAndDecidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var halted atomic.Bool
		var checks atomic.Int64
		r := &runner{answer: func(engine.Job) fold.Result {
			checks.Add(1)
			return fold.Result{State: object.OK, Output: "x"}
		}}
		g := startWith(t, site(3, 2), newJournal(), r, func(o *engine.Options) { o.Halted = halted.Load })
		time.Sleep(3 * time.Minute)
		halted.Store(true)
		time.Sleep(time.Second)
		before, position := checks.Load(), g.p.Position()
		go func() { _ = g.one("h0!s0", fold.Acknowledge{Author: "m", Text: "x"}) }()
		time.Sleep(5 * time.Minute)
		if n := checks.Load() - before; n > 0 {
			t.Errorf("%d checks were started while it is not known whether this engine is a member", n)
		}
		if now := g.p.Position(); now != position {
			t.Errorf("something was decided meanwhile: %+v after %+v", now, position)
		}
		halted.Store(false)
		time.Sleep(2 * time.Minute)
		if n := checks.Load() - before; n < 9 {
			t.Errorf("%d checks ran afterwards", n)
		}
		g.end()
	})
}
