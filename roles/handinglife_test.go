package roles

import (
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// clusterLife plays a life and returns the site at its end.
func clusterLife(t *testing.T, seed uint64, steps int, f fault) *site {
	s := newSite(t, seed, f)
	defer s.close()
	dice := s.dice
	now := map[string]*seat{}
	for _, id := range []string{"a", "b", "c"} {
		now[id] = s.sit(id)
		time.Sleep(4 * time.Second)
	}
	ids := []string{"a", "b", "c", "d"}
	for range steps {
		id := ids[dice.below(len(ids))]
		x := now[id]
		switch what := dice.below(20); {
		case x == nil || x.dead.Load():
			if what < 8 {
				now[id] = s.sit(id)
			}
		case what == 0:
			x.kill()
		case what < 4:
			s.mu.Lock()
			x.tell("%s stops", x.me.Instance)
			s.mu.Unlock()
			x.end()
		case what == 4: // who is for the whole TTL ends
			x.cutOff(dice.upTo(9 * lifeTTL / 10))
		default:
			s.ask(dice.upTo(20*time.Second), s.some()...)
		}
		time.Sleep(dice.upTo(6 * time.Second))
	}
	time.Sleep(time.Minute)
	for _, id := range ids {
		if x := now[id]; x != nil && !x.dead.Load() {
			x.end()
		}
	}
	time.Sleep(2 * time.Minute) // killed ones let go of what they have
	return s
}

// joinLife plays a life in which others join while a member that was there first does not
// hear of them, and returns the site at its end.
func joinLife(t *testing.T, seed uint64, joins int, f fault) *site {
	s := newSite(t, seed, f)
	defer s.close()
	first := s.sit("a")
	time.Sleep(2 * lifeTTL)
	for range joins {
		first.cutOff(lifeTTL/2 + s.dice.upTo(lifeTTL/4))
		x := s.sit("b")
		for range 20 {
			s.ask(time.Duration(s.dice.below(4000))*time.Millisecond, s.some()...)
			time.Sleep(lifeTTL/40 + s.dice.upTo(time.Second))
		}
		time.Sleep(2 * lifeTTL)
		x.end()
	}
	time.Sleep(time.Minute)
	first.end()
	time.Sleep(time.Minute)
	return s
}

// Lives of a cluster with stops, kills, joins, members that are cut off from the store or
// hear of views and events late, appends that are refused, and sends that take long: of
// what is sent twice one at most does not say that it may be a repetition.
func TestNoMessageOfAClusterComesAgainWithoutAMark(t *testing.T) {
	for _, life := range []struct {
		name string
		play func(*testing.T, uint64, int, fault) *site
		long int
	}{{"anything", clusterLife, 60}, {"joins", joinLife, 5}} {
		t.Run(life.name, func(t *testing.T) {
			marked, all := 0, 0
			rapid.Check(t, func(rt *rapid.T) {
				seed := rapid.Uint64().Draw(rt, "seed")
				var err error
				synctest.Test(t, func(t *testing.T) {
					m, n, wrong := life.play(t, seed, life.long, fault{}).wrong()
					err, marked, all = wrong, marked+m, all+n
				})
				if err != nil {
					rt.Fatal(err)
				}
			})
			t.Logf("%d messages, %d of them marked", all, marked)
		})
	}
}

// These lives are wild enough: what the rules are for happens in them, in every third or,
// for the last one, every 25th, so that the order of goroutines does not decide whether it
// is seen.
func TestLivesWithoutARuleOfTheMarksAreFoundOut(t *testing.T) {
	const most = 300
	for _, c := range []struct {
		fault
		life func(*testing.T, uint64, int, fault) *site
		long int
	}{
		{fault{name: "whoever had the contact is taken for one that has begun with nothing", trusts: true}, clusterLife, 60},
		{fault{name: "a release names no request", namesNone: true}, clusterLife, 60},
		{fault{name: "who joins takes everybody for one that has let go", hasty: true}, joinLife, 5},
		{fault{name: "what came when there were rivals is not asked for again", once: true}, joinLife, 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(most) {
				var err error
				synctest.Test(t, func(t *testing.T) { _, _, err = c.life(t, seed, c.long, c.fault).wrong() })
				if err != nil {
					return
				}
			}
			t.Errorf("not found in %d lives", most)
		})
	}
}

// restarts restarts three members in order while messages are asked for, and returns how
// many were marked.
func restarts(t *testing.T, f fault) (marked, all int) {
	s := newSite(t, 1, f)
	s.dice.calm = true
	defer s.close()
	now := map[string]*seat{}
	for _, id := range []string{"a", "b", "c"} {
		now[id] = s.sit(id)
		time.Sleep(lifeTTL + time.Second)
	}
	ask := func() {
		for _, wait := range []time.Duration{0, time.Second, 5 * time.Second} {
			s.ask(wait, lifePeople...)
			time.Sleep(time.Second / 3)
		}
	}
	for range 3 {
		for _, id := range []string{"a", "b", "c"} {
			ask()
			now[id].end()
			ask()
			now[id] = s.sit(id)
			ask()
			time.Sleep(2 * time.Second)
		}
	}
	time.Sleep(time.Minute)
	for _, x := range now {
		x.end()
	}
	marked, all, err := s.wrong()
	if want := s.asked * len(lifePeople); err != nil || all != want {
		t.Errorf("%d messages, want %d: %v", all, want, err)
	}
	return marked, all
}

func TestARestartInOrderMarksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if marked, all := restarts(t, fault{}); marked > 0 {
			t.Errorf("%d of %d messages are marked", marked, all)
		}
	})
}

// Members of an older release say nothing: what is due when they leave is in doubt.
func TestARestartOfMembersThatSayNothingMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if marked, _ := restarts(t, fault{mute: true}); marked == 0 {
			t.Error("nothing is marked")
		}
	})
}
