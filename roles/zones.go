package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
)

// zoneWatch knows how the zones of workers do, as an engine sees them.
type zoneWatch struct {
	dispatcher queue.Dispatcher
	proj       *projection.Projection
	server     answers // of the queue
}

// zoneState is how one zone does.
type zoneState struct {
	name                    string
	workers, capacity, busy int
	waiting                 int       // checks that no worker has begun
	oldest                  time.Time // when the oldest of them was sent; zero = none
	deserted                time.Time // since when nobody serves it; zero = somebody does, or that is not known
	unheard                 bool      // it has no worker that was heard, and there may be some
	old                     []string  // workers that do not understand this engine's checks
}

// watchZones makes what answers for the zones of workers, in an engine with a queue.
func (a *appliance) watchZones(ctx context.Context) error {
	a.zones = &zoneWatch{dispatcher: a.dispatcher, proj: a.proj, server: answers{what: "the server of the queue"}}
	if a.s.Queue != "memory" {
		b, err := a.link(ctx, "queue-server", a.s.Queue)
		if err != nil {
			return err
		}
		a.zones.server.ask = b.Conn().FlushWithContext
	}
	a.dispatcher = hearing{a.dispatcher, a.zones}
	a.reg.MustRegister(newZoneMetrics(a.zones))
	a.troubles = append(a.troubles, a.zones.trouble)
	return nil
}

// trouble says in sentences why no worker can be heard at present.
func (w *zoneWatch) trouble() []string {
	if away := w.dispatcher.Trouble(); len(away) > 0 {
		return away
	}
	if silent := w.server.trouble(); len(silent) > 0 {
		return []string{silent[0] + ": no worker can be heard, and checks by workers wait"}
	}
	return nil
}

// known tells whether every live worker must have been heard of: the server has
// answered for so long that each had the time to announce itself.
func (w *zoneWatch) known() bool {
	fleet := w.dispatcher.Fleet()
	return fleet.Known() && w.server.steady(fleet.Settling())
}

// runner answers the checks of zones and of their host in front of another runner.
func (w *zoneWatch) runner(beneath engine.Runner) engine.Runner {
	if w == nil {
		return beneath
	}
	return zoneRunner{beneath, w}
}

