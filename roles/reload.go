package roles

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// reloader reads the config again on a signal: all or nothing.
type reloader struct {
	a      *appliance
	checks *checks       // of the engine; nil without one
	asked  chan struct{} // capacity 1: a command wants it
	ok     prometheus.Gauge
	at     prometheus.Gauge
	failed prometheus.Counter

	mu     sync.Mutex // guards result
	result web.Reload
}

func newReloader(a *appliance, c *checks) *reloader {
	r := &reloader{
		a: a, checks: c, asked: make(chan struct{}, 1),
		ok: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_config_last_reload_successful",
			Help: "1 if the config in use is the one that was read last, else 0.",
		}),
		at: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_config_last_reload_success_timestamp_seconds",
			Help: "When the config in use was read.",
		}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_config_reload_failures_total",
			Help: "Reloads that changed nothing because the config was wrong.",
		}),
	}
	a.reg.MustRegister(r.ok, r.at, r.failed)
	r.succeeded(a.config)
	return r
}

// ask wants a reload soon; further wishes until then are the same one.
func (r *reloader) ask() {
	select {
	case r.asked <- struct{}{}:
	default:
	}
}

// run reloads once per signal or wish until ctx ends.
func (r *reloader) run(ctx context.Context, ready func()) error {
	ready()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.a.p.Reload:
			r.reload(ctx)
		case <-r.asked:
			r.reload(ctx)
		}
	}
}

// reload switches to the config as it stands now; a wrong one changes nothing
// and says so in the log, a metric and on the dashboard.
func (r *reloader) reload(ctx context.Context) {
	began, log := time.Now(), r.a.p.Logger
	next, problems := config.Load(r.a.s.Config, r.a.configOptions())
	if len(problems) > 0 {
		var lines []string
		for _, p := range problems {
			lines = append(lines, p.String())
			log.Error("config problem", "problem", p.String())
		}
		log.Error("config is wrong, the running one is kept", "config", r.a.s.Config, "problems", len(problems))
		r.kept(lines)
		return
	}
	change, err := r.switchTo(ctx, next)
	if err != nil {
		log.Error("config was not switched, the running one is kept", "err", err)
		r.kept([]string{fmt.Sprintf("the engine did not take it: %v", err)})
		return
	}
	if !slices.Equal(next.PluginPath, r.a.config.PluginPath) {
		log.Warn("settings.plugin_path changed, which takes effect at the next start")
	}
	if r.a.canary != nil {
		r.a.canary.use(next.Set)
	}
	r.a.workers.use(ctx, next.Set)
	if r.a.delivery != nil {
		r.a.delivery.reloaded(next)
	}
	if r.a.sinks != nil {
		r.a.sinks.use(next)
	}
	r.succeeded(next)
	log.Info("config reloaded", "summary", next.Summary(), "added", len(change.Added),
		"removed", len(change.Removed), "changed", len(change.Changed), "took", time.Since(began))
}

// switchTo lets the objects be those of another generation and returns what that
// changed: by the engine, or where the log is only followed between two batches of it.
func (r *reloader) switchTo(ctx context.Context, next *config.Config) (config.Change, error) {
	if r.a.engine == nil {
		r.a.folding.Lock()
		defer r.a.folding.Unlock()
		set := r.a.followedSet(next)
		change := config.Diff(r.a.proj.Set(), set)
		r.a.proj.Replace(set)
		return change, nil
	}
	change := config.Diff(r.a.proj.Set(), next.Set)
	// The checks know both generations' objects before the engine asks for one.
	r.checks.use(next)
	return change, r.a.engine.Reload(ctx, next.Set, engine.Change(change))
}

func (r *reloader) succeeded(c *config.Config) {
	var warnings []string
	for _, w := range c.Warnings {
		warnings = append(warnings, w.String())
	}
	r.ok.Set(1)
	r.at.SetToCurrentTime()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result = web.Reload{At: time.Now(), OK: true, Generation: c.Set.Generation, Problems: warnings}
}

func (r *reloader) kept(problems []string) {
	r.ok.Set(0)
	r.failed.Inc()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.result.At, r.result.OK, r.result.Problems = time.Now(), false, problems
}

// last returns the outcome of the last load.
func (r *reloader) last() web.Reload {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.result
}
