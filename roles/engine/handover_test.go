package engine_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/roles/engine"
)

// moving returns a service of site(20, 10) that belongs to each of some engines when
// they and those before them are the members.
func moving(t *testing.T, ids ...string) object.ID {
	t.Helper()
	for _, o := range site(20, 10).Objects {
		var v membership.View
		fits := o.Host != nil
		for _, id := range ids {
			v = v.Join(membership.Member{ID: id}, 0)
			fits = fits && v.Owner(string(o.ID)) == id
		}
		if fits {
			return o.ID
		}
	}
	t.Fatalf("no service moves over %v", ids)
	return ""
}

func small() *object.Set { return site(20, 10) }

// attempts wants the events of a service to be an unbroken row of attempts up to the
// hard problem, each once, and returns who wrote them.
func (c *cluster) attempts(id object.ID) (writers []string) {
	c.t.Helper()
	hard := 0
	for i, ev := range c.events(id, event.CheckResult) {
		if ev.Stream != event.Log {
			continue
		}
		if ev.Status.Attempt != int32(min(i+1, 3)) {
			c.t.Errorf("event %d of %s is attempt %d by %s, want %d", i, id, ev.Status.Attempt, ev.Writer, i+1)
		}
		if ev.Transition && ev.Status.Type == object.Hard {
			hard++
		}
		writers = append(writers, ev.Writer)
	}
	if hard != 1 || len(writers) != 3 {
		c.t.Errorf("%s became hard %d times with %d events by %v, want once with 3", id, hard, len(writers), writers)
	}
	return writers
}

// T18: an engine freezes with an append in flight, is declared dead and wakes. Its append
// is refused, it owns nothing and ends; the engine that took over has gone on from the
// last attempt.
func TestAFrozenEngineThatWakesWritesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.answer = critical
		c.join("b")
		a := c.join("a")
		id := moving(t, "b", "a")
		for a.p.State(id).Status.Attempt != 1 || a.p.State(id).Status.State == object.OK {
			time.Sleep(100 * time.Millisecond)
		}
		a.freeze()
		for !a.standsStill() {
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(ttl)
		c.bury("a")
		time.Sleep(3 * time.Minute)
		end := len(c.events(""))
		a.wake()
		if err := <-a.done; !errors.Is(err, engine.ErrNotMember) {
			t.Errorf("it ended with %v, want ErrNotMember", err)
		}
		c.gone("a")
		if more := c.events("")[end:]; len(more) > 0 {
			t.Errorf("it wrote %+v", more)
		}
		if w := c.attempts(id); w[0] != "a" || w[2] != "b" {
			t.Errorf("the attempts were written by %v", w)
		}
		c.agree()
		c.end()
	})
}

// held is appends of an object that are in flight until they land.
type held struct {
	mu   sync.Mutex
	land []func()
}

// await waits until so many are in flight.
func (h *held) await(t *testing.T, n int) {
	t.Helper()
	for range 10_000 {
		h.mu.Lock()
		enough := len(h.land) >= n
		h.mu.Unlock()
		if enough {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("there were never %d appends in flight", n)
}

// hold keeps the appends of an object by an engine in flight from an attempt on.
func (h *held) hold(n *node, id object.ID, attempt int32) {
	n.intercept(func(ev *event.Event, expect uint64, done journal.Done) bool {
		if ev.Object != id || ev.Status == nil || ev.Status.Attempt != attempt {
			return false
		}
		n.intercept(nil)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.land = append(h.land, func() { n.Journal.Append(ev, expect, done) })
		return true
	})
}

// T9, T25, S121: an object moves from a over b to c while appends of a and b are in
// flight. In whichever order they land, at most the one whose base is the present state
// is taken, and c goes on from there: each attempt is counted once.
func TestAppendsInFlightOfEarlierOwners(t *testing.T) {
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, small)
				c.answer = critical
				id, h := moving(t, "a", "b", "c"), &held{}
				c.before = func(n *node) { h.hold(n, id, 2) }
				for i, engine := range []string{"a", "b", "c"} {
					c.join(engine)
					h.await(t, i+1)
				}
				for _, i := range order {
					h.land[i]()
					synctest.Wait()
				}
				time.Sleep(5 * time.Minute)
				if w := c.attempts(id); w[0] != "a" || w[2] != "c" || w[1] != []string{"a", "b", "c"}[order[0]] {
					t.Errorf("landed in the order %v, the attempts are by %v", order, w)
				}
				c.agree()
				c.end()
			})
		})
	}
}

