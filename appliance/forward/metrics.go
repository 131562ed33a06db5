package forward

import (
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/command"
)

// outTaken counts the commands that an engine carries out for another one; beside it stand
// the outcomes of every way, of which refused and foreign count messages.
const outTaken = "taken"

// sending is what a client counts.
type sending struct{ messages prometheus.Counter }

func newSending(reg prometheus.Registerer) *sending {
	m := &sending{messages: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "jaque_forward_messages_total", Help: "Messages with commands that this engine sent to others; each holds what waited for its engine.",
	})}
	if reg != nil {
		reg.MustRegister(m.messages)
	}
	return m
}

// newReceived makes the counter of a server, with every label value at zero.
func newReceived(reg prometheus.Registerer) *prometheus.CounterVec {
	return command.Counter(reg, "jaque_forward_received_total",
		"Commands that other engines forwarded to this one, by what it did with them; refused and foreign count messages.",
		outTaken, command.Refused, command.Busy, command.Foreign)
}
