package bus

import "github.com/prometheus/client_golang/prometheus"

// metrics of one bus.
type metrics struct {
	connected  prometheus.Gauge
	reconnects prometheus.Counter
	warnings   prometheus.Counter
	repairs    *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		connected: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_bus_connected",
			Help: "1 while the connection to the log server stands.",
		}),
		reconnects: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_bus_reconnects_total",
			Help: "Connections to the log server that were lost and made again.",
		}),
		warnings: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_bus_server_warnings_total",
			Help: "Warnings and errors that the embedded log server logged.",
		}),
		repairs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jaque_bus_repairs_total",
			Help: "Damage in the data folder that was found and handled, by what it was.",
		}, []string{"damage"}),
	}
	for _, d := range damages {
		m.repairs.WithLabelValues(string(d))
	}
	if reg != nil {
		reg.MustRegister(m.connected, m.reconnects, m.warnings, m.repairs)
	}
	return m
}
