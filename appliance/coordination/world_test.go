package coordination

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/rule/membership"
)

const testTTL = 6 * time.Second

func openBus(t testing.TB) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatalf("open bus: %v", err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

func bucketOf(b *bus.Bus) keys {
	k, err := bucket.New(b.Conn(), b.Names().Members)
	if err != nil {
		panic(err) // only for options that do not exist
	}
	return k
}

// errCut is what a member sees that is cut off from the store.
var errCut = errors.New("cut off")

// faulty puts faults between a member and the store.
type faulty struct {
	keys
	mu       sync.Mutex
	cut      bool // requests hang until their time is over
	loseAcks bool // writes happen, their outcome stays unknown
}

func (f *faulty) set(cut, loseAcks bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut, f.loseAcks = cut, loseAcks
}

func (f *faulty) state() (cut, loseAcks bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut, f.loseAcks
}

func (f *faulty) Get(ctx context.Context, key string) (bucket.Entry, error) {
	if cut, _ := f.state(); cut {
		<-ctx.Done()
		return bucket.Entry{}, errCut
	}
	return f.keys.Get(ctx, key)
}

func (f *faulty) Put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error) {
	cut, lose := f.state()
	if cut {
		<-ctx.Done()
		return 0, errCut
	}
	revision, err := f.keys.Put(ctx, key, value, expect, ttl)
	if lose {
		<-ctx.Done()
		return 0, errCut
	}
	return revision, err
}

// member is one process of a fleet.
type member struct {
	*JetStream
	membership.Member
	fault *faulty
	stop  context.CancelFunc
	ended chan error

	mu    sync.Mutex
	views []membership.View
}

// newMember makes a process that has not registered yet.
func newMember(keys keys, path, id, instance string) *member {
	f := &faulty{keys: keys}
	return &member{
		JetStream: open(f, Options{Path: path, TTL: testTTL, Registerer: prometheus.NewRegistry()}),
		Member:    membership.Member{ID: id, Instance: instance}, fault: f, ended: make(chan error, 1),
	}
}

// run lets the process live until it is stopped.
func (m *member) run(t testing.TB) {
	ctx, cancel := context.WithCancel(t.Context())
	m.stop = cancel
	m.Watch(func(v membership.View) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.views = append(m.views, v)
	})
	go func() { m.ended <- m.Run(ctx, func() {}) }()
	t.Cleanup(cancel)
}

// start makes a process that is a member.
func start(t testing.TB, keys keys, path, id, instance string) *member {
	t.Helper()
	m := newMember(keys, path, id, instance)
	m.run(t)
	if _, err := m.Register(t.Context(), m.Member, 0); err != nil {
		t.Fatalf("register %s: %v", id, err)
	}
	return m
}

// kill ends a process without a word to anybody.
func (m *member) kill() {
	m.stop()
	<-m.ended
}

// wantEnd wants the process to end by itself for a reason, within a time.
func (m *member) wantEnd(t *testing.T, why error, from, to time.Duration) {
	t.Helper()
	began := time.Now()
	select {
	case err := <-m.ended:
		if took := time.Since(began); !errors.Is(err, why) || took < from || took > to {
			t.Errorf("%s ended after %s with %v, want %v after %s to %s", m.ID, took, err, why, from, to)
		}
	case <-time.After(to + time.Second):
		t.Errorf("%s lives on after %s", m.ID, to)
	}
}

// wantAlive wants that the process has not ended.
func (m *member) wantAlive(t *testing.T) {
	t.Helper()
	select {
	case err := <-m.ended:
		t.Errorf("%s ended with %v", m.ID, err)
	default:
	}
}

// wantView wants every process to follow a view of these members, all the same.
func wantView(t *testing.T, of []*member, ids ...string) membership.View {
	t.Helper()
	first := of[0].View()
	for _, m := range of {
		v := m.View()
		if v.Epoch != first.Epoch || !slices.EqualFunc(v.Members, ids, func(m membership.Member, id string) bool { return m.ID == id }) {
			t.Errorf("%s follows %+v, want members %v and epoch %d", m.ID, v, ids, first.Epoch)
		}
	}
	return first
}

// purge empties the bucket as an operator or a new server would.
func purge(t testing.TB, b *bus.Bus) {
	t.Helper()
	s, err := b.JetStream().Stream(t.Context(), "KV_"+b.Names().Members)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func ids(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("engine-", string(rune('a'+i))))
	}
	return all
}
