package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/rule/veil"
)

// Time-outs of the connection to an external server.
const (
	dialTimeout      = 10 * time.Second
	pingInterval     = 10 * time.Second
	pingWorker       = 4 * time.Second // of who keeps up no heartbeat, and would end without an answer to it
	reconnectLongest = 4 * time.Second // for who keeps up no heartbeat: workers may be many
)

// again is the longest pause between two tries to connect anew. A member whose heartbeat
// is a third of its TTL old when the server goes must come back at once when half a TTL
// later the server is there again, or its TTL is over by then.
func (o *Options) again() time.Duration {
	if o.Heartbeat == 0 {
		return reconnectLongest
	}
	return min(max(o.Heartbeat/20, 100*time.Millisecond), time.Second)
}

// dialMost bounds one try to connect. Of several servers one may take connections and
// never answer: a member still has the time for another one.
func (o *Options) dialMost() time.Duration {
	if o.Heartbeat == 0 {
		return dialTimeout
	}
	return min(max(o.Heartbeat/4, 2*time.Second), dialTimeout)
}

// handlers are the options that both kinds of connection share.
func (b *Bus) handlers() []nats.Option {
	return []nats.Option{
		nats.Name(b.opts.ClientName),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(func(attempts int) time.Duration { return reconnectDelay(attempts, b.opts.again()) }),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(3),
		nats.ReconnectBufSize(-1), // a publish while disconnected fails at once: its outcome would be unknown anyway
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			b.metrics.connected.Set(0)
			if err != nil {
				b.log.Warn("connection to the log server lost, trying again", "err", err)
			}
		}),
		nats.ReconnectHandler(func(c *nats.Conn) {
			b.metrics.connected.Set(1)
			b.metrics.reconnects.Inc()
			b.log.Info("connection to the log server is back", "server", c.ConnectedServerName())
		}),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) {
			b.refused.take(err, time.Now())
			subject := ""
			if s != nil {
				subject = s.Subject
			}
			b.log.Warn("log server connection reports an error", "subject", subject, "err", err)
		}),
		nats.ClosedHandler(func(c *nats.Conn) {
			b.metrics.connected.Set(0)
			err := orClosed(c.LastError())
			b.fail(fmt.Errorf("connection to the log server ended: %w%s", err, b.adviceOfRefusal(err)))
		}),
	}
}

func orClosed(err error) error {
	if err == nil {
		return nats.ErrConnectionClosed
	}
	return err
}

// reconnectDelay grows from 100 ms to the longest, with a random half so that many
// processes do not come back in the same moment.
func reconnectDelay(attempts int, longest time.Duration) time.Duration {
	d := min(100*time.Millisecond<<min(max(attempts-1, 0), 10), longest)
	return d/2 + rand.N(d/2+1)
}

// dial connects to the external server. It gives up when the server cannot be
// reached now; a connection that once stood is made again for ever.
func (b *Bus) dial(ctx context.Context) (*nats.Conn, error) {
	if b.opts.Through != "" {
		return b.dialDoor(ctx)
	}
	for _, u := range strings.Split(b.opts.URL, ",") {
		if p, err := url.Parse(u); err != nil || (p.Scheme != "nats" && p.Scheme != "tls") || p.Host == "" {
			return nil, fmt.Errorf("connect to log server %s: not the address of a log server; write nats://host:4222 or tls://host:4222", veil.Servers(u))
		}
	}
	opts := append(b.handlers(), nats.Timeout(b.opts.dialMost()))
	if b.opts.Heartbeat == 0 { // nobody else finds out that its server hangs, while another one may answer
		opts = append(opts, nats.PingInterval(pingWorker), nats.MaxPingsOutstanding(2))
	}
	mine, err := b.identity()
	if err != nil {
		return nil, err
	}
	nc, err := b.knock(ctx, append(opts, mine...))
	if err != nil {
		return nil, fmt.Errorf("connect to log server %s: %w%s", veil.Servers(b.opts.URL), err, b.adviceToConnect(err))
	}
	if err := ctx.Err(); err != nil {
		nc.Close()
		return nil, fmt.Errorf("connect to log server %s: %w", veil.Servers(b.opts.URL), err)
	}
	return nc, nil
}

// A server takes new credentials in after about two seconds.
const (
	newCredentials = 3 * time.Second
	knockPause     = 500 * time.Millisecond
)

// knock connects. Whoever is refused with credentials tries again for a moment: they may
// have been made just now.
func (b *Bus) knock(ctx context.Context, opts []nats.Option) (*nats.Conn, error) {
	if b.opts.Credentials == nil {
		return nats.Connect(b.opts.URL, opts...)
	}
	return insist(ctx, func() (*nats.Conn, error) { return nats.Connect(b.opts.URL, opts...) })
}

// insist connects, and tries again for a moment when the server puts the connection out
// before it is made.
func insist(ctx context.Context, connect func() (*nats.Conn, error)) (*nats.Conn, error) {
	for began := time.Now(); ; {
		nc, err := connect()
		if err == nil || !putOut(err) || time.Since(began) >= newCredentials {
			return nc, err
		}
		select {
		case <-time.After(knockPause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// putOut tells whether a server has ended a connection before it was made. A server that
// takes in other users does so with everybody who has not said yet who they are.
func putOut(err error) bool {
	for _, end := range []error{nats.ErrAuthorization, io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}
