package ingress

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/rule/operate"
)

// ClaimTimeout is how long a command waits for an engine to claim it.
const ClaimTimeout = 2 * time.Second

// ClientOptions are those of a Client. The zero ClientOptions are usable.
type ClientOptions struct {
	Prefix string // of the installation's subjects; "" = none
	From   string // name of this process, for the logs of the engines
	// Ended is told what became of a command, if the engine still knows whom to tell.
	// It must not block. nil = nobody.
	Ended func(Outcome)

	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
}

// Client submits commands. Its methods may be called from any goroutine.
type Client struct {
	nc      *nats.Conn
	opts    ClientOptions
	metrics *prometheus.CounterVec
	inbox   string // subject of answers, in front of the id
	watch   *command.Watch

	mu      sync.Mutex
	waiting map[string]chan *nats.Msg // for a claim, by id
}

// NewClient returns a client on a connection to the server on which the engines
// take commands, and begins to listen for answers.
func NewClient(nc *nats.Conn, o ClientOptions) (*Client, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{nc: nc, opts: o, metrics: newSubmitted(o.Registerer), inbox: nc.NewInbox() + ".", waiting: map[string]chan *nats.Msg{}}
	sub, err := nc.Subscribe(c.inbox+"*", c.answered)
	if err != nil {
		return nil, fmt.Errorf("listen for the answers of engines: %w", err)
	}
	c.watch = command.NewWatch(nc, sub)
	return c, nil
}

// Run is the client as a service: it fails when answers cannot arrive any more.
func (c *Client) Run(ctx context.Context, ready func()) error { return c.watch.Run(ctx, ready) }

// NewID returns an id for a command; nobody has used it.
func NewID() string { return rand.Text()[:16] }

// Submit hands actions to the engines under an id and returns nil once one has
// claimed them; it does not wait for what becomes of them. The id is that of the
// events on the log, see Command. With ErrUnclaimed they may still be carried out;
// with every other error they will not.
func (c *Client) Submit(ctx context.Context, id string, actions []operate.Action) error {
	err := c.submit(ctx, &Command{ID: id, From: c.opts.From, Actions: actions})
	c.metrics.WithLabelValues(outcome(err)).Inc()
	return err
}

func outcome(err error) string {
	switch {
	case err == nil:
		return outClaimed
	case errors.Is(err, ErrRefused):
		return command.Refused
	case errors.Is(err, ErrBusy):
		return command.Busy
	case errors.Is(err, ErrNoEngine):
		return outNoEngine
	}
	return outUnclaimed
}

func (c *Client) submit(ctx context.Context, asked *Command) error {
	data, err := Encode(asked)
	if err != nil {
		return err
	}
	if limit := int(c.nc.MaxPayload()); limit > 0 && len(data) > limit {
		return &TooBig{Bytes: len(data), Limit: limit}
	}
	claim := make(chan *nats.Msg, 1)
	c.expect(asked.ID, claim)
	defer c.expect(asked.ID, nil)
	switch err := c.nc.PublishRequest(Subject(c.opts.Prefix), c.inbox+asked.ID, data); {
	case err == nil:
	case errors.Is(err, nats.ErrReconnectBufExceeded): // it is away, and nothing is kept for it
		return fmt.Errorf("%w: the server that they listen on cannot be reached", ErrNoEngine)
	default:
		return fmt.Errorf("%w: the server that they listen on cannot be reached: %w", ErrNoEngine, err)
	}
	limit := time.NewTimer(ClaimTimeout)
	defer limit.Stop()
	select {
	case m := <-claim:
		return claimError(m)
	case <-limit.C:
		return fmt.Errorf("%w (%s)", ErrUnclaimed, ClaimTimeout)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrUnclaimed, ctx.Err())
	}
}

// claimError turns the first answer to a command into an error, nil if it was
// claimed.
func claimError(m *nats.Msg) error {
	if command.Unheard(m) {
		return fmt.Errorf("%w; start one with -coordination on the same server", ErrNoEngine)
	}
	a, err := decodeAnswer(m.Data)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnclaimed, err)
	case a.State == claimed || a.State == ended:
		return nil
	case a.State == busy:
		return fmt.Errorf("%w (engine %s)", ErrBusy, a.Engine)
	}
	return fmt.Errorf("engine %s: %s: %w", a.Engine, a.Why, ErrRefused)
}

// expect sets who waits for the claim of a command; nil = nobody any more.
func (c *Client) expect(id string, claim chan *nats.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if claim == nil {
		delete(c.waiting, id)
		return
	}
	c.waiting[id] = claim
}

// answered takes an answer of an engine, or of the server.
func (c *Client) answered(m *nats.Msg) {
	id := strings.TrimPrefix(m.Subject, c.inbox)
	c.mu.Lock()
	claim := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if claim != nil {
		claim <- m
	}
	if c.opts.Ended == nil || m.Header.Get("Status") != "" {
		return
	}
	a, err := decodeAnswer(m.Data)
	switch {
	case err != nil:
		c.opts.Logger.Warn("what became of a command cannot be read", "id", id, "err", err)
	case a.State == ended:
		c.opts.Ended(Outcome{ID: id, Engine: a.Engine, Total: a.Total, Refused: a.Refused, Unknown: a.Unknown, Failures: a.Failures})
	}
}
