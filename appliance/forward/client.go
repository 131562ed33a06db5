package forward

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/journal"
)

// mostCommands is how many commands go in one message.
const mostCommands = 1024

// gather is how long after a message the next one to the same engine waits, so that a
// command for many objects goes in few. A command alone never waits.
const gather = time.Millisecond

// ClientOptions are those of a Client. From must be set.
type ClientOptions struct {
	Prefix string // of the installation's subjects; "" = none
	From   string // id of this engine

	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
}

// Client sends commands to the engines that own their objects. Its methods may be
// called from any goroutine.
type Client struct {
	nc      *nats.Conn
	opts    ClientOptions
	metrics *sending
	inbox   string // subject of answers, in front of the number of a message
	watch   *command.Watch

	mu    sync.Mutex // guards what follows
	lines map[string]*line
	sent  map[uint64]*batch // messages with commands that wait for their answers
	last  uint64            // number of the last message
}

// line is the commands that wait to be sent to one engine.
type line struct{ calls []*call }

// batch is the commands of one message.
type batch struct {
	number uint64
	pieces []piece // the sender's
	calls  []*call // nil where the answer has come, or nobody waits for it any more
	left   int
}

// call is one command whose sender waits.
type call struct {
	piece piece
	done  chan outcome // capacity 1
	batch *batch       // nil = not sent
	index int          // in the batch
}

// outcome is what became of a command.
type outcome struct {
	at  journal.Position
	err error
}

// NewClient returns a client on a connection to the server on which the engines meet,
// and begins to listen for answers.
func NewClient(nc *nats.Conn, o ClientOptions) (*Client, error) {
	if o.From == "" {
		return nil, errors.New("make the forwarding of commands: From is missing")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{
		nc: nc, opts: o, metrics: newSending(o.Registerer), inbox: nc.NewInbox() + ".",
		lines: map[string]*line{}, sent: map[uint64]*batch{},
	}
	sub, err := nc.Subscribe(c.inbox+"*", c.answered)
	if err != nil {
		return nil, fmt.Errorf("listen for the answers of other engines: %w", err)
	}
	c.watch = command.NewWatch(nc, sub)
	return c, nil
}

// Run is the client as a service: it fails when answers cannot arrive any more.
func (c *Client) Run(ctx context.Context, ready func()) error { return c.watch.Run(ctx, ready) }

// Forward has an engine carry out a command and returns what became of it: nil if it
// is done, a *Failure with what the engine says, or an error that wraps ErrUnreached or
// ErrUnanswered. What the command did stands on the log up to the position. It waits
// until ctx ends. Commands are sent in the order of the calls; those that wait for one
// engine go together.
func (c *Client) Forward(ctx context.Context, to string, asked Command) (journal.Position, error) {
	p, err := newPiece(&asked)
	if limit := int(c.nc.MaxPayload()) - room; err == nil && limit > 0 && p.size > limit {
		err = fmt.Errorf("the command has %d bytes, a message to another engine holds %d; send shorter texts", p.size, limit)
	}
	if err != nil {
		return journal.Position{}, &Failure{Code: Refused, Text: err.Error()}
	}
	k := &call{piece: p, done: make(chan outcome, 1)}
	c.lineUp(to, k)
	select {
	case o := <-k.done:
		return o.at, o.err
	case <-ctx.Done():
		o := c.leave(to, k, ctx.Err())
		return o.at, o.err
	}
}

// lineUp lets a command wait for its message. Whoever finds nobody in line sees to it
// that messages go out until the line is empty.
func (c *Client) lineUp(to string, k *call) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.lines[to]; l != nil {
		l.calls = append(l.calls, k)
		return
	}
	c.lines[to] = &line{calls: []*call{k}}
	go c.send(to)
}

