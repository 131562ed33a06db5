package engine_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

// ttl is how long the members of a test's cluster count as alive without a heartbeat.
const ttl = 10 * time.Second

// cluster is several engines on one log and one store.
type cluster struct {
	t     *testing.T
	set   func() *object.Set
	j     journal.Journal
	store coordination.Memory
	nodes map[string]*node
	// answer is what a check says; nil = all is well.
	answer func(engine.Job) fold.Result
	takes  time.Duration // how long a check runs
	before func(*node)   // what is done with an engine before it starts

	mu   sync.Mutex
	runs map[object.ID][]run
}

// run is one execution of a check.
type run struct {
	at time.Time
	by string
}

func newCluster(t *testing.T, set func() *object.Set) *cluster {
	return &cluster{t: t, set: set, j: newJournal(), nodes: map[string]*node{}, runs: map[object.ID][]run{}}
}

// node is one engine: what it knows of the world and what the world knows of it passes
// through here, so that it can die or freeze.
type node struct {
	journal.Journal
	c      *cluster
	id     string
	e      *engine.Engine
	p      *projection.Projection
	reg    *prometheus.Registry
	stop   context.CancelFunc
	done   chan error
	killed chan struct{} // closed: nothing passes any more

	mu     sync.Mutex
	frozen chan struct{} // not nil: the loop stands still until it is closed
	held   int           // appends that wait for that
	deaf   bool          // views do not arrive
	quiet  bool          // it is told of no view, and may look
	tell   func(membership.View)
	// appends decides about an append: true = it is taken care of.
	appends func(e *event.Event, expect uint64, done journal.Done) bool
}

// join starts an engine and waits until it is live.
func (c *cluster) join(id string, change ...func(*engine.Options)) *node {
	c.t.Helper()
	n := &node{
		Journal: c.j, c: c, id: id, p: projection.New(c.set()), reg: prometheus.NewRegistry(),
		done: make(chan error, 1), killed: make(chan struct{}),
	}
	o := engine.Options{
		ID: id, Instance: id + "-" + rand.Text(), Journal: n, Projection: n.p, Runner: n, Coordinator: (*seat)(n),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Registerer: n.reg, Forward: n,
	}
	for _, f := range change {
		f(&o)
	}
	var err error
	if n.e, err = engine.New(o); err != nil {
		c.t.Fatal(err)
	}
	if c.before != nil {
		c.before(n)
	}
	ctx, stop := context.WithCancel(context.Background())
	n.stop = stop
	ready := make(chan struct{})
	go func() { n.done <- n.e.Service().Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-n.done:
		c.t.Fatalf("engine %s ended before it was ready: %v", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[id] = n
	return n
}

// gone takes an engine out of those that are reached.
func (c *cluster) gone(id string) *node {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.nodes[id]
	delete(c.nodes, id)
	return n
}

// leave stops an engine politely.
func (c *cluster) leave(id string) {
	c.t.Helper()
	n := c.gone(id)
	n.stop()
	if err := <-n.done; err != nil {
		c.t.Errorf("engine %s ended with %v", id, err)
	}
}

// kill ends an engine without a word to anybody.
func (c *cluster) kill(id string) *node {
	n := c.gone(id)
	close(n.killed)
	c.t.Cleanup(n.stop)
	return n
}

// bury takes a dead member out of the view, as the others do after a TTL.
func (c *cluster) bury(id string) { _ = c.store.Leave(context.Background(), id) }

// end stops everybody who still runs, and lets the dead go.
func (c *cluster) end(dead ...*node) {
	c.t.Helper()
	for _, id := range slices.Sorted(maps.Keys(c.nodes)) {
		c.leave(id)
	}
	for _, n := range dead {
		n.stop()
		<-n.done
	}
}

func (n *node) dead() bool {
	select {
	case <-n.killed:
		return true
	default:
		return false
	}
}

// freeze lets the loop stand still at its next append, which stays in flight.
func (n *node) freeze() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frozen = make(chan struct{})
}

// wake lets it go on. The append that was in flight arrives now.
func (n *node) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.frozen)
	n.frozen = nil
}

func (n *node) standsStill() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.held > 0
}

func (n *node) hold(ev *event.Event) {
	n.mu.Lock()
	frozen := n.frozen
	if frozen != nil && ev.Object != "" {
		n.held++
	}
	n.mu.Unlock()
	if frozen != nil && ev.Object != "" {
		<-frozen
		n.mu.Lock()
		n.held--
		n.mu.Unlock()
	}
}

// intercept has a function decide about the appends of an engine, nil = none does.
func (n *node) intercept(f func(e *event.Event, expect uint64, done journal.Done) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.appends = f
}

// Append is that of the log, unless the engine is dead.
func (n *node) Append(ev *event.Event, expect uint64, done journal.Done) {
	n.hold(ev)
	n.mu.Lock()
	f := n.appends
	n.mu.Unlock()
	if n.dead() || f != nil && f(ev, expect, done) {
		return
	}
	n.Journal.Append(ev, expect, done)
}

// Record is that of the log, unless the engine is dead.
func (n *node) Record(ctx context.Context, ev *event.Event, done journal.Done) error {
	n.hold(ev)
	if n.dead() {
		return nil
	}
	return n.Journal.Record(ctx, ev, done)
}

