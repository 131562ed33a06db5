package delivery

import (
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// The traces N1 to N5 of the handover protocol. They hold for notifiers and for engines
// that deliver by themselves alike: both say through Owner what is theirs. N3 is
// TestWhatALiveOwnerWasSendingIsNotSentAgain, N4, a slow owner that counts as gone,
// TestWhatALiveOwnerNeverTellsOfIsSentInTheEnd.

// two starts two processes of which the first owns everything until it is taken over.
func two(t *testing.T, w *world, change func(*process, *Options)) (first, second *process, takeOver func()) {
	t.Helper()
	var owner atomic.Int64
	start := func(n int64, change func(*process, *Options)) *process {
		return w.start(t, func(p *process, o *Options) {
			p.owner = func(string) bool { return owner.Load() == n }
			if change != nil {
				change(p, o)
			}
		})
	}
	first, second = start(0, change), start(1, nil)
	return first, second, func() { owner.Store(1); second.d.Kick() }
}

func TestTraceN1TheOwnerDiesBeforeItSends(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		first, second, takeOver := two(t, w, nil)
		w.ask("web01", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: 10 * time.Second}, "email", "alice")
		pass(5 * time.Second) // both have read it
		first.kill()
		takeOver()
		pass(time.Minute)
		if got := second.got(); len(first.got()) != 0 || len(got) != 1 || w.left() != 0 {
			t.Errorf("the survivor sent %+v, %d are open", got, w.left())
		}
		second.stop()
	})
}

func TestTraceN2TheOwnerDiesBetweenSendAndOutcome(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		first, second, takeOver := two(t, w, func(p *process, _ *Options) { p.refuse = func(*event.Event) error { return journal.ErrUnknown } })
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(time.Second)
		first.kill()
		takeOver()
		pass(time.Minute)
		a, b := first.got(), second.got()
		if len(a) != 1 || len(b) != 1 || a[0].ID != b[0].ID || a[0].Repeat || !b[0].Repeat || w.left() != 0 {
			t.Errorf("sent %+v, then %+v", a, b)
		}
		second.stop()
	})
}

func TestTraceN5ALongLogOfWhatIsOver(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		first, second, takeOver := two(t, w, nil)
		for range 200 {
			w.ask("web01", "PROBLEM", none, "email", "alice")
			pass(time.Minute)
		}
		first.stop()
		takeOver()
		third := w.start(t, nil)
		pass(time.Hour)
		if len(first.got()) != 200 || len(second.got()) != 0 || len(third.got()) != 0 || w.left() != 0 {
			t.Errorf("sent %d, then %d and %d", len(first.got()), len(second.got()), len(third.got()))
		}
		second.stop()
		third.stop()
	})
}
