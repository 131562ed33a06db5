package queue

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// What becomes of a result that reaches an engine. These are also the engine's
// answers to the worker.
const (
	resultAccepted   = "accepted"
	resultUnexpected = "unexpected" // late, twice, or for an earlier run
	resultForged     = "forged"     // from a zone that was not asked
	resultBad        = "undecodable"
	resultForeign    = "foreign" // no worker has sent it
)

// What becomes of an item in the hands of a worker.
const (
	itemAnswered = "answered"
	itemReturned = "returned"
	itemUnwanted = "unwanted" // nobody took the result in time
	itemBad      = "undecodable"
	itemTooNew   = "too_new"
)

var (
	sendLabels   = []string{"answered", "unanswered", "too_big", "cancelled"}
	resultLabels = []string{resultAccepted, resultUnexpected, resultForged, resultBad, resultForeign}
	itemLabels   = []string{itemAnswered, itemReturned, itemUnwanted, itemBad, itemTooNew}
)

// metrics of one process' sides of the queue.
type metrics struct {
	sent    *prometheus.CounterVec
	results *prometheus.CounterVec
	items   *prometheus.CounterVec
	waiting prometheus.Gauge
	running prometheus.Gauge
	again   prometheus.Counter
}

// newMetrics makes every label value that exists, at zero.
func newMetrics(reg prometheus.Registerer) *metrics {
	const ns, sub = "jaque", "queue"
	m := &metrics{
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "dispatched_total",
			Help: "Checks an engine handed to the queue, by what became of them.",
		}, []string{"outcome"}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "results_total",
			Help: "Results that reached an engine, by what it did with them.",
		}, []string{"outcome"}),
		items: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "items_total",
			Help: "Work items that reached a worker, by what became of them.",
		}, []string{"outcome"}),
		waiting: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "waiting",
			Help: "Checks whose result an engine waits for.",
		}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "held",
			Help: "Work items in the hands of a worker.",
		}),
		again: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "redelivered_total",
			Help: "Work items that reached a worker after another one had them.",
		}),
	}
	for _, l := range sendLabels {
		m.sent.WithLabelValues(l)
	}
	for _, l := range resultLabels {
		m.results.WithLabelValues(l)
	}
	for _, l := range itemLabels {
		m.items.WithLabelValues(l)
	}
	if reg != nil {
		reg.MustRegister(m.sent, m.results, m.items, m.waiting, m.running, m.again)
	}
	return m
}

// ended counts the end of a dispatch.
func (m *metrics) ended(err error) {
	var big *TooBig
	var open *Unanswered
	outcome := "cancelled"
	switch {
	case err == nil:
		outcome = "answered"
	case errors.As(err, &big):
		outcome = "too_big"
	case errors.As(err, &open):
		outcome = "unanswered"
	}
	m.sent.WithLabelValues(outcome).Inc()
}
