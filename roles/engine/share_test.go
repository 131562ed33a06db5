package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// S111, S113: while engines come and leave politely, every check runs once per
// interval, at its place on the grid.
func TestEveryCheckRunsOnceAnIntervalWhileEnginesComeAndLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set { return site(20, 10) })
		c.join("a")
		began := time.Now()
		for _, step := range []struct {
			at  time.Duration
			do  func(string)
			who string
		}{
			{90 * time.Second, func(id string) { c.join(id) }, "b"},
			{3*time.Minute + 7*time.Second, func(id string) { c.join(id) }, "c"},
			{5 * time.Minute, c.leave, "a"},
			{6*time.Minute + 31*time.Second, func(id string) { c.join(id) }, "a"},
			{8 * time.Minute, c.leave, "c"},
			{8*time.Minute + time.Second, c.leave, "b"},
		} {
			time.Sleep(time.Until(began.Add(step.at)))
			step.do(step.who)
		}
		time.Sleep(time.Until(began.Add(10 * time.Minute)))
		c.agree()
		for _, o := range c.checked() {
			times := c.times(o.ID)
			if len(times) != 10 {
				t.Errorf("%s ran %d times in 10 minutes: %v", o.ID, len(times), times)
				continue
			}
			for i := 1; i < len(times); i++ {
				if d := times[i].at.Sub(times[i-1].at); d < time.Minute-600*time.Millisecond || d > time.Minute+600*time.Millisecond {
					t.Errorf("%s ran after %s: %v", o.ID, d, times)
				}
			}
		}
		c.end()
	})
}

// S102, S112, S124: of an engine that is killed, every object is checked again within TTL and
// interval, and what was overdue within a second of the new view.
func TestTheObjectsOfADeadEngineAreCheckedAgainInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set { return site(30, 10) })
		for _, id := range []string{"a", "b", "c"} {
			c.join(id)
		}
		time.Sleep(5 * time.Minute)
		died, orphans := time.Now(), c.owned("b")
		dead := c.kill("b")
		time.Sleep(ttl)
		overdue := map[object.ID]bool{}
		for _, id := range orphans {
			times := c.times(id)
			overdue[id] = time.Since(times[len(times)-1].at) > time.Minute
		}
		c.bury("b")
		buried := time.Now()
		time.Sleep(2 * time.Minute)
		late := 0
		for _, id := range orphans {
			times := c.times(id)
			next := times[0]
			for _, r := range times {
				if next = r; r.at.After(died) {
					break
				}
			}
			if gap := next.at.Sub(died); gap > ttl+time.Minute || next.by == "b" {
				t.Errorf("%s was checked %s after the death by %s", id, gap, next.by)
			}
			if !overdue[id] {
				continue
			}
			late++
			if wait := next.at.Sub(buried); wait > time.Second {
				t.Errorf("%s was overdue, and is checked %s after the new view", id, wait)
			}
		}
		if len(orphans) < 80 || late < 5 {
			t.Errorf("%d objects were orphaned and %d of them overdue, the test proves nothing", len(orphans), late)
		}
		c.agree()
		c.end(dead)
	})
}

// S113: the metrics of the engines tell of their shares.
func TestSharesOfObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, func() *object.Set { return site(30, 10) })
		for _, id := range []string{"a", "b", "c"} {
			c.join(id)
		}
		time.Sleep(time.Second)
		sum := 0.0
		for id, n := range c.nodes {
			own := gathered(t, n.reg, "jaque_engine_owned_objects")
			if sum += own; own < 70 || own > 150 {
				t.Errorf("%s owns %v of 330 objects", id, own)
			}
			if m := gathered(t, n.reg, "jaque_engine_members"); m != 3 {
				t.Errorf("%s counts %v members", id, m)
			}
		}
		if sum != 330 {
			t.Errorf("the three own %v objects, want 330", sum)
		}
		c.end()
	})
}

// A polite stop waits for the checks that run and writes what they say before it gives
// its objects away: no check runs twice, and none is missed.
func TestAPoliteStopHandsOverBehindItsRunningChecks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.takes = 3 * time.Second
		c.join("a")
		c.join("b")
		c.join("c")
		began := time.Now()
		time.Sleep(4 * time.Minute)
		c.leave("b")
		time.Sleep(2*time.Minute + 30*time.Second)
		c.leave("a")
		time.Sleep(time.Until(began.Add(10 * time.Minute)))
		for _, o := range c.checked() {
			times := c.times(o.ID)
			for i := 1; i < len(times); i++ {
				if d := times[i].at.Sub(times[i-1].at); i > 1 && (d < time.Minute-4*time.Second || d > time.Minute+4*time.Second) {
					t.Errorf("%s ran after %s: %v", o.ID, d, times)
				}
			}
			if n := c.nodes["c"].p.State(o.ID).Measure.N; int(n) < len(times)-1 {
				t.Errorf("%s ran %d times, and %d results are known", o.ID, len(times), n)
			}
		}
		c.agree()
		c.end()
	})
}

// S124: at a join the checks that run are done again by their new owners, none more than
// once more, and what the old owner finds out of them is dropped and counted.
func TestAJoinCostsAtMostOneMoreRunOfACheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, small)
		c.takes = 3 * time.Second
		a := c.join("a")
		time.Sleep(4 * time.Minute)
		before := map[object.ID]int{}
		for _, o := range c.checked() {
			before[o.ID] = len(c.times(o.ID))
		}
		c.join("b")
		time.Sleep(time.Minute)
		twice := 0
		for _, o := range c.checked() {
			switch n := len(c.times(o.ID)) - before[o.ID]; n {
			case 1:
			case 2:
				twice++
			default:
				t.Errorf("%s ran %d times in the minute behind the join", o.ID, n)
			}
		}
		dropped := a.count("jaque_engine_lost_decisions_total")
		if dropped == 0 || twice > int(dropped) {
			t.Errorf("%d checks ran once more, and %v results were dropped", twice, dropped)
		}
		c.agree()
		c.end()
	})
}
