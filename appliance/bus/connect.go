package bus

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Time-outs of the connection to an external server.
const (
	dialTimeout      = 10 * time.Second
	pingInterval     = 10 * time.Second
	reconnectLongest = 10 * time.Second
)

// handlers are the options that both kinds of connection share.
func (b *Bus) handlers() []nats.Option {
	return []nats.Option{
		nats.Name(b.opts.ClientName),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(reconnectDelay),
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

// reconnectDelay grows from 100 ms to 10 s, with a random half so that many
// processes do not come back in the same moment.
func reconnectDelay(attempts int) time.Duration {
	d := min(100*time.Millisecond<<min(attempts, 10), reconnectLongest)
	return d/2 + rand.N(d/2+1)
}

// dial connects to the external server. It gives up when the server cannot be
// reached now; a connection that once stood is made again for ever.
func (b *Bus) dial(ctx context.Context) (*nats.Conn, error) {
	for _, u := range strings.Split(b.opts.URL, ",") {
		if p, err := url.Parse(u); err != nil || (p.Scheme != "nats" && p.Scheme != "tls") || p.Host == "" {
			return nil, fmt.Errorf("connect to log server %s: not the address of a log server; write nats://host:4222 or tls://host:4222", redact(u))
		}
	}
	opts := append(b.handlers(), nats.Timeout(dialTimeout))
	mine, err := b.identity()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(b.opts.URL, append(opts, mine...)...)
	if err != nil {
		return nil, fmt.Errorf("connect to log server %s: %w%s", redact(b.opts.URL), err, b.adviceToConnect(err))
	}
	if err := ctx.Err(); err != nil {
		nc.Close()
		return nil, fmt.Errorf("connect to log server %s: %w", redact(b.opts.URL), err)
	}
	return nc, nil
}

// redact removes passwords from server addresses.
func redact(list string) string {
	parts := strings.Split(list, ",")
	for i, u := range parts {
		p, err := url.Parse(u)
		if err != nil {
			parts[i] = "(unreadable)"
			continue
		}
		parts[i] = p.Redacted()
	}
	return strings.Join(parts, ",")
}
