package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/throttle"
)

// jetDispatcher is an engine's side on JetStream.
type jetDispatcher struct {
	*side
	id     string
	orders *orders
	fleet  *Fleet
	zones  *zoneQueues
	bad    throttle.Lines // about what is no result, by subject

	mu    sync.Mutex
	again chan struct{} // closed and replaced when the connection came back
}

// Dispatcher declares the stream and begins to receive results and
// announcements.
func (q *JetStream) Dispatcher(ctx context.Context, engine string) (Dispatcher, error) {
	if engine == "" || len(engine) > maxName {
		return nil, fmt.Errorf("queue: an engine needs an id of at most %d characters", maxName)
	}
	if err := q.declareAtStart(ctx); err != nil {
		return nil, err
	}
	d := &jetDispatcher{
		side: newSide(q), id: engine, orders: newOrders(q.metrics), fleet: newFleet(q.timing.silent), zones: newZoneQueues(), again: make(chan struct{}),
	}
	_, err := d.subscribe(q.names.root+".result."+token(engine)+".*", d.receive)
	if err == nil {
		_, err = d.subscribe(q.names.root+".worker.*", d.heard)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	d.follow()
	go d.reconnects()
	if err := q.greet(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if err := q.flush(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("subscribe to results: %w", err), d.Close())
	}
	return d, nil
}

// declaredWithin is how long a cluster may take to choose who keeps the stream.
const declaredWithin = time.Minute

// declareAtStart waits for a cluster that is choosing leaders.
func (q *JetStream) declareAtStart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, declaredWithin)
	defer cancel()
	return q.settled(ctx, q.declare)
}

// reconnects has every waiting order sent again when the connection came back:
// a server that was restarted has lost them, another one recognises them.
func (d *jetDispatcher) reconnects() {
	for {
		select {
		case <-d.back:
			d.zones.forget("")
			d.queue.returned(d.fleet)
			d.mu.Lock()
			close(d.again)
			d.again = make(chan struct{})
			d.mu.Unlock()
		case <-d.over:
			return
		}
	}
}

// returned is closed when the connection comes back the next time.
func (d *jetDispatcher) returned() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.again
}

// headerRoom is what the headers of an item take of the payload limit.
const headerRoom = 256

// Do publishes the item and waits.
func (d *jetDispatcher) Do(ctx context.Context, it *Item) (*Result, error) {
	r, err := d.do(ctx, it)
	d.queue.metrics.ended(err)
	return r, err
}

func (d *jetDispatcher) do(ctx context.Context, it *Item) (*Result, error) {
	began := time.Now()
	it.Engine, it.Sent = d.id, object.At(began)
	w := d.orders.add(it)
	defer d.orders.drop(w)
	data, err := encodeItem(it)
	if err != nil {
		return nil, err
	}
	if size, limit := len(data)+headerRoom, int(d.queue.nc.MaxPayload()); size > limit {
		return nil, &TooBig{Bytes: size, Limit: limit}
	}
	if d.fleet.Deserted(it.Zone) > d.queue.timing.deserted {
		return nil, d.orders.unanswered(w, began, d.fleet, nil)
	}
	wait := waitFor{began: began, fleet: d.fleet, lease: d.queue.timing.lease, news: d.queue.timing.lease, over: d.over, retry: d.returned()}
	if err := d.send(ctx, it, data, began); err != nil {
		return nil, d.sendError(ctx, w, began, err)
	}
	wait.again = func() <-chan struct{} {
		next := d.returned()
		if time.Since(began) >= it.Life {
			return nil
		}
		if err := d.send(ctx, it, data, began); err != nil {
			d.queue.log.Warn("check could not be sent again after the connection came back", "item", it, "err", err)
		}
		return next
	}
	return d.orders.wait(ctx, w, wait)
}

