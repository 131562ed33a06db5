package delivery

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

func TestWhatComesInWhileAnotherMayStillDeliverIsMarked(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var shared atomic.Bool
		shared.Store(true)
		p := w.start(t, func(_ *process, o *Options) { o.Shared = shared.Load })
		w.ask("web01", "PROBLEM", none, "email", "alice")
		w.ask("web02", "PROBLEM", object.Grouping{By: object.GroupHost, Wait: time.Minute}, "email", "bob")
		pass(time.Second)
		shared.Store(false)
		w.ask("web03", "PROBLEM", none, "email", "carol")
		pass(5 * time.Minute)
		got := p.got()
		if len(got) != 3 {
			t.Fatalf("sent %d messages", len(got))
		}
		for i, marked := range []bool{true, false, false} { // the second was due only later
			if got[i].Repeat != marked {
				t.Errorf("the message about %s is marked: %t", got[i].Items[0].ID, got[i].Repeat)
			}
		}
		p.stop()
	})
}

func TestNothingIsSentWhileTheProcessIsHalted(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var halted atomic.Bool
		halted.Store(true)
		p := w.start(t, func(_ *process, o *Options) { o.Halted = halted.Load })
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(time.Minute)
		if len(p.got()) != 0 || w.left() != 1 || p.d.State().Due != 1 {
			t.Fatalf("sent %+v, %d are due", p.got(), p.d.State().Due)
		}
		halted.Store(false)
		pass(time.Second)
		if got := p.got(); len(got) != 1 || got[0].Repeat {
			t.Errorf("sent %+v", got)
		}
		p.stop()
	})
}

func TestAStopOfAHaltedProcessCutsOffWhatIsBeingSent(t *testing.T) {
	in(t, func(t *testing.T, w *world) {
		var halted atomic.Bool
		p := w.start(t, func(p *process, o *Options) {
			o.Halted = halted.Load
			p.send = func(ctx context.Context, _ *message.Message) error { <-ctx.Done(); return ctx.Err() }
		})
		w.ask("web01", "PROBLEM", none, "email", "alice")
		pass(time.Second)
		halted.Store(true)
		w.ask("web02", "PROBLEM", none, "email", "bob")
		pass(time.Second)
		began := time.Now()
		p.stop()
		if took := time.Since(began); took > time.Second || len(p.got()) != 1 || len(w.all()) != 0 || w.left() != 2 {
			t.Fatalf("after %s: %d messages, %d outcomes, %d are open", took, len(p.got()), len(w.all()), w.left())
		}
		q := w.start(t, nil)
		pass(time.Second)
		got := q.got()
		if len(got) != 2 || !got[0].Repeat || !got[1].Repeat || w.left() != 0 {
			t.Errorf("the next one sent %+v", got)
		}
		q.stop()
	})
}
