package coordination

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/rule/membership"
)

var beatLabels = []string{"ok", "failed"}

// metrics of one bucket.
type metrics struct {
	beats   *prometheus.CounterVec
	last    prometheus.Gauge
	members prometheus.Gauge
	epoch   prometheus.Gauge
	expired prometheus.Counter
	foreign prometheus.Counter
}

// newMetrics makes every label value that exists, at zero.
func newMetrics(reg prometheus.Registerer, path string) *metrics {
	const ns, sub = "jaque", "membership"
	labels := prometheus.Labels{"bucket": path}
	m := &metrics{
		beats: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "heartbeats_total", ConstLabels: labels,
			Help: "Heartbeats of this member, by outcome.",
		}, []string{"outcome"}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "last_heartbeat_timestamp_seconds", ConstLabels: labels,
			Help: "When a heartbeat last succeeded; 0 = never.",
		}),
		members: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "members", ConstLabels: labels,
			Help: "Members of the view that this process follows.",
		}),
		epoch: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: ns, Subsystem: sub, Name: "epoch", ConstLabels: labels,
			Help: "Epoch of the view that this process follows.",
		}),
		expired: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "expired_total", ConstLabels: labels,
			Help: "Members that this process found dead.",
		}),
		foreign: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: ns, Subsystem: sub, Name: "foreign_entries_total", ConstLabels: labels,
			Help: "Heartbeats and views over which an answer of the log server was stored; somebody has it do so.",
		}),
	}
	for _, l := range beatLabels {
		m.beats.WithLabelValues(l)
	}
	if reg != nil {
		reg.MustRegister(m.beats, m.last, m.members, m.epoch, m.expired, m.foreign)
	}
	return m
}

func (m *metrics) beat(err error) {
	if err != nil {
		m.beats.WithLabelValues("failed").Inc()
		return
	}
	m.beats.WithLabelValues("ok").Inc()
	m.last.Set(float64(time.Now().UnixMilli()) / 1000)
}

func (m *metrics) view(v membership.View) {
	m.members.Set(float64(len(v.Members)))
	m.epoch.Set(float64(v.Epoch))
}
