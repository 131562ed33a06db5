package coordination

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// Options of a JetStream store.
type Options struct {
	Bucket     string                // key-value bucket on the server, as the bus names it
	Path       string                // Engines, Sinks or Notifiers
	TTL        time.Duration         // how long a member without heartbeats counts as alive; whole seconds
	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
}

// DefaultTTL is how long a missed heartbeat is tolerated.
const DefaultTTL = 10 * time.Second

// JetStream is the store of a fleet: heartbeats with a TTL, and one view record
// that is changed by compare-and-set only. Create it with OpenJetStream.
type JetStream struct {
	keys     bucket
	path     string
	ttl      time.Duration
	log      *slog.Logger
	metrics  *metrics
	watchers watchers

	registered chan struct{} // closed by the first Register

	// beating holds a value during every write of the own heartbeat key.
	beating chan struct{}

	mu       sync.Mutex
	me       membership.Member
	revision uint64    // of the own key
	good     time.Time // when the last successful heartbeat was sent
	unsure   time.Time // when the first one since then was sent whose outcome is unknown
	leaving  bool
}

// OpenJetStream returns the store of one bucket. The bucket must be declared;
// the connection must stay open until Run has returned.
func OpenJetStream(nc *nats.Conn, o Options) (*JetStream, error) {
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.TTL < time.Second || o.TTL%time.Second != 0 {
		return nil, fmt.Errorf("open membership %s: a heartbeat TTL of %s; the server counts whole seconds, write 1s or more", o.Path, o.TTL)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("open membership %s: %w", o.Path, err)
	}
	return open(&kvBucket{nc: nc, js: js, name: o.Bucket}, o), nil
}

func open(keys bucket, o Options) *JetStream {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &JetStream{
		keys: keys, path: o.Path, ttl: o.TTL, log: o.Logger.With("membership", o.Path),
		metrics: newMetrics(o.Registerer, o.Path), registered: make(chan struct{}), beating: make(chan struct{}, 1),
	}
}

// viewKey holds the one view record.
func (s *JetStream) viewKey() string { return s.path + "/view" }

// memberKey holds a member's heartbeat. A key may not hold "%", and the token
// no "=".
func (s *JetStream) memberKey(id string) string {
	return s.path + "/member." + strings.ReplaceAll(object.ID(id).Token(), "%", "=")
}

// step bounds one request to the store: a heartbeat that hangs is tried again so
// early that a store which is away for less than half a TTL ends nobody.
func (s *JetStream) step(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.ttl/8)
}

func (s *JetStream) get(ctx context.Context, key string) (entry, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	return s.keys.get(ctx, key)
}

func (s *JetStream) put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	return s.keys.put(ctx, key, value, expect, ttl)
}

// View returns the newest view that this process knows.
func (s *JetStream) View() membership.View { return s.watchers.get() }

// Alive tells whether the last heartbeat that succeeded is so young that no peer can
// have taken over; it ends a tenth of the TTL before they may.
func (s *JetStream) Alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.good.IsZero() && !s.leaving && time.Since(s.good) < s.ttl-s.ttl/10
}

// Watch tells of every newer view.
func (s *JetStream) Watch(fn func(membership.View)) (cancel func()) { return s.watchers.watch(fn) }

// Register creates the heartbeat key and joins the view. A key of an earlier run
// of this member is waited for until its TTL has removed it; one that somebody
// refreshes is ErrTaken. A record that does not exist is created.
func (s *JetStream) Register(ctx context.Context, m membership.Member, newestOnLog uint64) (membership.View, error) {
	if m.ID == "" || m.Instance == "" {
		return membership.View{}, fmt.Errorf("register in %s: a member needs an id and an instance", s.path)
	}
	if err := s.claim(ctx, m); err != nil {
		return membership.View{}, fmt.Errorf("register %s in %s: %w", m.ID, s.path, err)
	}
	v, err := s.change(ctx, func(v membership.View, exists bool) membership.View {
		if !exists {
			return membership.First(m, max(newestOnLog, s.View().Epoch), time.Now().UnixMilli())
		}
		return v.Join(m, newestOnLog)
	})
	if err != nil {
		return v, fmt.Errorf("register %s in %s: %w", m.ID, s.path, err)
	}
	s.log.Info("member registered", "id", m.ID, "instance", m.Instance, "epoch", v.Epoch, "members", len(v.Members))
	select {
	case <-s.registered:
	default:
		close(s.registered)
	}
	return v, nil
}

