package coordination

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/bucket"
)

// clocked is a bucket whose server expires keys by a wall clock that jumps, as the real
// one does: it forgets what is older by that clock, and says nothing of it.
type clocked struct {
	mu       sync.Mutex
	ahead    time.Duration // of the time that passes
	revision uint64
	held     map[string]stored
	late     time.Duration // writes are answered and seen only so long after they were sent
	pending  map[string]bool
	denied   int
}

type stored struct {
	bucket.Entry
	until time.Time // by the server's clock; zero = for ever
}

func (c *clocked) now() time.Time { return time.Now().Add(c.ahead) }

// at returns what stands under a key by the server's clock.
func (c *clocked) at(key string) bucket.Entry {
	h, ok := c.held[key]
	if ok && !h.until.IsZero() && !c.now().Before(h.until) {
		delete(c.held, key)
		ok = false
	}
	if !ok {
		return bucket.Entry{Gone: true}
	}
	return h.Entry
}

func (c *clocked) Get(_ context.Context, key string) (bucket.Entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(key), nil
}

// Put is as at a leader: it compares when it is asked, denies what meets a write that is
// under way, and is done when the disk is.
func (c *clocked) Put(ctx context.Context, key string, value []byte, expect uint64, ttl time.Duration) (uint64, error) {
	c.mu.Lock()
	if c.at(key).Revision != expect || c.pending[key] {
		c.denied++
		c.mu.Unlock()
		return 0, bucket.ErrConflict
	}
	late := c.late
	if late == 0 {
		defer c.mu.Unlock()
		return c.write(key, value, ttl), nil
	}
	c.pending[key] = true
	c.mu.Unlock()
	done := make(chan uint64, 1)
	go func() {
		time.Sleep(late)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.pending, key)
		done <- c.write(key, value, ttl)
	}()
	select {
	case r := <-done:
		return r, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

func (c *clocked) write(key string, value []byte, ttl time.Duration) uint64 {
	c.revision++
	h := stored{Entry: bucket.Entry{Value: value, Revision: c.revision, Time: c.now()}}
	if ttl > 0 {
		h.until = c.now().Add(ttl)
	}
	c.held[key] = h
	return c.revision
}

func (c *clocked) Remove(_ context.Context, key string, expect uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at(key).Revision != expect {
		return bucket.ErrConflict
	}
	delete(c.held, key)
	return nil
}

func (c *clocked) jump(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += by
}

func (c *clocked) slow(late time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.late = late
}

// jumpy runs a test in a bubble over a server whose clock jumps.
func jumpy(t *testing.T, run func(t *testing.T, c *clocked)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		run(t, &clocked{held: map[string]stored{}, pending: map[string]bool{}})
	})
}

// within is how long the dead stay in a view: a TTL from when their last heartbeat was
// seen, which is a look behind when it was written, and the next look.
const within = testTTL + 2*pollMost + pollMost/10

// Whatever the wall clock of the server does: who keeps up its heartbeat is expired by
// nobody, who has ended is within a TTL and a sweep, and its next run gets in after a TTL.
func TestWhoLivesIsNotJudgedByTheServersClock(t *testing.T) {
	type leap struct{ pause, by time.Duration }
	leaps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) leap {
		return leap{
			// A key that vanishes is written anew, and that takes as long as it is renewed in.
			time.Duration(rapid.Int64Range(int64(testTTL*55/100), int64(3*testTTL)).Draw(t, "pause")),
			time.Duration(rapid.OneOf(rapid.Int64Range(-int64(48*time.Hour), int64(48*time.Hour)), rapid.Int64Range(-int64(testTTL), int64(testTTL))).Draw(t, "by")),
		}
	}), 1, 12)
	const seeds = 60
	for seed := range seeds {
		jumpy(t, func(t *testing.T, c *clocked) {
			script := leaps.Example(seed)
			a, b, d := start(t, c, Engines, "a", "1"), start(t, c, Engines, "b", "1"), start(t, c, Engines, "d", "1")
			time.Sleep(pollMost * 2)
			for i, l := range script {
				before := wantView(t, []*member{a, b}, "a", "b", "d")
				time.Sleep(l.pause)
				c.jump(l.by)
				if i%2 == 1 {
					continue
				}
				d.kill()
				began := time.Now()
				next := newMember(c, Engines, "d", fmt.Sprint("again", i))
				next.run(t)
				restart := i%4 == 0
				if restart {
					if v, err := next.Register(t.Context(), next.Member, 0); err != nil || time.Since(began) > testTTL+pollMost {
						t.Fatalf("%v: the next run is in after %s with %+v: %v", script, time.Since(began), v, err)
					}
					time.Sleep(within - time.Since(began))
				} else {
					time.Sleep(within)
					if v := wantView(t, []*member{a, b}, "a", "b"); v.Epoch != before.Epoch+1 {
						t.Fatalf("%v: %+v follows %+v", script, v, before)
					}
					if _, err := next.Register(t.Context(), next.Member, 0); err != nil {
						t.Fatalf("%v: %v", script, err)
					}
				}
				d = next
				time.Sleep(2 * pollMost)
			}
			for _, m := range []*member{a, b, d} {
				m.wantAlive(t)
				if !m.Alive() {
					t.Errorf("%v: %s does not act", script, m.ID)
				}
			}
			if t.Failed() {
				t.Fatalf("after %v", script)
			}
		})
	}
	t.Logf("%d scripts of jumps", seeds)
}

