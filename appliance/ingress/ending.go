package ingress

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// ending tells when a subscription ends by itself.
type ending struct {
	nc     *nats.Conn
	sub    *nats.Subscription
	once   sync.Once
	closed chan struct{}
}

func watch(nc *nats.Conn, sub *nats.Subscription) *ending {
	e := &ending{nc: nc, sub: sub, closed: make(chan struct{})}
	sub.SetClosedHandler(func(string) { e.once.Do(func() { close(e.closed) }) })
	return e
}

// run waits for the end of ctx and then ends the subscription, once what has
// arrived is handled; or it fails because the subscription ended before.
func (e *ending) run(ctx context.Context, ready func()) error {
	if err := e.confirm(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("subscribe to %s: %w", e.sub.Subject, err)
	}
	states := e.nc.StatusChanged(nats.CLOSED)
	defer e.nc.RemoveStatusListener(states)
	if e.nc.IsClosed() {
		return fmt.Errorf("subscribe to %s: %w", e.sub.Subject, nats.ErrConnectionClosed)
	}
	ready()
	select {
	case <-ctx.Done():
		return e.leave()
	case <-e.closed:
		return fmt.Errorf("the subscription to %s ended by itself", e.sub.Subject)
	case <-states:
		return fmt.Errorf("the connection of the subscription to %s ended", e.sub.Subject)
	}
}

// leave ends the subscription once what the server has sent is handled.
func (e *ending) leave() error {
	err := e.sub.Drain()
	if err != nil {
		if errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrBadSubscription) {
			return nil
		}
		return fmt.Errorf("end the subscription to %s: %w", e.sub.Subject, err)
	}
	select {
	case <-e.closed:
	case <-time.After(drainTimeout): // the server is away
	}
	return nil
}

// drainTimeout bounds the wait for a server that may not answer any more.
const drainTimeout = 2 * time.Second

// confirm waits until the server has looked at the subscription. It tells of one
// that it does not allow on the connection, in front of this answer.
func (e *ending) confirm(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := e.nc.FlushWithContext(ctx); err != nil {
		return err
	}
	if err := e.nc.LastError(); errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+e.sub.Subject+`"`) {
		return err
	}
	return nil
}
