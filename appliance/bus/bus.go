package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/service"
)

// Bounds of the answers to what a start asks the server for. The embedded one may
// have restored hundreds of megabytes just before, on a machine that is busy: it is
// waited for while it restores, and long for its first answers.
const (
	startTimeout   = 60 * time.Second
	restoreTimeout = 10 * time.Minute
)

// startNews is how often a start that takes long says that it goes on.
const startNews = 10 * time.Second

// Bus is a connection to the log server with everything on it declared; with
// the embedded server it is that server too. Create it with Open, end it with
// Close.
type Bus struct {
	opts    Options
	names   Names
	log     *slog.Logger
	metrics *metrics
	refused refusals
	ready   readiness
	awaits  atomic.Pointer[string] // what the start of a member waits for; nil = for nothing
	able    atomic.Bool            // js is set
	meets   atomic.Bool            // the members' bucket here is this process's to declare, and to clean
	nc      *nats.Conn
	js      jetstream.JetStream
	embed   *embedded // nil with an external server

	closing sync.Once
	failed  chan struct{} // closed when the bus ended by itself
	failure error         // why, valid once failed is closed
	failing sync.Once
}

// Open starts the embedded server, or connects to the external one, and declares
// the streams and buckets. It returns when they can be used. A second process on
// the same folder, a folder that cannot be written and a damaged store are
// errors that name the folder and what to do.
func Open(ctx context.Context, o Options) (*Bus, error) {
	o, err := o.checked()
	if err != nil {
		return nil, err
	}
	b := &Bus{
		opts: o, names: NamesFor(o.Prefix), log: o.Logger,
		metrics: newMetrics(o.Registerer), failed: make(chan struct{}),
	}
	if err := b.open(ctx); err != nil {
		if b.embed != nil && noRoom(err) {
			err = fullError(o.Data, err)
		}
		return nil, errors.Join(err, b.Close(ctx))
	}
	return b, nil
}

func (b *Bus) open(ctx context.Context) error {
	if b.opts.URL != "" || b.opts.Through != "" {
		first, cancel := context.WithTimeout(ctx, startTimeout)
		defer cancel()
		if err := b.ask(first); err != nil || !b.opts.Attach || b.opts.Bare {
			return err
		}
		return b.await(ctx)
	}
	err := b.telling(always("restoring the log"), func() (err error) {
		b.embed, err = startEmbedded(b)
		return err
	})
	if err != nil {
		return err
	}
	if p := b.embed.peering; p != nil {
		if err := b.telling(p.waitsFor, func() error { return p.open(ctx, b.embed.server) }); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.answers)
	defer cancel()
	err = b.telling(always("waiting for the log server's answers"), func() error { return b.ask(ctx) })
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: the log server on %s has not answered within %s; nothing is lost: see whether the disk or the machine is too busy, and start again",
			err, b.opts.Data, b.opts.answers)
	}
	if ctx.Err() != nil && b.Clustered() && transient(err) {
		return b.embed.peering.silent(err, b.opts.answers)
	}
	return err
}

func always(text string) func() string { return func() string { return text } }

// telling says from time to time that a part of the start goes on.
func (b *Bus) telling(what func() string, do func() error) error {
	where := []any{"folder", b.opts.Data}
	if b.opts.URL != "" {
		where = []any{"server", veil.Servers(b.opts.URL)}
	}
	began, done := time.Now(), make(chan struct{})
	defer close(done)
	go func() {
		tick := time.NewTicker(b.opts.news)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.log.Info("the start takes long and goes on", append([]any{"what", what(), "took", time.Since(began).Round(time.Millisecond)}, where...)...)
			case <-done:
				return
			}
		}
	}()
	return do()
}

// connect connects to the server, unless that is done already.
func (b *Bus) connect(ctx context.Context) (err error) {
	switch {
	case b.nc != nil:
		return nil
	case b.embed == nil:
		b.nc, err = b.dial(ctx)
	default:
		if b.nc, err = nats.Connect("", append(b.handlers(), b.embed.dial()...)...); err != nil {
			err = fmt.Errorf("connect to the embedded log server: %w", err)
		}
	}
	if err != nil {
		return err
	}
	b.metrics.connected.Set(1)
	return nil
}

