package roles

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/canary"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// canaryWatch tells how far the rounds of the canary come in this process.
type canaryWatch struct {
	*canary.Tracker
	proj    *projection.Projection
	journal journal.Journal
	order   *pingOrder
	log     *slog.Logger

	ttl    time.Duration // after which a process counts as dead; 0 = there is only one
	others atomic.Bool   // another process checks the canary

	mu   sync.Mutex
	keep [2]membership.Member // who checks the canary and who tells of it; zero = not known yet
	open map[string]int       // deliveries of a round that are still to come, by its event
	last []string             // the events of the newest rounds, oldest first
	stop stop
}

// rounds is how many rounds are followed. Those that were given up are forgotten
// with them.
const rounds = 16

func newCanaryWatch(p *projection.Projection, j journal.Journal, reg prometheus.Registerer, log *slog.Logger) *canaryWatch {
	c := &canaryWatch{Tracker: canary.New(), proj: p, journal: j, order: newPingOrder(), log: log, open: map[string]int{}}
	reg.MustRegister(&canaryMetrics{
		watch: c,
		age: prometheus.NewDesc("jaque_canary_round_age_seconds",
			"Since when the last round of the canary is complete; missing before the first one and without a canary.", nil, nil),
		hop: prometheus.NewDesc("jaque_canary_hop_age_seconds",
			"Since when the newest round of the canary has passed a hop.", []string{"hop"}, nil),
		stopped: prometheus.NewDesc("jaque_canary_stopped",
			"1 for the hop at which the present round of the canary has stopped, else 0.", []string{"hop"}, nil),
	})
	c.use(p.Set())
	return c
}

// use finds the canary of a config generation.
func (c *canaryWatch) use(set *object.Set) {
	now := object.At(time.Now())
	for _, o := range set.Objects {
		if o.Notify != nil && o.Notify.Heartbeat {
			c.Watch(o.ID, o.Rule.Interval, now)
			return
		}
	}
	c.Watch("", 0, now)
}

// adopt takes in a view of the engines: another one may check the canary from now on.
func (c *canaryWatch) adopt(me string, v membership.View) {
	var keep [2]membership.Member
	for i, what := range []string{string(c.ID()), config.CanaryContact} {
		owner := v.Owner(what)
		for _, m := range v.Members {
			if m.ID == owner {
				keep[i] = m
			}
		}
	}
	c.others.Store(keep[0].ID != me)
	c.mu.Lock()
	was := c.keep
	c.keep = keep
	c.mu.Unlock()
	if was == keep || was[0].ID == "" && len(v.Members) == 1 {
		return
	}
	patience := time.Duration(0)
	if len(v.Members) > 1 {
		patience = c.ttl + noticed
	}
	c.Handed(patience, object.At(time.Now()))
}

// noticed is how long after the end of its time to live a process is taken over from at
// the latest.
const noticed = 3 * time.Second

// canaryRunner takes note of the canary's own check.
type canaryRunner struct {
	engine.Runner
	watch *canaryWatch
}

// Run executes a check as the runner beneath does.
func (r canaryRunner) Run(ctx context.Context, j engine.Job) fold.Result {
	if !r.watch.Is(j.Object.ID) {
		return r.Runner.Run(ctx, j)
	}
	began := object.At(time.Now())
	r.watch.Pass(canary.Scheduled, began, began)
	result := r.Runner.Run(ctx, j)
	if !r.watch.others.Load() { // else the engine drops the result
		r.watch.Pass(canary.Executed, result.Start, object.At(time.Now()))
	}
	return result
}

// lastRound is how far back the last complete round is looked for at a start.
const lastRound = 7 * 24 * time.Hour

// run hears of the canary's notifications until ctx ends.
func (c *canaryWatch) run(ctx context.Context, ready func()) error {
	c.recall(ctx)
	waiting, cancel := c.proj.WatchRequests(func(added []*deliver.Pending, _ []string) { c.requested(added) })
	defer cancel()
	c.requested(waiting)
	c.proj.OnSettled(c.settled)
	ready()
	c.lookOut(ctx)
	return nil
}

// recall takes over the last round that an earlier process completed. Not to know it
// costs nothing but the answer until the next one.
func (c *canaryWatch) recall(ctx context.Context) {
	id := c.ID()
	if id == "" {
		return
	}
	events, err := c.journal.History(ctx, journal.Query{
		Object: id, Kinds: []event.Kind{event.NotificationDelivered}, Since: time.Now().Add(-lastRound), Limit: 1,
	})
	if err == nil && len(events) > 0 {
		c.Completed(events[0].Time)
	}
}

