package ingress

import "github.com/prometheus/client_golang/prometheus"

// What becomes of a command that was submitted, or that reached an engine.
const (
	outClaimed   = "claimed"
	outRefused   = "refused"
	outBusy      = "busy"
	outNoEngine  = "no_engine"
	outUnclaimed = "unclaimed"
	outForeign   = "foreign" // nobody submitted it
)

// newSubmitted makes the counter of a client, with every label value at zero.
func newSubmitted(reg prometheus.Registerer) *prometheus.CounterVec {
	return counter(reg, "submitted_total", "Commands this process submitted to the engines, by what became of that.",
		outClaimed, outRefused, outBusy, outNoEngine, outUnclaimed)
}

// newReceived makes the counter of a server, with every label value at zero.
func newReceived(reg prometheus.Registerer) *prometheus.CounterVec {
	return counter(reg, "received_total", "Submitted commands that reached this engine, by what it did with them.",
		outClaimed, outRefused, outBusy, outForeign)
}

func counter(reg prometheus.Registerer, name, help string, outcomes ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "jaque", Subsystem: "ingress", Name: name, Help: help}, []string{"outcome"})
	for _, o := range outcomes {
		c.WithLabelValues(o)
	}
	if reg != nil {
		reg.MustRegister(c)
	}
	return c
}
