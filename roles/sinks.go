package roles

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/position"
	"jaque.sh/jaque/appliance/sink/target"
)

// exporting runs the sinks of this process.
type exporting struct {
	*sink.Group
	a         *appliance
	metrics   *sink.Metrics
	positions sink.Positions
	shared    coordination.Store // of the role's members, which share the sinks

	mu     sync.Mutex
	config *config.Config // guarded by mu
}

// chooseSinks refuses what the role may not run, before anything is opened.
func (a *appliance) chooseSinks(context.Context) error {
	var problems []string
	for _, name := range a.s.Sinks {
		if _, ok := a.config.Sinks[name]; !ok {
			known := sortedNames(a.config.Sinks)
			problems = append(problems, fmt.Sprintf("-sinks: the config declares no sink %q%s", name, orElse(didYouMean(name, known), known)))
		}
	}
	for _, name := range sortedNames(a.config.Sinks) {
		if a.config.Sinks[name].Input == target.Events && a.selected(name) {
			problems = append(problems, fmt.Sprintf("sink %s has input: %q, which -target sink does not run; engine and all do: "+
				"name those that this process is to run with -sinks", name, target.Events))
		}
	}
	if len(problems) > 0 {
		return &UsageError{problems}
	}
	if len(a.sinksOf(a.config)) == 0 {
		a.p.Logger.Warn("config declares no sink for this role, nothing is exported", "config", a.s.Config)
	}
	return nil
}

// orElse returns a hint, without one what could have been meant.
func orElse(hint string, known []string) string {
	switch {
	case hint != "":
		return hint
	case len(known) == 0:
		return "; it declares none"
	}
	return fmt.Sprintf("; it declares %v", known)
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// selected tells whether -sinks lets this process run a sink.
func (a *appliance) selected(name string) bool {
	return len(a.s.Sinks) == 0 || slices.Contains(a.s.Sinks, name)
}

// sinksOf returns the sinks of a config that the role runs, by name.
func (a *appliance) sinksOf(c *config.Config) map[string]config.Sink {
	all := maps.Clone(c.Sinks)
	maps.DeleteFunc(all, func(name string, s config.Sink) bool {
		switch a.s.Role.Name {
		case Engine:
			return s.Input != target.Events
		case Sink:
			return s.Input != target.Metrics || !a.selected(name)
		}
		return false
	})
	return all
}

// serves says what this process can own among its peers.
func (a *appliance) serves() string {
	switch a.s.Role.Name {
	case Sink:
		return membership.Serves(sortedNames(a.sinksOf(a.config))...)
	case Engine: // whatever a reload declares
		return membership.Serves(target.Events)
	}
	return ""
}

// candidates are the members of a view that can run a sink.
func (a *appliance) candidates(v membership.View, s config.Sink) membership.View {
	if a.s.Role.Name == Sink {
		return v.Serving(s.Name)
	}
	return v.Serving(s.Input)
}

// makeSinks makes what exports measurements and events. The names are shared among the
// members of the role: in role sink among those that serve them, else among the engines.
// An engine's sinks stop before it leaves, so that the next owner finds their positions.
func (a *appliance) makeSinks(context.Context) error {
	x := &exporting{a: a, shared: a.store, metrics: sink.NewMetrics(a.reg), positions: &sink.Memory{}}
	if a.bus != nil {
		keys, err := position.New(a.bus.Conn(), a.bus.Names().State, position.Options{Logger: a.p.Logger, Registerer: a.reg})
		if err != nil {
			return err
		}
		x.positions = keys
	}
	x.Group = sink.NewGroup(x.metrics, a.p.Logger)
	needs := []string{"journal", "engine"}
	if a.s.Role.Name == Sink {
		needs = []string{"journal", "membership"}
		a.add(service.Service{Name: "reload", Run: x.noReload})
	}
	a.sinks = x
	a.troubles = append(a.troubles, x.Trouble)
	x.use(a.config)
	a.add(service.Service{Name: "sinks", Needs: needs, StopTimeout: 15 * time.Second, Run: x.run})
	return nil
}

// run runs the sinks until ctx ends, and follows the membership meanwhile.
func (x *exporting) run(ctx context.Context, ready func()) error {
	cancel := x.shared.Watch(func(membership.View) { x.share() })
	defer cancel()
	x.share()
	err := x.Run(ctx, ready)
	if x.a.s.Role.Name != Sink {
		return err // the engine leaves when all of its process has stopped
	}
	// The others need not wait until the heartbeat has expired.
	end, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	if leave := x.shared.Leave(end, x.a.memberID()); leave != nil {
		x.a.p.Logger.Warn("the other processes of sinks learn only later that this one stops", "err", leave)
	}
	return err
}

// use switches to the sinks of another generation of the config.
func (x *exporting) use(c *config.Config) {
	x.mu.Lock()
	x.config = c
	x.mu.Unlock()
	x.share()
}

// share lets the group run what is this process's to run.
func (x *exporting) share() {
	x.mu.Lock()
	defer x.mu.Unlock()
	wanted := map[string]sink.Wanted{}
	for name, declared := range x.a.sinksOf(x.config) {
		if x.a.candidates(x.shared.View(), declared).Owner(name) != x.a.memberID() {
			continue
		}
		c := x.config
		wanted[name] = sink.Wanted{Declared: declared, Make: func() (*sink.Sink, error) { return x.make(c, declared) }}
	}
	x.Use(wanted)
}

// make makes one sink.
func (x *exporting) make(c *config.Config, declared config.Sink) (*sink.Sink, error) {
	a := x.a
	setup := declared.Setup(c.Folder)
	setup.Hostname, setup.Version = a.s.Host, a.p.Version
	made, err := target.New(setup)
	if err != nil {
		return nil, err
	}
	o := sink.Options{
		Name: declared.Name, Source: a.journal, Positions: x.positions, Object: a.proj.Set().Get,
		Opened: a.started, Metrics: x.metrics, Logger: a.p.Logger,
	}
	if declared.Input == target.Events {
		o.Encode = appendEvent
	}
	made.Fill(&o)
	return sink.New(o)
}

// noReload answers the signal for a new config in role sink.
func (x *exporting) noReload(ctx context.Context, ready func()) error {
	ready()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-x.a.p.Reload:
			x.a.p.Logger.Warn("sinks are not reloaded; restart this process to pick up sinks that were added, removed or changed")
		}
	}
}
