package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts requests by route. Routes and classes are closed sets, so
// every series exists from the start.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
	dropped  prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, routes []string) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jaque_http_requests_total", Help: "HTTP requests answered, by route and class of the status code.",
		}, []string{"route", "class"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "jaque_http_request_seconds", Help: "Time from the request to the end of its answer, by route; streams are left out.",
			Buckets: []float64{0.0001, 0.001, 0.005, 0.02, 0.1, 0.25, 1, 5},
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_http_streams", Help: "Event streams that clients hold open now.",
		}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_http_streams_dropped_total", Help: "Event streams ended because the client did not keep up.",
		}),
	}
	for _, c := range []prometheus.Collector{m.requests, m.seconds, m.streams, m.dropped} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("register web metrics: %w", err)
		}
	}
	for _, r := range routes {
		m.seconds.WithLabelValues(r)
		for _, class := range []string{"2xx", "3xx", "4xx", "5xx"} {
			m.requests.WithLabelValues(r, class)
		}
	}
	return m, nil
}

// observe returns the function that counts the request when it is over.
func (m *metrics) observe(route string, rec *recorder, start time.Time) func(now func() time.Time) {
	return func(now func() time.Time) {
		m.requests.WithLabelValues(route, fmt.Sprintf("%dxx", rec.status/100)).Inc()
		if !rec.streaming {
			m.seconds.WithLabelValues(route).Observe(now().Sub(start).Seconds())
		}
	}
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	status    int
	began     bool // the header is out
	streaming bool
}

// WriteHeader remembers the status.
func (r *recorder) WriteHeader(status int) {
	if !r.began {
		r.status, r.began = status, true
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write remembers that the answer began.
func (r *recorder) Write(b []byte) (int, error) {
	r.began = true
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
