package ingress

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/appliance/throttle"
)

// Engine carries out what was submitted.
type Engine interface {
	// Take carries out a command that this engine has claimed and returns what of it
	// was not done, by index. It ends when ctx does.
	Take(ctx context.Context, c *Command) []Failure
}

// ServerOptions are those of a Server. Engine and ID must be set.
type ServerOptions struct {
	Prefix string // of the installation's subjects; "" = none
	ID     string // of the engine, told to whoever submits
	Engine Engine
	// Over tells whether the engine must take nothing more: it has lost its membership,
	// or the process is on its way out. nil = never. Must be cheap.
	Over func() bool
	// Parallel bounds the commands that are carried out at once; more are refused as
	// busy. 0 = 64.
	Parallel int

	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
}

// Server claims submitted commands for an engine.
type Server struct {
	nc      *nats.Conn
	opts    ServerOptions
	metrics *prometheus.CounterVec
	places  chan struct{}
	lines   throttle.Lines // what others can cause
}

// NewServer returns a server on a connection. It subscribes to nothing before Run.
func NewServer(nc *nats.Conn, o ServerOptions) (*Server, error) {
	switch {
	case o.Engine == nil:
		return nil, errors.New("make command ingress: Engine is missing")
	case o.ID == "":
		return nil, errors.New("make command ingress: ID is missing")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Over == nil {
		o.Over = func() bool { return false }
	}
	if o.Parallel <= 0 {
		o.Parallel = 64
	}
	return &Server{nc: nc, opts: o, metrics: newReceived(o.Registerer), places: make(chan struct{}, o.Parallel)}, nil
}

// Run claims commands until ctx ends, then waits for those under way. It fails
// when its subscription or its connection ends by itself.
func (s *Server) Run(ctx context.Context, ready func()) error {
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var under sync.WaitGroup
	sub, err := s.nc.QueueSubscribe(Subject(s.opts.Prefix), group, func(m *nats.Msg) { s.receive(work, m, &under) })
	if err != nil {
		return fmt.Errorf("listen for commands: %w", err)
	}
	if err = command.NewWatch(s.nc, sub).Run(ctx, ready); err != nil {
		err = service.Fail(ctx, err) // before it is waited for what is under way
	}
	// Nothing is claimed any more, so that the group of goroutines does not grow.
	for range cap(s.places) {
		s.places <- struct{}{}
	}
	under.Wait()
	return err
}

// receive claims a command or says why not, and carries it out beside.
func (s *Server) receive(ctx context.Context, m *nats.Msg, under *sync.WaitGroup) {
	if !command.Sent(m) {
		s.metrics.WithLabelValues(outForeign).Inc()
		if left, ok := s.lines.Let("foreign"); ok {
			s.opts.Logger.Warn("a message is no submitted command, nobody waits for its answer", "subject", m.Subject, "bytes", len(m.Data), "left_out", left)
		}
		return
	}
	c, err := Decode(m.Data)
	if err != nil {
		s.metrics.WithLabelValues(outRefused).Inc()
		if left, ok := s.lines.Let("unreadable"); ok {
			s.opts.Logger.Warn("a submitted command cannot be carried out", "id", c.ID, "from", c.From, "bytes", len(m.Data), "err", err, "left_out", left)
		}
		s.reply(m, answer{State: refused, Why: err.Error()})
		return
	}
	if s.opts.Over() {
		// What came in while this process was held up must not be done by it.
		s.metrics.WithLabelValues(outBusy).Inc()
		if left, ok := s.lines.Let("over"); ok {
			s.opts.Logger.Warn("a submitted command is not taken any more, this engine stops", "id", c.ID, "from", c.From, "left_out", left)
		}
		s.reply(m, answer{State: busy})
		return
	}
	select {
	case s.places <- struct{}{}:
	default:
		s.metrics.WithLabelValues(outBusy).Inc()
		if left, ok := s.lines.Let("busy"); ok {
			s.opts.Logger.Warn("too many submitted commands at once, one was sent back", "id", c.ID, "from", c.From, "under_way", cap(s.places), "left_out", left)
		}
		s.reply(m, answer{State: busy})
		return
	}
	s.metrics.WithLabelValues(outClaimed).Inc()
	s.reply(m, answer{State: claimed})
	under.Go(func() {
		defer func() { <-s.places }()
		s.carryOut(ctx, &c, m)
	})
}

func (s *Server) carryOut(ctx context.Context, c *Command, m *nats.Msg) {
	failures := s.opts.Engine.Take(ctx, c)
	o := newOutcome(c, s.opts.ID, failures)
	s.opts.Logger.Info("submitted command carried out", "id", c.ID, "from", c.From, "author", c.Author(), "actions", o.Total,
		"refused", o.Refused, "unknown", o.Unknown)
	s.reply(m, answer{State: ended, Total: o.Total, Refused: o.Refused, Unknown: o.Unknown, Failures: o.Failures})
}

// reply answers whoever submitted a command, in an inbox: what a sender may not publish
// on, this process does not publish for it. It may be gone; the log says what became of
// the command in any case.
func (s *Server) reply(m *nats.Msg, a answer) {
	a.Engine = s.opts.ID
	if err := s.nc.Publish(m.Reply, a.encode()); err != nil {
		s.opts.Logger.Warn("a submitted command could not be answered", "state", a.State, "err", err)
	}
}
