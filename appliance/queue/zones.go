package queue

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// zoneQueues are the zones whose consumer an engine knows to be on the server. The engine
// makes them, not the workers: who may make a consumer chooses where the server
// delivers to, and it checks no rights there.
type zoneQueues struct {
	mu    sync.Mutex
	known map[string]*zone
}

// zone is one of them.
type zone struct {
	making chan struct{} // holds a value while somebody makes the consumer
	made   bool          // guarded by zoneQueues.mu
}

func newZoneQueues() *zoneQueues { return &zoneQueues{known: map[string]*zone{}} }

// get returns a zone, and whether its consumer is there.
func (z *zoneQueues) get(name string) (*zone, bool) {
	z.mu.Lock()
	defer z.mu.Unlock()
	one := z.known[name]
	if one == nil {
		one = &zone{making: make(chan struct{}, 1)}
		z.known[name] = one
	}
	return one, one.made
}

func (z *zoneQueues) set(one *zone) {
	z.mu.Lock()
	defer z.mu.Unlock()
	one.made = true
}

// forget has the consumer of a zone made again; "" means those of every zone.
func (z *zoneQueues) forget(name string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for key, one := range z.known {
		if name == "" || key == name {
			one.made = false
		}
	}
}

// ensure makes the consumer of a zone unless it is known to be there, and the
// stream if the server has lost it.
func (d *jetDispatcher) ensure(ctx context.Context, name string) error {
	one, made := d.zones.get(name)
	if made {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	select {
	case one.making <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-one.making }()
	if _, made = d.zones.get(name); made {
		return nil
	}
	err := d.queue.declareZone(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if err = d.queue.declare(ctx); err == nil {
			err = d.queue.declareZone(ctx, name)
		}
	}
	if err == nil {
		d.zones.set(one)
	}
	return err
}

// heard takes in an announcement, and makes the queue of a zone whose worker has
// none yet, or none any more.
func (d *jetDispatcher) heard(m *nats.Msg) {
	a, ok := d.queue.announced(d.fleet, m)
	if !ok || a.Leaving {
		return
	}
	if a.Queueless {
		d.zones.forget(a.Zone)
	}
	if _, made := d.zones.get(a.Zone); made {
		return
	}
	go func() {
		if err := d.ensure(context.Background(), a.Zone); err != nil {
			d.queue.log.Warn("the queue of a zone could not be made, trying again", "zone", a.Zone, "err", err)
		}
	}()
}
