package forward

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/command/rig"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/operate"
)

// C1 at the level of the messages.
func TestC1AForwardedCommandReachesTheOwnerOnceAndItsOutcomeComesBack(t *testing.T) {
	e := &taker{do: func(_ context.Context, c Command) *Failure {
		if c.Action.Object == "b" {
			return &Failure{Code: Refused, Text: "decide b: it is well: refused", Refusal: &fold.Refusal{Object: "b", Reason: fold.NoProblem, Text: "it is well"}}
		}
		return nil
	}}
	c, srv, s := pair(t, e, ServerOptions{})
	watcher := rig.Dial(t, s)
	heard, err := watcher.SubscribeSync("jaque.cmd.>")
	if err != nil || heard.SetPendingLimits(-1, -1) != nil || watcher.Flush() != nil { // the others have their own connections
		t.Fatal(err)
	}
	if at, err := c.Forward(soon(t), "e2", ack("one", "a")); err != nil || at != (journal.Position{Log: 3, Results: 7}) {
		t.Errorf("one that is done: %+v, %v; want how far the owner has read", at, err)
	}
	_, err = c.Forward(soon(t), "e2", ack("two", "b"))
	var f *Failure
	if !errors.As(err, &f) || f.Code != Refused || f.Error() != "decide b: it is well: refused" || f.Refusal == nil || *f.Refusal != (fold.Refusal{Object: "b", Reason: fold.NoProblem, Text: "it is well"}) {
		t.Errorf("one that is refused: %v (%+v), want what the owner says in its words", err, f)
	}
	if e.count() != 2 || e.took[0].ID != "one" || e.took[0].Action.Command != ack("", "").Action.Command {
		t.Errorf("the owner took %+v", e.took)
	}
	if n := testutil.ToFloat64(srv.in.Received.WithLabelValues(outTaken)); n != 2 {
		t.Errorf("%v commands are counted, want 2", n)
	}
	for range 2 {
		if _, err := heard.NextMsg(5 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := heard.NextMsg(20 * time.Millisecond); err == nil {
		t.Errorf("a third message went out: %s", m.Data)
	}
}

func TestAnEngineThatIsNotThereIsAnErrorAtOnce(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	c := client(t, rig.Dial(t, s), ClientOptions{})
	began := time.Now()
	_, err := c.Forward(soon(t), "e2", ack("one", "a"))
	if !errors.Is(err, ErrUnreached) || errors.Is(err, ErrUnanswered) || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s, want ErrUnreached at once", err, time.Since(began))
	}
	away := make(chan struct{})
	nc := rig.Dial(t, s, nats.DisconnectErrHandler(func(*nats.Conn, error) { close(away) }), nats.MaxReconnects(-1), nats.ReconnectWait(time.Minute))
	c = client(t, nc, ClientOptions{})
	s.Shutdown()
	<-away
	if _, err := c.Forward(soon(t), "e2", ack("one", "a")); !errors.Is(err, ErrUnreached) || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("without the server: %v, want ErrUnreached", err)
	}
}

func TestAnEngineThatDoesNotAnswerInTimeMayStillCarryItOut(t *testing.T) {
	hold := make(chan struct{})
	e := &taker{do: func(context.Context, Command) *Failure { <-hold; return nil }}
	c, _, _ := pair(t, e, ServerOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := c.Forward(ctx, "e2", ack("one", "a"))
	if !errors.Is(err, ErrUnanswered) || errors.Is(err, ErrUnreached) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want ErrUnanswered", err)
	}
	close(hold) // its answer finds nobody
	if _, err := c.Forward(soon(t), "e2", ack("two", "a")); err != nil {
		t.Errorf("the next one: %v", err)
	}
	kept := func() (int, int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.sent), len(c.lines)
	}
	sent, lines := kept()
	for ctx := soon(t); sent+lines > 0 && ctx.Err() == nil; sent, lines = kept() {
		runtime.Gosched()
	}
	if sent+lines > 0 {
		t.Errorf("%d messages and %d lines are kept when nobody waits", sent, lines)
	}
}

func TestACommandThatWasNotSentWhenItsTimeWasOverIsNotDone(t *testing.T) {
	c, _, _ := pair(t, &taker{}, ServerOptions{})
	c.mu.Lock()
	c.lines["e2"] = &line{} // somebody sends, and has not come to it
	c.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k := &call{done: make(chan outcome, 1)}
	c.lineUp("e2", k)
	if o := c.leave("e2", k, ctx.Err()); !errors.Is(o.err, ErrUnreached) || !errors.Is(o.err, context.Canceled) {
		t.Errorf("%v, want ErrUnreached", o.err)
	}
	if n := len(c.lines["e2"].calls); n != 0 {
		t.Errorf("%d commands wait, want none", n)
	}
}

