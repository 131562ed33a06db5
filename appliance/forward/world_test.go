package forward

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/command/rig"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/operate"
)

// taker is an engine that notes what it takes, and does with it what it is told to.
type taker struct {
	mu   sync.Mutex
	took []Command
	do   func(context.Context, Command) *Failure // nil = it is done
}

func (e *taker) Take(ctx context.Context, c Command) (journal.Position, *Failure) {
	e.mu.Lock()
	e.took = append(e.took, c)
	e.mu.Unlock()
	at := journal.Position{Log: uint64(len(c.ID)), Results: 7}
	if e.do == nil {
		return at, nil
	}
	return at, e.do(ctx, c)
}

func (e *taker) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.took)
}

func engine(t testing.TB, nc *nats.Conn, o ServerOptions) *Server {
	t.Helper()
	if o.ID == "" {
		o.ID = "e2"
	}
	s, err := NewServer(nc, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func client(t testing.TB, nc *nats.Conn, o ClientOptions) *Client {
	t.Helper()
	if o.From == "" {
		o.From = "e1"
	}
	c, err := NewClient(nc, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// pair is an engine that takes and one that sends.
func pair(t testing.TB, e *taker, o ServerOptions) (*Client, *Server, *server.Server) {
	t.Helper()
	s := rig.Serve(t, server.Options{})
	o.Engine = e
	srv := engine(t, rig.Dial(t, s), o)
	stop, _ := rig.Run(t, srv.Run)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("a stop: %v", err)
		}
	})
	return client(t, rig.Dial(t, s), ClientOptions{}), srv, s
}

func ack(id string, o object.ID) Command {
	return Command{ID: id, Action: operate.Action{Object: o, Command: fold.Acknowledge{Author: "ann", Text: "on it"}}}
}

// soon is a context that a test waits for at most.
func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// is tells whether an error is the owner's, with a code.
func is(err error, code Code) bool {
	var f *Failure
	return errors.As(err, &f) && f.Code == code
}

// forwardAll sends commands with so many under way at once and returns what failed.
func forwardAll(ctx context.Context, c *Client, atOnce int, all []Command) (failed []error) {
	var mu sync.Mutex
	var under sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for _, command := range all {
		places <- struct{}{}
		under.Go(func() {
			defer func() { <-places }()
			if _, err := c.Forward(ctx, "e2", command); err != nil {
				mu.Lock()
				failed = append(failed, err)
				mu.Unlock()
			}
		})
	}
	under.Wait()
	return failed
}

func many(n int) (all []Command) {
	for i := range n {
		all = append(all, ack(fmt.Sprintf("cmd.%x", i), object.ServiceID(fmt.Sprintf("web%05d", i), "disk")))
	}
	return all
}
