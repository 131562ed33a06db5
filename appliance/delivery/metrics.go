package delivery

import (
	"errors"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/notify"
)

// The outcomes of attempts in the metrics.
const (
	attemptSent     = "sent"
	attemptFailed   = "failed"
	attemptTimedOut = "timed out"
	attemptRefused  = "refused" // for good
)

// kinds are those of channels, for metrics that stand at 0 from the start.
func kinds() []string { return []string{"email", "telegram", "webhook", "chat", "command", "canary"} }

type metrics struct {
	requests    *prometheus.CounterVec
	outcomes    *prometheus.CounterVec
	attempts    *prometheus.CounterVec
	took        *prometheus.HistogramVec
	success     *prometheus.GaugeVec
	repeated    prometheus.Counter
	overflow    prometheus.Counter
	writeErrors prometheus.Counter
	tests       *prometheus.CounterVec
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func newMetrics(reg prometheus.Registerer, d *Delivery) *metrics {
	m := &metrics{
		requests: counters("jaque_notify_requests_total", "Requests to tell somebody over a channel that came in, by kind of notification.", "kind"),
		outcomes: counters("jaque_notify_outcomes_total", "Requests by what became of them; one that failed is tried again.", "channel", "outcome"),
		attempts: counters("jaque_notify_attempts_total", "Attempts to send a message, which may be for many requests.", "channel", "outcome"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "jaque_notify_send_seconds", Help: "How long attempts to send a message took.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"channel"}),
		success: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "jaque_notify_last_success_timestamp_seconds", Help: "When a message was last taken; 0 = not since the start.",
		}, []string{"channel"}),
		repeated:    counter("jaque_notify_repeated_total", "Messages sent with the mark that they may be a repetition."),
		overflow:    counter("jaque_notify_overflow_total", "Due requests that came to wait for a place beyond the number of -notify-queue; none is lost."),
		writeErrors: counter("jaque_notify_outcome_append_errors_total", "Outcomes that the log has not taken at once; they are appended again."),
		tests:       counters("jaque_notify_tests_total", "Messages that somebody sent to try a channel.", "channel", "outcome"),
	}
	m.zero()
	reg.MustRegister(m.requests, m.outcomes, m.attempts, m.took, m.success, m.repeated, m.overflow, m.writeErrors, m.tests)
	m.gauges(reg, d)
	return m
}

// zero makes every series exist that can be foreseen.
func (m *metrics) zero() {
	for _, k := range []notify.Kind{
		notify.Problem, notify.Recovery, notify.Acknowledgement, notify.FlappingStart, notify.FlappingStop, notify.FlappingDisabled,
		notify.DowntimeStart, notify.DowntimeEnd, notify.DowntimeCancelled, notify.Custom, notify.Heartbeat,
	} {
		m.requests.WithLabelValues(string(k))
	}
	for _, c := range kinds() {
		for _, o := range []string{"delivered", "failed", "abandoned"} {
			m.outcomes.WithLabelValues(c, o)
		}
		for _, o := range []string{attemptSent, attemptFailed, attemptTimedOut, attemptRefused} {
			m.attempts.WithLabelValues(c, o)
			m.tests.WithLabelValues(c, o)
		}
		m.took.WithLabelValues(c)
		m.success.WithLabelValues(c)
	}
}

func (m *metrics) gauges(reg prometheus.Registerer, d *Delivery) {
	gauge := func(name, help string, of func(*State) float64) {
		reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help},
			func() float64 { return of(d.state.Load()) }))
	}
	gauge("jaque_notify_open", "Requests without an outcome.", func(s *State) float64 { return float64(s.Open) })
	gauge("jaque_notify_due", "Requests that wait for nothing but a place.", func(s *State) float64 { return float64(s.Due) })
	gauge("jaque_notify_sending", "Messages that are being sent.", func(s *State) float64 { return float64(s.InFlight) })
	gauge("jaque_notify_overflow", "Due requests that wait for a place now beyond the number of -notify-queue.", func(s *State) float64 { return float64(s.Beyond) })
	gauge("jaque_notify_outcomes_unwritten", "Outcomes that the log has not acknowledged yet.", func(s *State) float64 { return float64(s.Unwritten) })
	gauge("jaque_notify_oldest_seconds", "Age of the oldest request without an outcome; 0 = there is none.", func(s *State) float64 {
		if s.Oldest.IsZero() {
			return 0
		}
		return max(0, time.Since(s.Oldest).Seconds())
	})
}

// kindOf is the kind of a channel by its name: what stands in front of a colon.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	return kind
}

func (s *sent) outcome() string {
	var timeout interface{ Timeout() bool }
	switch {
	case s.err == nil:
		return attemptSent
	case s.final:
		return attemptRefused
	case errors.As(s.err, &timeout) && timeout.Timeout():
		return attemptTimedOut
	}
	return attemptFailed
}

// count counts one attempt.
func (d *Delivery) count(b *deliver.Batch, s sent) {
	if b.Expired {
		return
	}
	kind, m := kindOf(b.Channel), d.metrics
	m.attempts.WithLabelValues(kind, s.outcome()).Inc()
	m.took.WithLabelValues(kind).Observe(s.took.Seconds())
	if s.repeat {
		m.repeated.Inc()
	}
	c := d.channelOf(b.Channel)
	switch {
	case s.err == nil:
		c.Sent, c.Failing = time.Now(), time.Time{}
		m.success.WithLabelValues(kind).SetToCurrentTime()
	case c.Failing.IsZero() && !s.cut:
		c.Failing = time.Now()
		fallthrough
	default:
		c.Reason = s.reason()
	}
}
