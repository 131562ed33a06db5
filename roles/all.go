package roles

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/remote"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// makeRunner makes what executes checks and commands on this machine.
func (a *appliance) makeRunner(path []string) error {
	return a.newRunner(probe.Options{PluginPath: path, States: a.present})
}

func (a *appliance) newRunner(o probe.Options) (err error) {
	o.Registerer, o.Log = a.reg, a.p.Logger
	if a.runner, err = probe.New(o); err != nil {
		return err
	}
	a.undo = append(a.undo, func() error { a.runner.Close(); return nil })
	a.add(service.Service{Name: "checks", Run: func(ctx context.Context, ready func()) error {
		ready()
		<-ctx.Done()
		a.runner.Close()
		return nil
	}})
	return nil
}

// prober executes the engine's checks: in this process, or by workers.
func (a *appliance) prober() remote.Prober {
	if a.dispatcher == nil {
		return a.runner
	}
	return remote.NewRunner(a.dispatcher, a.runner)
}

// makeEngine makes what executes checks, the check loop, and the reload.
func (a *appliance) makeEngine(context.Context) (err error) {
	if err := a.makeRunner(a.config.PluginPath); err != nil {
		return err
	}
	checks := newChecks(a.prober(), a.runner, a.proj, a.config)
	a.strangers = &strangers{instance: a.instance, ttl: a.s.HeartbeatTTL, view: a.store.View}
	a.engines.recalled = a.strangers.recalled
	a.engine, err = engine.New(engine.Options{
		ID: a.s.EngineID, Instance: a.instance, Journal: heardJournal{a.journal, a.hearEngines}, Projection: a.proj, Concurrency: a.concurrency(),
		Runner: canaryRunner{a.zones.runner(checks), a.canary}, Handlers: checks, Coordinator: registering{a.store, a.strangers, a.before}, Logger: a.p.Logger, Registerer: a.reg,
		Serves: a.serves(), Delivery: a.s.Notify.Delivery, Forward: a.forwarder(), MakeUp: 3 * a.s.HeartbeatTTL,
		Halted: func() bool { return !a.store.Alive() },
	})
	if err != nil {
		return err
	}
	a.troubles = append(a.troubles, a.engine.Trouble)
	a.recallEngines("journal")
	loop := onReady(a.engine.Service(a.names()...), func() { a.live.Store(true) })
	loop.StopTimeout = 20 * time.Second
	a.add(loop)
	a.followStrangers()
	a.reloader = newReloader(a, checks)
	a.add(service.Service{Name: "reload", Needs: []string{"engine"}, Run: a.reloader.run})
	return nil
}

// hearEngines takes in what the log says of engines.
func (a *appliance) hearEngines(e *event.Event) {
	a.engines.hear(e)
	a.strangers.hear(e)
}

// before returns the membership into which this engine is about to come.
func (a *appliance) before(ctx context.Context) (membership.View, error) {
	if a.meets == nil {
		return membership.View{}, errors.New("no other process reaches this log")
	}
	past, err := coordination.Before(ctx, a.meets.Conn(), a.meets.Names().Members, coordination.Engines)
	if err == nil && past.Hidden {
		err = errors.New("something else stands in place of the view")
	}
	return past.View, err
}

// remoteChecks is how many checks wait for workers at once: they cost this process
// little more than memory.
const remoteChecks = 20_000

// concurrency bounds the checks under way; 0 = the engine's own bound.
func (a *appliance) concurrency() int {
	if a.dispatcher == nil {
		return 0
	}
	return remoteChecks
}

// present tells an object's state to aggregate checks.
func (a *appliance) present(id object.ID) (object.State, bool) {
	s := a.proj.State(id)
	return s.Status.State, s.Status.Checked
}

func (a *appliance) makeWeb(ctx context.Context) error {
	o := web.Options{
		Projection: a.proj, History: a.journal, Status: a.status, Instance: a.instance,
		Unready: a.unready, Failed: a.failed, Trouble: a.trouble,
		Metrics: promhttp.HandlerFor(a.reg, promhttp.HandlerOpts{Registry: a.reg}), Registerer: a.reg,
		Token: a.s.APIToken, Public: a.config.HTTP.PublicReads, Hosts: a.webNames(), Stop: ctx.Done(), Logger: a.p.Logger,
	}
	if a.engine != nil {
		o.Commands = commander{a.engine}
	}
	if a.s.Role.Name == UI || a.engine != nil {
		o.Owner = func(id object.ID) string { return a.members().Owner(string(id)) }
	}
	if a.silence != nil {
		o.Old = func() bool { return len(a.old()) > 0 }
	}
	if a.submitting != nil {
		o.Submit = a.submitting
	}
	o.ReadsOnly = a.readsOnly()
	if a.canary != nil {
		o.Canary = a.canary.web
	}
	if a.zones != nil || a.fleet != nil {
		o.Fleet = a.fleetForWeb
	}
	if a.delivery != nil {
		o.Delivery, o.Attempts, o.TestNotify = a.delivery.forWeb, a.delivery.Attempts, a.delivery.try
	}
	h, err := web.New(o)
	if err != nil {
		return err
	}
	return a.serve(h, "journal")
}

// members is the membership of the engines, as this one acts on it or, in a process
// that only follows the log, as that tells.
func (a *appliance) members() membership.View {
	if a.engine != nil {
		return a.engine.View()
	}
	return a.engines.view()
}

// unready says which parts are not ready, and what keeps the engine from its work.
func (a *appliance) unready() []string {
	all := a.group.NotReady()
	if a.engine != nil {
		all = append(append(all, a.engine.Trouble()...), a.awayServers()...)
	}
	all = a.withPeers(all)
	if a.s.Role.Name == UI {
		all = append(all, a.away()...)
	}
	return all
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
	s := web.Status{Version: a.p.Version, Role: string(a.s.Role.Name), Started: a.started}
	if a.reloader != nil {
		s.Reload = a.reloader.last()
	}
	view := a.members()
	s.Members, s.Engines = memberIDs(view), a.shares.of(a.proj.Set(), view, a.engines.all(), time.Now())
	if a.s.Role.Name == UI {
		s.Reload = web.Reload{At: a.started, OK: true, Generation: a.config.Set.Generation}
	}
	if a.engine == nil {
		return s
	}
	s.EngineID, s.Epoch, s.Latency = a.engine.ID(), uint64(view.Epoch), web.Latency(a.engine.Latency())
	return s
}