// sendError tells a stop apart from a server that does not take items.
func (d *jetDispatcher) sendError(ctx context.Context, w *order, began time.Time, err error) error {
	switch {
	case errors.Is(err, ErrClosed):
		return ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return d.orders.unanswered(w, began, d.fleet, err)
}

// Pauses between attempts to send, and how long one waits for the server.
const (
	sendPause = 500 * time.Millisecond
	sendWait  = 3 * time.Second
)

// send publishes until the server has the item or its life is over. A publish
// whose outcome is unknown is repeated with the same id, which the server knows.
func (d *jetDispatcher) send(ctx context.Context, it *Item, data []byte, began time.Time) error {
	m := &nats.Msg{Subject: d.queue.names.check(it.Zone), Data: data}
	for {
		left := it.Life - time.Since(began)
		err := d.ensure(ctx, it.Zone)
		if err == nil {
			err = d.publish(ctx, m, it.ID, left)
		}
		if err == nil || left <= sendPause || final(err) {
			return err
		}
		if errors.Is(err, jetstream.ErrNoStreamResponse) {
			d.zones.forget("")
			err = errors.Join(err, d.redeclare(ctx))
		}
		select {
		case <-time.After(sendPause):
		case <-d.over:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

func (d *jetDispatcher) publish(ctx context.Context, m *nats.Msg, id string, left time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, min(sendWait, max(left, sendPause)))
	defer cancel()
	// The server counts whole seconds and takes no less than one.
	ttl := max(left.Round(time.Second), time.Second)
	_, err := d.queue.js.PublishMsg(ctx, m, jetstream.WithMsgID(id), jetstream.WithMsgTTL(ttl), jetstream.WithRetryAttempts(0))
	if err != nil {
		return fmt.Errorf("publish work item: %w", err)
	}
	return nil
}

func (d *jetDispatcher) redeclare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	return d.queue.declare(ctx)
}

// final tells that another attempt cannot end otherwise.
func final(err error) bool {
	var api *jetstream.APIError
	if errors.As(err, &api) && api.Code < 500 && api.ErrorCode != 0 {
		return true
	}
	return errors.Is(err, nats.ErrMaxPayload) || errors.Is(err, nats.ErrConnectionClosed)
}

// receive takes what workers send: results, which are acknowledged, and the news
// that a worker has begun.
func (d *jetDispatcher) receive(m *nats.Msg) {
	if stored(m) {
		d.refuse(m, resultForeign, errStored)
		return
	}
	_, last, _ := cutLast(m.Subject)
	zone, err := object.ParseToken(last)
	var r *Result
	var begun bool
	if err == nil {
		r, begun, err = decodeResult(m.Data)
	}
	verdict := resultBad
	switch {
	case err != nil:
		d.refuse(m, resultBad, err)
	case m.Reply == "" && !begun:
		d.refuse(m, resultForeign, errUnasked)
	case begun:
		d.orders.note(r.ID, r.Worker, string(zone))
		return
	default:
		verdict = d.orders.accept(r, string(zone))
	}
	if m.Reply == "" {
		return
	}
	if err := m.Respond([]byte(verdict)); err != nil {
		d.queue.log.Debug("acknowledgement of a result could not be sent, the worker asks again", "err", err)
	}
}

// Why a message is not taken as one of a worker.
var (
	errStored  = errors.New("nobody has sent it, the log server delivers it from its store")
	errUnasked = errors.New("nobody waits for the word that it has arrived")
)

// stored tells whether a server delivers what it has stored, on a subject that the one
// who asked for it has named: then the reply is no inbox, or the message says so. What
// a sender may not publish on, this process does not publish for it either.
func stored(m *nats.Msg) bool {
	return m.Reply != "" && !strings.HasPrefix(m.Reply, nats.InboxPrefix) || len(m.Header["Nats-Stream"]) > 0
}

// refuse counts what is no result, and tells of it once a minute for each subject.
func (d *jetDispatcher) refuse(m *nats.Msg, outcome string, err error) {
	d.queue.metrics.results.WithLabelValues(outcome).Inc()
	if left, ok := d.bad.Let(m.Subject); ok {
		d.queue.log.Warn("result from a worker cannot be read", "subject", m.Subject, "err", err, "left_out", left)
	}
}

func cutLast(subject string) (before, last string, ok bool) {
	i := strings.LastIndexByte(subject, '.')
	if i < 0 {
		return "", subject, false
	}
	return subject[:i], subject[i+1:], true
}

// Fleet knows the workers that announced themselves.
func (d *jetDispatcher) Fleet() *Fleet { return d.fleet }

// Close ends the subscriptions and every wait.
func (d *jetDispatcher) Close() error { return d.end(func() {}) }
