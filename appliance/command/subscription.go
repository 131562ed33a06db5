package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Sent tells whether somebody has published a message here who may, and hears the
// answer. A server also delivers what it has stored, on whatever subject the one who
// asks for it names: then without a reply, or with one that is no inbox.
func Sent(m *nats.Msg) bool {
	return strings.HasPrefix(m.Reply, nats.InboxPrefix) && len(m.Header["Nats-Stream"]) == 0
}

// Unheard tells whether a message is the server's word that nobody listens on the
// subject of a request.
func Unheard(m *nats.Msg) bool { return m.Header.Get("Status") == "503" }

// Watch is the watch over a subscription: it tells when that ends by itself.
type Watch struct {
	nc     *nats.Conn
	sub    *nats.Subscription
	once   sync.Once
	closed chan struct{}
}

// NewWatch returns the watch over a subscription that was just made.
func NewWatch(nc *nats.Conn, sub *nats.Subscription) *Watch {
	w := &Watch{nc: nc, sub: sub, closed: make(chan struct{})}
	sub.SetClosedHandler(func(string) { w.once.Do(func() { close(w.closed) }) })
	return w
}

// Run waits for the end of ctx and then ends the subscription, once what has arrived
// is handled; or it fails because the subscription ended before.
func (w *Watch) Run(ctx context.Context, ready func()) error {
	if err := w.confirm(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("subscribe to %s: %w", w.sub.Subject, err)
	}
	states := w.nc.StatusChanged(nats.CLOSED)
	defer w.nc.RemoveStatusListener(states)
	if w.nc.IsClosed() {
		return fmt.Errorf("subscribe to %s: %w", w.sub.Subject, nats.ErrConnectionClosed)
	}
	ready()
	select {
	case <-ctx.Done():
		return w.leave()
	case <-w.closed:
		return fmt.Errorf("the subscription to %s ended by itself", w.sub.Subject)
	case <-states:
		return fmt.Errorf("the connection of the subscription to %s ended", w.sub.Subject)
	}
}

// leave ends the subscription once what the server has sent is handled.
func (w *Watch) leave() error {
	err := w.sub.Drain()
	if err != nil {
		if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrBadSubscription) {
			return nil
		}
		return fmt.Errorf("end the subscription to %s: %w", w.sub.Subject, err)
	}
	select {
	case <-w.closed:
	case <-time.After(drainTimeout): // the server is away
	}
	return nil
}

// drainTimeout bounds the wait for a server that may not answer any more.
const drainTimeout = 2 * time.Second

// confirm waits until the server has looked at the subscription. It tells of one
// that it does not allow on the connection, in front of this answer.
func (w *Watch) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := w.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	if err := w.nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+w.sub.Subject+`"`) {
		return err
	}
	return nil
}
