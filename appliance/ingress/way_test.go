package ingress

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/command/rig"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// taker is an engine that takes everything and fails what it is told to.
type taker struct {
	mu    sync.Mutex
	took  []Command
	fails []Failure
	hold  chan struct{} // nil = nothing is held up
}

func (e *taker) Take(_ context.Context, c *Command) []Failure {
	if e.hold != nil {
		<-e.hold
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.took = append(e.took, *c)
	return e.fails
}

func (e *taker) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.took)
}

func engine(t *testing.T, nc *nats.Conn, o ServerOptions) *Server {
	t.Helper()
	s, err := NewServer(nc, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func client(t *testing.T, nc *nats.Conn, o ClientOptions) *Client {
	t.Helper()
	c, err := NewClient(nc, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ack(ids ...object.ID) (all []operate.Action) {
	for _, id := range ids {
		all = append(all, operate.Action{Object: id, Command: fold.Acknowledge{Author: "ann", Text: "on it"}})
	}
	return all
}

func TestExactlyOneEngineClaimsACommandAndSaysWhatBecameOfIt(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	e1, e2 := &taker{}, &taker{fails: []Failure{{Index: 1, Object: "b", Why: "no such object"}}}
	e1.fails = e2.fails
	stop1, _ := rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{ID: "e1", Engine: e1}).Run)
	stop2, _ := rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{ID: "e2", Engine: e2}).Run)
	outcomes := make(chan Outcome, 64)
	c := client(t, rig.Dial(t, s), ClientOptions{From: "ui01", Ended: func(o Outcome) { outcomes <- o }})
	stop, _ := rig.Run(t, c.Run)
	ids := map[string]bool{}
	for range 40 {
		id := NewID()
		if err := c.Submit(t.Context(), id, ack("a", "b")); err != nil {
			t.Fatal(err)
		}
		ids[id] = true
	}
	for range 40 {
		o := <-outcomes
		if !ids[o.ID] || o.Total != 2 || o.Refused != 1 || o.Unknown != 0 || len(o.Failures) != 1 || o.Failures[0].Why != "no such object" {
			t.Errorf("outcome %+v, want one of two refused with its reason", o)
		}
		delete(ids, o.ID)
	}
	if n, m := e1.count(), e2.count(); n+m != 40 || n == 0 || m == 0 {
		t.Errorf("the engines took %d and %d of 40 commands, want each once and some by each", n, m)
	}
	if got := append(e1.took, e2.took...)[0]; got.From != "ui01" || len(got.Actions) != 2 || got.Actions[1].Object != "b" {
		t.Errorf("an engine took %+v", got)
	}
	for _, stop := range []func() error{stop, stop1, stop2} {
		if err := stop(); err != nil {
			t.Errorf("a stop: %v", err)
		}
	}
}

func TestWithoutAnEngineACommandIsRefusedAtOnce(t *testing.T) {
	c := client(t, rig.Dial(t, rig.Serve(t, server.Options{})), ClientOptions{})
	began := time.Now()
	if err := c.Submit(t.Context(), NewID(), ack("a")); !errors.Is(err, ErrNoEngine) || time.Since(began) > ClaimTimeout {
		t.Errorf("%v after %s, want ErrNoEngine at once", err, time.Since(began))
	}
}

func TestAServerThatIsAwayIsSaidInWords(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	away := make(chan struct{})
	nc := rig.Dial(t, s, nats.DisconnectErrHandler(func(*nats.Conn, error) { close(away) }), nats.MaxReconnects(-1), nats.ReconnectWait(time.Minute))
	c := client(t, nc, ClientOptions{})
	s.Shutdown()
	<-away
	err := c.Submit(t.Context(), NewID(), ack("a"))
	if want := "no engine takes commands: the server that they listen on cannot be reached"; !errors.Is(err, ErrNoEngine) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAnEngineThatDoesNotAnswerInTimeMayStillHaveTheCommand(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	silent := rig.Dial(t, s)
	if _, err := silent.QueueSubscribe(Subject(""), group, func(*nats.Msg) {}); err != nil || silent.Flush() != nil {
		t.Fatal(err)
	}
	c := client(t, rig.Dial(t, s), ClientOptions{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Submit(ctx, NewID(), ack("a")); !errors.Is(err, ErrUnclaimed) || errors.Is(err, ErrNoEngine) {
		t.Errorf("%v, want ErrUnclaimed", err)
	}
}

func TestMoreCommandsThanAnEngineTakesAreSentBack(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	e := &taker{hold: make(chan struct{})}
	stop, _ := rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{ID: "e1", Engine: e, Parallel: 2}).Run)
	c := client(t, rig.Dial(t, s), ClientOptions{})
	for i, want := range []error{nil, nil, ErrBusy} {
		if err := c.Submit(t.Context(), NewID(), ack("a")); !errors.Is(err, want) {
			t.Errorf("command %d: %v, want %v", i, err, want)
		}
	}
	close(e.hold)
	if err := stop(); err != nil || e.count() != 2 {
		t.Errorf("%d commands were carried out when the engine stopped (%v), want the 2 that it claimed", e.count(), err)
	}
	if err := c.Submit(t.Context(), NewID(), ack("a")); !errors.Is(err, ErrNoEngine) {
		t.Errorf("after the stop: %v, want ErrNoEngine", err)
	}
}

func TestACommandThatDoesNotFitIntoAMessageSaysSo(t *testing.T) {
	s := rig.Serve(t, server.Options{MaxPayload: 2000})
	rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{ID: "e1", Engine: &taker{}}).Run)
	c := client(t, rig.Dial(t, s), ClientOptions{})
	err := c.Submit(t.Context(), NewID(), []operate.Action{{Object: "a", Command: fold.AddComment{Text: strings.Repeat("x", 2000)}}})
	var big *TooBig
	if !errors.As(err, &big) || !errors.Is(err, ErrRefused) || big.Limit != 2000 || !strings.Contains(err.Error(), "fewer objects") {
		t.Errorf("%v, want what is too big and what to do", err)
	}
	if err := c.Submit(t.Context(), NewID(), ack("a")); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestWhatAnEngineCannotReadIsNotCarriedOut(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	e := &taker{}
	rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{ID: "e1", Engine: e}).Run)
	nc := rig.Dial(t, s)
	for _, text := range []string{`{"v":7}`, `rm -rf`, ``} {
		m, err := nc.Request(Subject(""), []byte(text), 5*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := claimError(m); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "engine e1") {
			t.Errorf("%q is answered with %v, want ErrRefused and by whom", text, err)
		}
	}
	if err := nc.Publish(Subject(""), []byte("nobody to answer")); err != nil {
		t.Fatal(err)
	}
	if e.count() != 0 {
		t.Errorf("%d of them were carried out", e.count())
	}
}

