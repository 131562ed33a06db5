package probe

import (
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe/spawn"
)

// Options of a Runner. The zero value is usable.
type Options struct {
	// Concurrency is how many checks run at once; 0 = 512.
	Concurrency int
	// PluginPath are folders searched for plugins before the usual ones.
	PluginPath []string
	// Env are KEY=value pairs that every plugin gets on top of a clean
	// environment; a pair replaces the built-in one of its name.
	Env []string
	// States tells an object's present state to aggregate checks, known false
	// while there is none.
	States func(object.ID) (s object.State, known bool)
	// Roots are the certificate authorities to trust; nil = the system's.
	Roots *x509.CertPool
	// Resolver is the file that names the system's name servers for dns
	// checks; "" = /etc/resolv.conf.
	Resolver string

	Registerer prometheus.Registerer // nil = no metrics
	Log        *slog.Logger          // nil = no log
}

// Request is one execution of a check.
type Request struct {
	Object   *object.Object
	Check    object.Check // its macros are expanded
	Timeout  time.Duration
	Due      object.Time // when it should have started; 0 = now
	Env      []string    // KEY=value pairs for this execution of a plugin
	Settings *object.Settings
}

// Runner executes checks. Its methods may be called from any goroutine.
type Runner struct {
	opts     Options
	gate     chan struct{}
	starter  *spawn.Starter
	plugins  *finder
	metrics  *metrics
	dialer   net.Dialer
	strict   *http.Transport
	lax      *http.Transport // does not verify certificates
	settings object.Settings
}

// defaultTimeout bounds a request that names no timeout.
const defaultTimeout = 60 * time.Second

// New starts what checks need. Close ends it.
func New(o Options) (*Runner, error) {
	if o.Concurrency <= 0 {
		o.Concurrency = 512
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Resolver == "" {
		o.Resolver = "/etc/resolv.conf"
	}
	r := &Runner{
		opts: o, gate: make(chan struct{}, o.Concurrency), plugins: newFinder(o.PluginPath),
		metrics: newMetrics(o.Registerer), settings: object.DefaultSettings(),
		dialer: net.Dialer{KeepAlive: -1, FallbackDelay: -1},
	}
	r.strict, r.lax = r.transport(false), r.transport(true)
	starter, err := spawn.New(spawn.Options{Env: pluginEnv(o.Env)})
	if err != nil {
		return nil, fmt.Errorf("prepare to start plugins: %w", err)
	}
	r.starter = starter
	return r, nil
}

// Close kills the plugins that still run and waits for their ends. Every Do has
// returned, or returns soon with a result that says so.
func (r *Runner) Close() {
	r.starter.Close()
	r.strict.CloseIdleConnections()
	r.lax.CloseIdleConnections()
}

// Do executes a check and returns what it said. It never fails: what goes wrong
// on the way is an UNKNOWN for a service and a DOWN for a host, with a text
// that says what to do. It returns at the request's timeout at the latest, give
// or take what the kernel needs to kill a plugin, or soon after ctx ends.
func (r *Runner) Do(ctx context.Context, req Request) fold.Result {
	r.complete(&req)
	asked := time.Now()
	select {
	case r.gate <- struct{}{}:
	case <-ctx.Done():
		return r.result(&req, unknown("check not started: %s", stopReason(ctx)).as(cancelled), asked, 0)
	}
	defer func() { <-r.gate }()
	start := time.Now()
	r.metrics.waited.Add(start.Sub(asked).Seconds())
	r.metrics.running.Inc()
	defer r.metrics.running.Dec()
	a := r.execute(ctx, &req)
	if !a.start.IsZero() {
		start = a.start
	}
	took := a.took
	if took == 0 {
		took = time.Since(start)
	}
	return r.result(&req, a, start, took)
}

func (r *Runner) complete(req *Request) {
	if req.Timeout <= 0 {
		req.Timeout = defaultTimeout
	}
	if req.Settings == nil {
		req.Settings = &r.settings
	}
}

// execute runs the check of the request's kind within its timeout.
func (r *Runner) execute(ctx context.Context, req *Request) answer {
	switch req.Check.Kind {
	case object.CheckPlugin:
		return r.plugin(ctx, req) // its time is kept where it is started
	case object.CheckDummy:
		return dummy(req, time.Now())
	case object.CheckAggregate:
		return aggregate(req.Check.Aggregate, r.opts.States)
	}
	ctx, cancel := context.WithTimeout(ctx, req.Timeout)
	defer cancel()
	c := &req.Check
	switch {
	case c.Kind == object.CheckHTTP && c.HTTP != nil:
		return r.http(ctx, req, c.HTTP)
	case c.Kind == object.CheckTCP && c.TCP != nil:
		return r.tcp(ctx, req, c.TCP)
	case c.Kind == object.CheckICMP && c.ICMP != nil:
		return r.icmp(ctx, req, c.ICMP)
	case c.Kind == object.CheckDNS && c.DNS != nil:
		return r.dns(ctx, req, c.DNS)
	case c.Kind == object.CheckTLS && c.TLS != nil:
		return r.tls(ctx, req, c.TLS)
	}
	return unknown("a check of kind %q cannot be executed here; upgrade this jaque or change the check", c.Kind)
}

// result turns an answer into what the object's state is decided from.
func (r *Runner) result(req *Request, a answer, start time.Time, took time.Duration) fold.Result {
	r.metrics.count(req.Check.Kind, a, took)
	res := fold.Result{
		State: a.state, Output: a.output, Long: a.long, Perfdata: a.perfdata,
		Start: object.At(start), Took: took.Microseconds(),
	}
	if !a.judged {
		res.State = stateFor(req, a.state)
	}
	if req.Due != 0 {
		if late := start.Sub(req.Due.Std()); late > 0 {
			res.Latency = late.Microseconds()
		}
	}
	return res
}

// stateFor translates a service's state to that of the object's kind.
func stateFor(req *Request, s object.State) object.State {
	if req.Object.Kind() == object.Service {
		return s
	}
	if s == object.OK || s == object.Warning && !req.Settings.AggressiveHostChecking {
		return object.Up
	}
	return object.Down
}

func stopReason(ctx context.Context) string {
	if ctx.Err() == context.DeadlineExceeded {
		return "its time was over while too many other checks were running; raise the number of concurrent checks"
	}
	return "jaque is stopping"
}
