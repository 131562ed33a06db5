package queue

import (
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"
)

// However many results of one item arrive at the same time, the first one counts.
func TestOneOfManyResultsIsAccepted(t *testing.T) {
	o := newOrders(newMetrics(nil))
	w := o.add(item("dmz", 1))
	if verdict := o.accept(&Result{ID: w.item.ID}, "lab"); verdict != resultForged {
		t.Errorf("a result from another zone is %s", verdict)
	}
	var all sync.WaitGroup
	var accepted atomic.Int32
	for range 8 {
		all.Go(func() {
			if o.accept(&Result{ID: w.item.ID}, "dmz") == resultAccepted {
				accepted.Add(1)
			}
		})
	}
	all.Wait()
	if accepted.Load() != 1 || len(w.result) != 1 {
		t.Errorf("%d results were accepted, %d wait for the engine", accepted.Load(), len(w.result))
	}
	o.drop(w)
	if verdict := o.accept(&Result{ID: w.item.ID}, "dmz"); verdict != resultUnexpected {
		t.Errorf("a late result is %s", verdict)
	}
}

// For any order of arrivals, ends and lost requests, a worker never holds more
// than its share, and what the server was asked for fits into what is free.
func TestAWorkerNeverHoldsMoreThanItsShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.IntRange(1, 20).Draw(t, "share")
		p := &puller{share: share}
		grant := func(n int) { // what ask does, without a server
			p.asked += n
			p.pulls = append(p.pulls, pull{left: n})
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"ask", "item", "item", "end", "timeout", "forget"}).Draw(t, "step") {
			case "ask":
				if n := p.share - p.held - p.asked; n > 0 {
					grant(n)
				}
			case "item": // also one that was not asked for, or asked for before a loss
				full := p.held >= share
				if took := p.got(); took == full {
					t.Fatalf("with %d of %d items another one is taken: %v", p.held, share, took)
				}
			case "end":
				p.held = max(p.held-1, 0)
			case "timeout":
				p.answered(rapid.IntRange(0, 30).Draw(t, "left"))
			case "forget":
				p.forget()
			}
			left := 0
			for _, one := range p.pulls {
				left += one.left
			}
			if p.held > share || p.asked < 0 || left != p.asked {
				t.Fatalf("held %d of %d, asked for %d in requests for %d", p.held, share, p.asked, left)
			}
		}
	})
}
