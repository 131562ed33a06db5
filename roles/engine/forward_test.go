package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

// shop are the objects of these tests.
func shop() *object.Set { return site(20, 10) }

// settled waits until every engine has the newest view.
func (c *cluster) settled() { time.Sleep(time.Second) }

// road is the way between engines, which a test watches and can hold up.
type road struct {
	engine.Forwarder
	mu     sync.Mutex
	sent   []engine.Command
	before func(c engine.Command) // happens on the way; nil = nothing
	lost   func(ctx context.Context, c engine.Command) (bool, error)
}

// through lets an engine's commands go over a road.
func (r *road) through(o *engine.Options) { r.Forwarder, o.Forward = o.Forward, r }

func (r *road) Forward(ctx context.Context, to string, c engine.Command) error {
	r.mu.Lock()
	r.sent = append(r.sent, c)
	r.mu.Unlock()
	if r.before != nil {
		r.before(c)
	}
	if r.lost != nil {
		if gone, err := r.lost(ctx, c); gone {
			return err
		}
	}
	return r.Forwarder.Forward(ctx, to, c)
}

func (r *road) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.sent)
}

func (n *node) forwards(t *testing.T, sent, failed, notOwned float64) {
	t.Helper()
	a, b := n.count("jaque_engine_commands_forwarded_total", "sent"), n.count("jaque_engine_commands_forwarded_total", "error")
	if x := n.count("jaque_engine_not_owned_total"); a != sent || b != failed || x != notOwned {
		t.Errorf("%s has sent %v commands, %v with an error, and dropped %v; want %v, %v and %v", n.id, a, b, x, sent, failed, notOwned)
	}
}

func comment(text string) fold.Command { return fold.AddComment{Author: "m", Text: text} }

// C1, S135, S137: a command that reaches another engine than the owner is sent to that
// one once, and done there.
func TestC1ACommandForAnotherEnginesObjectIsDoneByItsOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, way := newCluster(t, shop), &road{}
		a, b := c.join("a", way.through), c.join("b", way.through)
		c.settled()
		id := c.owned("b")[0]
		if err := a.do(id, comment("seen")); err != nil {
			t.Fatal(err)
		}
		events := c.events(id, event.CommentAdded)
		if len(events) != 1 || events[0].Writer != "b" {
			t.Errorf("the log holds %+v, want one comment by the owner", events)
		}
		if way.count() != 1 || way.sent[0].Hop != 1 || events[0].ID != way.sent[0].ID {
			t.Errorf("on the way: %+v, want one hop with the id of the event", way.sent)
		}
		err := a.do(id, fold.RemoveComments{ID: "none"})
		if mine := a.do(c.owned("a")[0], fold.RemoveComments{ID: "none"}); !errors.Is(err, engine.ErrRefused) || !errors.Is(mine, engine.ErrRefused) {
			t.Errorf("a refusal by the owner: %v, of an own object: %v", err, mine)
		}
		a.forwards(t, 2, 0, 0)
		b.forwards(t, 0, 0, 0)
		synctest.Wait() // everybody has read everything
		c.agree()
		c.end()
	})
}

// C2, S138, S139, S140: the object goes to another engine while a command for it is on
// its way. It is dropped there, counted, and told; nothing is sent a second time.
func TestC2ACommandWhoseObjectMovedOnTheWayIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, way := newCluster(t, shop), &road{}
		a, b := c.join("a", way.through), c.join("b", way.through)
		c.settled()
		var id object.ID
		way.before = func(engine.Command) {
			if way.count() == 1 {
				c.join("c", way.through)
			}
		}
		next := c.store.View()
		next.Members = append(next.Members, next.Members[0])
		next.Members[2].ID = "c"
		for _, o := range c.owned("b") {
			if next.Owner(string(o)) == "c" {
				id = o
			}
		}
		if id == "" {
			t.Fatal("no object moves")
		}
		err := a.do(id, comment("too late"))
		if !errors.Is(err, engine.ErrNotOwned) {
			t.Errorf("the caller is told %v, want ErrNotOwned", err)
		}
		if way.count() != 1 || len(c.events(id, event.CommentAdded)) != 0 {
			t.Errorf("%d commands were sent, the log holds %d", way.count(), len(c.events(id, event.CommentAdded)))
		}
		a.forwards(t, 1, 0, 0)
		b.forwards(t, 0, 0, 1)
		c.nodes["c"].forwards(t, 0, 0, 0)
		if err := a.do(id, comment("again")); err != nil {
			t.Errorf("the next one: %v", err)
		}
		synctest.Wait() // everybody has read everything
		c.agree()
		c.end()
	})
}

// S141: an engine that has no way to others forwards nothing.
func TestWithoutAWayNothingIsForwarded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, shop)
		a := c.join("a", func(o *engine.Options) { o.Forward = nil })
		c.join("b")
		c.settled()
		if err := a.do(c.owned("b")[0], comment("x")); !errors.Is(err, engine.ErrNotOwned) {
			t.Errorf("%v, want ErrNotOwned", err)
		}
		a.forwards(t, 0, 0, 1)
		c.end()
	})
}

