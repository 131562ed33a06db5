package roles

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/commandfile"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/heap"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/listen"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// appliance is role all, put together from its parts. What is opened before the
// services run is closed by undo if the start fails half-way.
type appliance struct {
	s       Settings
	p       Process
	started time.Time
	reg     *prometheus.Registry

	config   *config.Config
	listener *listen.Server
	bus      *bus.Bus // nil with -eventlog memory
	journal  journal.Journal
	proj     *projection.Projection
	runner   *probe.Runner
	engine   *engine.Engine
	canary   *canaryWatch
	delivery *delivering
	reloader *reloader
	commands *commandfile.Pipe // nil without -command-file
	group    *service.Group
	services []service.Service
	instance string      // of this process run
	live     atomic.Bool // the engine has caught up with the log
	undo     []func() error
}

// runAll puts role all together and runs it until ctx ends.
func runAll(ctx context.Context, s Settings, p Process) error {
	a := &appliance{s: s, p: p, started: time.Now(), reg: prometheus.NewRegistry()}
	for _, step := range []func(context.Context) error{
		a.loadConfig, a.openListener, a.openCommandFile, a.openLog, a.makeFiles, a.makeCanary, a.makeEngine, a.makeDelivery, a.readCommandFile, a.makeWeb,
	} {
		if err := step(ctx); err != nil {
			return errors.Join(err, a.cleanUp())
		}
		if ctx.Err() != nil {
			p.Logger.Info("stopping", "reason", context.Cause(ctx).Error())
			return a.cleanUp()
		}
	}
	return a.group.Run(ctx)
}

// cleanUp closes what was opened, last first.
func (a *appliance) cleanUp() error {
	var errs []error
	for i := len(a.undo) - 1; i >= 0; i-- {
		errs = append(errs, a.undo[i]())
	}
	return errors.Join(errs...)
}

func (a *appliance) configOptions() config.Options { return config.Options{AllZonesLocal: true} }