// names returns the zones of the running config and those that workers serve now: a
// zone that nobody needs is forgotten with its last worker.
func (w *zoneWatch) names() []string {
	var all []string
	if host := w.proj.Set().Get(object.HostID(config.CanaryHost)); host != nil {
		for _, o := range host.Services {
			if config.IsZone(o) {
				all = append(all, o.Zone)
			}
		}
	}
	for _, z := range w.dispatcher.Fleet().Zones() {
		if z.Workers > 0 {
			all = append(all, z.Zone)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// states returns how every zone does, by name.
func (w *zoneWatch) states() []zoneState {
	names := w.names()
	waiting, workers := w.dispatcher.Waiting(), w.dispatcher.Fleet().Workers()
	all := make([]zoneState, 0, len(names))
	for _, name := range names {
		all = append(all, w.state(name, waiting, workers))
	}
	return all
}

func (w *zoneWatch) state(name string, waiting map[string]queue.Waiting, workers []queue.WorkerStatus) zoneState {
	z := zoneState{name: name, waiting: waiting[name].Items, oldest: waiting[name].Oldest}
	for _, m := range workers {
		if !slices.Contains(m.Zones, name) {
			continue
		}
		z.workers++
		z.capacity += m.Capacity
		z.busy += m.Running
		if m.Understands < queue.Version {
			z.old = append(z.old, m.ID)
		}
	}
	switch {
	case z.workers > 0:
	case !w.known():
		z.unheard = true
	default:
		// A worker may have come meanwhile.
		if z.deserted = w.dispatcher.Fleet().Since(name); z.deserted.IsZero() {
			z.deserted = time.Now()
		}
	}
	return z
}

// zoneRunner answers the checks of zones from what their workers say.
type zoneRunner struct {
	engine.Runner
	watch *zoneWatch
}

// Run answers the check of a zone, or of the host of zones, which must not depend on
// workers; others are executed by the runner beneath.
func (r zoneRunner) Run(ctx context.Context, j engine.Job) fold.Result {
	began := time.Now()
	res := fold.Result{Start: object.At(began)}
	switch {
	case config.IsZone(j.Object):
		r.watch.answer(ctx, j.Object.Zone, &res)
	case j.Object.ID == object.HostID(config.CanaryHost):
		res.Output = j.Object.Rule.Check.Dummy.Text
	default:
		return r.Runner.Run(ctx, j)
	}
	res.Took = time.Since(began).Microseconds()
	if j.Due != 0 {
		res.Latency = max(res.Start.Sub(j.Due).Microseconds(), 0)
	}
	return res
}

// answer fills in how a zone does.
func (w *zoneWatch) answer(ctx context.Context, zone string, res *fold.Result) {
	if !w.settle(ctx, zone) {
		res.State, res.Output = object.Unknown, "not looked at: jaque is stopping"
		return
	}
	z := w.state(zone, w.dispatcher.Waiting(), w.dispatcher.Fleet().Workers())
	res.State, res.Output, res.Perfdata = z.say(w.trouble())
}

// settlePause is how often a zone is looked at whose workers may not have been heard yet.
const settlePause = 250 * time.Millisecond

// settle waits until it is known whether a zone has workers: after a start and after
// the connection was away they get the time to announce themselves. It is false when
// ctx has ended.
func (w *zoneWatch) settle(ctx context.Context, zone string) bool {
	fleet := w.dispatcher.Fleet()
	for fleet.Live(zone) == 0 && !w.known() && len(w.trouble()) == 0 {
		if !pause(ctx, settlePause) {
			return false
		}
	}
	return ctx.Err() == nil
}

// say judges a zone; away says why no worker could be heard.
func (z *zoneState) say(away []string) (state object.State, text, perf string) {
	perf = fmt.Sprintf("workers=%d;;;0 capacity=%d;;;0 busy=%d;;;0;%d waiting=%d;;;0", z.workers, z.capacity, z.busy, z.capacity, z.waiting)
	switch {
	case len(away) > 0:
		return object.Unknown, strings.Join(away, "; "), ""
	case z.unheard:
		return object.Unknown, "the workers of zone " + z.name + " had no time to announce themselves yet", ""
	case z.workers == 0:
		return object.Critical, fmt.Sprintf("no worker serves zone %s since %s; start one with -target worker -zones %s",
			z.name, z.deserted.Format("2006-01-02 15:04:05 MST"), z.name), perf
	}
	workers := "workers"
	if z.workers == 1 {
		workers = "worker"
	}
	text = fmt.Sprintf("%d %s, %d of %d places busy", z.workers, workers, z.busy, z.capacity)
	if z.waiting > 0 {
		text += fmt.Sprintf(", %d waiting for a place", z.waiting)
	}
	if len(z.old) > 0 {
		return object.Warning, fmt.Sprintf("%s; upgrade %s: checks of this engine are not understood there", text, strings.Join(z.old, ", ")), perf
	}
	return object.OK, text, perf
}

// lookAtZones is how often a zone that has got its first worker, or has lost its
// last one, is noticed.
const lookAtZones = time.Second

// followZones has a zone checked as soon as it has got its first worker or has lost
// its last one, so that nobody waits for the interval.
func (a *appliance) followZones(context.Context) error {
	a.add(service.Service{Name: "zones", Needs: []string{"engine"}, Run: func(ctx context.Context, ready func()) error {
		ready()
		asking := make(chan struct{})
		go func() { defer close(asking); a.zones.server.run(ctx) }()
		defer func() { <-asking }()
		a.zones.follow(ctx, func(zone string) {
			report, err := a.engine.Do(ctx, []operate.Action{{Object: config.ZoneID(zone), Command: fold.Reschedule{Author: "jaque"}}})
			for _, r := range report.Results {
				err = errors.Join(err, r.Err)
			}
			if err != nil && ctx.Err() == nil {
				a.p.Logger.Warn("a zone is not checked at once, but with its interval", "zone", zone, "err", err)
			}
		})
		return nil
	}})
	return nil
}

// follow calls changed with each zone of the config whose workers have come or gone.
func (w *zoneWatch) follow(ctx context.Context, changed func(zone string)) {
	served := map[string]bool{}
	fleet := w.dispatcher.Fleet()
	for pause(ctx, lookAtZones) {
		for _, zone := range w.names() {
			is := fleet.Live(zone) > 0
			if !is && !w.known() {
				continue
			}
			was, known := served[zone]
			if served[zone] = is; known && was != is && w.proj.Set().Get(config.ZoneID(zone)) != nil {
				changed(zone)
			}
		}
	}
}

// zoneMetrics are computed when they are asked for.
type zoneMetrics struct {
	watch                                    *zoneWatch
	workers, capacity, busy, waiting, oldest *prometheus.Desc
}

func newZoneMetrics(w *zoneWatch) *zoneMetrics {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("jaque_zone_"+name, help, []string{"zone"}, nil)
	}
	return &zoneMetrics{
		watch:    w,
		workers:  desc("workers", "Workers that serve a zone now; without a value while the server of the queue does not answer."),
		capacity: desc("capacity", "Checks that the workers of a zone run at once at most; they may serve other zones too."),
		busy:     desc("busy", "Checks that the workers of a zone run, as they last said."),
		waiting:  desc("waiting", "Checks of a zone that no worker has begun."),
		oldest:   desc("oldest_waiting_seconds", "How long the oldest of them has waited; 0 = none waits."),
	}
}

// Describe names the metrics.
func (m *zoneMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.workers, m.capacity, m.busy, m.waiting, m.oldest} {
		ch <- d
	}
}

// Collect computes the metrics of each zone.
func (m *zoneMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, z := range m.watch.states() {
		gauge := func(d *prometheus.Desc, v float64) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, z.name)
		}
		if !z.unheard {
			gauge(m.workers, float64(z.workers))
			gauge(m.capacity, float64(z.capacity))
			gauge(m.busy, float64(z.busy))
		}
		gauge(m.waiting, float64(z.waiting))
		age := 0.0
		if !z.oldest.IsZero() {
			age = time.Since(z.oldest).Seconds()
		}
		gauge(m.oldest, age)
	}
}