func TestInstallationsOnOneServerDoNotHearEachOther(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{Prefix: "lab", ID: "e1", Engine: &taker{}}).Run)
	if err := client(t, rig.Dial(t, s), ClientOptions{}).Submit(t.Context(), NewID(), ack("a")); !errors.Is(err, ErrNoEngine) {
		t.Errorf("without the prefix: %v, want ErrNoEngine", err)
	}
	if err := client(t, rig.Dial(t, s), ClientOptions{Prefix: "lab"}).Submit(t.Context(), NewID(), ack("a")); err != nil {
		t.Errorf("with the prefix: %v", err)
	}
}

func TestAServiceWhoseSubscriptionEndsByItselfFails(t *testing.T) {
	rig.End(t, rig.Serve(t, server.Options{}), func(t *testing.T, nc *nats.Conn) []<-chan error {
		_, served := rig.Run(t, engine(t, nc, ServerOptions{ID: "e1", Engine: &taker{}}).Run)
		_, listened := rig.Run(t, client(t, nc, ClientOptions{}).Run)
		return []<-chan error{served, listened}
	})
}

func TestAfterADisconnectCommandsAreTakenAgain(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	port := s.Addr().String()
	quick := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(5 * time.Millisecond), nats.ReconnectJitter(0, 0)}
	gone, back := make(chan struct{}, 2), make(chan struct{}, 2)
	quick = append(quick, nats.ReconnectHandler(func(*nats.Conn) { back <- struct{}{} }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { gone <- struct{}{} }))
	e := &taker{}
	listening := rig.Dial(t, s, quick...)
	rig.Run(t, engine(t, listening, ServerOptions{ID: "e1", Engine: e}).Run)
	c := client(t, rig.Dial(t, s, quick...), ClientOptions{})
	s.Shutdown()
	s.WaitForShutdown()
	<-gone
	<-gone
	if err := c.Submit(t.Context(), NewID(), ack("a")); !errors.Is(err, ErrNoEngine) {
		t.Errorf("while the server is away: %v, want ErrNoEngine", err)
	}
	var n int
	if _, err := fmt.Sscanf(port[strings.LastIndexByte(port, ':')+1:], "%d", &n); err != nil {
		t.Fatal(err)
	}
	rig.Serve(t, server.Options{Port: n})
	<-back
	<-back
	if err := listening.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := c.Submit(t.Context(), NewID(), ack("a")); err != nil {
		t.Errorf("after the server is back: %v", err)
	}
}

func TestASubscriptionThatTheServerForbidsEndsTheService(t *testing.T) {
	s := rig.Serve(t, server.Options{Users: []*server.User{{
		Username: "u", Password: "p",
		Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}}},
	}}})
	nc := rig.Dial(t, s, nats.UserInfo("u", "p"))
	srv := engine(t, nc, ServerOptions{ID: "e1", Engine: &taker{}})
	if err := srv.Run(t.Context(), func() { t.Error("the service became ready") }); !errors.Is(err, nats.ErrPermissionViolation) {
		t.Errorf("%v, want that the server forbids it", err)
	}
}

func TestAServerNeedsAnEngineAndAName(t *testing.T) {
	for _, o := range []ServerOptions{{ID: "e1"}, {Engine: &taker{}}} {
		if _, err := NewServer(nil, o); err == nil {
			t.Errorf("%+v makes a server", o)
		}
	}
}

// An engine that was held up reads what was sent to it meanwhile although it has been
// replaced.
func TestAnEngineThatIsOverTakesNothing(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	e := &taker{}
	var over atomic.Bool
	stop, _ := rig.Run(t, engine(t, rig.Dial(t, s), ServerOptions{ID: "e1", Engine: e, Over: over.Load}).Run)
	c := client(t, rig.Dial(t, s), ClientOptions{})
	end, _ := rig.Run(t, c.Run)
	if err := c.Submit(t.Context(), NewID(), ack("a")); err != nil {
		t.Fatal(err)
	}
	over.Store(true)
	if err := c.Submit(t.Context(), NewID(), ack("a")); !errors.Is(err, ErrBusy) {
		t.Errorf("an engine that is over answers %v, want that it takes no more", err)
	}
	for _, stop := range []func() error{stop, end} {
		if err := stop(); err != nil {
			t.Errorf("a stop: %v", err)
		}
	}
	if n := e.count(); n != 1 {
		t.Errorf("it carried out %d commands, want the one before", n)
	}
}