// requested takes note of what is to be delivered of a round.
func (c *canaryWatch) requested(added []*deliver.Pending) {
	for _, p := range added {
		if !c.Is(p.Event.Object) || p.Event.Measure == nil {
			continue
		}
		c.Pass(canary.Decided, p.Event.Measure.LastCheck, p.Event.Time)
		c.follow(p.Event.ID)
	}
}

// follow takes note of one more delivery of a round.
func (c *canaryWatch) follow(round string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[round]++; c.open[round] > 1 {
		return
	}
	if c.last = append(c.last, round); len(c.last) > rounds {
		delete(c.open, c.last[0])
		c.last = c.last[1:]
	}
}

// settled takes note of a delivery, whichever process has made it; the round is
// complete with the last one.
func (c *canaryWatch) settled(p *deliver.Pending, e *event.Event) {
	c.order.settled(p, e)
	if e.Kind != event.NotificationDelivered || !c.Is(p.Event.Object) || p.Event.Measure == nil {
		return
	}
	c.mu.Lock()
	left, followed := c.open[p.Event.ID]
	if left--; followed {
		c.open[p.Event.ID] = left
	}
	c.mu.Unlock()
	if followed && left <= 0 {
		c.Pass(canary.Delivered, p.Event.Measure.LastCheck, object.At(time.Now()))
	}
}

// now returns how the canary stands, with what the fold knows of its results.
func (c *canaryWatch) now() canary.Status {
	if id := c.ID(); id != "" {
		if m := &c.proj.State(id).Measure; m.LastCheck != 0 && !m.Passive {
			c.Pass(canary.Folded, m.LastCheck, m.LastCheck)
		}
	}
	return c.Status(object.At(time.Now()))
}

// web returns how the canary stands for the dashboard.
func (c *canaryWatch) web() web.Canary {
	s := c.now()
	w := web.Canary{Enabled: s.Enabled, Every: s.Every, Hop: string(s.Hop)}
	if s.Last != 0 {
		w.Last = s.Last.Std()
	}
	if s.Hop != "" {
		w.Reason = c.known(s.Hop)
	}
	return w
}

// reason says why a round has stopped as far as the process knows, "" else.
func (c *canaryWatch) reason(h canary.Hop) string {
	switch h {
	case canary.Scheduled:
		return "its check was not started: the engine is behind, or checks are switched off"
	case canary.Executed:
		return "its check has given no result"
	case canary.Folded:
		return "its result has not come back from the log"
	case canary.Decided:
		if m := &c.proj.State(c.ID()).Measure; m.State != object.OK {
			return "its result is " + m.State.Name(object.Service) + ": " + m.Output
		}
		return c.blocked()
	}
	for _, p := range c.proj.OpenRequests() {
		if c.Is(p.Event.Object) && p.Reason != "" {
			return p.Reason
		}
	}
	return "it was not delivered yet"
}

// blocked says which gate keeps the canary's notification back.
func (c *canaryWatch) blocked() string {
	const unknown = "no notification of its result is on the log"
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	events, err := c.journal.History(ctx, journal.Query{Object: c.ID(), Kinds: []event.Kind{event.NotificationSuppressed}, Limit: 1})
	if err != nil || len(events) == 0 || len(events[0].Notes) == 0 {
		return unknown
	}
	if g := events[0].Notes[0].Blocking(); g.Why != "" {
		return g.Why
	}
	return unknown
}

// canaryMetrics are computed when they are asked for.
type canaryMetrics struct {
	watch             *canaryWatch
	age, hop, stopped *prometheus.Desc
}

// Describe names the metrics.
func (m *canaryMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.age
	ch <- m.hop
	ch <- m.stopped
}

// Collect computes the metrics; none where there is no canary.
func (m *canaryMetrics) Collect(ch chan<- prometheus.Metric) {
	s := m.watch.now()
	if !s.Enabled {
		return
	}
	now := object.At(time.Now())
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	if s.Last != 0 {
		gauge(m.age, now.Sub(s.Last).Seconds())
	}
	for _, h := range canary.Hops() {
		if at, ok := s.Passed[h]; ok {
			gauge(m.hop, now.Sub(at).Seconds(), string(h))
		}
		stopped := 0.0
		if s.Hop == h {
			stopped = 1
		}
		gauge(m.stopped, stopped, string(h))
	}
}
