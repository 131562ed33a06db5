package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"jaque.sh/jaque/appliance/backup"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/journal"
)

// Server is a running log server. The whole log is asked for as for a backup; where
// that is refused or breaks off, a consumer reads on.
type Server struct {
	Bus *bus.Bus
	// Acknowledged is a position that the log must reach, as somebody else knows; 0 = nobody.
	Acknowledged uint64

	deleted  []uint64 // positions that the server says are not there
	last     uint64   // where the log ends as it says
	messages uint64
	stream   stream        // instead of the server's own
	patience time.Duration // instead of answerMost
}

// stream calls fn with every message of a stream, as backup.Server does.
type stream func(ctx context.Context, name string, fn func(*backup.Message) error) (*backup.Info, error)

func (s *Server) size() uint64 { return s.messages }

// Sizes and times of reading from a server.
const (
	batchSize   = 2048
	heartbeat   = 5 * time.Second
	silenceMost = 60 * time.Second
	forgetAfter = 30 * time.Second // the server drops an abandoned consumer
)

func (s *Server) jobs(ctx context.Context, free *spare, yield func(job) bool) error {
	names := s.Bus.Names()
	stream, err := s.Bus.JetStream().Stream(ctx, names.Log)
	if err != nil {
		return fmt.Errorf("look at stream %s: %w; is it the server of the event log?", names.Log, err)
	}
	info, err := stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return fmt.Errorf("look at stream %s: %w", names.Log, err)
	}
	st := info.State
	s.deleted, s.last, s.messages = st.Deleted, st.LastSeq, st.Msgs
	if st.Msgs == 0 {
		return nil
	}
	sent := &snapshotReader{
		stream: s.stream, patience: cmp.Or(s.patience, answerMost), names: names, free: free, yield: yield, next: st.FirstSeq,
	}
	if sent.stream == nil {
		sent.stream = backup.Server{Conn: s.Bus.Conn()}.Stream
	}
	if err := sent.run(ctx); err == nil || ctx.Err() != nil || sent.next > st.LastSeq {
		return ctx.Err()
	}
	r := &reader{names: names, next: sent.next, last: st.LastSeq, yield: yield}
	return r.run(ctx, s.Bus)
}

// gap tells whether the server itself knows of all of the positions: whoever opens a log
// with others refuses it, unless an operator accepts the loss.
func (s *Server) gap(from, to uint64) string {
	for seq := from; seq <= to; seq++ {
		if _, known := slices.BinarySearch(s.deleted, seq); !known {
			return ""
		}
	}
	return "the log server says that they are not there"
}

func (s *Server) bounds() bounds {
	if s.Acknowledged > s.last {
		return bounds{last: s.Acknowledged, whyLast: fmt.Sprintf("position %d was acknowledged", s.Acknowledged)}
	}
	if s.messages == 0 {
		return bounds{} // everything was removed
	}
	return bounds{last: s.last, whyLast: fmt.Sprintf("the log server says that the log reaches position %d", s.last)}
}

// reader reads the log with a consumer that pushes.
type reader struct {
	names    bus.Names
	next     uint64
	last     uint64 // where the log ended when reading began
	consumed uint64
	batch    []*nats.Msg
	yield    func(job) bool
}

func (r *reader) run(ctx context.Context, b *bus.Bus) error {
	sub, err := b.Conn().SubscribeSync(b.Conn().NewInbox())
	if err == nil {
		defer func() { _ = sub.Unsubscribe() }() // the connection may be gone
		err = sub.SetPendingLimits(-1, -1)       // flow control bounds it
	}
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	c, err := b.JetStream().CreatePushConsumer(ctx, r.names.Log, jetstream.ConsumerConfig{
		DeliverSubject: sub.Subject, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: r.next,
		AckPolicy: jetstream.AckNonePolicy, MaxDeliver: 1, FlowControl: true, IdleHeartbeat: heartbeat,
		InactiveThreshold: forgetAfter, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return fmt.Errorf("read the log: %w", err)
	}
	defer func() {
		tidy, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		// Only tidies up: the server drops it by itself when nobody listens.
		_ = b.JetStream().DeleteConsumer(tidy, r.names.Log, c.CachedInfo().Name)
	}()
	for r.next <= r.last {
		wait, cancel := context.WithTimeout(ctx, silenceMost)
		m, err := sub.NextMsgWithContext(wait)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return fmt.Errorf("read the log: no word from the log server for %s", silenceMost)
		}
		if err != nil {
			return fmt.Errorf("read the log: %w", err)
		}
		more, err := r.take(m)
		if err != nil || !more {
			return err
		}
	}
	r.flush()
	return nil
}

// take takes one message of the consumer; false = nobody wants more.
func (r *reader) take(m *nats.Msg) (bool, error) {
	seq, count, ok := journal.DeliveredAs(m.Reply)
	if !ok {
		return true, r.control(m)
	}
	if r.consumed++; count != r.consumed {
		return false, errors.New("read the log: the connection was too slow and messages were lost on the way; try again")
	}
	if r.next = seq + 1; seq > r.last {
		return true, nil
	}
	if r.batch = append(r.batch, m); len(r.batch) < batchSize {
		return true, nil
	}
	return r.flush(), nil
}

// control answers flow control; an idle consumer has nothing more to send.
func (r *reader) control(m *nats.Msg) error {
	if m.Reply != "" {
		return m.Respond(nil)
	}
	if stalled := m.Header.Get("Nats-Consumer-Stalled"); stalled != "" {
		return nil
	}
	if last, err := strconv.ParseUint(m.Header.Get("Nats-Last-Consumer"), 10, 64); err == nil && last == r.consumed {
		r.next = r.last + 1 // retention has removed the rest
	}
	return nil
}

func (r *reader) flush() bool {
	batch := r.batch
	if r.batch = nil; len(batch) == 0 {
		return true
	}
	return r.yield(func() part { return readBatch(batch, r.names) })
}

// readBatch decodes messages of a consumer.
func readBatch(batch []*nats.Msg, n bus.Names) part {
	p := part{entries: make([]entry, len(batch)), share: uint64(len(batch))}
	d := newDecoder(n)
	for i, m := range batch {
		d.delivered(&p.entries[i], m)
	}
	return p
}
