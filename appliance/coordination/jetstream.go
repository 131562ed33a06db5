package coordination

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bucket"
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
	// Why says in a sentence why the server may not have answered since a time, "" if that is
	// not known; nil = it never is.
	Why func(since time.Time) string
}

// DefaultTTL is how long a missed heartbeat is tolerated.
const DefaultTTL = 10 * time.Second

// JetStream is the store of a fleet: heartbeats with a TTL, and one view record
// that is changed by compare-and-set only. Create it with OpenJetStream.
type JetStream struct {
	keys     keys
	path     string
	ttl      time.Duration
	log      *slog.Logger
	metrics  *metrics
	why      func(since time.Time) string
	watchers watchers
	foreign  foreign
	sights   sights

	registered chan struct{} // closed by the first Register

	waits atomic.Pointer[string] // what Register waits for; nil = nothing

	// beating holds a value during every write of the own heartbeat key.
	beating chan struct{}

	mu       sync.Mutex
	me       membership.Member
	revision uint64    // of the own key
	good     time.Time // when the last successful heartbeat was sent
	unsure   time.Time // when the first one since then was sent whose outcome is unknown
	phase    phase
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
	b, err := bucket.New(nc, o.Bucket)
	if err != nil {
		return nil, fmt.Errorf("open membership %s: %w", o.Path, err)
	}
	return open(b, o), nil
}

func open(k keys, o Options) *JetStream {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Why == nil {
		o.Why = func(time.Time) string { return "" }
	}
	return &JetStream{
		why: o.Why, keys: k, path: o.Path, ttl: o.TTL, log: o.Logger.With("membership", o.Path),
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

func (s *JetStream) get(ctx context.Context, key string) (bucket.Entry, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	e, err := s.keys.Get(ctx, key)
	if err == nil {
		s.judge(key, e)
	}
	return e, err
}

func (s *JetStream) put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	return s.keys.Put(ctx, key, value, expect, ttl)
}

// View returns the newest view that this process knows.
func (s *JetStream) View() membership.View { return s.watchers.get() }

// Alive tells whether the last heartbeat that succeeded is so young that no peer can
// have taken over; it ends a tenth of the TTL before they may.
func (s *JetStream) Alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.phase == phaseIn || s.phase == phaseBack && s.View().Has(s.me)
	return in && !s.good.IsZero() && time.Since(s.good) < s.ttl-s.ttl/10
}

// Watch tells of every newer view.
func (s *JetStream) Watch(fn func(membership.View)) (cancel func()) { return s.watchers.watch(fn) }

// Register creates the heartbeat key and joins the view. A key of an earlier run
// of this member is waited for until a TTL is over; one that somebody
// refreshes is ErrTaken. A record that does not exist is created.
func (s *JetStream) Register(ctx context.Context, m membership.Member, newestOnLog uint64) (membership.View, error) {
	if m.ID == "" || m.Instance == "" {
		return membership.View{}, fmt.Errorf("register in %s: a member needs an id and an instance", s.path)
	}
	joins := fmt.Sprintf("%s joins the membership since %s", m.ID, clock(time.Now()))
	s.waits.Store(&joins)
	defer s.waits.Store(nil)
	s.awaitView(ctx) // before there is a heartbeat to keep up
	if err := s.claim(ctx, m); err != nil {
		return membership.View{}, fmt.Errorf("register %s in %s: %w", m.ID, s.path, err)
	}
	s.waits.Store(&joins)
	began := time.Now()
	s.rejoining() // its heartbeat is kept up from now on
	v, err := s.change(ctx, func(v membership.View, exists bool) membership.View {
		if !exists {
			return membership.First(m, max(newestOnLog, s.View().Epoch), time.Now().UnixMilli())
		}
		return v.Join(m, newestOnLog)
	})
	if err != nil {
		return v, fmt.Errorf("register %s in %s: %w; %s", m.ID, s.path, err, s.cause(err, began))
	}
	s.enter(phaseIn)
	s.log.Info("member registered", "id", m.ID, "instance", m.Instance, "epoch", v.Epoch, "members", len(v.Members))
	select {
	case <-s.registered:
	default:
		close(s.registered)
	}
	return v, nil
}