// T26: an engine dies right after it has registered, with an append in flight. The
// object comes back, and the append is either the base or refused.
func TestAnEngineThatDiesDuringItsTakeover(t *testing.T) {
	for name, first := range map[string]bool{"its append lands first": true, "its append lands last": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, small)
				c.answer = critical
				id, h := moving(t, "a", "b"), &held{}
				a := c.join("a")
				for a.p.State(id).Status.Attempt != 1 || a.p.State(id).Status.State == object.OK {
					time.Sleep(100 * time.Millisecond)
				}
				c.before = func(n *node) { h.hold(n, id, 2) }
				c.join("b")
				h.await(t, 1)
				dead := c.kill("b")
				time.Sleep(ttl)
				if first {
					h.land[0]()
				}
				c.bury("b")
				time.Sleep(time.Minute)
				if !first {
					h.land[0]()
				}
				time.Sleep(5 * time.Minute)
				if w := c.attempts(id); (w[1] == "b") != first {
					t.Errorf("the attempts are by %v", w)
				}
				c.agree()
				c.end(dead)
			})
		})
	}
}

// T27: every engine dies. One that starts waits for nobody: what the dead owned is its
// own once they are removed.
func TestOneEngineStartsAfterAllHaveDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		for _, id := range []string{"a", "b", "c"} {
			c.join(id)
		}
		time.Sleep(2 * time.Minute)
		dead := []*node{c.kill("a"), c.kill("b"), c.kill("c")}
		time.Sleep(time.Hour)
		c.join("d")
		back := time.Now()
		time.Sleep(ttl)
		for _, n := range dead {
			c.bury(n.id)
		}
		time.Sleep(time.Minute)
		soon := 0
		for _, o := range c.checked() {
			times := c.times(o.ID)
			last := times[len(times)-1]
			if last.by != "d" || last.at.Before(back) {
				t.Errorf("%s was not checked again: %v", o.ID, last)
			}
			if last.at.Sub(back) < time.Second {
				soon++
			}
		}
		if soon > 100 {
			t.Errorf("%d of 200 checks began within a second of the start", soon)
		}
		c.agree()
		c.end(dead...)
	})
}

// C4: a command's append is refused because a check result was first. It is decided
// again on the new state by the engine that has it, and forwarded to nobody.
func TestACommandThatIsRefusedIsDecidedAgainWhereItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.answer = critical
		c.join("b")
		a := c.join("a")
		id := moving(t, "b", "a")
		time.Sleep(2 * time.Minute)
		raced := false
		a.intercept(func(ev *event.Event, expect uint64, done journal.Done) bool {
			if raced || ev.Object != id || ev.Kind != event.AckSet {
				return false
			}
			raced = true
			other, status := *ev, *ev.Status
			status.Ack, other.Kind, other.ID, other.Status = object.AckNone, event.CheckResult, "other", &status
			a.Journal.Append(&other, expect, func(uint64, error) { a.Journal.Append(ev, expect, done) })
			return true
		})
		if err := a.do(id, fold.Acknowledge{Kind: object.AckSticky, Author: "m", Text: "on it"}); err != nil {
			t.Fatal(err)
		}
		if !raced || len(c.events(id, event.AckSet)) != 1 || a.p.State(id).Status.Ack != object.AckSticky {
			t.Errorf("raced %t, %d acknowledgements", raced, len(c.events(id, event.AckSet)))
		}
		for _, outcome := range []string{"sent", "error"} {
			if n := a.count("jaque_engine_commands_forwarded_total", outcome); n != 0 {
				t.Errorf("%v commands were forwarded: %s", n, outcome)
			}
		}
		c.end()
	})
}

// S122, S123: an engine that the log tells of a newer view writes nothing until it has it,
// though the store is away; what is decided waits, is counted and is told.
func TestAnEngineBehindTheLogWaitsForItsView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.answer = critical
		c.join("b")
		a := c.join("a")
		time.Sleep(time.Second)
		a.setDeaf(true)
		joined := time.Now()
		d := c.join("c") // tells of its view on the log
		time.Sleep(time.Minute)
		for _, o := range c.checked() {
			for _, ev := range c.events(o.ID) {
				if ev.Writer == "a" && ev.Time.Std().After(joined.Add(time.Millisecond)) {
					t.Fatalf("a wrote %s of %s %s after the view it does not know", ev.Kind, o.ID, ev.Time.Std().Sub(joined))
				}
			}
		}
		if n := a.count("jaque_engine_epoch_behind_total"); n == 0 {
			t.Error("the waits were not counted")
		}
		if trouble := a.e.Trouble(); len(trouble) != 1 {
			t.Errorf("it says %q", trouble)
		}
		a.setDeaf(false)
		time.Sleep(time.Minute)
		if trouble := a.e.Trouble(); len(trouble) != 0 {
			t.Errorf("with its view it still says %q", trouble)
		}
		for _, id := range c.owned("a") {
			if a.p.State(id).Status.State != object.Critical {
				t.Errorf("%s was not written when the view had come", id)
			}
		}
		if d.e.View().Epoch != a.e.View().Epoch {
			t.Errorf("a acts on %+v", a.e.View())
		}
		c.agree()
		c.end()
	})
}