func (a *appliance) loadConfig(context.Context) error {
	a.reg.MustRegister(collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo(a.p.Version, a.s.Role.Name))
	c, problems := config.Load(a.s.Config, a.configOptions())
	if len(problems) > 0 {
		return problems
	}
	for _, w := range c.Warnings {
		a.p.Logger.Warn("config", "warning", w.String())
	}
	a.config = c
	a.add(heap.Service(a.p.CollectorSet))
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

// openLog opens the server and the journal on it. The journal closes before the
// server, after everything that writes.
func (a *appliance) openLog(ctx context.Context) (err error) {
	o := journal.Options{Logger: a.p.Logger, Registerer: a.reg, Zone: a.zone}
	a.proj = projection.New(a.config.Set)
	if a.s.EventLog == "memory" {
		a.journal = journal.NewMemory(o)
	} else if err := a.openBus(ctx, o); err != nil {
		return err
	}
	closing := func() error {
		end, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return a.journal.Close(end)
	}
	a.undo = append(a.undo, closing)
	a.add(service.Service{Name: "journal", Needs: a.logNeeds(), Run: func(ctx context.Context, ready func()) error {
		ready()
		<-ctx.Done()
		return closing()
	}})
	return nil
}

func (a *appliance) openBus(ctx context.Context, o journal.Options) (err error) {
	b := bus.Options{Data: a.s.Data, Logger: a.p.Logger, Registerer: a.reg, Credentials: a.s.NATS.Creds}
	if external(a.s.EventLog) {
		b.URL = a.s.EventLog
	} else if b.Data == "" {
		return errors.New("there is no home folder to keep the event log in; name a folder with -data")
	}
	if b.TLS, err = a.s.NATS.tlsConfig(); err != nil {
		return err
	}
	if a.bus, err = bus.Open(ctx, b); err != nil {
		return err
	}
	a.undo = append(a.undo, func() error { return a.bus.Close(context.Background()) })
	a.add(service.Service{Name: "bus", StopTimeout: 30 * time.Second, Run: a.bus.Run})
	// Without a bound each answer would have 5 s, which is short on a busy machine.
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	a.journal, err = journal.OpenJetStream(ctx, a.bus, o)
	return err
}

func (a *appliance) logNeeds() []string {
	if a.bus == nil {
		return nil
	}
	return []string{"bus"}
}

func (a *appliance) add(s service.Service) { a.services = append(a.services, s) }

// zone returns the zone of an object of the running generation.
func (a *appliance) zone(id object.ID) string {
	if o := a.proj.Set().Get(id); o != nil {
		return o.Zone
	}
	return "default"
}

// makeEngine makes what executes checks, the check loop, and the reload.
func (a *appliance) makeEngine(context.Context) (err error) {
	a.runner, err = probe.New(probe.Options{
		PluginPath: a.config.PluginPath, States: a.present,
		Registerer: a.reg, Log: a.p.Logger,
	})
	if err != nil {
		return err
	}
	a.undo = append(a.undo, func() error { a.runner.Close(); return nil })
	a.add(service.Service{Name: "checks", Run: func(ctx context.Context, ready func()) error {
		ready()
		<-ctx.Done()
		a.runner.Close()
		return nil
	}})
	checks := newChecks(a.runner, a.proj, a.config)
	a.instance = rand.Text()[:12]
	a.engine, err = engine.New(engine.Options{
		ID: a.s.EngineID, Instance: a.instance, Journal: a.journal, Projection: a.proj,
		Runner: canaryRunner{checks, a.canary}, Handlers: checks, Coordinator: &coordination.Memory{}, Logger: a.p.Logger, Registerer: a.reg,
	})
	if err != nil {
		return err
	}
	var needs []string
	for _, s := range a.services {
		needs = append(needs, s.Name)
	}
	loop := onReady(a.engine.Service(needs...), func() { a.live.Store(true) })
	loop.StopTimeout = 20 * time.Second
	a.add(loop)
	a.reloader = newReloader(a, checks)
	a.add(service.Service{Name: "reload", Needs: []string{"engine"}, Run: a.reloader.run})
	return nil
}

// present tells an object's state to aggregate checks.
func (a *appliance) present(id object.ID) (object.State, bool) {
	s := a.proj.State(id)
	return s.Status.State, s.Status.Checked
}

func (a *appliance) makeWeb(ctx context.Context) error {
	h, err := web.New(web.Options{
		Projection: a.proj, History: a.journal, Commands: commander{a.engine}, Status: a.status, Instance: a.instance,
		Unready: func() []string { return append(a.group.NotReady(), a.engine.Trouble()...) }, Trouble: a.trouble,
		Canary: a.canary.web, Delivery: a.delivery.forWeb, Attempts: a.delivery.Attempts, TestNotify: a.delivery.try,
		Metrics: promhttp.HandlerFor(a.reg, promhttp.HandlerOpts{Registry: a.reg}), Registerer: a.reg,
		Token: a.s.APIToken, Public: a.config.HTTP.PublicReads, Hosts: a.webNames(), Stop: ctx.Done(), Logger: a.p.Logger,
	})
	if err != nil {
		return err
	}
	a.add(onReady(a.listener.Service("http", h, "journal"), func() {
		if a.p.Started != nil {
			a.p.Started(a.listener.Addr())
		}
	}))
	a.group, err = service.New(a.p.Logger, a.services)
	return err
}

// trouble says in sentences what is wrong with this process.
func (a *appliance) trouble() []string { return append(a.engine.Trouble(), a.delivery.Trouble()...) }

// onReady calls then when the service has become ready.
func onReady(s service.Service, then func()) service.Service {
	run := s.Run
	s.Run = func(ctx context.Context, ready func()) error {
		return run(ctx, func() { ready(); then() })
	}
	return s
}

// webNames are the names under which the listener may be reached.
func (a *appliance) webNames() []string {
	names := slices.Clone(a.config.HTTP.Hosts)
	if host, _, err := net.SplitHostPort(a.s.Listen); err == nil && host != "" {
		names = append(names, host)
	}
	return names
}

func (a *appliance) status() web.Status {
	view := a.engine.View()
	members := make([]string, len(view.Members))
	for i, m := range view.Members {
		members[i] = m.ID
	}
	return web.Status{
		Version: a.p.Version, Role: string(a.s.Role.Name), EngineID: a.engine.ID(),
		Epoch: uint64(view.Epoch), Members: members, Started: a.started,
		Latency: web.Latency(a.engine.Latency()), Reload: a.reloader.last(),
	}
}

// buildInfo is the fact of which build runs.
func buildInfo(version string, role Name) prometheus.Collector {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jaque_build_info", Help: "Always 1; the labels say which build runs in which role.",
	}, []string{"version", "role", "go"})
	g.WithLabelValues(version, string(role), runtime.Version()).Set(1)
	return g
}
