package coordination

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/rule/membership"
)

// stores opens every implementation for a test in a bubble of its own time.
var stores = map[string]func(t *testing.T) Store{
	"memory": func(*testing.T) Store { return &Memory{} },
	"jetstream": func(t *testing.T) Store {
		return open(bucketOf(openBus(t)), Options{Path: Engines, TTL: testTTL})
	},
}

// Both implementations pass the same contract.
func TestStore(t *testing.T) {
	for _, c := range contract {
		t.Run(c.name, func(t *testing.T) {
			for name, open := range stores {
				t.Run(name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { c.run(t, open(t)) })
				})
			}
		})
	}
	t.Logf("%d cases with %d implementations", len(contract), len(stores))
}

var contract = []struct {
	name string
	run  func(t *testing.T, s Store)
}{
	{"the epoch starts above the log and is repaired", aboveTheLog},
	{"a store that was lost starts at the wall clock", wallClock},
	{"every registration raises the epoch and replaces the instance", raises},
	{"a member that leaves is gone at once", leaves},
	{"views are told in order until the watch is cancelled", watches},
	{"a member is alive from its registration to its leave", alive},
	{"run is ready at once and ends when it is told to", runs},
}

func alive(t *testing.T, s Store) {
	if s.Alive() {
		t.Error("it is alive before it has registered")
	}
	if _, err := s.Register(t.Context(), membership.Member{ID: "a", Instance: "1"}, 0); err != nil || !s.Alive() {
		t.Errorf("it is not alive after it has registered: %v", err)
	}
	if err := s.Leave(t.Context(), "a"); err != nil || s.Alive() {
		t.Errorf("it is alive after it has left: %v", err)
	}
}

// T16: a log at epoch 57 and an empty store give an epoch above 57; one that
// turns up only later is repaired.
func aboveTheLog(t *testing.T, s Store) {
	if _, err := s.Repair(t.Context(), 1); !errors.Is(err, ErrNotMember) {
		t.Fatalf("repair before register: %v, want ErrNotMember", err)
	}
	me := membership.Member{ID: "a", Instance: "1"}
	ahead := uint64(time.Now().UnixMilli()) + 5000
	v, err := s.Register(t.Context(), me, ahead)
	if err != nil || v.Epoch != ahead+1 || s.View().Epoch != v.Epoch {
		t.Fatalf("register over %d: epoch %d, %v", ahead, v.Epoch, err)
	}
	if v, _ = s.Repair(t.Context(), ahead+100); v.Epoch != ahead+101 || !v.Has(me) {
		t.Errorf("repair over %d gives %+v", ahead+100, v)
	}
	if v, _ = s.Repair(t.Context(), ahead); v.Epoch != ahead+101 {
		t.Errorf("a repair that was not needed gives %+v", v)
	}
}

func wallClock(t *testing.T, s Store) {
	v, err := s.Register(t.Context(), membership.Member{ID: "a", Instance: "1"}, 3)
	if now := uint64(time.Now().UnixMilli()); err != nil || v.Epoch > now || v.Epoch+1000 < now {
		t.Errorf("epoch %d, want the wall clock's %d; %v", v.Epoch, now, err)
	}
}

func raises(t *testing.T, s Store) {
	first, err := s.Register(t.Context(), membership.Member{ID: "a", Instance: "1"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Register(t.Context(), membership.Member{ID: "a", Instance: "1"}, 3)
	if err != nil || again.Epoch <= first.Epoch || len(again.Members) != 1 {
		t.Errorf("registered again: %+v after %+v, %v", again, first, err)
	}
}

func leaves(t *testing.T, s Store) {
	me := membership.Member{ID: "a", Instance: "1"}
	v, err := s.Register(t.Context(), me, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Leave(t.Context(), "stranger"); err != nil || s.View().Epoch != v.Epoch {
		t.Errorf("a stranger's leave gives %+v, %v", s.View(), err)
	}
	if err := s.Leave(t.Context(), "a"); err != nil || s.View().Epoch <= v.Epoch || len(s.View().Members) != 0 {
		t.Errorf("after leaving %+v, %v", s.View(), err)
	}
	if err := s.Leave(t.Context(), "a"); err != nil {
		t.Errorf("leaving twice: %v", err)
	}
}

func watches(t *testing.T, s Store) {
	var told []uint64
	cancel := s.Watch(func(v membership.View) { told = append(told, v.Epoch) })
	v, err := s.Register(t.Context(), membership.Member{ID: "a", Instance: "1"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Repair(t.Context(), v.Epoch+1); err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := s.Repair(t.Context(), v.Epoch+5); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[0] != v.Epoch || told[1] != v.Epoch+2 {
		t.Errorf("told %v, want %d and %d", told, v.Epoch, v.Epoch+2)
	}
}

func runs(t *testing.T, s Store) {
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- s.Run(ctx, func() { close(ready) }) }()
	<-ready
	if _, err := s.Register(t.Context(), membership.Member{ID: "a", Instance: "1"}, 0); err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * testTTL)
	select {
	case err := <-ended:
		t.Fatalf("run ended by itself: %v", err)
	default:
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("run ended with %v", err)
	}
}
