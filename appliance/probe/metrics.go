package probe

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/object"
)

var kinds = [...]object.CheckKind{
	object.CheckPlugin, object.CheckHTTP, object.CheckTCP, object.CheckICMP, object.CheckDNS,
	object.CheckTLS, object.CheckDummy, object.CheckAggregate,
}

// series are the metrics of one kind of check.
type series struct {
	outcomes map[outcome]prometheus.Counter
	seconds  prometheus.Observer
}

type metrics struct {
	running     prometheus.Gauge
	waited      prometheus.Counter
	spawnErrors prometheus.Counter
	kills       prometheus.Counter
	truncated   prometheus.Counter
	byKind      map[object.CheckKind]series
	other       series
}

func newMetrics(reg prometheus.Registerer) *metrics {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		running:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "jaque_probe_running", Help: "Checks being executed now."}),
		waited:      counter("jaque_probe_wait_seconds_total", "Seconds that checks waited because too many others were running."),
		spawnErrors: counter("jaque_probe_spawn_errors_total", "Plugins that could not be started."),
		kills:       counter("jaque_probe_timeout_kills_total", "Plugins killed at their timeout."),
		truncated:   counter("jaque_probe_truncated_outputs_total", "Plugin outputs cut at 64 KiB."),
		byKind:      map[object.CheckKind]series{},
	}
	checks := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jaque_probe_checks_total", Help: "Checks executed, by kind and by how that went.",
	}, []string{"kind", "outcome"})
	took := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "jaque_probe_check_seconds", Help: "Time that checks took, by kind.",
		Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
	}, []string{"kind"})
	for _, k := range kinds {
		m.byKind[k] = newSeries(checks, took, string(k))
	}
	m.other = newSeries(checks, took, "other")
	if reg != nil {
		reg.MustRegister(m.running, m.waited, m.spawnErrors, m.kills, m.truncated, checks, took)
	}
	return m
}

func newSeries(checks *prometheus.CounterVec, took *prometheus.HistogramVec, kind string) series {
	s := series{outcomes: map[outcome]prometheus.Counter{}, seconds: took.WithLabelValues(kind)}
	for _, o := range outcomes {
		s.outcomes[o] = checks.WithLabelValues(kind, string(o))
	}
	return s
}

// count records one execution.
func (m *metrics) count(kind object.CheckKind, a answer, took time.Duration) {
	s, ok := m.byKind[kind]
	if !ok {
		s = m.other
	}
	o := a.outcome
	if o == "" {
		o = fine
		if a.state != object.OK {
			o = problem
		}
	}
	s.outcomes[o].Inc()
	s.seconds.Observe(took.Seconds())
	if a.killed {
		m.kills.Inc()
	}
	if a.cut {
		m.truncated.Inc()
	}
}
