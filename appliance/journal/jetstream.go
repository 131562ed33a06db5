package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/throttle"
)

// jetStream is the journal on a bus.
type jetStream struct {
	bus     *bus.Bus
	nc      *nats.Conn
	names   bus.Names
	opts    Options
	metrics *metrics
	pub     *publisher
	app     *appender
	results *account
	room    chan struct{} // one per measurement in flight
	objects jetstream.ObjectStore
	opened  Position
	index   *index          // of the log, for History
	passed  throttle.Lines  // about positions without an event
	rest    map[string]bool // chunks that belonged to no snapshot at the last look; who saves has it

	mu      sync.Mutex // guards closing and the count of measurements in flight
	closing bool
	flying  int
	landed  chan struct{} // closed when flying is 0 after closing
	over    chan struct{} // closed by Close
}

var _ Journal = (*jetStream)(nil)

// OpenJetStream returns the journal on an open bus. The bus must stay open until
// the journal is closed.
func OpenJetStream(ctx context.Context, b *bus.Bus, o Options) (Journal, error) {
	o = o.withDefaults()
	j := &jetStream{
		bus: b, nc: b.Conn(), names: b.Names(), opts: o, metrics: newMetrics(o.Registerer), index: newIndex(),
		room: make(chan struct{}, o.MaxInFlight), landed: make(chan struct{}), over: make(chan struct{}),
	}
	// Members of a cluster that start together choose the leaders of their streams here.
	err := b.Settled(ctx, func(ctx context.Context) (err error) {
		j.objects, err = b.JetStream().ObjectStore(ctx, j.names.Snapshots)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open snapshots %s: %w", j.names.Snapshots, err)
	}
	if j.pub, err = newPublisher(j.nc, o.Timeout, j.answerWait()); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j.app = newAppender(j.pub, j.metrics, j.metrics.account(event.Log), newMessageIDs(o.Instance), b.Stored, j.at)
	j.results = j.metrics.account(event.Results)
	go func() {
		select {
		case <-b.Failed():
			j.pub.giveUp() // nobody will answer any more
		case <-j.over:
		}
	}()
	err = b.Settled(ctx, func(ctx context.Context) (err error) {
		j.opened, err = j.End(ctx)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("look for the end of the log: %w", err), j.Close(ctx))
	}
	if o.ReadOnly {
		return j, nil // LoadSnapshot passes over what an engine will remove
	}
	if !b.Attached() { // who writes the log looks after its snapshots
		err := b.Settled(ctx, func(ctx context.Context) error { return j.dropFutureSnapshots(ctx, j.opened) })
		if err != nil {
			return nil, errors.Join(err, j.Close(ctx))
		}
	}
	return j, nil
}

// Append hands the decision to the appender, which sends it with others.
func (j *jetStream) Append(e *event.Event, expect uint64, done Done) {
	tail, compared, err := place(e)
	if j.opts.ReadOnly {
		err = ErrReadOnly
	}
	if err != nil {
		go done(0, err)
		return
	}
	j.app.add(draft{
		subject: j.names.LogRoot + "." + tail, id: e.ID, data: event.AppendJSON(nil, e),
		expect: expect, compared: compared, since: time.Now(), done: done,
	})
}

// Record publishes at once: the results stream does not sync, so that grouping
// would gain nothing. A measurement carries no message id, because readers keep
// the newest by its number and a header would be parsed at every replay.
func (j *jetStream) Record(ctx context.Context, e *event.Event, done Done) error {
	if e.Object == "" {
		return fmt.Errorf("record %s: a measurement needs an object", e.Kind)
	}
	if j.opts.ReadOnly {
		return ErrReadOnly
	}
	select {
	case j.room <- struct{}{}:
	default:
		select {
		case j.room <- struct{}{}:
		case <-j.over:
			return ErrClosed
		case <-ctx.Done():
			return fmt.Errorf("record %s of %s: %d measurements wait for the log server: %w", e.Kind, e.Object, cap(j.room), ctx.Err())
		}
	}
	if !j.takeOff() {
		<-j.room
		return ErrClosed
	}
	start := time.Now()
	m := &nats.Msg{
		Subject: j.names.ResultRoot + "." + object.ID(j.opts.Zone(e.Object)).Token() + "." + e.Object.Token(),
		Data:    event.AppendJSON(nil, e),
	}
	j.pub.send(m, func(a answer) {
		j.results.settle(start, a.err)
		<-j.room
		if done != nil {
			done(a.seq, a.err)
		}
		j.land()
	})
	return nil
}

// takeOff counts a measurement as in flight, false if the journal is closed.
func (j *jetStream) takeOff() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closing {
		return false
	}
	j.flying++
	j.results.inFlight.Inc()
	return true
}

// land counts a measurement as answered.
func (j *jetStream) land() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flying--
	if j.closing && j.flying == 0 {
		close(j.landed)
	}
}

// state of a stream, read from its leader.
func (j *jetStream) state(ctx context.Context, s event.Stream) (jetstream.StreamState, error) {
	stream, err := j.bus.JetStream().Stream(ctx, j.streamName(s))
	if err != nil {
		return jetstream.StreamState{}, fmt.Errorf("look at stream %s: %w", j.streamName(s), err)
	}
	return stream.CachedInfo().State, nil
}

