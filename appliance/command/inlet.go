package command

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/appliance/throttle"
)

// What becomes of messages on every way in. The counter of an Inlet has these outcomes,
// and one for what is taken.
const (
	Refused = "refused" // it cannot be read
	Busy    = "busy"    // too much at once, or the engine stops
	Foreign = "foreign" // nobody sent it who may
)

// Inlet is an engine's end of a way: it takes messages until it is told to stop, passes
// over what nobody sent, and answers. What they mean is up to Receive.
type Inlet struct {
	Conn    *nats.Conn
	Subject string
	Group   string // one member of it gets a message; "" = every subscription
	Kind    string // of the commands, for people
	// Receive takes a message, one after the other in the order in which they were sent.
	// It must not block. Its context goes on until Wait has returned.
	Receive func(ctx context.Context, m *nats.Msg)
	// Wait waits for what is under way, once nothing more comes in.
	Wait     func()
	Logger   *slog.Logger
	Received *prometheus.CounterVec // by outcome

	lines throttle.Lines // what others can cause
}

// Run takes messages until ctx ends, then waits for what is under way. It fails when its
// subscription or its connection ends by itself.
func (in *Inlet) Run(ctx context.Context, ready func()) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	sub, err := in.Conn.QueueSubscribe(in.Subject, in.Group, func(m *nats.Msg) {
		if !Sent(m) {
			in.TurnAway(Foreign, 1, Foreign, "a message is no command, nobody waits for its answer", "subject", m.Subject, "bytes", len(m.Data))
			return
		}
		in.Receive(work, m)
	})
	if err != nil {
		return fmt.Errorf("listen for %s commands: %w", in.Kind, err)
	}
	if err = NewWatch(in.Conn, sub).Run(ctx, ready); err != nil {
		err = service.Fail(ctx, err) // before it is waited for what is under way
	}
	in.Wait()
	return err
}

// TurnAway counts what is not taken and says why; of lines with the same reason only some
// are written.
func (in *Inlet) TurnAway(outcome string, n int, reason, message string, args ...any) {
	in.Received.WithLabelValues(outcome).Add(float64(n))
	if left, ok := in.lines.Let(reason); ok {
		in.Logger.Warn("a message is turned away", append(args, "reason", message, "kind", in.Kind, "left_out", left)...)
	}
}

// Reply answers whoever sent a message, in an inbox: what a sender may not publish on,
// this process does not publish for it. It may be gone.
func (in *Inlet) Reply(to string, data []byte) {
	if err := in.Conn.Publish(to, data); err != nil {
		in.Logger.Warn("a command could not be answered", "kind", in.Kind, "err", err)
	}
}

// Counter makes a counter by outcome, with every outcome at zero. reg nil = it is kept but
// not shown.
func Counter(reg prometheus.Registerer, name, help string, outcomes ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"outcome"})
	for _, o := range outcomes {
		c.WithLabelValues(o)
	}
	if reg != nil {
		reg.MustRegister(c)
	}
	return c
}
