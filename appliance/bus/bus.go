package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

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
	if b.opts.URL != "" {
		first, cancel := context.WithTimeout(ctx, startTimeout)
		defer cancel()
		if err := b.ask(first); err != nil || !b.opts.Attach || b.opts.Bare {
			return err
		}
		return b.telling("waiting for an engine to make the log", func() error { return b.await(ctx) })
	}
	err := b.telling("restoring the log", func() (err error) {
		b.embed, err = startEmbedded(b)
		return err
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.opts.answers)
	defer cancel()
	err = b.telling("waiting for the log server's answers", func() error { return b.ask(ctx) })
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: the log server on %s has not answered within %s; nothing is lost: see whether the disk or the machine is too busy, and start again",
			err, b.opts.Data, b.opts.answers)
	}
	return err
}

// telling says from time to time that a part of the start goes on.
func (b *Bus) telling(what string, do func() error) error {
	began, done := time.Now(), make(chan struct{})
	defer close(done)
	go func() {
		tick := time.NewTicker(b.opts.news)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				b.log.Info("the start takes long and goes on", "what", what, "folder", b.opts.Data, "took", time.Since(began).Round(time.Millisecond))
			case <-done:
				return
			}
		}
	}()
	return do()
}

// ask connects, and declares and checks what stands on the server.
func (b *Bus) ask(ctx context.Context) error {
	var err error
	if b.embed != nil {
		b.nc, err = nats.Connect("", append(b.handlers(), b.embed.dial()...)...)
		if err != nil {
			return fmt.Errorf("connect to the embedded log server: %w", err)
		}
	} else if b.nc, err = b.dial(ctx); err != nil {
		return err
	}
	b.metrics.connected.Set(1)
	if b.js, err = jetstream.New(b.nc); err != nil {
		return fmt.Errorf("open bus: %w", err)
	}
	if b.opts.Bare || b.opts.Attach {
		return nil
	}
	if b.embed != nil {
		if err := b.embed.guard.beforeDeclare(ctx, b.js); err != nil {
			return err
		}
	}
	if err := b.boundResults(ctx); err != nil {
		return err
	}
	if err := b.declare(ctx); err != nil {
		return err
	}
	if b.embed == nil {
		return nil
	}
	if err := b.embed.guard.afterDeclare(ctx, b.js); err != nil {
		return err
	}
	b.embed.watch, err = watchStore(b)
	return err
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
	select {
	case <-b.failed:
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