func TestAnOwnerThatIsGoneOrSilentIsToldToTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, way := newCluster(t, shop), &road{}
		a := c.join("a", way.through)
		c.join("b")
		c.settled()
		id := c.owned("b")[0]
		dead := c.kill("b")
		began := time.Now()
		if err := a.do(id, comment("x")); !errors.Is(err, engine.ErrNotForwarded) || time.Since(began) > time.Second {
			t.Errorf("an owner that is gone: %v after %s, want ErrNotForwarded at once", err, time.Since(began))
		}
		way.lost = func(ctx context.Context, _ engine.Command) (bool, error) {
			<-ctx.Done()
			return true, fmt.Errorf("%w: %w", engine.ErrUnconfirmed, ctx.Err())
		}
		began = time.Now()
		if err := a.do(id, comment("y")); !errors.Is(err, engine.ErrUnconfirmed) || errors.Is(err, engine.ErrNotForwarded) || time.Since(began) > 20*time.Second {
			t.Errorf("an owner that is silent: %v after %s, want ErrUnconfirmed", err, time.Since(began))
		}
		synctest.Wait()
		a.forwards(t, 1, 1, 0)
		way.lost = nil
		c.bury("b")
		time.Sleep(time.Second)
		if err := a.do(id, comment("z")); err != nil {
			t.Errorf("when the object is this engine's: %v", err)
		}
		c.end(dead)
	})
}

// The commands of one object keep their order, also where the object comes home while
// they are on their way.
func TestTheOrderOfForwardedCommandsOfAnObjectIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, way := newCluster(t, shop), &road{}
		a := c.join("a", way.through)
		c.join("b")
		c.settled()
		id, other := c.owned("b")[0], c.owned("a")[0]
		way.before = func(engine.Command) { time.Sleep(50 * time.Millisecond) }
		time.AfterFunc(2*time.Second, func() { c.leave("b") })
		var actions []operate.Action
		for i := range 100 {
			actions = append(actions,
				operate.Action{Object: id, Command: comment(fmt.Sprintf("%03d", i))}, operate.Action{Object: other, Command: comment(fmt.Sprintf("%03d", i))})
		}
		report, err := a.e.Do(t.Context(), actions)
		if err != nil {
			t.Fatal(err)
		}
		var failed int
		for _, r := range report.Results {
			if r.Err != nil {
				failed++
			}
		}
		for _, o := range []object.ID{id, other} {
			last, n := "", 0
			for _, ev := range c.events(o, event.CommentAdded) {
				text := ev.Status.Extra.Comments[len(ev.Status.Extra.Comments)-1].Text
				if text <= last {
					t.Fatalf("%s: comment %s stands behind %s", o, text, last)
				}
				last, n = text, n+1
			}
			if n < 100-failed {
				t.Errorf("%s has %d comments, and %d commands failed", o, n, failed)
			}
		}
		if failed > 2 { // what was on its way when the owner left
			t.Errorf("%d commands failed", failed)
		}
		if n := len(c.events(id, event.CommentAdded)); way.count() == 0 || n-way.count() < 10 {
			t.Errorf("%d of %d commands were forwarded, want some before and some after", way.count(), n)
		}
		c.end()
	})
}

// same has an engine carry out actions under an id that others use too.
func (n *node) same(t *testing.T, actions []operate.Action) {
	report, err := n.e.DoAs(t.Context(), "theSameCommand", actions)
	if err != nil {
		t.Error(err)
	}
	for _, r := range report.Results {
		if r.Err != nil {
			t.Errorf("%s: %q: %v", n.id, r.Object, r.Err)
		}
	}
}

// A command id is done once, whichever engines get it.
func TestTheSameCommandAtTwoEnginesIsDoneOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, shop)
		a, b := c.join("a"), c.join("b")
		c.settled()
		mine, yours := c.owned("a")[0], c.owned("b")[0]
		actions := []operate.Action{{Object: mine, Command: comment("x")}, {Object: yours, Command: comment("x")}, {Program: program.Switch{What: object.ProgramNotifications, Author: "m"}}}
		var both sync.WaitGroup
		for _, n := range []*node{a, b, a, b} {
			both.Go(func() {
				n.same(t, actions)
			})
		}
		both.Wait()
		a.same(t, actions) // later, when everything is read
		for _, id := range []object.ID{mine, yours} {
			if events := c.events(id, event.CommentAdded); len(events) != 1 {
				t.Errorf("%s has %d comments, want 1", id, len(events))
			}
		}
		for _, n := range []*node{a, b} { // neither is held up
			for _, id := range []object.ID{mine, yours} {
				if err := n.do(id, fold.RemoveComments{Author: "m"}); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			}
			if err := n.program(program.Switch{What: object.ProgramNotifications, On: true, Author: "m"}); err != nil {
				t.Error(err)
			}
			n.same(t, actions)
		}
		synctest.Wait()
		if set := program.Effective(a.p.Set().Settings, a.p.Program()); !set.On.Has(object.ProgramNotifications) {
			t.Error("a command that was repeated undid what came after it")
		}
		c.end()
	})
}

func TestWhatIsNoForwardedCommandIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, shop)
		a := c.join("a")
		for _, x := range []engine.Command{{ID: "x"}, {Action: operate.Action{Object: "h0", Command: comment("x")}}, {ID: "x", Action: operate.Action{Program: program.Switch{}}}} {
			if err := a.e.TakeForwarded(t.Context(), x); !errors.Is(err, engine.ErrRefused) {
				t.Errorf("%+v: %v", x, err)
			}
		}
		err := a.e.TakeForwarded(t.Context(), engine.Command{ID: "x", Hop: 1, Action: operate.Action{Object: "nobody", Command: comment("x")}})
		if !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), "nobody") {
			t.Errorf("an object that is not there: %v", err)
		}
		c.end()
	})
}