// A live process keeps its id while the clock jumps and a twin wants in.
func TestATwinDoesNotGetInWhileTheClockJumps(t *testing.T) {
	for _, by := range []time.Duration{-24 * time.Hour, -30 * time.Second, 30 * time.Second, 24 * time.Hour} {
		jumpy(t, func(t *testing.T, c *clocked) {
			a := start(t, c, Engines, "a", "1")
			for i := range 20 {
				time.Sleep(testTTL/3 + testTTL/17)
				c.jump(by)
				twin := newMember(c, Engines, "a", fmt.Sprint("twin", i))
				if _, err := twin.Register(t.Context(), twin.Member, 0); !errors.Is(err, ErrTaken) {
					t.Errorf("%s: a twin registered: %v", by, err)
				}
			}
			a.wantAlive(t)
		})
	}
}

// All have died and one starts, while what they wrote stays: it waits for them once, not
// once for its own id and once more for the others.
func TestTheDeadAreWaitedForOnce(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, 0, time.Hour} {
		jumpy(t, func(t *testing.T, c *clocked) {
			for _, id := range ids(3) {
				start(t, c, Engines, id, "1").kill()
			}
			c.jump(by)
			began := time.Now()
			m := start(t, c, Engines, "engine-a", "2")
			for time.Since(began) < testTTL+2*pollMost {
				time.Sleep(testTTL / 60)
			}
			wantView(t, []*member{m}, "engine-a")
		})
	}
}

// A store that writes slowly ends nobody while a heartbeat lands within two fifths of a TTL:
// two in a row, each counted from when it was sent, fit into one. It is not asked for
// another all the time.
func TestASlowStoreEndsNobody(t *testing.T) {
	for _, late := range []time.Duration{testTTL / 6, testTTL / 4, testTTL / 3, testTTL * 2 / 5} {
		jumpy(t, func(t *testing.T, c *clocked) {
			a, b := start(t, c, Engines, "a", "1"), start(t, c, Engines, "b", "1")
			time.Sleep(2 * pollMost)
			c.slow(late)
			time.Sleep(10 * testTTL)
			for _, m := range []*member{a, b} {
				m.wantAlive(t)
			}
			wantView(t, []*member{a, b}, "a", "b")
			c.mu.Lock()
			if writes := int(c.revision); c.denied > 8*writes {
				t.Errorf("%d heartbeats were denied with %d writes", c.denied, writes)
			}
			c.mu.Unlock()
			c.slow(2 * testTTL) // nothing lands in time
			a.wantEnd(t, ErrExpired, 0, testTTL)
			time.Sleep(4 * testTTL) // what is under way ends
		})
	}
}

// A heartbeat of which is known only after a TTL that it was written is none.
func TestAHeartbeatThatSucceedsTooLateIsNone(t *testing.T) {
	jumpy(t, func(t *testing.T, c *clocked) {
		a := start(t, c, Engines, "a", "1")
		a.kill()
		good := a.good
		if err := a.beat(t.Context(), a.Member, a.revision, time.Now()); !errors.Is(err, ErrExpired) || !a.good.Equal(good) {
			t.Errorf("it counts from %s, not %s: %v", a.good, good, err)
		}
	})
}