// Follow tells a dead engine nothing.
func (n *node) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error {
	return n.Journal.Follow(ctx, from, func(events []event.Event) error {
		if n.dead() {
			<-ctx.Done()
			return ctx.Err()
		}
		return fn(events)
	}, caughtUp)
}

// Run executes a check and writes that down.
func (n *node) Run(ctx context.Context, j engine.Job) fold.Result {
	if n.dead() {
		return fold.Result{}
	}
	start := time.Now()
	n.c.mu.Lock()
	n.c.runs[j.Object.ID] = append(n.c.runs[j.Object.ID], run{start, n.id})
	takes := n.c.takes
	n.c.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
		}
	}
	r := fold.Result{Output: "fine"}
	if n.c.answer != nil {
		r = n.c.answer(j)
	}
	r.Start, r.Latency = object.At(start), start.Sub(j.Due.Std()).Microseconds()
	return r
}

// seat is a node's place in the membership.
type seat node

func (s *seat) Register(ctx context.Context, m membership.Member, newest uint64) (membership.View, error) {
	return s.c.store.Register(ctx, m, newest)
}

func (s *seat) Repair(ctx context.Context, newest uint64) (membership.View, error) {
	s.mu.Lock()
	deaf := s.deaf
	s.mu.Unlock()
	if deaf {
		return membership.View{}, errors.New("the store is away")
	}
	return s.c.store.Repair(ctx, newest)
}

func (s *seat) Leave(ctx context.Context, id string) error {
	if (*node)(s).dead() {
		return nil
	}
	return s.c.store.Leave(ctx, id)
}

func (s *seat) StepOut(ctx context.Context, id string) (membership.View, error) {
	return s.c.store.StepOut(ctx, id)
}

func (s *seat) Watch(fn func(membership.View)) (cancel func()) {
	s.tell = fn
	return s.c.store.Watch(func(v membership.View) {
		s.mu.Lock()
		deaf := s.deaf || s.quiet
		s.mu.Unlock()
		if !(*node)(s).dead() && !deaf {
			fn(v)
		}
	})
}

// setDeaf cuts a node off from the store, or lets it hear of the newest view.
func (n *node) setDeaf(deaf bool) {
	n.mu.Lock()
	n.deaf = deaf
	n.mu.Unlock()
	if !deaf {
		n.tell(n.c.store.View())
	}
}

// hush lets nobody tell a node of views; it may look at the store by itself.
func (n *node) hush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.quiet = true
}

// Forward reaches another engine.
func (n *node) Forward(ctx context.Context, to string, c engine.Command) error {
	n.c.mu.Lock()
	other := n.c.nodes[to]
	n.c.mu.Unlock()
	if other == nil || n.dead() {
		return engine.ErrNotForwarded
	}
	return other.e.TakeForwarded(ctx, c)
}

// times returns when the check of an object ran.
func (c *cluster) times(id object.ID) []run {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.runs[id])
}

// checked are the objects of the cluster that have a check.
func (c *cluster) checked() (all []*object.Object) {
	for _, o := range c.set().Objects {
		if o.Rule.Check.Kind != object.CheckNone {
			all = append(all, o)
		}
	}
	return all
}

// agree wants every engine, and a replay of the log, to hold the same of every object.
func (c *cluster) agree() {
	c.t.Helper()
	replay := projection.New(c.set())
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	_ = c.j.Follow(ctx, journal.Position{}, func(events []event.Event) error {
		for i := range events {
			replay.Apply(&events[i])
		}
		return nil
	}, stop)
	for _, o := range c.set().Objects {
		want := replay.State(o.ID)
		for id, n := range c.nodes {
			if got := n.p.State(o.ID); !sameState(got, want) {
				c.t.Errorf("%s holds %+v of %s, a replay gives %+v", id, got, o.ID, want)
			}
		}
	}
}

func sameState(a, b *fold.State) bool {
	x, y := *a, *b
	x.Status.Extra, y.Status.Extra = nil, nil
	return x == y
}

// events returns what the log holds about an object, oldest first.
func (c *cluster) events(id object.ID, kinds ...event.Kind) []event.Event {
	c.t.Helper()
	all, err := c.j.History(context.Background(), journal.Query{Object: id, Kinds: kinds, Limit: 100_000})
	if err != nil {
		c.t.Fatal(err)
	}
	slices.Reverse(all)
	return all
}

// owned returns the ids of an engine's objects that have a check.
func (c *cluster) owned(id string) (all []object.ID) {
	v := c.store.View()
	for _, o := range c.checked() {
		if v.Owner(string(o.ID)) == id {
			all = append(all, o.ID)
		}
	}
	return all
}

// do has an engine carry out one command and returns its error.
func (n *node) do(id object.ID, command fold.Command) error {
	r, err := n.e.Do(context.Background(), []operate.Action{{Object: id, Command: command}})
	if err != nil {
		return err
	}
	return r.Results[0].Err
}

// program has an engine carry out one command about the program.
func (n *node) program(command program.Command) error {
	r, err := n.e.Do(context.Background(), []operate.Action{{Program: command}})
	if err != nil {
		return err
	}
	return r.Results[0].Err
}

// count returns a metric of an engine.
func (n *node) count(name string, label ...string) float64 {
	return gathered(n.c.t, n.reg, name, label...)
}