// ask connects, and declares and checks what stands on the server.
func (b *Bus) ask(ctx context.Context) error {
	err := b.connect(ctx)
	if err != nil {
		return err
	}
	if b.js, err = jetstream.New(b.nc); err != nil {
		return fmt.Errorf("open bus: %w", err)
	}
	b.able.Store(true)
	if b.opts.Bare || b.opts.Attach {
		return nil
	}
	if err := b.settled(ctx, b.answers); err != nil {
		return err
	}
	if err := b.settled(ctx, func(ctx context.Context) error { return b.embed.adopt(ctx, b) }); err != nil {
		return err
	}
	if err := b.settled(ctx, b.declareAll); err != nil {
		return err
	}
	if b.embed == nil {
		return nil
	}
	if b.Clustered() && b.embed.peering.start.shared {
		b.embed.peering.awaitMeasurements(ctx)
	}
	b.embed.guard.applied(ctx, func(ctx context.Context, stream string) (uint64, error) {
		info, err := streamInfo(ctx, b.js, stream)
		if err != nil {
			return 0, err
		}
		return info.State.LastSeq, nil
	})
	check := func(ctx context.Context) error { return b.embed.guard.afterDeclare(ctx, b.js) }
	if err := b.settled(ctx, check); err != nil {
		return err
	}
	b.embed.guard.begin(ctx, b.js)
	if p := b.embed.peering; p != nil {
		if err := founded(b.opts.Data); err != nil {
			return err
		}
		p.run(ctx)
	}
	b.embed.watch, err = watchStore(b)
	return err
}

// declareAll declares what stands on the server.
func (b *Bus) declareAll(ctx context.Context) error {
	if b.embed != nil {
		if err := b.embed.guard.beforeDeclare(ctx, b.js); err != nil {
			return err
		}
	}
	if err := b.boundResults(ctx); err != nil {
		return err
	}
	return b.declare(ctx)
}

// answers asks once whether the streams' interface of a cluster answers.
func (b *Bus) answers(ctx context.Context) error {
	if !b.Clustered() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := b.js.AccountInfo(ctx)
	return err
}

// settleWait bounds one attempt at something in a cluster: what is asked of a leader
// that is none any more is never answered.
const settleWait = 5 * time.Second

// settled does something again while a cluster answers that it is not ready, or does
// not answer: its leaders may be others in a moment.
func (b *Bus) settled(ctx context.Context, do func(context.Context) error) error {
	if !b.Clustered() {
		return do(ctx)
	}
	for {
		one, cancel := context.WithTimeout(ctx, settleWait)
		err := do(one)
		cancel()
		if err == nil || !transient(err) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(removePause):
		}
	}
}

// Settled does something that can be done again until a cluster is ready for it: while
// its leaders are being chosen it answers that nobody is there. Without a cluster it is
// done once.
func (b *Bus) Settled(ctx context.Context, do func(context.Context) error) error {
	return b.settled(ctx, do)
}

// Conn returns the connection.
func (b *Bus) Conn() *nats.Conn { return b.nc }

// JetStream returns the streams' interface.
func (b *Bus) JetStream() jetstream.JetStream { return b.js }

// Names returns the names of streams, buckets and subjects.
func (b *Bus) Names() Names { return b.names }

// Embedded tells whether the server runs in this process.
func (b *Bus) Embedded() bool { return b.embed != nil }

// Attached tells whether another process declares what stands on the server.
func (b *Bus) Attached() bool { return b.opts.Attach }

// Stored tells the bus that the log acknowledged everything up to a position.
// With the embedded server that is noted beside the store, so that a store that
// comes back shorter is noticed. It never blocks.
func (b *Bus) Stored(seq uint64) {
	if b.embed != nil {
		b.embed.guard.stored(seq)
	}
}

// Failed is closed when the bus ended by itself; Err then says why.
func (b *Bus) Failed() <-chan struct{} { return b.failed }

// Err returns why the bus ended by itself, nil while it has not.
func (b *Bus) Err() error {
	select {
	case <-b.failed:
		return b.failure
	default:
		return nil
	}
}

// Run blocks until ctx ends, then closes the bus and returns nil. It calls ready
// at once, since an open bus is usable, and returns an error as soon as the bus
// ends by itself.
func (b *Bus) Run(ctx context.Context, ready func()) error {
	ready()
	cleaning, stop := context.WithCancel(ctx)
	defer stop()
	go b.cleanBuckets(cleaning)
	select {
	case <-b.failed:
		stop()
		// Closing takes a while: it is told of before.
		return errors.Join(service.Fail(ctx, b.failure), b.Close(context.WithoutCancel(ctx)))
	case <-ctx.Done():
		return b.Close(context.WithoutCancel(ctx))
	}
}

// Close ends the connection and the embedded server and waits until its files
// are written. Only the first call does something.
func (b *Bus) Close(ctx context.Context) error {
	var err error
	b.closing.Do(func() {
		if b.embed != nil && b.js != nil {
			b.embed.guard.stop(ctx, b.js)
		}
		if b.nc != nil {
			b.nc.Close()
		}
		b.metrics.connected.Set(0)
		if b.embed != nil {
			err = b.embed.stop()
		}
	})
	return err
}

func (b *Bus) fail(err error) {
	b.failing.Do(func() {
		b.failure = err
		close(b.failed)
	})
}