// claim creates the heartbeat key. One of an earlier run is waited for until it has not
// moved for a TTL, whether the server has removed it by then or not.
func (s *JetStream) claim(ctx context.Context, m membership.Member) error {
	key, pause := s.memberKey(m.ID), s.ttl/8
	s.forget(func(k string) bool { return k != key }) // what was seen of it was long ago
	var other uint64                                  // revision of another run's key
	failed, told := false, false                      // so that each is told of once
	for began := time.Now(); ; {
		e, free, err := s.free(ctx, m)
		switch {
		case err != nil:
		case free:
			if err = s.beat(ctx, m, e.Revision, time.Time{}); err == nil {
				return nil
			}
		case e.Gone, e.Foreign:
			s.waitsForFormer(m.ID, e, &told)
		case other != 0 && e.Revision != other:
			return fmt.Errorf("%w: instance %s refreshes it; give this one another id, or stop the other", ErrTaken, e.Value)
		case other == 0:
			other = e.Revision
			s.waitsForFormer(m.ID, e, &told)
		}
		if err != nil && ctx.Err() == nil && time.Since(began) > s.claimMost() {
			return fmt.Errorf("no heartbeat could be written for %s: %w; %s", s.claimMost(), err, s.cause(err, began))
		}
		if err != nil && !failed && ctx.Err() == nil {
			s.log.Warn("the first heartbeat failed, trying again", "id", m.ID, "err", err, "why", s.cause(err, began), "most", s.claimMost())
			failed = true
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		}
	}
}

// waitsForFormer notes until when the former run of a member may still live, and tells of
// it once: it was not seen to leave, and its heartbeat is not old enough.
func (s *JetStream) waitsForFormer(id string, e bucket.Entry, told *bool) {
	seen := s.sighted(s.memberKey(id), e)
	until := seen.since.Add(s.ttl)
	if rests := seen.steady.Add(s.ttl / 2); e.Gone && rests.Before(until) {
		until = rests
	}
	text := fmt.Sprintf("%s waits until about %s: its former run did not leave the membership and may live on that long (-heartbeat-ttl %s)",
		id, clock(until), s.ttl)
	s.waits.Store(&text)
	if !*told {
		*told = true
		s.log.Info("waiting until the former run of this member is over for certain: it did not leave the membership", "id", id, "instance", string(e.Value),
			"until", clock(until), "ttl", s.ttl)
	}
}

// Waiting says in a sentence what a registration that is under way waits for, "" = there is
// none.
func (s *JetStream) Waiting() string {
	if text := s.waits.Load(); text != nil {
		return *text
	}
	return ""
}

// clock is a time of day as people read it.
func clock(t time.Time) string { return t.Local().Format("15:04:05 MST") }

// cause says in a sentence why the store has taken nothing since a time, or what to look at.
func (s *JetStream) cause(err error, since time.Time) string {
	if text := s.why(since); text != "" {
		return text
	}
	var api *jetstream.APIError
	if errors.As(err, &api) && api.Code == statusUnavailable {
		return "the server cannot decide now, as one of a cluster without enough members: see whether the others run"
	}
	return "see whether the coordination server answers"
}

// statusUnavailable is the status of an answer of a server that has no leader, or no quorum.
const statusUnavailable = 503

// free looks whether nobody else keeps up the heartbeat of a member that would begin. A
// key that is gone may have vanished before its time if the view lists another run: that
// one writes it anew if it lives.
func (s *JetStream) free(ctx context.Context, m membership.Member) (bucket.Entry, bool, error) {
	key := s.memberKey(m.ID)
	e, err := s.get(ctx, key)
	if err != nil {
		return e, false, err
	}
	dead := s.dead(key, e)
	if dead || !e.Gone && !e.Foreign && string(e.Value) == m.Instance {
		return e, true, nil
	}
	v, _, err := s.read(ctx)
	if err != nil {
		return e, false, err
	}
	if e.Gone && (v.Has(m) || !lists(v.View, m.ID)) {
		return e, true, nil
	}
	s.observe(ctx, v.View, m.ID)
	return e, e.Gone && s.rested(s.sighted(key, e)), nil
}

