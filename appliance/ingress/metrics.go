package ingress

import (
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/command"
)

// What becomes of a command that was submitted, or that reached an engine, beside the
// outcomes of every way.
const (
	outClaimed   = "claimed"
	outNoEngine  = "no_engine"
	outUnclaimed = "unclaimed"
)

// newSubmitted makes the counter of a client, with every label value at zero.
func newSubmitted(reg prometheus.Registerer) *prometheus.CounterVec {
	return command.Counter(reg, "jaque_ingress_submitted_total", "Commands this process submitted to the engines, by what became of that.",
		outClaimed, command.Refused, command.Busy, outNoEngine, outUnclaimed)
}

// newReceived makes the counter of a server, with every label value at zero.
func newReceived(reg prometheus.Registerer) *prometheus.CounterVec {
	return command.Counter(reg, "jaque_ingress_received_total", "Submitted commands that reached this engine, by what it did with them.",
		outClaimed, command.Refused, command.Busy, command.Foreign)
}