// send sends what waits for an engine; what comes meanwhile goes in the next message.
func (c *Client) send(to string) {
	subject, limit := Subject(c.opts.Prefix, to), int(c.nc.MaxPayload())
	for b := c.take(to, limit); b != nil; b = c.take(to, limit) {
		c.metrics.messages.Inc()
		data := encode(c.opts.From, b.pieces)
		b.pieces = nil
		if err := c.nc.PublishRequest(subject, c.inbox+strconv.FormatUint(b.number, 36), data); err != nil {
			c.settleAll(b.number, unreached(err))
		}
		time.Sleep(gather)
	}
}

// unreached is the error of a message that could not be sent.
func unreached(err error) error {
	if errors.Is(err, nats.ErrReconnectBufExceeded) { // it is away, and nothing is kept for it
		return fmt.Errorf("%w: the server that they meet on cannot be reached", ErrUnreached)
	}
	return fmt.Errorf("%w: the server that they meet on cannot be reached: %w", ErrUnreached, err)
}

// take makes the next message of what waits for an engine; nil = nothing waits.
func (c *Client) take(to string, limit int) *batch {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[to]
	n, size := 0, room
	for n < len(l.calls) && n < mostCommands {
		if size += l.calls[n].piece.size; n > 0 && limit > 0 && size > limit {
			break
		}
		n++
	}
	if n == 0 {
		delete(c.lines, to)
		return nil
	}
	c.last++
	b := &batch{number: c.last, calls: append([]*call(nil), l.calls[:n]...), left: n}
	clear(l.calls[:n])
	l.calls = l.calls[n:]
	for i, k := range b.calls {
		b.pieces = append(b.pieces, k.piece)
		k.batch, k.index = b, i
	}
	c.sent[b.number] = b
	return b
}

// leave ends the wait for a command, and says whether it may still take effect.
func (c *Client) leave(to string, k *call, err error) outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case said := <-k.done: // a moment earlier
		return said
	default:
	}
	if k.batch != nil {
		c.settle(k.batch, k.index, outcome{})
		return outcome{err: fmt.Errorf("%w (engine %s): %w", ErrUnanswered, to, err)}
	}
	l := c.lines[to]
	for i, other := range l.calls {
		if other == k {
			l.calls = append(l.calls[:i:i], l.calls[i+1:]...)
			break
		}
	}
	return outcome{err: fmt.Errorf("%w: command not sent to engine %s: %w", ErrUnreached, to, err)}
}

// settle tells what became of a command, once; c.mu is held.
func (c *Client) settle(b *batch, index int, o outcome) {
	if index < 0 || index >= len(b.calls) || b.calls[index] == nil {
		return
	}
	b.calls[index].done <- o
	b.calls[index] = nil
	if b.left--; b.left == 0 {
		delete(c.sent, b.number)
	}
}

// settleAll tells the same of every command of a message.
func (c *Client) settleAll(number uint64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b := c.sent[number]; b != nil {
		for i := range b.calls {
			c.settle(b, i, outcome{err: err})
		}
	}
}

// answered takes an answer of an engine, or of the server.
func (c *Client) answered(m *nats.Msg) {
	number, err := strconv.ParseUint(strings.TrimPrefix(m.Subject, c.inbox), 36, 64)
	if err != nil {
		return
	}
	if command.Unheard(m) {
		c.settleAll(number, fmt.Errorf("%w: it has no subscription on the server that engines meet on", ErrUnreached))
		return
	}
	a, err := decodeAnswer(m.Data)
	switch {
	case err != nil:
		c.opts.Logger.Warn("what became of forwarded commands cannot be read", "err", err)
		c.settleAll(number, fmt.Errorf("%w: %w", ErrUnanswered, err))
	case a.All != nil:
		c.settleAll(number, a.All.error())
	default:
		c.settleSome(number, a.Results)
	}
}

// settleSome tells what became of some commands of a message.
func (c *Client) settleSome(number uint64, results []result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.sent[number]
	if b == nil { // nobody waits any more
		return
	}
	for i := range results {
		c.settle(b, results[i].Index, outcome{results[i].At, results[i].error()})
	}
}
