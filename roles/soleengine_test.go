package roles

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/rule/membership"
)

// fleetStore opens the engines' membership on a server of a bubble and keeps it.
func fleetStore(t *testing.T, b *bus.Bus) coordination.Store {
	t.Helper()
	s, err := coordination.OpenJetStream(b.Conn(), coordination.Options{
		Bucket: b.Names().Members, Path: coordination.Engines, TTL: 10 * time.Second, Logger: quiet(), Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, func() {}) }()
	t.Cleanup(func() { cancel(); <-ended })
	return s
}

func sole(s coordination.Store) *soleEngine {
	return &soleEngine{store: s, where: "nats://h:4222", ttl: 10 * time.Second, log: quiet()}
}

func TestOneEngineAtATimeOnASharedStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir(), Registerer: prometheus.NewRegistry()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close(context.Background()) })
		first, second := sole(fleetStore(t, b)), sole(fleetStore(t, b))
		one, two := membership.Member{ID: "one", Instance: "1"}, membership.Member{ID: "two", Instance: "2"}
		began := time.Now()
		v, err := first.Register(t.Context(), one, 7)
		if err != nil || len(v.Members) != 1 || time.Since(began) > time.Second {
			t.Fatalf("the first one: %+v after %s, %v", v, time.Since(began), err)
		}
		_, err = second.Register(t.Context(), two, 7)
		want := `engine "one" works already, as the membership on nats://h:4222 says; one engine at a time is possible in this release: stop that one first`
		if err == nil || err.Error() != want {
			t.Fatalf("the second one: got %v, want %s", err, want)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("it was refused after %s", took)
		}
		time.Sleep(5 * time.Second) // the first one has looked again
		if now := first.store.View(); now.Has(two) {
			t.Errorf("it has not left: %+v", now)
		}
		if v, err = first.Repair(t.Context(), v.Epoch+100); err != nil || len(v.Members) != 1 || v.Owner("x") != "one" {
			t.Errorf("the first one repairs the epoch: %+v, %v", v, err)
		}
		if err := first.Leave(t.Context(), "one"); err != nil {
			t.Fatal(err)
		}
		third := sole(fleetStore(t, b))
		began = time.Now()
		if v, err = third.Register(t.Context(), two, 7); err != nil || len(v.Members) != 1 || time.Since(began) > time.Second {
			t.Errorf("one that comes after: %+v after %s, %v", v, time.Since(began), err)
		}
	})
}

// deadMember is a shared store whose other member never beats.
type deadMember struct {
	coordination.Memory
	removed time.Duration // after so long; 0 = never
}

func (s *deadMember) Register(ctx context.Context, m membership.Member, newest uint64) (membership.View, error) {
	v, err := s.Memory.Register(ctx, membership.Member{ID: "old", Instance: "0"}, newest)
	if err != nil {
		return v, err
	}
	if s.removed > 0 {
		time.AfterFunc(s.removed, func() { _ = s.Memory.Leave(context.Background(), "old") })
	}
	return s.Memory.Register(ctx, m, newest)
}

func TestADeadEngineIsWaitedFor(t *testing.T) {
	me := membership.Member{ID: "new", Instance: "1"}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		v, err := sole(&deadMember{removed: 12 * time.Second}).Register(t.Context(), me, 7)
		if err != nil || len(v.Members) != 1 || v.Owner("x") != "new" || time.Since(began) != 12*time.Second {
			t.Errorf("one whose forerunner is removed: %+v after %s, %v", v, time.Since(began), err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s := &deadMember{}
		if _, err := sole(s).Register(ctx, me, 7); err == nil || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("one that is told to stop: %v", err)
		}
		if s.View().Has(me) {
			t.Error("it has not left")
		}
	})
}
