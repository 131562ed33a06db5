package bus

import "github.com/prometheus/client_golang/prometheus"

// metrics of one bus.
type metrics struct {
	connected  prometheus.Gauge
	reconnects prometheus.Counter
	warnings   prometheus.Counter
	repairs    *prometheus.CounterVec
	foreign    prometheus.Counter
	peers      *prometheus.GaugeVec
	quorum     prometheus.Gauge
	leads      prometheus.Gauge
	replicas   *prometheus.GaugeVec
	lag        *prometheus.GaugeVec
	unfilled   prometheus.Gauge
	free       prometheus.Gauge
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
	m.foreign = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "jaque_bus_foreign_keys_total",
		Help: "Keys of buckets that were removed because an answer of the log server was stored there.",
	})
	m.free = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "jaque_bus_disk_free_bytes",
		Help: "What is free on the disk of the data folder, 0 with another log server. At 0 the process ends.",
	})
	m.inCluster()
	for _, d := range damages {
		m.repairs.WithLabelValues(string(d))
	}
	if reg != nil {
		reg.MustRegister(m.connected, m.reconnects, m.warnings, m.repairs, m.foreign, m.peers, m.quorum, m.leads, m.replicas, m.lag, m.unfilled, m.free)
	}
	return m
}

// inCluster makes the metrics of a cluster, which stay empty without one.
func (m *metrics) inCluster() {
	m.peers = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jaque_bus_peers",
		Help: "Members of the cluster, by whether they can be reached; this one counts.",
	}, []string{"reached"})
	m.peers.WithLabelValues("yes")
	m.peers.WithLabelValues("no")
	m.quorum = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "jaque_bus_quorum",
		Help: "1 while more than half of the cluster's members agree; 0 without a cluster.",
	})
	m.leads = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "jaque_bus_cluster_leader",
		Help: "1 while this member decides about membership and placement.",
	})
	m.replicas = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jaque_bus_replicas",
		Help: "Replicas of a stream that can be reached, as the cluster's leader sees them.",
	}, []string{"stream"})
	m.unfilled = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "jaque_bus_copies_unfilled",
		Help: "Streams of which this member's copy has not had everything since its start, or lacks something for a while; /readyz names them. 0 without a cluster.",
	})
	m.lag = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jaque_bus_replica_lag",
		Help: "Appends that the replica furthest behind does not have yet, as the cluster's leader sees it.",
	}, []string{"stream"})
}

// cluster shows the members. What the leader alone knows is shown by it alone.
func (m *metrics) cluster(v view, leads bool) {
	m.peers.WithLabelValues("yes").Set(float64(v.Online))
	m.peers.WithLabelValues("no").Set(float64(v.Size - v.Online))
	m.quorum.Set(truth(v.quorum()))
	m.leads.Set(truth(leads))
	if !leads {
		m.replicas.Reset()
		m.lag.Reset()
	}
}

// stream shows the replicas of one stream.
func (m *metrics) stream(s StreamStatus) {
	there, lag := 0, uint64(0)
	if s.Leader != "" {
		there = 1
	}
	for _, r := range s.Others {
		if !r.Offline {
			there++
		}
		lag = max(lag, r.Lag)
	}
	m.replicas.WithLabelValues(s.Name).Set(float64(there))
	m.lag.WithLabelValues(s.Name).Set(float64(lag))
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
