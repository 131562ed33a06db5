package ingress

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/command"
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
	opts   ServerOptions
	in     command.Inlet
	places chan struct{}
	under  sync.WaitGroup
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
	s := &Server{opts: o, places: make(chan struct{}, o.Parallel)}
	s.in = command.Inlet{
		Conn: nc, Subject: Subject(o.Prefix), Group: group, Kind: "submitted", Receive: s.receive, Wait: s.wait,
		Logger: o.Logger, Received: newReceived(o.Registerer),
	}
	return s, nil
}

// Run claims commands until ctx ends, then waits for those under way. It fails
// when its subscription or its connection ends by itself.
func (s *Server) Run(ctx context.Context, ready func()) error { return s.in.Run(ctx, ready) }

// wait takes every place, so that the group of goroutines does not grow, and waits for the
// commands under way.
func (s *Server) wait() {
	for range cap(s.places) {
		s.places <- struct{}{}
	}
	s.under.Wait()
}

// receive claims a command or says why not, and carries it out beside.
func (s *Server) receive(ctx context.Context, m *nats.Msg) {
	c, err := Decode(m.Data)
	switch {
	case err != nil:
		s.in.TurnAway(command.Refused, 1, "unreadable", "a submitted command cannot be carried out", "id", c.ID, "from", c.From, "bytes", len(m.Data), "err", err)
		s.reply(m, answer{State: refused, Why: err.Error()})
		return
	case s.opts.Over():
		// What came in while this process was held up must not be done by it.
		s.in.TurnAway(command.Busy, 1, "over", "a submitted command is not taken any more, this engine stops", "id", c.ID, "from", c.From)
		s.reply(m, answer{State: busy})
		return
	}
	select {
	case s.places <- struct{}{}:
	default:
		s.in.TurnAway(command.Busy, 1, "busy", "too many submitted commands at once, one was sent back", "id", c.ID, "from", c.From, "under_way", cap(s.places))
		s.reply(m, answer{State: busy})
		return
	}
	s.in.Received.WithLabelValues(outClaimed).Inc()
	s.reply(m, answer{State: claimed})
	s.under.Go(func() {
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

// reply answers whoever submitted a command. It may be gone; the log says what became of
// the command in any case.
func (s *Server) reply(m *nats.Msg, a answer) {
	a.Engine = s.opts.ID
	s.in.Reply(m.Reply, a.encode())
}
