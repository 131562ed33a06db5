package forward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// Engine carries out what other engines forwarded.
type Engine interface {
	// Take carries out a command and returns what became of it, nil = it is done, and
	// how far the log was read by then. It must end some time by itself, and ends when
	// ctx does. It is called by many goroutines, for one object by one at a time and in
	// order.
	Take(ctx context.Context, c Command) (journal.Position, *Failure)
}

// ServerOptions are those of a Server. Engine and ID must be set.
type ServerOptions struct {
	Prefix string // of the installation's subjects; "" = none
	ID     string // of the engine
	Engine Engine
	// Over tells whether the engine must take nothing more: it has lost its membership,
	// or the process is on its way out. nil = never. Must be cheap.
	Over func() bool
	// Waiting bounds the commands that are carried out or wait for those before them;
	// more are sent back as busy. 0 = 10,000.
	Waiting int

	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
}

// Server takes forwarded commands for an engine.
type Server struct {
	opts  ServerOptions
	in    command.Inlet
	under sync.WaitGroup

	mu      sync.Mutex // guards what follows
	lines   map[object.ID][]work
	waiting int
	closed  bool // nothing more is taken
}

// work is a command on its way through the server.
type work struct {
	command Command
	index   int // in its message
	answer  *answering
}

// NewServer returns a server on a connection. It subscribes to nothing before Run.
func NewServer(nc *nats.Conn, o ServerOptions) (*Server, error) {
	switch {
	case o.Engine == nil:
		return nil, errors.New("make the way in of forwarded commands: Engine is missing")
	case o.ID == "":
		return nil, errors.New("make the way in of forwarded commands: ID is missing")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Over == nil {
		o.Over = func() bool { return false }
	}
	if o.Waiting <= 0 {
		o.Waiting = 10_000
	}
	s := &Server{opts: o, lines: map[object.ID][]work{}}
	s.in = command.Inlet{
		Conn: nc, Subject: Subject(o.Prefix, o.ID), Kind: "forwarded", Receive: s.receive, Wait: s.wait,
		Logger: o.Logger, Received: newReceived(o.Registerer),
	}
	return s, nil
}

// Run takes commands until ctx ends, then waits for those under way. It fails when its
// subscription or its connection ends by itself.
func (s *Server) Run(ctx context.Context, ready func()) error { return s.in.Run(ctx, ready) }

// wait takes nothing more and waits for the commands under way.
func (s *Server) wait() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.under.Wait()
}

// receive puts the commands of a message into the lines of their objects, or says why
// not. It never waits for what becomes of them.
func (s *Server) receive(ctx context.Context, m *nats.Msg) {
	from, commands, err := decode(m.Data, mostCommands)
	switch {
	case err != nil:
		s.in.TurnAway(command.Refused, 1, "unreadable", "forwarded commands cannot be carried out", "from", from, "bytes", len(m.Data), "err", err)
		s.refuse(m, &Failure{Code: Refused, Text: fmt.Sprintf("engine %s: %v", s.opts.ID, err)})
	case s.opts.Over():
		// What came in while this process was held up must not be done by it.
		s.sendBack(from, m, len(commands), Stopping)
	case !s.enqueue(ctx, m, commands):
		s.sendBack(from, m, len(commands), Busy)
	default:
		s.in.Received.WithLabelValues(outTaken).Add(float64(len(commands)))
	}
}

// sendBack says that nothing of a message is done.
func (s *Server) sendBack(from string, m *nats.Msg, n int, why Code) {
	s.in.TurnAway(command.Busy, n, string(why), "forwarded commands were sent back", "from", from, "commands", n, "why", string(why))
	s.refuse(m, &Failure{Code: why})
}

// enqueue puts commands behind those of their objects, all of them or none.
func (s *Server) enqueue(ctx context.Context, m *nats.Msg, commands []Command) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.waiting+len(commands) > s.opts.Waiting {
		return false
	}
	s.waiting += len(commands)
	a := &answering{server: s, to: m.Reply}
	for i := range commands {
		id := commands[i].Action.Object
		line, busy := s.lines[id]
		s.lines[id] = append(line, work{commands[i], i, a})
		if !busy {
			s.under.Go(func() { s.carryOut(ctx, id) })
		}
	}
	return true
}

// carryOut carries out the commands of an object one after the other until none
// waits.
func (s *Server) carryOut(ctx context.Context, id object.ID) {
	for w, ok := s.first(id); ok; w, ok = s.next(id) {
		at, failure := s.opts.Engine.Take(ctx, w.command)
		w.answer.add(newResult(w.index, at, failure))
	}
}

func (s *Server) first(id object.ID) (work, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lines[id][0], true
}

// next takes the command that was carried out off its line and returns the one behind.
func (s *Server) next(id object.ID) (work, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	rest := s.lines[id][1:]
	if len(rest) == 0 {
		delete(s.lines, id)
		return work{}, false
	}
	s.lines[id] = rest
	return rest[0], true
}

func (s *Server) refuse(m *nats.Msg, f *Failure) {
	all := newResult(0, journal.Position{}, f)
	s.reply(m.Reply, answer{All: &all})
}

// reply answers whoever forwarded commands.
func (s *Server) reply(to string, a answer) {
	a.Engine = s.opts.ID
	s.in.Reply(to, a.encode())
}

// answering sends what became of the commands of a message: at once what is known, and
// in the next answer what comes to be known meanwhile.
type answering struct {
	server *Server
	to     string

	mu      sync.Mutex // guards what follows
	results []result
	sending bool
}

func (a *answering) add(r result) {
	a.mu.Lock()
	a.results = append(a.results, r)
	if a.sending {
		a.mu.Unlock()
		return
	}
	a.sending = true
	a.mu.Unlock()
	for some := a.take(); some != nil; some = a.take() {
		a.server.reply(a.to, answer{Results: some})
	}
}

// take returns results that go in one answer, nil if there are none.
func (a *answering) take() []result {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for size := 0; n < len(a.results) && size < mostAnswer; n++ {
		size += len(a.results[n].Text) + len(a.results[n].Detail)
	}
	some := a.results[:n:n]
	if a.results = a.results[n:]; n == 0 {
		a.sending, some = false, nil
	}
	return some
}
