package coordination

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/rule/membership"
)

// slack is what the server's clock of whole seconds and the looks add to a TTL.
const slack = 2*time.Second + pollMost

// fleet runs a test in a bubble with a store of its own.
func fleet(t *testing.T, run func(t *testing.T, b *bus.Bus, keys keys)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := openBus(t)
		run(t, b, bucketOf(b))
	})
}

// S098, S112: members of one store see each other come, leave and die.
func TestMembersSeeEachOtherComeAndGo(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "engine-a", "1")
		b := start(t, keys, Engines, "engine b/2", "1")
		c := start(t, keys, Engines, "engine-c", "1")
		time.Sleep(pollMost + 100*time.Millisecond)
		three := wantView(t, []*member{a, b, c}, "engine b/2", "engine-a", "engine-c")

		// A polite leave is seen with the next look.
		if err := b.Leave(t.Context(), b.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pollMost + 100*time.Millisecond)
		two := wantView(t, []*member{a, c}, "engine-a", "engine-c")
		b.wantAlive(t)
		b.kill()

		// A death is seen when the TTL is over, by whoever is left, once.
		c.kill()
		time.Sleep(testTTL / 2)
		wantView(t, []*member{a}, "engine-a", "engine-c")
		time.Sleep(testTTL/2 + slack)
		one := wantView(t, []*member{a}, "engine-a")
		if two.Epoch != three.Epoch+1 || one.Epoch != two.Epoch+1 {
			t.Errorf("epochs %d, %d, %d, want one step each", three.Epoch, two.Epoch, one.Epoch)
		}
		a.wantAlive(t)
	})
}

// T20 and a restart: a second process under a live id is refused, one that
// follows a dead one waits for its key and replaces it.
func TestAnIDBelongsToOneLiveProcess(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "a", "1")
		twin := newMember(keys, Engines, "a", "2")
		if _, err := twin.Register(t.Context(), twin.Member, 0); !errors.Is(err, ErrTaken) || !strings.Contains(err.Error(), "another id") {
			t.Errorf("a twin registered: %v", err)
		}
		a.wantAlive(t)
		a.kill()
		began, said := time.Now(), make(chan string, 1)
		next := newMember(keys, Engines, "a", "3")
		go func() {
			time.Sleep(testTTL / 2)
			said <- next.Waiting()
		}()
		next.run(t)
		if _, err := next.Register(t.Context(), next.Member, 0); err != nil {
			t.Fatal(err)
		}
		if text := <-said; !strings.Contains(text, "a waits until about ") || !strings.Contains(text, "its former run did not leave") || next.Waiting() != "" {
			t.Errorf("while it waited it said %q, afterwards %q", text, next.Waiting())
		}
		if took := time.Since(began); took > testTTL+slack {
			t.Errorf("a restart took %s", took)
		}
		if v := next.View(); len(v.Members) != 1 || v.Members[0].Instance != "3" || v.Epoch != a.View().Epoch+1 {
			t.Errorf("after a restart %+v", v)
		}
	})
}

// T27: all die; one starts over their keys and is alone soon.
func TestOneStartsOverAllTheDead(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		for _, id := range ids(3) {
			start(t, keys, Engines, id, "1").kill()
		}
		m := start(t, keys, Engines, "engine-a", "2")
		time.Sleep(testTTL + slack)
		wantView(t, []*member{m}, "engine-a")
	})
}

// X1, S131: the store is unreachable.
func TestAMemberEndsAfterOneTTLWithoutTheStore(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a, b := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "b", "1")
		for range 3 { // a store that is away for a moment ends nothing
			a.fault.set(true, false)
			time.Sleep(testTTL * 45 / 100)
			a.fault.set(false, false)
			time.Sleep(testTTL)
		}
		a.wantAlive(t)
		a.fault.set(true, false)
		a.wantEnd(t, ErrExpired, testTTL/2, testTTL)
		b.wantAlive(t)
		time.Sleep(slack)
		wantView(t, []*member{b}, "b")
	})
}

// Whoever acts only while alive has stopped before a peer takes over, also if the
// process stood still meanwhile.
func TestAMemberStopsActingBeforeItsPeersTakeOver(t *testing.T) {
	fleet(t, func(t *testing.T, b *bus.Bus, keys keys) {
		a, c := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "c", "1")
		time.Sleep(testTTL / 2)
		a.fault.set(true, false)
		for began := time.Now(); len(c.View().Members) == 2; time.Sleep(testTTL / 60) {
			if since := time.Since(began); since < testTTL/2 && !a.Alive() {
				t.Fatalf("it stopped %s after the store was cut off", since)
			}
		}
		if a.Alive() {
			t.Error("it still acts when its peer has taken over")
		}
		if n, err := Live(t.Context(), b.Conn(), b.Names().Members, Engines); n != 1 || err != nil {
			t.Errorf("%d are alive: %v", n, err)
		}
		c.kill()
		time.Sleep(testTTL + slack)
		if n, err := Live(t.Context(), b.Conn(), b.Names().Members, Engines); n != 0 || err != nil || len(c.View().Members) != 1 {
			t.Errorf("of the dead %d are alive: %v", n, err)
		}
	})
}

