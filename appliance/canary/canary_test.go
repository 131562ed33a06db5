package canary_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/canary"
	"jaque.sh/jaque/appliance/core/object"
)

const (
	minute = object.Time(60_000)
	start  = 1000 * minute
	id     = object.ID("jaque!canary")
)

// rounds lets n rounds pass, each up to a hop; "" is up to none.
func rounds(t *canary.Tracker, n int, last canary.Hop) (now object.Time) {
	now = start
	for range n {
		now += minute
		for _, h := range canary.Hops() {
			if last == "" {
				break
			}
			t.Pass(h, now, now+10)
			if h == last {
				break
			}
		}
	}
	return now
}

func TestTheHopThatARoundStoppedAtIsTheFirstItDidNotPass(t *testing.T) {
	hops := canary.Hops()
	for i, h := range hops {
		t.Run(string(h), func(t *testing.T) {
			tr := canary.New()
			tr.Watch(id, time.Minute, start)
			now := rounds(tr, 5, canary.Delivered)
			if s := tr.Status(now + 100); s.Hop != "" || s.Last != now+10 {
				t.Fatalf("while all is well: %+v", s)
			}
			before := canary.Hop("")
			if i > 0 {
				before = hops[i-1]
			}
			at := now + minute
			if before != "" {
				tr.Pass(before, at, at+10)
			}
			// It is known before the round after next would be complete.
			if s := tr.Status(at + minute/2); s.Hop != h || s.Last != now+10 {
				t.Errorf("stopped at %q, last %d, want %q, %d", s.Hop, s.Last, h, now+10)
			}
		})
	}
}

func TestARoundOnItsWayIsNotOverdue(t *testing.T) {
	tr := canary.New()
	tr.Watch(id, time.Minute, start)
	now := rounds(tr, 3, canary.Delivered)
	tr.Pass(canary.Executed, now+minute, now+minute)
	if s := tr.Status(now + minute + 5000); s.Hop != "" {
		t.Errorf("five seconds after its check it is said to have stopped at %q", s.Hop)
	}
}

// That the next round comes to the same obstacle does not make it a short wait.
func TestAHopAtWhichEveryRoundStopsStaysNamed(t *testing.T) {
	tr := canary.New()
	tr.Watch(id, time.Minute, start)
	now := rounds(tr, 3, canary.Delivered)
	for range 5 {
		now += minute
		tr.Pass(canary.Decided, now, now)
		if s := tr.Status(now + 1000); now > start+4*minute && s.Hop != canary.Delivered {
			t.Errorf("a second after a round began: stopped at %q", s.Hop)
		}
	}
	tr.Pass(canary.Delivered, now-minute, now+2000)
	if s := tr.Status(now + 3000); s.Hop != "" {
		t.Errorf("the newest round has waited for three seconds: stopped at %q", s.Hop)
	}
	if s := tr.Status(now + minute/2); s.Hop != canary.Delivered {
		t.Errorf("the newest round has waited for half a minute: stopped at %q", s.Hop)
	}
}

func TestAStartWaitsForTheFirstRound(t *testing.T) {
	tr := canary.New()
	if s := tr.Status(start); s.Enabled || s.Hop != "" {
		t.Errorf("without a canary: %+v", s)
	}
	tr.Watch(id, time.Minute, start)
	if s := tr.Status(start + minute); !s.Enabled || s.Hop != "" || s.Last != 0 {
		t.Errorf("before the first round: %+v", s)
	}
	if s := tr.Status(start + 2*minute); s.Hop != canary.Scheduled {
		t.Errorf("two minutes without a round: %+v", s)
	}
	tr.Completed(start - 5*minute)
	if s := tr.Status(start + 30_000); s.Last != start-5*minute || s.Hop != "" {
		t.Errorf("with what an earlier process completed: %+v", s)
	}
}

func TestAReloadKeepsWhatIsKnown(t *testing.T) {
	tr := canary.New()
	tr.Watch(id, time.Minute, start)
	now := rounds(tr, 2, canary.Delivered)
	tr.Watch(id, 2*time.Minute, now)
	if s := tr.Status(now + 90_000); s.Hop != "" || s.Last == 0 || s.Every != 2*time.Minute {
		t.Errorf("after another interval: %+v", s)
	}
	tr.Watch("", 0, now)
	if tr.Is(id) || tr.Status(now).Enabled {
		t.Error("a canary that is gone is still watched")
	}
}

// Whatever order the hops are reported in, the last completed round never goes back
// and a tracker that names a hop has seen a round that did not pass it.
func TestNothingGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := canary.New()
		tr.Watch(id, time.Minute, start)
		now, last := start, object.Time(0)
		newest := object.Time(0) // round delivered
		for range rapid.IntRange(1, 60).Draw(t, "reports") {
			now += object.Time(rapid.IntRange(0, 40_000).Draw(t, "later"))
			h := rapid.SampledFrom(canary.Hops()).Draw(t, "hop")
			round := now - object.Time(rapid.IntRange(0, 90_000).Draw(t, "ago"))
			tr.Pass(h, round, now)
			if h == canary.Delivered {
				newest = max(newest, round)
			}
			s := tr.Status(now)
			if s.Last < last || (s.Last != 0) != (newest != 0) {
				t.Fatalf("the last round went from %d to %d", last, s.Last)
			}
			if last = s.Last; s.Hop == canary.Delivered && s.Passed[canary.Decided] == 0 {
				t.Fatalf("stopped at the delivery of what was never decided: %+v", s)
			}
		}
	})
}

// When another process goes on with the canary, what was under way is not missed, and a
// round that nobody begins is after the time to notice that a process has died.
func TestAHandoverIsNoStandstill(t *testing.T) {
	c := canary.New()
	c.Watch(id, time.Minute, start)
	now := rounds(c, 2, canary.Delivered)
	c.Pass(canary.Executed, now+minute, now+minute) // its result is dropped
	c.Handed(30*time.Second, now+minute+1000)
	for _, s := range []struct {
		after object.Time
		want  canary.Hop
	}{{minute + 30_000, ""}, {2*minute + 20_000, ""}, {2*minute + 32_000, canary.Scheduled}} {
		if got := c.Status(now + s.after).Hop; got != s.want {
			t.Errorf("%d s after the last round it has stopped at %q, want %q", s.after/1000, got, s.want)
		}
	}
	next := now + 3*minute
	for _, h := range canary.Hops() {
		c.Pass(h, next, next+10)
	}
	if s := c.Status(next + 1000); s.Hop != "" || s.Last != next+10 {
		t.Errorf("after the next round: %+v", s)
	}
}