// claim creates the heartbeat key.
func (s *JetStream) claim(ctx context.Context, m membership.Member) error {
	key, pause := s.memberKey(m.ID), s.ttl/8
	var seen uint64 // revision of another run's key
	for began := time.Now(); ; {
		e, err := s.get(ctx, key)
		switch {
		case err != nil:
		case e.gone || string(e.value) == m.Instance:
			err = s.beat(ctx, m, e.revision)
			if err == nil {
				return nil
			}
		case seen != 0 && e.revision != seen:
			return fmt.Errorf("%w: instance %s refreshes it; give this one another id, or stop the other", ErrTaken, e.value)
		default:
			if seen == 0 {
				s.log.Info("waiting for an earlier run's heartbeat to expire", "id", m.ID, "instance", string(e.value))
			}
			seen = e.revision
			if time.Since(began) > 3*s.ttl {
				return fmt.Errorf("%w: the key of instance %s does not expire", ErrTaken, e.value)
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// beat writes the own key at a known revision and remembers when it was sent.
func (s *JetStream) beat(ctx context.Context, m membership.Member, at uint64) error {
	s.beating <- struct{}{}
	defer func() { <-s.beating }()
	sent := time.Now()
	revision, err := s.put(ctx, s.memberKey(m.ID), []byte(m.Instance), at, s.ttl)
	s.metrics.beat(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.unsure.IsZero() && !errors.Is(err, errConflict) {
			s.unsure = sent
		}
		return err
	}
	s.me, s.revision, s.good, s.unsure = m, revision, sent, time.Time{}
	return nil
}

// change applies fn to the view record by compare-and-set until it succeeds or
// ctx ends. Lost races and unknown outcomes are read again, unless the connection
// was closed for good.
func (s *JetStream) change(ctx context.Context, fn func(v membership.View, exists bool) membership.View) (membership.View, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*s.ttl)
	defer cancel()
	for {
		v, err := s.try(ctx, fn)
		if err == nil {
			return v, nil
		}
		if errors.Is(err, nats.ErrConnectionClosed) {
			return membership.View{}, err
		}
		pause := s.ttl / 20
		if errors.Is(err, errConflict) {
			pause = 0 // somebody else made progress
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return membership.View{}, errors.Join(ctx.Err(), err)
		}
	}
}

func (s *JetStream) try(ctx context.Context, fn func(v membership.View, exists bool) membership.View) (membership.View, error) {
	before, e, err := s.read(ctx)
	if err != nil {
		return before, err
	}
	after := fn(before, !e.gone)
	if after.Epoch == before.Epoch {
		s.adopt(after)
		return after, nil
	}
	data, err := json.Marshal(after)
	if err != nil {
		return before, fmt.Errorf("encode view: %w", err)
	}
	if _, err := s.put(ctx, s.viewKey(), data, e.revision, 0); err != nil {
		return before, err
	}
	s.adopt(after)
	return after, nil
}

// read reads the view record from the leader.
func (s *JetStream) read(ctx context.Context) (membership.View, entry, error) {
	return s.decode(s.get(ctx, s.viewKey()))
}

func (s *JetStream) decode(e entry, err error) (membership.View, entry, error) {
	if err != nil || e.gone {
		return membership.View{}, e, err
	}
	v, err := decodeView(e.value)
	return v, e, err
}

// decodeView reads a view record.
func decodeView(data []byte) (membership.View, error) {
	var v membership.View
	if err := json.Unmarshal(data, &v); err != nil {
		return membership.View{}, fmt.Errorf("decode view: %w", err)
	}
	for i, m := range v.Members {
		if m.ID == "" || i > 0 && v.Members[i-1].ID >= m.ID {
			return membership.View{}, fmt.Errorf("decode view of epoch %d: members are not in order", v.Epoch)
		}
	}
	if v.Epoch == 0 {
		return membership.View{}, errors.New("decode view: it has no epoch")
	}
	return v, nil
}

func (s *JetStream) adopt(v membership.View) {
	s.watchers.adopt(v)
	s.metrics.view(s.View())
}

// Repair raises the epoch above the newest seen on the log, if it is not.
func (s *JetStream) Repair(ctx context.Context, newestOnLog uint64) (membership.View, error) {
	select {
	case <-s.registered:
	default:
		return membership.View{}, ErrNotMember
	}
	v, err := s.change(ctx, func(v membership.View, exists bool) membership.View {
		if !exists {
			return v // Run says what that means
		}
		return v.Repair(newestOnLog)
	})
	if err != nil {
		return v, fmt.Errorf("repair epoch of %s: %w", s.path, err)
	}
	if v.Epoch == 0 {
		return v, fmt.Errorf("repair epoch of %s: %w", s.path, ErrStoreLost)
	}
	return v, nil
}

// Leave takes this member out of the view, then removes its heartbeat. Another
// instance under its id is left alone.
func (s *JetStream) Leave(ctx context.Context, id string) error {
	s.mu.Lock()
	s.leaving = true
	me := s.me
	s.mu.Unlock()
	if me.ID == "" || me.ID != id {
		return nil
	}
	_, err := s.change(ctx, func(v membership.View, exists bool) membership.View {
		if !exists || !v.Has(me) {
			return v
		}
		return v.Leave(id)
	})
	if err != nil {
		return fmt.Errorf("leave %s: %w", s.path, err)
	}
	s.beating <- struct{}{} // what is under way has ended
	defer func() { <-s.beating }()
	s.mu.Lock()
	revision := s.revision
	s.mu.Unlock()
	ctx, cancel := s.step(ctx)
	defer cancel()
	if err := s.keys.remove(ctx, s.memberKey(id), revision); err != nil && !errors.Is(err, errConflict) {
		return fmt.Errorf("leave %s: %w", s.path, err)
	}
	s.log.Info("member left", "id", id)
	return nil
}
