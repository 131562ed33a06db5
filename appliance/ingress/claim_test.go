package ingress

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/command/rig"
	"jaque.sh/jaque/appliance/core/object"
)

// C3, S143: of three engines exactly one claims each command and carries it out once.
// What the claimer takes along when it dies is lost, and whoever waits for it is told.
func TestC3OneOfThreeEnginesHasEachCommandAndOneThatDiesTakesItAlong(t *testing.T) {
	s := rig.Serve(t, server.Options{})
	hold := make(chan struct{})
	engines, conns := map[string]*held{}, map[string]*nats.Conn{}
	for _, id := range []string{"e1", "e2", "e3"} {
		engines[id], conns[id] = &held{hold: hold}, rig.Dial(t, s)
		rig.Run(t, engine(t, conns[id], ServerOptions{ID: id, Engine: engines[id]}).Run)
	}
	now := time.Now()
	tracker := NewTracker(func() time.Time { return now })
	ended := make(chan Outcome, 100)
	c := client(t, rig.Dial(t, s), ClientOptions{Ended: func(o Outcome) { tracker.Ended(o); ended <- o }})
	submit := func(o object.ID) string {
		id := NewID()
		tracker.Add(id, 1)
		if err := c.Submit(t.Context(), id, ack(o)); err != nil {
			t.Fatal(err)
		}
		return id
	}
	const n = 90
	ids := map[string]bool{}
	for i := range n {
		ids[submit(object.ID(fmt.Sprint("h", i)))] = true
	}
	for range n {
		delete(ids, (<-ended).ID)
	}
	took := map[string]int{}
	for id, e := range engines {
		for _, one := range e.ids() {
			took[one]++
		}
		if len(e.ids()) == 0 {
			t.Errorf("engine %s had none of %d commands", id, n)
		}
	}
	for id, times := range took {
		if times != 1 {
			t.Errorf("command %s was carried out %d times", id, times)
		}
	}
	if len(took) != n || len(ids) > 0 {
		t.Errorf("%d commands were carried out, %d are without an outcome", len(took), len(ids))
	}

	lost := submit("held")
	claimer := ""
	for id, e := range engines {
		if e.holds(lost) {
			claimer = id
		}
	}
	if claimer == "" {
		t.Fatal("nobody holds the command that was claimed")
	}
	before := s.NumSubscriptions()
	conns[claimer].Close() // it dies
	close(hold)
	// Until the server has noticed, the command may go to the dead one.
	for end := time.Now().Add(20 * time.Second); s.NumSubscriptions() >= before; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the server keeps what the dead engine had subscribed to")
		}
	}
	if p, ok := tracker.Look(lost); !ok || p.Stage != Submitted {
		t.Errorf("at first: %+v", p)
	}
	now = now.Add(Patience)
	if p, _ := tracker.Look(lost); p.Stage != Unconfirmed || p.Unknown != 1 {
		t.Errorf("after %s: %+v, want that it is not confirmed", Patience, p)
	}
	if err := c.Submit(t.Context(), NewID(), ack("h0")); err != nil {
		t.Errorf("the next command, with two engines: %v", err)
	}
}

// held is an engine that does not get beyond commands for the object "held".
type held struct {
	hold chan struct{}
	mu   sync.Mutex
	took []string
}

func (e *held) Take(_ context.Context, c *Command) []Failure {
	e.mu.Lock()
	e.took = append(e.took, c.ID)
	e.mu.Unlock()
	if c.Actions[0].Object == "held" {
		<-e.hold
	}
	return nil
}

func (e *held) ids() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.took
}

// holds waits a little for whether this engine has a command.
func (e *held) holds(id string) bool {
	for range 100 {
		if took := e.ids(); len(took) > 0 && took[len(took)-1] == id {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}
