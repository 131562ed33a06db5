package forward

import "github.com/prometheus/client_golang/prometheus"

// What an engine does with a command that another one forwarded.
const (
	outTaken   = "taken"
	outRefused = "refused" // it cannot be read; counts messages
	outBusy    = "busy"    // too many at once, or the engine stops
	outForeign = "foreign" // no engine sent it; counts messages
)

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
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jaque_forward_received_total", Help: "Commands that other engines forwarded to this one, by what it did with them; refused and foreign count messages.",
	}, []string{"outcome"})
	for _, o := range []string{outTaken, outRefused, outBusy, outForeign} {
		c.WithLabelValues(o)
	}
	if reg != nil {
		reg.MustRegister(c)
	}
	return c
}
