package roles

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/appliance/commandfile"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/forward"
	"jaque.sh/jaque/appliance/heap"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/listen"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
)

// appliance is one role, put together from its parts; those that a role does not
// have are nil. What is opened before the services run is closed by undo if the
// start fails half-way.
type appliance struct {
	s       Settings
	p       Process
	started time.Time
	reg     *prometheus.Registry

	config     *config.Config
	listener   *listen.Server
	bus        *bus.Bus // of the log; nil with -eventlog memory and in a worker
	journal    journal.Journal
	proj       *projection.Projection
	links      map[string]*bus.Bus // to other servers than the log's, by address
	store      coordination.Store  // of the role's own bucket
	meets      *bus.Bus            // where that is; nil = nowhere
	strangers  *strangers          // in an engine
	dispatcher queue.Dispatcher    // engine only
	workers    *localWorkers       // with -queue memory
	zones      *zoneWatch          // of an engine with a queue
	fleet      *queue.Fleet        // heard by a process that gives workers nothing to do
	zoned      bool                // the objects of a follower include zones; guarded by folding
	anyHeard   time.Time           // when the newest event was folded; guarded by folding
	zoneHeard  time.Time           // when an engine last said something of one; guarded by folding
	followed   *config.Config      // newest generation of a follower, nil = config; guarded by folding
	runner     *probe.Runner
	engine     *engine.Engine
	engines    *engines        // what the log says of them
	shares     shares          // of the engines in the objects
	forwarding *forward.Client // nil where no other engine can be met
	canary     *canaryWatch
	delivery   *delivering      // nil where nothing is delivered
	peer       *cluster.Answers // nil without a cluster
	peerUsers  *cluster.Sharing
	contacts   *contacts // nil where this process shares none with other engines
	reloader   *reloader
	sinks      *exporting
	commands   *commandfile.Pipe // nil without -command-file
	group      *service.Group
	services   []service.Service
	troubles   []func() []string      // each says in sentences what is wrong with a part
	instance   string                 // of this process run
	waiting    atomic.Pointer[string] // what the start of a process waits for that needs another one's log
	live       atomic.Bool            // the projection has caught up with the log
	folding    sync.Mutex             // held while a follower folds, and while its config is switched
	logServer  *answers               // of a log that is in another process
	servers    []func() []string      // each says in a sentence why a server is away
	submitting *submitting            // nil where commands are not handed on
	silence    *silence               // whether an engine still writes, in a process that only shows the log
	heard      []func(*event.Event)   // who asks for each event that a follower has folded
	undo       []func() error
}

// step is one part of a start. It adds the services that it makes.
type step func(context.Context) error

// assemble puts a role together and runs it until ctx ends.
func assemble(ctx context.Context, s Settings, p Process) error {
	a := &appliance{s: s, p: p, started: time.Now(), reg: prometheus.NewRegistry()}
	for _, do := range a.steps() {
		// A stop while a part waits for something is no failure of the part.
		if err := do(ctx); err != nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) {
			return errors.Join(err, a.cleanUp())
		}
		if ctx.Err() != nil {
			p.Logger.Info("stopping", "reason", context.Cause(ctx).Error())
			return a.cleanUp()
		}
	}
	return causeOfEnd(a.group.Run(ctx))
}

// steps returns how the role is put together, in order.
func (a *appliance) steps() []step {
	switch a.s.Role.Name {
	case Engine:
		return []step{
			a.begin, a.loadConfig, a.openListener, a.openCommandFile, a.openLog, a.openCoordination, a.openForwarding, a.openQueue, a.watchZones, a.makeFiles,
			a.makeCanary, a.makeEngine, a.takeForwarded, a.followZones, a.makeDelivery, a.makeSinks, a.readCommandFile, a.takeCommands, a.makeWeb,
		}
	case Worker:
		return []step{a.begin, a.openListener, a.ignoreReload, a.makeWorker, a.serveBare}
	case UI:
		return []step{a.begin, a.loadConfig, a.openListener, a.answerEarly, a.attachLog, a.follow, a.openSubmitting, a.watchFleet, a.makeFiles, a.ignoreReload, a.makeUI, a.makeWeb}
	case Sink:
		return []step{a.begin, a.loadConfig, a.chooseSinks, a.openListener, a.answerEarly, a.attachLog, a.join(coordination.Sinks), a.makeSinks, a.serveBare}
	case Notifier:
		return []step{a.begin, a.loadConfig, a.openListener, a.answerEarly, a.attachLog, a.follow, a.openNotifiers, a.makeNotifier, a.serveBare}
	}
	return []step{
		a.begin, a.loadConfig, a.openListener, a.openCommandFile, a.openLog, a.openCoordination, a.openForwarding, a.makeFiles,
		a.makeCanary, a.makeEngine, a.takeForwarded, a.makeDelivery, a.makeSinks, a.readCommandFile, a.takeCommands, a.makeWeb,
	}
}

// cleanUp closes what was opened, last first.
func (a *appliance) cleanUp() error {
	var errs []error
	for i := len(a.undo) - 1; i >= 0; i-- {
		errs = append(errs, a.undo[i]())
	}
	return errors.Join(errs...)
}

func (a *appliance) add(s service.Service) {
	if a.p.wrap != nil {
		s = a.p.wrap(s)
	}
	a.services = append(a.services, s)
}

// names are those of the services so far.
func (a *appliance) names() []string {
	var names []string
	for _, s := range a.services {
		names = append(names, s.Name)
	}
	return names
}

// onReady calls then when the service has become ready.
func onReady(s service.Service, then func()) service.Service {
	run := s.Run
	s.Run = func(ctx context.Context, ready func()) error {
		return run(ctx, func() { ready(); then() })
	}
	return s
}

// trouble says in sentences what is wrong with this process.
func (a *appliance) trouble() []string {
	var all []string
	for _, part := range a.troubles {
		all = append(all, part()...)
	}
	return all
}

// begin makes what every role has.
func (a *appliance) begin(context.Context) error {
	a.instance, a.engines = newInstance(), &engines{}
	a.reg.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(a.p.Version, a.s.Role.Name))
	a.add(heap.Service(a.p.CollectorSet))
	return nil
}

// buildInfo is the fact of which build runs.
func buildInfo(version string, role Name) prometheus.Collector {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jaque_build_info", Help: "Always 1; the labels say which build runs in which role.",
	}, []string{"version", "role", "go"})
	g.WithLabelValues(version, string(role), runtime.Version()).Set(1)
	return g
}

func (a *appliance) configOptions() config.Options {
	o := config.Options{AllZonesLocal: a.s.Role.Name == All, Zones: a.s.Role.Name == Engine}
	switch a.s.Role.Name {
	case Engine:
		o.Elsewhere = a.s.Queue != "memory"
	case Notifier:
		o.Elsewhere = true
	case UI, Sink: // they execute nothing
		o.IsPlugin = func(string) bool { return true }
	}
	return o
}

func (a *appliance) loadConfig(context.Context) error {
	c, problems := config.Load(a.s.Config, a.configOptions())
	if len(problems) > 0 {
		return problems
	}
	for _, w := range c.Warnings {
		a.p.Logger.Warn("config", "warning", w.String())
	}
	a.config = c
	return nil
}

func (a *appliance) openListener(ctx context.Context) (err error) {
	a.listener = a.p.Listener
	if a.listener == nil {
		if a.listener, err = listen.Open(ctx, a.s.Listen, "-listen", a.p.Logger); err != nil {
			return err
		}
	}
	a.undo = append(a.undo, a.listener.Close)
	return nil
}
