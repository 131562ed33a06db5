package sink

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/rule/sample"
)

// The outcomes of batches in the metrics.
const (
	batchTaken   = "taken"
	batchFailed  = "failed"  // tried again
	batchRefused = "refused" // for good, as a whole
	batchPartial = "partial" // the target judged each item
)

// reasonRefused is why items are left out beside those of package sample.
const reasonRefused = "refused"

// Metrics are those of all sinks of a process.
type Metrics struct {
	runs, behind, age, position, success *prometheus.GaugeVec
	events, items, bytes, batches, drops *prometheus.CounterVec
	unsaved                              *prometheus.CounterVec
	seconds                              *prometheus.HistogramVec
}

// NewMetrics makes the metrics of sinks and shows them on a registry; nil = nowhere.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "jaque_sink_" + name, Help: help}, append([]string{"sink"}, labels...))
	}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "jaque_sink_" + name, Help: help}, append([]string{"sink"}, labels...))
	}
	m := &Metrics{
		runs:     gauge("running", "1 if this process runs the sink, 0 if it could not be made."),
		behind:   gauge("lag_events", "Events on the log that the sink has not dealt with."),
		age:      gauge("lag_seconds", "Age of the oldest event that was read and not taken by the target, as of the last look; 0 = there is none."),
		position: gauge("position", "Position behind what the target has taken, by stream.", "stream"),
		success:  gauge("last_success_timestamp_seconds", "When the target last took something; 0 = not since the start."),
		events:   counter("events_total", "Events dealt with, those that had nothing to tell the target included."),
		items:    counter("items_total", "Samples or events that the target took."),
		bytes:    counter("bytes_total", "Bytes written to the target, those of failed attempts included."),
		batches:  counter("batches_total", "Attempts to write a batch, by outcome.", "outcome"),
		drops:    counter("dropped_total", "Samples or events left out for good, by reason.", "reason"),
		unsaved:  counter("position_failures_total", "Times that the position of the sink could not be kept or looked up."),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "jaque_sink_write_seconds", Help: "How long attempts to write a batch took.",
			Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 30},
		}, []string{"sink"}),
	}
	if reg != nil {
		reg.MustRegister(m.runs, m.behind, m.age, m.position, m.success, m.events, m.items, m.bytes, m.batches, m.drops, m.unsaved, m.seconds)
	}
	return m
}

// running tells whether this process runs a sink.
func (m *Metrics) running(name string, yes bool) {
	v := 0.0
	if yes {
		v = 1
	}
	m.runs.WithLabelValues(name).Set(v)
}

// forget takes back what was shown of a sink that runs here no more: its position and
// lag are another process's to tell.
func (m *Metrics) forget(name string) {
	own := prometheus.Labels{"sink": name}
	for _, v := range []interface {
		DeletePartialMatch(prometheus.Labels) int
	}{m.runs, m.behind, m.age, m.position, m.success, m.events, m.items, m.bytes, m.batches, m.drops, m.unsaved, m.seconds} {
		v.DeletePartialMatch(own)
	}
}

// series are the metrics of one sink.
type series struct {
	behind, oldest, log, results, success prometheus.Gauge
	events, items, bytes, unsaved         prometheus.Counter
	batches, drops                        *prometheus.CounterVec
	seconds                               prometheus.Observer
}

// of returns the metrics of a sink; every series that can be foreseen exists then.
func (m *Metrics) of(name string) *series {
	own := prometheus.Labels{"sink": name}
	s := &series{
		behind: m.behind.With(own), oldest: m.age.With(own), success: m.success.With(own),
		log: m.position.WithLabelValues(name, "log"), results: m.position.WithLabelValues(name, "results"),
		events: m.events.With(own), items: m.items.With(own), bytes: m.bytes.With(own), unsaved: m.unsaved.With(own),
		batches: m.batches.MustCurryWith(own), drops: m.drops.MustCurryWith(own), seconds: m.seconds.With(own),
	}
	for _, outcome := range []string{batchTaken, batchFailed, batchRefused, batchPartial} {
		s.batches.WithLabelValues(outcome)
	}
	for _, reason := range append(sample.Reasons(), reasonRefused) {
		s.drops.WithLabelValues(reason)
	}
	return s
}

func (s *series) drop(reason string, n int) { s.drops.WithLabelValues(reason).Add(float64(n)) }

func (s *series) batch(err error) {
	outcome := batchFailed
	var e *Error
	switch {
	case err == nil:
		outcome = batchTaken
	case !errors.As(err, &e):
	case e.Partial:
		outcome = batchPartial
	case e.Permanent:
		outcome = batchRefused
	}
	s.batches.WithLabelValues(outcome).Inc()
}

func (s *series) age(oldest time.Time) {
	if oldest.IsZero() {
		s.oldest.Set(0)
		return
	}
	s.oldest.Set(max(0, time.Since(oldest).Seconds()))
}
