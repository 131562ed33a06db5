package journal

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
)

// metrics of one journal.
type metrics struct {
	appends  *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	inFlight *prometheus.GaugeVec
	followed *prometheus.CounterVec
	skipped  *prometheus.CounterVec
	success  *prometheus.GaugeVec
	groups   *prometheus.CounterVec
	resets   prometheus.Counter
	snapshot prometheus.Gauge
	bad      prometheus.Counter
	taken    prometheus.Counter
}

var (
	streamLabels  = []string{event.Log.String(), event.Results.String()}
	outcomeLabels = []string{"stored", "conflict", "unknown", "closed", "refused"}
	groupLabels   = []string{"single", "batch", "split"}
	skipLabels    = []string{"decode", "gap", "foreign"}
)

// newMetrics makes every label value that exists, at zero, so that a rate over
// them is right from the first event.
func newMetrics(reg prometheus.Registerer) *metrics {
	const ns, sub = "jaque", "journal"
	m := &metrics{
		appends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "appends_total",
			Help: "Events handed to the log, by stream and outcome.",
		}, []string{"stream", "outcome"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: ns, Subsystem: sub, Name: "append_seconds",
			Help: "Time from handing an event over to its acknowledgement.", Buckets: prometheus.ExponentialBuckets(0.0005, 4, 8),
		}, []string{"stream"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "appends_in_flight",
			Help: "Events handed over and not yet acknowledged.",
		}, []string{"stream"}),
		followed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "followed_events_total",
			Help: "Events delivered to followers.",
		}, []string{"stream"}),
		skipped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "skipped_events_total",
			Help: "Positions a follower passed without delivering anything: undecodable, or missing on the stream.",
		}, []string{"stream", "reason"}),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "last_append_timestamp_seconds",
			Help: "When an event was last acknowledged; 0 = never.",
		}, []string{"stream"}),
		groups: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "append_groups_total",
			Help: "Groups of appends sent together: single events, batches with one sync, batches that had to be split.",
		}, []string{"kind"}),
		resets: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "follower_resets_total",
			Help: "Times a follower asked for its stream again, from where it stood.",
		}),
		snapshot: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "snapshot_timestamp_seconds",
			Help: "When the newest snapshot was written; 0 = none known.",
		}),
		bad: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "unreadable_snapshots_total",
			Help: "Snapshots that were passed over because they could not be used.",
		}),
		taken: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "taken_ids_total",
			Help: "Appends under whose message id somebody else had written something; they were sent under another one.",
		}),
	}
	for _, s := range streamLabels {
		for _, o := range outcomeLabels {
			m.appends.WithLabelValues(s, o)
		}
		for _, r := range skipLabels {
			m.skipped.WithLabelValues(s, r)
		}
		m.latency.WithLabelValues(s)
		m.inFlight.WithLabelValues(s)
		m.followed.WithLabelValues(s)
		m.success.WithLabelValues(s)
	}
	for _, g := range groupLabels {
		m.groups.WithLabelValues(g)
	}
	if reg != nil {
		reg.MustRegister(m.appends, m.latency, m.inFlight, m.followed, m.skipped, m.success, m.groups, m.resets, m.snapshot, m.bad, m.taken)
	}
	return m
}

// account is what the hot path of one stream counts, looked up once.
type account struct {
	outcomes [5]prometheus.Counter
	latency  prometheus.Observer
	inFlight prometheus.Gauge
	success  prometheus.Gauge
}

// account returns the counters of a stream.
func (m *metrics) account(s event.Stream) *account {
	a := &account{latency: m.latency.WithLabelValues(s.String()), inFlight: m.inFlight.WithLabelValues(s.String()), success: m.success.WithLabelValues(s.String())}
	for i, o := range outcomeLabels {
		a.outcomes[i] = m.appends.WithLabelValues(s.String(), o)
	}
	return a
}

// settle counts the end of one append that began at start.
func (a *account) settle(start time.Time, err error) {
	a.inFlight.Dec()
	switch {
	case err == nil:
		now := time.Now()
		a.outcomes[0].Inc()
		a.latency.Observe(now.Sub(start).Seconds())
		a.success.Set(float64(now.UnixMilli()) / 1000)
	case errors.Is(err, ErrConflict):
		a.outcomes[1].Inc()
	case errors.Is(err, ErrUnknown):
		a.outcomes[2].Inc()
	case errors.Is(err, ErrClosed):
		a.outcomes[3].Inc()
	default:
		a.outcomes[4].Inc()
	}
}
