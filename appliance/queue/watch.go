package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
)

// Watch knows the fleet from what workers announce, for a process that does no
// work itself. Create it with JetStream.Watch.
type Watch struct {
	*side
	fleet *Fleet
}

// Watch begins to hear the workers and asks them to announce themselves; without
// the right to ask it hears them after a moment all the same.
func (q *JetStream) Watch(ctx context.Context) (*Watch, error) {
	w := &Watch{side: newSide(q), fleet: newFleet(q.timing.silent)}
	if _, err := w.subscribe(q.names.root+".worker.*", func(m *nats.Msg) { _, _ = q.announced(w.fleet, m) }); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.follow()
	go w.again()
	if err := q.greet(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if err := q.flush(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("subscribe to the workers: %w", err), w.Close())
	}
	return w, nil
}

// again greets the workers whenever the connection came back.
func (w *Watch) again() {
	for {
		select {
		case <-w.back:
			w.queue.returned(w.fleet)
		case <-w.over:
			return
		}
	}
}

// Fleet knows the workers that announced themselves.
func (w *Watch) Fleet() *Fleet { return w.fleet }

// Close ends the subscription.
func (w *Watch) Close() error { return w.end(func() {}) }

// greet asks every worker to announce itself at once.
func (q *JetStream) greet() error {
	if err := q.nc.Publish(q.names.hello(), nil); err != nil {
		return fmt.Errorf("ask for workers: %w", err)
	}
	return nil
}

// returned begins to watch the fleet anew after the connection was away.
func (q *JetStream) returned(f *Fleet) {
	f.restart()
	if err := q.greet(); err != nil {
		q.log.Debug("workers could not be asked for, they announce themselves soon", "err", err)
	}
}

// announced takes in what workers say of themselves. The zone that counts is that
// of the subject, which the server checks.
func (q *JetStream) announced(f *Fleet, m *nats.Msg) (a announcement, ok bool) {
	a, err := decodeAnnouncement(m.Data)
	if stored(m) {
		err = errStored
	}
	if err == nil && q.names.worker(a.Zone) != m.Subject {
		err = fmt.Errorf("announcement for zone %s on %s", a.Zone, m.Subject)
	}
	if err != nil {
		if left, ok := q.bad.Let(m.Subject); ok {
			q.log.Warn("announcement of a worker cannot be read", "subject", m.Subject, "err", err, "left_out", left)
		}
		return a, false
	}
	f.hear(a)
	return a, true
}

// restart forgets for how long nobody was heard: nothing could be. A zone counts as
// deserted again once its workers have had the time to announce themselves.
func (f *Fleet) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.began = time.Now()
}

// Known tells whether every live worker must have been heard of since the fleet is
// watched: before that a zone without workers means nothing.
func (f *Fleet) Known() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return time.Since(f.began) >= f.silent
}

// Gone tells whether a zone has no worker, and for certain.
func (f *Fleet) Gone(zone string) bool { return f.Known() && f.Live(zone) == 0 }

// Settling is how long a fleet is watched until it is Known.
func (f *Fleet) Settling() time.Duration { return f.silent }

// Since returns since when nobody serves a zone, as far as it is known; zero while
// somebody does.
func (f *Fleet) Since(zone string) time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.live() {
		if slices.Contains(m.Zones, zone) {
			return time.Time{}
		}
	}
	if served, ok := f.served[zone]; ok {
		return served
	}
	return f.began
}