// claimMost is how long the first heartbeat is tried while the store does not take it.
func (s *JetStream) claimMost() time.Duration { return max(6*s.ttl, time.Minute) }

// beat writes the own key at a known revision and remembers when it was sent. One that is
// known to have succeeded only after a time is none, if that is not zero: peers may have
// taken over.
func (s *JetStream) beat(ctx context.Context, m membership.Member, at uint64, by time.Time) error {
	s.beating <- struct{}{}
	defer func() { <-s.beating }()
	sent := time.Now()
	revision, err := s.put(ctx, s.memberKey(m.ID), []byte(m.Instance), at, s.ttl)
	s.metrics.beat(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if s.unsure.IsZero() && !errors.Is(err, bucket.ErrConflict) {
			s.unsure = sent
		}
		return err
	}
	if !by.IsZero() && !time.Now().Before(by) {
		return fmt.Errorf("%w: the heartbeat of %s succeeded too late", ErrExpired, m.ID)
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
		if errors.Is(err, bucket.ErrConflict) {
			pause = 0 // somebody else made progress
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return membership.View{}, errors.Join(ctx.Err(), err)
		}
	}
}

// try applies fn once. Over a record that no member wrote it writes what it knows of the
// members, or waits for somebody who knows.
func (s *JetStream) try(ctx context.Context, fn func(v membership.View, exists bool) membership.View) (membership.View, error) {
	before, e, err := s.read(ctx)
	if err != nil {
		return before.View, err
	}
	exists := !e.Gone
	if e.Foreign {
		if exists = s.View().Epoch > 0; exists {
			before.View = s.restored()
		} else if s.foreignFor(s.viewKey()) < s.restoreWait() {
			return before.View, errUnrestored
		}
	}
	after := record{View: fn(before.View, exists), Restored: before.Restored}
	if after.Epoch == before.Epoch && !e.Foreign {
		s.adopt(after.View)
		return after.View, nil
	}
	if e.Foreign {
		after.Restored = after.Epoch
	}
	data, err := json.Marshal(after)
	if err != nil {
		return before.View, fmt.Errorf("encode view: %w", err)
	}
	if _, err := s.put(ctx, s.viewKey(), data, e.Revision, 0); err != nil {
		return before.View, err
	}
	if e.Foreign {
		s.log.Warn("the view was written anew over an answer of the log server", "epoch", after.Epoch, "members", len(after.Members))
	}
	s.adopt(after.View)
	return after.View, nil
}

// record is the view as it stands in the store.
type record struct {
	membership.View
	// Restored is the epoch under which it was last written anew over what no member
	// wrote, by one who may not have known the newest members; 0 = never.
	Restored uint64 `json:"restored,omitempty"`
}

// read reads the view record from the leader.
func (s *JetStream) read(ctx context.Context) (record, bucket.Entry, error) {
	return decode(s.get(ctx, s.viewKey()))
}

func decode(e bucket.Entry, err error) (record, bucket.Entry, error) {
	if err != nil || e.Gone || e.Foreign {
		return record{}, e, err
	}
	r, err := decodeView(e.Value)
	return r, e, err
}

// decodeView reads a view record.
func decodeView(data []byte) (record, error) {
	var v record
	if err := json.Unmarshal(data, &v); err != nil {
		return record{}, fmt.Errorf("decode view: %w", err)
	}
	for i, m := range v.Members {
		if m.ID == "" || i > 0 && v.Members[i-1].ID >= m.ID {
			return record{}, fmt.Errorf("decode view of epoch %d: members are not in order", v.Epoch)
		}
	}
	if v.Epoch == 0 {
		return record{}, errors.New("decode view: it has no epoch")
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
