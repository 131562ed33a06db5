package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/throttle"
)

// JetStreamOptions of a JetStream queue. The zero value is usable.
type JetStreamOptions struct {
	// Prefix is that of the installation, as of the bus; "" = none.
	Prefix     string
	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
	// Settled does something again until a cluster is ready for it, as Bus.Settled does;
	// nil = it is done once.
	Settled func(ctx context.Context, do func(context.Context) error) error

	timing timing // tests; zero = default
}

// JetStream is the queue on a NATS server. Create it with NewJetStream. The
// connection must stay open until its sides are closed.
type JetStream struct {
	nc      *nats.Conn
	js      jetstream.JetStream
	names   names
	log     *slog.Logger
	timing  timing
	settled func(ctx context.Context, do func(context.Context) error) error
	metrics *metrics
	bad     throttle.Lines // about announcements, by subject
}

var _ Queue = (*JetStream)(nil)

// names of the stream and the subjects of an installation.
type names struct {
	stream string
	root   string // first tokens of every subject
}

func namesFor(prefix string) names {
	if prefix == "" {
		return names{stream: "JAQUE_WORK", root: "jaque.work"}
	}
	return names{stream: prefix + "_JAQUE_WORK", root: prefix + ".jaque.work"}
}

// Every subject that a worker uses ends in its zone, so that a server can keep
// the workers of one zone from another's work and from answering it.

func (n names) check(zone string) string { return n.root + ".check." + token(zone) }

func (n names) result(engine, zone string) string {
	return n.root + ".result." + token(engine) + "." + token(zone)
}
func (n names) worker(zone string) string { return n.root + ".worker." + token(zone) }

// hello asks every worker to announce itself at once.
func (n names) hello() string { return n.root + ".hello" }

// consumer is the durable consumer of a zone.
func (n names) consumer(zone string) string { return "zone-" + token(zone) }

func token(name string) string { return object.ID(name).Token() }

// NewJetStream returns the queue on a connection. It asks the server for nothing.
func NewJetStream(nc *nats.Conn, o JetStreamOptions) (*JetStream, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open queue: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.timing == (timing{}) {
		o.timing = defaultTiming()
	}
	if o.Settled == nil {
		o.Settled = func(ctx context.Context, do func(context.Context) error) error { return do(ctx) }
	}
	return &JetStream{
		nc: nc, js: js, names: namesFor(o.Prefix), log: o.Logger, timing: o.timing, settled: o.Settled, metrics: newMetrics(o.Registerer),
	}, nil
}

// Bounds of the stream. Items vanish by their own life long before.
const (
	streamAge   = time.Hour
	streamItems = 1_000_000
	streamBytes = 256 << 20
	// duplicates is how long the server recognises an item that was sent twice.
	duplicates = 20 * time.Second
	deliveries = 5 // an item that costs so many workers their life is left alone
	pullsOpen  = 4096
)

// stream is kept in memory: items live for a minute, and what is expanded in
// them may be secret and does not belong on a disk.
func (q *JetStream) stream() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: q.names.stream, Subjects: []string{q.names.root + ".check.*"},
		Description: "checks that wait for a worker",
		Storage:     jetstream.MemoryStorage, Retention: jetstream.WorkQueuePolicy,
		MaxAge: streamAge, MaxMsgs: streamItems, MaxBytes: streamBytes, MaxMsgsPerSubject: -1,
		Discard: jetstream.DiscardNew, Duplicates: duplicates, AllowMsgTTL: true, Replicas: 1,
	}
}

// declare makes the stream. A server that was restarted has forgotten it. One that is there
// is changed only where it has to be, and keeps as many copies as the cluster has given it:
// with another number of them it is copied from member to member, and its consumers with it,
// while work waits in it.
func (q *JetStream) declare(ctx context.Context) error {
	want := q.stream()
	there, err := q.js.Stream(ctx, want.Name)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		if _, err = q.js.CreateStream(ctx, want); errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			err = nil // another engine was faster, with the same
		}
	case err == nil:
		is := there.CachedInfo().Config
		want.Replicas = is.Replicas
		if !like(is, want) {
			_, err = q.js.UpdateStream(ctx, want)
		}
	}
	if err != nil {
		return fmt.Errorf("declare stream %s: %w", q.names.stream, err)
	}
	return nil
}

