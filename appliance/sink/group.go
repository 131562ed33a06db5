package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
)

// Wanted is a sink that is to run.
type Wanted struct {
	// Declared is what the sink is made from; one that changes is made anew.
	Declared any
	// Make makes the sink. One that cannot be made is told as trouble.
	Make func() (*Sink, error)
}

// Group runs the sinks of a process, which come and go. Create it with NewGroup; any
// goroutine may call its methods.
type Group struct {
	log     *slog.Logger
	metrics *Metrics
	changed chan struct{} // capacity 1
	ended   chan *member

	mu      sync.Mutex
	wanted  map[string]Wanted // guarded by mu
	running map[string]*member
}

// member is a sink that runs, or could not be made.
type member struct {
	name     string
	declared any
	sink     *Sink // nil = it could not be made
	failed   error // why
	stop     context.CancelFunc
	stopping bool
	err      error // of its end
}

// NewGroup returns a group without sinks. Metrics are those that its sinks have.
func NewGroup(metrics *Metrics, logger *slog.Logger) *Group {
	return &Group{
		log: logger, metrics: metrics, changed: make(chan struct{}, 1), ended: make(chan *member),
		wanted: map[string]Wanted{}, running: map[string]*member{},
	}
}

// Use says which sinks are to run from now on. Those that are the same as before are
// not touched; it does not wait for the others.
func (g *Group) Use(wanted map[string]Wanted) {
	g.mu.Lock()
	g.wanted = maps.Clone(wanted)
	g.mu.Unlock()
	signal(g.changed)
}

// Run runs the sinks until ctx ends. It fails as soon as one of them cannot follow
// the log any more: a process must not go on with a part of its work.
func (g *Group) Run(ctx context.Context, ready func()) error {
	ready()
	var failure error
	for failure == nil && ctx.Err() == nil {
		g.reconcile(ctx)
		select {
		case <-ctx.Done():
		case <-g.changed:
		case m := <-g.ended:
			failure = g.gone(m)
		}
	}
	g.mu.Lock()
	left := 0
	for _, m := range g.running {
		if m.sink != nil {
			m.stop()
			m.stopping = true
			left++
		}
	}
	g.mu.Unlock()
	for ; left > 0; left-- {
		failure = errors.Join(failure, g.gone(<-g.ended))
	}
	return failure
}

// reconcile stops what is not wanted and starts what is. A sink that changed starts
// when the one before it has ended.
func (g *Group) reconcile(ctx context.Context) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for name, m := range g.running {
		if want, ok := g.wanted[name]; ok && reflect.DeepEqual(want.Declared, m.declared) || m.stopping {
			continue
		}
		if m.sink == nil {
			delete(g.running, name)
			g.metrics.forget(name)
			continue
		}
		m.stopping = true
		m.stop()
	}
	for _, name := range slices.Sorted(maps.Keys(g.wanted)) {
		if g.running[name] == nil {
			g.running[name] = g.start(ctx, name, g.wanted[name])
		}
	}
}

// start makes a sink and lets it run.
func (g *Group) start(ctx context.Context, name string, w Wanted) *member {
	m := &member{name: name, declared: w.Declared}
	if m.sink, m.failed = w.Make(); m.failed != nil {
		m.sink = nil
		g.log.Error("sink cannot be made, the others run", "sink", name, "err", m.failed)
		g.metrics.running(name, false)
		return m
	}
	own, stop := context.WithCancel(ctx)
	m.stop = stop
	g.log.Info("sink started", "sink", name)
	g.metrics.running(name, true)
	go func() {
		m.err = m.sink.run(own, func() {})
		g.ended <- m
	}()
	return m
}

// gone takes note of a sink that has ended. Its end is an error unless it was asked for.
func (g *Group) gone(m *member) error {
	m.stop()
	g.mu.Lock()
	asked := m.stopping
	delete(g.running, m.name)
	g.mu.Unlock()
	g.metrics.forget(m.name)
	if m.err == nil {
		g.log.Info("sink stopped", "sink", m.name)
		return nil
	}
	err := fmt.Errorf("sink %s: %w", m.name, m.err)
	if asked {
		g.log.Warn("sink did not stop in order", "sink", m.name, "err", m.err)
		return nil
	}
	return err
}

// Named is how one sink of a group does.
type Named struct {
	Name   string
	Failed string // why it could not be made; "" = it runs
	State
}

// States returns how the sinks do, by name.
func (g *Group) States() []Named {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []Named
	for _, name := range slices.Sorted(maps.Keys(g.running)) {
		m := g.running[name]
		if m.sink == nil {
			all = append(all, Named{Name: name, Failed: m.failed.Error()})
			continue
		}
		all = append(all, Named{Name: name, State: m.sink.State()})
	}
	return all
}

// Trouble says in sentences what is wrong with any of them.
func (g *Group) Trouble() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(g.running)) {
		m := g.running[name]
		if m.sink == nil {
			all = append(all, fmt.Sprintf("sink %s: it does not run: %v", name, m.failed))
			continue
		}
		all = append(all, m.sink.Trouble()...)
	}
	return all
}