// The commands of each object arrive as they were sent, from each sender.
func TestTheOrderOfTheCommandsOfAnObjectIsKept(t *testing.T) {
	const objects, each = 20, 50
	var mu sync.Mutex
	seen, under := map[object.ID][]string{}, map[object.ID]int{}
	e := &taker{do: func(_ context.Context, c Command) *Failure {
		mu.Lock()
		defer mu.Unlock()
		if under[c.Action.Object]++; under[c.Action.Object] > 1 {
			t.Errorf("two commands of %s at once", c.Action.Object)
		}
		mu.Unlock()
		time.Sleep(time.Duration(len(c.ID)%3) * 50 * time.Microsecond) // the one behind could overtake
		mu.Lock()
		under[c.Action.Object]--
		seen[c.Action.Object] = append(seen[c.Action.Object], c.ID)
		return nil
	}}
	c, _, _ := pair(t, e, ServerOptions{})
	calls := make([]*call, 0, objects*each)
	for i := range each { // as fast as can be, without waiting for the one before
		for o := range objects {
			asked := ack(fmt.Sprint(strings.Repeat("i", i%4), i), object.ID(fmt.Sprint("h", o)))
			p, err := newPiece(&asked)
			if err != nil {
				t.Fatal(err)
			}
			k := &call{piece: p, done: make(chan outcome, 1)}
			c.lineUp("e2", k)
			calls = append(calls, k)
		}
	}
	for _, k := range calls {
		if o := <-k.done; o.err != nil {
			t.Fatal(o.err)
		}
	}
	for id, ids := range seen {
		for i, got := range ids {
			if want := fmt.Sprint(strings.Repeat("i", i%4), i); got != want {
				t.Fatalf("%s: command %d is %s, want %s", id, i, got, want)
			}
		}
	}
}

// One slow object holds up no other, and what waits goes together.
func TestWhatWaitsForOneEngineGoesTogetherAndNothingWaitsForTheSlowest(t *testing.T) {
	hold := make(chan struct{})
	e := &taker{do: func(_ context.Context, c Command) *Failure {
		if c.ID == "slow" {
			<-hold
		}
		return nil
	}}
	c, _, _ := pair(t, e, ServerOptions{})
	slow := make(chan error, 1)
	go func() { _, err := c.Forward(soon(t), "e2", ack("slow", "s")); slow <- err }()
	began := time.Now()
	if failed := forwardAll(soon(t), c, 512, many(10_000)); len(failed) > 0 {
		t.Fatalf("%d failed, the first with %v", len(failed), failed[0])
	}
	took, messages := time.Since(began), testutil.ToFloat64(c.metrics.messages)
	if messages > 2500 {
		t.Errorf("%v messages for 10,000 commands, want that they go together", messages)
	}
	select {
	case err := <-slow:
		t.Errorf("the slow one ended: %v", err)
	default:
	}
	close(hold)
	if err := <-slow; err != nil {
		t.Errorf("the slow one: %v", err)
	}
	t.Logf("10,000 commands in %s and %v messages", took.Round(time.Millisecond), messages)
}

func TestMoreCommandsThanAnEngineTakesAreSentBack(t *testing.T) {
	hold := make(chan struct{})
	began := make(chan struct{}, 4)
	e := &taker{do: func(context.Context, Command) *Failure { began <- struct{}{}; <-hold; return nil }}
	c, srv, _ := pair(t, e, ServerOptions{Waiting: 2})
	var under sync.WaitGroup
	for _, id := range []object.ID{"a", "b"} {
		under.Go(func() {
			if _, err := c.Forward(soon(t), "e2", ack("x", id)); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		})
	}
	<-began
	<-began
	if _, err := c.Forward(soon(t), "e2", ack("y", "c")); !is(err, Busy) {
		t.Errorf("a third: %v, want busy", err)
	}
	close(hold)
	under.Wait()
	if _, err := c.Forward(soon(t), "e2", ack("y", "c")); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
	if n := testutil.ToFloat64(srv.in.Received.WithLabelValues(command.Busy)); n != 1 {
		t.Errorf("%v are counted as sent back, want 1", n)
	}
}

// An engine that was held up reads what was sent to it meanwhile although it has been
// replaced.
func TestAnEngineThatIsOverTakesNothing(t *testing.T) {
	var over atomic.Bool
	e := &taker{}
	c, _, _ := pair(t, e, ServerOptions{Over: over.Load})
	over.Store(true)
	if _, err := c.Forward(soon(t), "e2", ack("x", "a")); !is(err, Stopping) || e.count() != 0 {
		t.Errorf("%v and %d taken, want that it stops", err, e.count())
	}
}

