package coordination

import (
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
)

// Whose heartbeats stay out is told before it counts as dead, with when it will; who lives
// is not told of.
func TestASilentMemberIsToldOfUntilItIsExpired(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a, b := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "b", "1")
		for range 20 {
			time.Sleep(testTTL / 4)
			if got := a.Silent(); len(got) > 0 {
				t.Fatalf("all live, and %v are silent", got)
			}
		}
		time.Sleep(testTTL / 6) // half-way between two heartbeats
		b.kill()
		killed := time.Now()
		time.Sleep(testTTL * 3 / 4)
		got := a.Silent()
		if at := got["b"]; len(got) != 1 || at.Before(killed.Add(testTTL/2)) || at.After(killed.Add(testTTL+pollMost)) {
			t.Errorf("%s after b was killed %v are silent, killed at %s", time.Since(killed), got, killed)
		}
		time.Sleep(testTTL/2 + pollMost + slack)
		wantView(t, []*member{a}, "a")
		if got := a.Silent(); len(got) > 0 {
			t.Errorf("b is expired, and %v are silent", got)
		}
	})
}

// After a restart of all, the heartbeat of one that was removed meanwhile is waited for.
func TestAfterATotalRestartAMemberThatDoesNotComeBackIsSilent(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		a, b := start(t, keys, Engines, "a", "1"), start(t, keys, Engines, "b", "1")
		a.stop()
		b.stop()
		<-a.ended
		<-b.ended
		again := start(t, keys, Engines, "a", "2")
		wantView(t, []*member{again}, "a", "b")
		told := false
		for began := time.Now(); lists(again.View(), "b") && time.Since(began) < 2*testTTL; time.Sleep(testTTL / 20) {
			got := again.Silent()
			told = told || !got["b"].IsZero()
			if len(got) > 1 {
				t.Errorf("%v are silent", got)
			}
		}
		if !told {
			t.Error("b does not come back, and is never told of")
		}
		wantView(t, []*member{again}, "a")
	})
}
