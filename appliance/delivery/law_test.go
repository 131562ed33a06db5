package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/message"
)

// fate deals out what happens to messages and appends; any goroutine may ask.
type fate struct {
	mu   sync.Mutex
	dice *rand.Rand
	calm bool // nothing goes wrong any more
}

func (f *fate) roll(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calm {
		return n - 1
	}
	return f.dice.IntN(n)
}

func (f *fate) send(ctx context.Context, _ *message.Message) error {
	time.Sleep(time.Duration(f.roll(4000)) * time.Millisecond)
	switch f.roll(10) {
	case 0, 1:
		return errLater
	case 2:
		return errNever
	case 3:
		return fmt.Errorf("after the last line: %w", io.EOF)
	case 4:
		<-ctx.Done()
		return ctx.Err()
	case 5:
		panic("a bug")
	}
	return nil
}

func (f *fate) refuse(*event.Event) error {
	if f.roll(3) == 0 {
		return journal.ErrUnknown
	}
	return nil
}

// step is one thing that happens in a life.
type step struct {
	what int
	id   object.ID
	who  []string
	wait time.Duration
	g    object.Grouping
}

// drawSteps draws a life of requests, stops and kills.
func drawSteps(rt *rapid.T) []step {
	by := rapid.SampledFrom([]object.GroupBy{object.GroupNone, object.GroupNone, object.GroupHost, object.GroupRoot})
	return rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) step {
		return step{
			what: rapid.IntRange(0, 9).Draw(rt, "what"),
			id:   object.ID(rapid.SampledFrom([]string{"a", "a!x", "a!y", "b", "b!x"}).Draw(rt, "object")),
			who:  rapid.SampledFrom([][]string{{"alice"}, {"bob"}, {"alice", "bob"}, {"alice", "nobody"}}).Draw(rt, "who"),
			wait: time.Duration(rapid.IntRange(0, 20_000).Draw(rt, "wait")) * time.Millisecond,
			g:    object.Grouping{By: by.Draw(rt, "by"), Wait: 5 * time.Second, Interval: 10 * time.Second},
		}
	}), 1, 40).Draw(rt, "steps")
}

// live plays the steps and returns what is wrong at the end.
func live(t *testing.T, w *world, steps []step, seed uint64) error {
	f := &fate{dice: rand.New(rand.NewPCG(seed, 2))}
	var all []*process
	start := func() *process {
		p := w.start(t, func(p *process, o *Options) {
			p.number, p.send, p.refuse = len(all), f.send, f.refuse
			o.Workers = 3
		})
		all = append(all, p)
		return p
	}
	p := start()
	for _, s := range steps {
		switch s.what {
		case 0:
			p.kill()
			p = start()
		case 1:
			p.stop()
			p = start()
		case 2:
			p.d.Kick()
		default:
			w.ask(s.id, "PROBLEM", s.g, "email telegram", s.who...)
		}
		pass(s.wait)
	}
	f.mu.Lock()
	f.calm = true
	f.mu.Unlock()
	pass(3 * time.Hour)
	p.stop()
	pass(2 * time.Minute) // killed ones let go of what they have
	return errors.Join(w.settledOnce(), sentRightly(all))
}

// settledOnce: delivered and abandoned together are what was asked, each once.
func (w *world) settledOnce() error {
	final := map[string]int{}
	for _, e := range append(w.of(event.NotificationDelivered), w.of(event.NotificationAbandoned)...) {
		final[e.Facts[event.FactRequest]]++
	}
	for _, id := range w.asked {
		if final[id] != 1 {
			return fmt.Errorf("%s has %d final outcomes", id, final[id])
		}
	}
	if len(final) != len(w.asked) || w.left() != 0 {
		return fmt.Errorf("%d of %d requests are settled, %d open", len(final), len(w.asked), w.left())
	}
	return nil
}

// sentRightly: no process has had the same request taken twice, and whatever may
// have come before says so.
func sentRightly(all []*process) error {
	seen := map[string]int{}
	for _, p := range all {
		own := map[string]bool{}
		for _, l := range p.got() {
			for _, i := range l.Items {
				key := fmt.Sprint(l.Contact.Name, l.Channel, i.ID, " ", i.Number)
				if !l.taken {
					continue
				}
				if own[key] {
					return fmt.Errorf("process %d sent %s twice", p.number, key)
				}
				own[key] = true
				if seen[key]++; seen[key] > 1 && !l.Repeat {
					return fmt.Errorf("process %d sent %s again, without a mark", p.number, key)
				}
			}
		}
	}
	return nil
}

// TestNothingIsForgottenAndNothingDoubledUnmarked lives random lives with failing
// channels, a failing log, stops and kills.
func TestNothingIsForgottenAndNothingDoubledUnmarked(t *testing.T) {
	lives := 0
	rapid.Check(t, func(rt *rapid.T) {
		steps, seed := drawSteps(rt), rapid.Uint64().Draw(rt, "seed")
		var err error
		synctest.Test(t, func(t *testing.T) { err = live(t, newWorld(), steps, seed) })
		if err != nil {
			rt.Fatal(err)
		}
		lives++
	})
	t.Logf("%d lives", lives)
}