func TestAStopWaitsForWhatIsUnderWay(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	hold, began := make(chan struct{}), make(chan struct{})
	e := &taker{do: func(context.Context, Command) *Failure { close(began); <-hold; return nil }}
	stop, _ := rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{Engine: e}).Run)
	c := client(t, rig.Dial(t, s), ClientOptions{})
	done := make(chan error, 1)
	go func() { _, err := c.Forward(soon(t), "e2", ack("x", "a")); done <- err }()
	<-began
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	select {
	case <-stopped:
		t.Error("it stopped before what it had taken was done")
	case <-time.After(20 * time.Millisecond):
	}
	close(hold)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("what was under way: %v", err)
	}
	if _, err := c.Forward(soon(t), "e2", ack("y", "a")); !errors.Is(err, ErrUnreached) {
		t.Errorf("after the stop: %v, want ErrUnreached", err)
	}
}

func TestLongAnswersComeInSeveralMessages(t *testing.T) {
	e := &taker{do: func(context.Context, Command) *Failure {
		return &Failure{Code: Refused, Text: strings.Repeat("x", 2*mostText), Refusal: &fold.Refusal{Object: "a", Text: strings.Repeat("y", 2*mostText)}}
	}}
	c, _, _ := pair(t, e, ServerOptions{})
	failed := forwardAll(soon(t), c, 200, many(200))
	if len(failed) != 200 {
		t.Fatalf("%d failed, want 200", len(failed))
	}
	for _, err := range failed {
		if !is(err, Refused) || len(err.Error()) != mostText+len("…") {
			t.Fatalf("an answer of %d bytes: %.60v", len(err.Error()), err)
		}
	}
}

func TestACommandThatDoesNotFitIntoAMessageSaysSo(t *testing.T) {
	s := rig.Serve(t, server.Options{MaxPayload: 2000})
	e := &taker{}
	rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{Engine: e}).Run)
	c := client(t, rig.Dial(t, s), ClientOptions{})
	big := ack("x", "a")
	big.Action.Command = fold.AddComment{Text: strings.Repeat("x", 2000)}
	if _, err := c.Forward(soon(t), "e2", big); !is(err, Refused) || !strings.Contains(err.Error(), "send shorter texts") {
		t.Errorf("%v, want what is too big and what to do", err)
	}
	// Of those that fit, no message grows over the limit.
	if failed := forwardAll(soon(t), c, 100, many(300)); len(failed) > 0 || e.count() != 300 {
		t.Errorf("%d failed, %d taken, the first with %v", len(failed), e.count(), failed)
	}
}

func TestWhatIsNoCommandForAnObjectIsNotSent(t *testing.T) {
	c, _, _ := pair(t, &taker{}, ServerOptions{})
	for name, asked := range map[string]Command{
		"no id":                             {Action: ack("", "a").Action},
		"no command":                        {ID: "x", Action: operate.Action{Object: "a"}},
		"no object":                         ack("x", ""),
		"a command that is an engine's own": {ID: "x", Action: operate.Action{Object: "a", Command: fold.Tick{}}},
	} {
		if _, err := c.Forward(soon(t), "e2", asked); !is(err, Refused) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
}

func TestInstallationsOnOneServerDoNotHearEachOther(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{Prefix: "lab", Engine: &taker{}}).Run)
	if _, err := client(t, rig.Dial(t, s), ClientOptions{}).Forward(soon(t), "e2", ack("x", "a")); !errors.Is(err, ErrUnreached) {
		t.Errorf("without the prefix: %v, want ErrUnreached", err)
	}
	if _, err := client(t, rig.Dial(t, s), ClientOptions{Prefix: "lab"}).Forward(soon(t), "e2", ack("x", "a")); err != nil {
		t.Errorf("with the prefix: %v", err)
	}
}

func TestAServiceWhoseSubscriptionEndsByItselfFails(t *testing.T) {
	rig.End(t, rig.Serve(t, server.Options{}), func(t *testing.T, nc *nats.Conn) []<-chan error {
		_, served := rig.Run(t, engine(t, nc, ServerOptions{Engine: &taker{}}).Run)
		_, listened := rig.Run(t, client(t, nc, ClientOptions{}).Run)
		return []<-chan error{served, listened}
	})
}

func TestBothEndsNeedAName(t *testing.T) {
	for _, o := range []ServerOptions{{ID: "e1"}, {Engine: &taker{}}} {
		if _, err := NewServer(nil, o); err == nil {
			t.Errorf("%+v makes a server", o)
		}
	}
	if _, err := NewClient(nil, ClientOptions{}); err == nil {
		t.Error("a client without a name is made")
	}
}