// alone tells whether this process keeps the streams by itself: then no answer gets lost.
func (j *jetStream) alone() bool { return j.bus.Embedded() && !j.bus.Clustered() }

// answerLeast is how long an answer is waited for at least where it can get lost: about as
// long as it takes until there is another leader.
const answerLeast = 1500 * time.Millisecond

// answerWait is how long one answer of the log's leader is waited for.
func (j *jetStream) answerWait() time.Duration {
	if j.alone() {
		return j.opts.Timeout
	}
	return min(answerLeast, j.opts.Timeout)
}

// streamName returns the stream's name on the server.
func (j *jetStream) streamName(s event.Stream) string {
	if s == event.Results {
		return j.names.Results
	}
	return j.names.Log
}

// End asks both streams one after the other; what is appended in between may be
// in the second answer only.
func (j *jetStream) End(ctx context.Context) (Position, error) {
	log, err := j.state(ctx, event.Log)
	if err != nil {
		return Position{}, fmt.Errorf("read the end of the log: %w", err)
	}
	results, err := j.state(ctx, event.Results)
	if err != nil {
		return Position{}, fmt.Errorf("read the end of the log: %w", err)
	}
	return Position{Log: log.LastSeq, Results: results.LastSeq}, nil
}

func (j *jetStream) EndOf(ctx context.Context, s event.Stream) (uint64, error) {
	info, err := j.state(ctx, s)
	if err != nil {
		return 0, fmt.Errorf("read the end of the %s: %w", s, err)
	}
	return info.LastSeq, nil
}

// Opened was read before this process wrote anything.
func (j *jetStream) Opened() Position { return j.opened }

// codeNotFound is the server's code for a subject without messages.
const codeNotFound = 10037

// LastOf asks the stream's leader, not a replica: a refused append needs the
// truth, and a direct get may be answered by a replica that lags. When retention
// has removed everything about the object the answer is 0, which is what the
// server compares with then.
func (j *jetStream) LastOf(ctx context.Context, id object.ID) (last, compared uint64, err error) {
	subject := j.names.LogRoot + "." + id.Token()
	compared, foreign, err := j.newestOn(ctx, subject)
	if err != nil {
		return 0, 0, fmt.Errorf("read last position of %s: %w", id, err)
	}
	if !foreign {
		return compared, compared, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 3*j.opts.Timeout)
	defer cancel()
	events, err := j.backwards(ctx, event.Log, subject, compared, &Query{Object: id, Limit: 1})
	if err != nil {
		return 0, 0, fmt.Errorf("read last position of %s: %w", id, err)
	}
	for i := range events {
		last = max(last, events[i].Seq)
	}
	return last, compared, nil
}

// newestOn returns the position of the last message of a subject of the log, 0 if there
// is none, and whether it is no event.
func (j *jetStream) newestOn(ctx context.Context, subject string) (seq uint64, foreign bool, err error) {
	m, err := j.stored(ctx, map[string]any{"last_by_subj": subject})
	if err != nil || m == nil {
		return 0, false, err
	}
	var e event.Event
	return m.Seq, decodeStored(m.Headers, m.Data, &e) != nil, nil
}

// storedMessage is a message of the log as its leader shows it.
type storedMessage struct {
	Subject string `json:"subject"`
	Seq     uint64 `json:"seq"`
	Headers []byte `json:"hdrs"`
	Data    []byte `json:"data"`
}

// stored asks the log's leader for one message, nil if it is not there.
func (j *jetStream) stored(ctx context.Context, which map[string]any) (*storedMessage, error) {
	ask, err := json.Marshal(which)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.answerWait())
	defer cancel()
	m, err := j.nc.RequestWithContext(ctx, "$JS.API.STREAM.MSG.GET."+j.names.Log, ask)
	if err != nil {
		return nil, err
	}
	var r struct {
		Error   *jetstream.APIError `json:"error"`
		Message storedMessage       `json:"message"`
	}
	if err := json.Unmarshal(m.Data, &r); err != nil {
		return nil, err
	}
	if r.Error != nil && r.Error.ErrorCode == codeNotFound {
		return nil, nil
	}
	if r.Error != nil {
		return nil, r.Error
	}
	return &r.Message, nil
}

// Close refuses new events, waits for the answers to those in flight and gives
// up on the rest: their outcome is unknown, those never sent are ErrClosed. The
// bus stays open.
func (j *jetStream) Close(ctx context.Context) error {
	idle := j.app.close()
	j.mu.Lock()
	first := !j.closing
	if first {
		j.closing = true
		close(j.over)
		if j.flying == 0 {
			close(j.landed)
		}
	}
	j.mu.Unlock()
	if !first {
		return nil
	}
	var err error
	for _, c := range []<-chan struct{}{idle, j.landed} {
		select {
		case <-c:
		case <-ctx.Done():
			err = fmt.Errorf("close journal: events are still in flight: %w", ctx.Err())
		}
	}
	j.app.abandon()
	return errors.Join(err, j.pub.close())
}