func TestLostAcknowledgementsEndNothing(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a := newMember(keys, Engines, "a", "1")
		a.run(t)
		a.fault.set(false, true)
		done := time.AfterFunc(testTTL, func() { a.fault.set(false, false) })
		defer done.Stop()
		if _, err := a.Register(t.Context(), a.Member, 0); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			a.fault.set(false, true)
			time.Sleep(testTTL * 45 / 100)
			a.fault.set(false, false)
			time.Sleep(testTTL)
		}
		a.wantAlive(t)
		wantView(t, []*member{a}, "a")
	})
}

// T18, T19: a process that was paused beyond its TTL finds that it is no member;
// its late heartbeat changes nothing.
func TestALateHeartbeatBringsNobodyBack(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a, b := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "b", "1")
		old := a.revision
		a.kill()
		time.Sleep(testTTL + slack)
		v := wantView(t, []*member{b}, "b")
		if _, err := a.keys.Put(t.Context(), a.memberKey("a"), []byte("1"), old, testTTL); !errors.Is(err, bucket.ErrConflict) {
			t.Errorf("a late heartbeat was taken: %v", err)
		}
		// The process itself wakes up.
		a.good = time.Now()
		a.run(t)
		a.wantEnd(t, ErrExpired, 0, testTTL)
		if b.View().Epoch != v.Epoch {
			t.Errorf("the view moved to %+v", b.View())
		}
	})
}

// H8, T17: the record is gone or goes backwards.
func TestALostRecordEndsItsMembers(t *testing.T) {
	fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "a", "1")
		before := a.View()
		time.Sleep(time.Second)
		purge(t, bus)
		b := newMember(keys, Engines, "b", "1")
		v, err := b.Register(t.Context(), b.Member, 0)
		if err != nil || v.Epoch <= before.Epoch {
			t.Errorf("over a lost record: %+v after %+v, %v", v, before, err)
		}
		a.wantEnd(t, ErrExpired, 0, testTTL)
	})
	fleet(t, func(t *testing.T, bus *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "a", "1")
		purge(t, bus)
		err := <-a.ended
		if !errors.Is(err, ErrStoreLost) && !errors.Is(err, ErrExpired) {
			t.Errorf("ended with %v", err)
		}
	})
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "a", "1")
		e, err := keys.Get(t.Context(), a.viewKey())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keys.Put(t.Context(), a.viewKey(), []byte(`{"epoch":3,"members":[{"id":"a","instance":"1"}]}`), e.Revision, 0); err != nil {
			t.Fatal(err)
		}
		a.wantEnd(t, ErrStoreLost, 0, testTTL)
	})
}

func TestNobodyLeavesOverAClosedConnection(t *testing.T) {
	fleet(t, func(t *testing.T, b *bus.Bus, keys keys) {
		a := start(t, keys, Engines, "a", "1")
		b.Conn().Close()
		began := time.Now()
		if err := a.Leave(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "leave membership: ") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it was tried for %s", took)
		}
		a.kill()
	})
}

// S108: what is a member of one kind is none of another.
func TestBucketsAreApart(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		var all []*member
		for _, path := range []string{Engines, Sinks, Notifiers} {
			all = append(all, start(t, keys, path, "a", path))
		}
		time.Sleep(3 * testTTL)
		for _, m := range all {
			m.wantAlive(t)
			if v := m.View(); len(v.Members) != 1 || v.Members[0].Instance != m.Instance {
				t.Errorf("%s has %+v", m.Instance, v)
			}
		}
	})
}

func TestOptionsAreChecked(t *testing.T) {
	for _, ttl := range []time.Duration{time.Millisecond, 1500 * time.Millisecond, -time.Second} {
		if _, err := OpenJetStream(nil, Options{Path: Engines, TTL: ttl}); err == nil || !strings.Contains(err.Error(), "whole seconds") {
			t.Errorf("a TTL of %s: %v", ttl, err)
		}
	}
	s := open(nil, Options{Path: Engines, TTL: testTTL})
	if _, err := s.Register(t.Context(), membership.Member{ID: "a"}, 0); err == nil {
		t.Error("a member without an instance")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx, func() {}); err != nil {
		t.Errorf("a run that never registered ended with %v", err)
	}
}

func FuzzView(f *testing.F) {
	for _, s := range []string{`{"epoch":1,"members":[{"id":"a","instance":"1"}]}`, `{}`, `{"epoch":5}`, `{"epoch":-1}`, `{"epoch":1,"members":[{"id":"b"},{"id":"a"}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decodeView(data)
		if err != nil {
			return
		}
		if v.Epoch == 0 {
			t.Fatal("a view without an epoch")
		}
		for _, m := range v.Members {
			if m.ID == "" {
				t.Fatal("a member without an id")
			}
		}
	})
}

// A heartbeat counts when the key has moved, not when the store denies it: else a member
// without a quorum would outlive its TTL.
func TestADeniedHeartbeatIsNoHeartbeat(t *testing.T) {
	good, unsure := time.Now(), time.Now().Add(time.Second)
	s := &JetStream{revision: 5, good: good, unsure: unsure}
	if s.landed(5); !s.good.Equal(good) || !s.unsure.Equal(unsure) {
		t.Errorf("the key has not moved, and the last good heartbeat went from %s to %s", good, s.good)
	}
	if s.landed(7); !s.good.Equal(unsure) || s.revision != 7 || !s.unsure.IsZero() {
		t.Errorf("the key has moved: last good %s, revision %d, unsure since %s", s.good, s.revision, s.unsure)
	}
}