// like tells whether a stream is as it shall be. What the server adds by itself does not
// count.
func like(is, want jetstream.StreamConfig) bool {
	return slices.Equal(is.Subjects, want.Subjects) && is.Description == want.Description && is.Storage == want.Storage && is.Retention == want.Retention &&
		is.MaxAge == want.MaxAge && is.MaxMsgs == want.MaxMsgs && is.MaxBytes == want.MaxBytes && is.MaxMsgsPerSubject == want.MaxMsgsPerSubject &&
		is.Discard == want.Discard && is.Duplicates == want.Duplicates && is.AllowMsgTTL == want.AllowMsgTTL
}

// declareZone makes the consumer that the workers of a zone share.
func (q *JetStream) declareZone(ctx context.Context, zone string) error {
	_, err := q.js.CreateOrUpdateConsumer(ctx, q.names.stream, jetstream.ConsumerConfig{
		Durable: q.names.consumer(zone), FilterSubject: q.names.check(zone),
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.timing.lease, MaxAckPending: -1,
		MaxDeliver: deliveries, MaxWaiting: pullsOpen, MemoryStorage: true,
	})
	if err != nil {
		return fmt.Errorf("declare consumer of zone %s: %w", zone, err)
	}
	return nil
}

// flush waits until the server has read everything sent so far.
func (q *JetStream) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	return q.nc.FlushWithContext(ctx)
}

// side is what both sides of the queue share: subscriptions that must not end
// by themselves, and the moments in which the connection came back.
type side struct {
	queue *JetStream
	over  chan struct{} // closed by Close
	back  chan struct{} // has a value when the connection came back

	ending  sync.Once
	failing sync.Once
	failed  chan struct{}
	failure error
	subs    []*nats.Subscription
	leaving atomic.Bool // ends of subscriptions are expected
}

func newSide(q *JetStream) *side {
	return &side{queue: q, over: make(chan struct{}), back: make(chan struct{}, 1), failed: make(chan struct{})}
}

// subscribe begins to receive from a subject; the end of the subscription is
// the end of the side.
func (s *side) subscribe(subject string, fn nats.MsgHandler) (*nats.Subscription, error) {
	sub, err := s.queue.nc.Subscribe(subject, fn)
	if err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, fmt.Errorf("subscribe to %s: %w", subject, err)
	}
	sub.SetClosedHandler(func(subject string) {
		if !s.leaving.Load() {
			s.fail(fmt.Errorf("queue: the subscription to %s ended by itself", subject))
		}
	})
	s.subs = append(s.subs, sub)
	return sub, nil
}

// follow tells of every return of the connection until the side closes.
func (s *side) follow() {
	states := s.queue.nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	go func() {
		for {
			select {
			case state, ok := <-states:
				if !ok || state == nats.CLOSED {
					s.fail(errors.New("queue: the connection to the server ended"))
					return
				}
				select {
				case s.back <- struct{}{}:
				default:
				}
			case <-s.over:
				s.queue.nc.RemoveStatusListener(states)
				return
			}
		}
	}()
}

func (s *side) fail(err error) {
	s.failing.Do(func() {
		s.failure = err
		close(s.failed)
	})
}

// Failed is closed when nothing can arrive any more.
func (s *side) Failed() <-chan struct{} { return s.failed }

// Err returns why the side ended by itself, nil while it has not.
func (s *side) Err() error {
	select {
	case <-s.failed:
		return s.failure
	default:
		return nil
	}
}

// end closes the side, once.
func (s *side) end(last func()) error {
	var errs []error
	s.ending.Do(func() {
		last()
		s.leaving.Store(true)
		close(s.over)
		for _, sub := range s.subs {
			if err := sub.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) && !errors.Is(err, nats.ErrBadSubscription) {
				errs = append(errs, fmt.Errorf("end subscription to %s: %w", sub.Subject, err))
			}
		}
	})
	return errors.Join(errs...)
}
