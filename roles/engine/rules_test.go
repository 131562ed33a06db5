package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/roles/engine"
)

// fleet is site with every host and service in group web, the hosts in group hosts
// too, and no checks: days pass in these tests.
func fleet(hosts, services int) *object.Set {
	set := site(hosts, services)
	for _, o := range set.Objects {
		o.Rule.Active = false
		o.Groups = []string{"web"}
		set.Groups["web"] = append(set.Groups["web"], o)
		o.Labels = map[string]string{"role": "web"}
		if o.Kind() == object.Host {
			set.Groups["hosts"] = append(set.Groups["hosts"], o)
		}
	}
	return set
}

// nightly is a downtime of every night, from 02:00 to 04:00 in UTC; the clock of a
// test starts at midnight.
func nightly(r event.DowntimeRule) program.PutRule {
	r.ID, r.Author, r.Text = "nightly", "maria", "backup"
	r.Ranges, r.Zone = []string{"monday-sunday 02:00-04:00"}, "UTC"
	return program.PutRule{Rule: r}
}

// until sleeps until a time of a day of the test, counted from its start.
func until(day int, clock time.Duration) {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	time.Sleep(time.Until(begin.AddDate(0, 0, day).Add(clock)))
}

func (g *rig) inDowntime() int { return g.p.Counts().InDowntime }

func TestARecurringDowntimeComesEveryNight(t *testing.T) {
	for name, r := range map[string]event.DowntimeRule{
		"for a host with its services": {Object: "h0", WithServices: true},
		"for a group":                  {Group: "web"},
		"for a group of hosts":         {Group: "hosts"},
		"for a filter":                 {Filter: "label.role=web"},
		"for everything":               {Filter: "*"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := start(t, fleet(1, 3), newJournal(), &runner{})
				g.must("", nightly(r))
				for day := range 3 {
					until(day, time.Hour)
					if x := g.status("h0!s1").Extra; x == nil || len(x.Downtimes) != 1 || x.Downtimes[0].Rule != "nightly" {
						t.Fatalf("night %d: %+v, want the downtime ahead of its start", day, x)
					}
					until(day, 2*time.Hour+10*time.Millisecond)
					if n := g.inDowntime(); n != 4 {
						t.Errorf("night %d: %d objects in downtime at its start, want 4", day, n)
					}
					until(day, 4*time.Hour+10*time.Millisecond)
					if n := g.inDowntime(); n != 0 {
						t.Errorf("night %d: %d objects in downtime behind its end", day, n)
					}
				}
				events, _ := g.j.History(t.Context(), kinds(event.DowntimeStarted))
				if len(events) != 12 {
					t.Errorf("%d starts in three nights, want 12", len(events))
				}
				g.end()
			})
		})
	}
}

func TestObjectsThatAReloadAddsAreInTheDowntimeToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(1, 1), newJournal(), &runner{})
		g.must("", nightly(event.DowntimeRule{Group: "web"}))
		until(1, 3*time.Hour)
		change := engine.Change{Added: []object.ID{"h1", "h1!s0"}}
		if err := g.e.Reload(t.Context(), fleet(2, 1), change); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		g.wantDepth("added while it runs", "h1!s0", 1)
		until(2, 3*time.Hour)
		if n := g.inDowntime(); n != 4 {
			t.Errorf("%d in downtime in the next night, want 4", n)
		}
		g.end()
	})
}

func TestWhatWasCancelledOfAnOccurrenceStaysCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, fleet(2, 1), j, &runner{})
		g.must("", nightly(event.DowntimeRule{Group: "web"}))
		synctest.Wait()
		g.must("h0", fold.CancelDowntimes{All: true})
		until(0, 3*time.Hour)
		if err := g.e.Reload(t.Context(), fleet(2, 1), engine.Change{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		g.wantDepth("after a reload", "h0", 0)
		g.end()
		g = start(t, fleet(2, 1), j, &runner{})
		time.Sleep(time.Second)
		g.wantDepth("after a restart", "h0", 0)
		g.wantDepth("after a restart", "h1", 1)
		until(1, 3*time.Hour)
		g.wantDepth("in the next night", "h0", 1)
		g.end()
	})
}

func TestADowntimeForManyEndsWithItsRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(2, 2), newJournal(), &runner{})
		g.must("", nightly(event.DowntimeRule{Group: "web"}))
		until(0, 3*time.Hour)
		g.must("", program.RemoveRule{ID: "nightly", Author: "otto"})
		synctest.Wait()
		if n := g.inDowntime(); n != 0 {
			t.Errorf("%d in downtime without the rule", n)
		}
		events, _ := g.j.History(t.Context(), kinds(event.DowntimeCancelled))
		if len(events) != 7 || events[0].Author != "otto" {
			t.Errorf("%d cancelled by %q, want the rule and six downtimes by otto", len(events), events[0].Author)
		}
		until(2, 3*time.Hour)
		if n := g.inDowntime(); n != 0 || len(g.p.RuleIDs()) != 0 {
			t.Errorf("%d in downtime in a later night", n)
		}
		g.end()
	})
}

func TestADowntimeForManyThatHappensOnceIsOver(t *testing.T) {
	for name, d := range map[string]object.Time{"fixed": 0, "flexible, and outlasting its window": object.Time(90 * time.Minute / time.Millisecond)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := start(t, fleet(2, 1), newJournal(), &runner{})
				r := event.DowntimeRule{ID: "once", Group: "web", Author: "maria", Text: "move", Start: in(time.Minute), End: in(61 * time.Minute), Duration: d}
				g.must("", program.PutRule{Rule: r})
				time.Sleep(50 * time.Minute)
				g.must("h0", fold.Result{State: object.Down, Output: "moved"})
				g.wantDepth("while it runs", "h0", 1)
				time.Sleep(15 * time.Minute)
				if rules := len(g.p.Program().Rules); d == 0 && (rules != 0 || g.inDowntime() != 0) || d != 0 && (rules != 1 || g.depth("h0") != 1) {
					t.Errorf("behind its window: %d rules, %d in downtime", rules, g.inDowntime())
				}
				time.Sleep(2 * time.Hour)
				if rules := g.p.Program().Rules; len(rules) != 0 || g.inDowntime() != 0 {
					t.Errorf("at last: %v, %d in downtime; want none", rules, g.inDowntime())
				}
				events, _ := g.j.History(t.Context(), kinds(event.DowntimeEnded))
				if e := events[0]; e.Program == nil || e.Program.RuleGone != "once" {
					t.Errorf("the last end is %+v, want the rule's own", e)
				}
				g.end()
			})
		})
	}
}

func TestAReplacedRuleMovesItsDowntimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(2, 1), newJournal(), &runner{})
		put := func(from, to time.Duration) {
			r := event.DowntimeRule{ID: "once", Group: "web", Author: "maria", Text: "move", Start: in(from), End: in(to)}
			g.must("", program.PutRule{Rule: r})
		}
		put(time.Hour, 2*time.Hour)
		synctest.Wait()
		put(3*time.Hour, 4*time.Hour)
		time.Sleep(90 * time.Minute)
		if n := g.inDowntime(); n != 0 {
			t.Errorf("%d in downtime at the old time", n)
		}
		time.Sleep(2 * time.Hour)
		if n := g.inDowntime(); n != 4 {
			t.Errorf("%d in downtime at the new time, want 4", n)
		}
		put(-3*time.Hour/2, time.Hour) // another end and start, while it runs
		time.Sleep(45 * time.Minute)
		if n := g.inDowntime(); n != 4 {
			t.Errorf("%d in downtime behind the old end, want 4", n)
		}
		g.end()
	})
}

// The night the clocks of Berlin go forward has no 02:30, and one hour less.
func TestARecurringDowntimeFollowsTheClockOfItsZone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2000, 3, 24, 12, 0, 0, 0, time.UTC)))
		g := start(t, fleet(1, 0), newJournal(), &runner{})
		p := nightly(event.DowntimeRule{Object: "h0"})
		p.Rule.Ranges, p.Rule.Zone = []string{"monday-sunday 01:00-04:00"}, "Europe/Berlin"
		g.must("", p)
		synctest.Wait()
		var got []string
		for range 3 {
			d := g.status("h0").Extra.Downtimes[0]
			got = append(got, fmt.Sprint(d.Start.Std().UTC().Format("02.01. 15:04")+"-"+d.End.Std().UTC().Format("15:04")))
			time.Sleep(time.Until(d.End.Std()) + time.Second)
		}
		if want := "[25.03. 00:00-03:00 26.03. 00:00-02:00 26.03. 23:00-02:00]"; fmt.Sprint(got) != want {
			t.Errorf("occurrences %v, want %s", got, want)
		}
		g.end()
	})
}

func TestManyObjectsAreReachedWithoutStoppingTheLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(200, 19), newJournal(), &runner{})
		g.must("", nightly(event.DowntimeRule{Filter: "*"}))
		until(0, 2*time.Hour+time.Second)
		if n := g.inDowntime(); n != 4000 {
			t.Errorf("%d in downtime, want 4000", n)
		}
		until(0, 4*time.Hour+time.Second)
		if n := g.inDowntime(); n != 0 {
			t.Errorf("%d in downtime behind its end", n)
		}
		g.end()
	})
}

func TestWhoDoesNotMatchAnyMoreAfterAReloadLosesTheDowntime(t *testing.T) {
	day := object.Time(24 * time.Hour / time.Millisecond)
	for name, r := range map[string]event.DowntimeRule{
		"a filter":                      {Filter: "label.role=web"},
		"a group":                       {Group: "web"},
		"a flexible one that has begun": {Group: "web", Duration: day},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r.ID, r.Author, r.Text, r.Start, r.End = "move", "maria", "move", in(0), in(5*time.Hour)
				without := func() *object.Set {
					set := fleet(2, 1)
					for _, o := range set.Objects {
						if o.ID == "h1" {
							o.Labels, o.Groups = map[string]string{"role": "db"}, nil
						}
					}
					set.Groups["web"] = slices.DeleteFunc(set.Groups["web"], func(o *object.Object) bool { return strings.HasPrefix(string(o.ID), "h1") })
					return set
				}
				j := newJournal()
				g := start(t, fleet(2, 1), j, &runner{})
				g.must("", program.PutRule{Rule: r})
				g.must("h0", fold.Result{State: object.Down, Output: "moved"})
				g.must("h1", fold.Result{State: object.Down, Output: "moved"})
				time.Sleep(time.Minute)
				g.wantDepth("at first", "h1", 1)
				reload := func(set *object.Set) {
					t.Helper()
					if err := g.e.Reload(t.Context(), set, engine.Change{Changed: []object.ID{"h1"}}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
				}
				reload(without())
				g.wantDepth("without the label", "h1", 0)
				g.wantDepth("still with it", "h0", 1)
				reload(fleet(2, 1))
				g.must("h1", fold.Result{State: object.Unreachable, Output: "moved again"})
				g.must("h1", fold.Result{State: object.Down, Output: "moved again"})
				g.wantDepth("with the label again", "h1", 1)
				g.must("h1", fold.CancelDowntimes{All: true, Author: "otto"})
				reload(fleet(2, 1))
				g.wantDepth("cancelled by a person", "h1", 0)
				g.end()
				g = start(t, without(), j, &runner{})
				time.Sleep(time.Minute)
				g.wantDepth("after a restart", "h0", 1)
				g.wantDepth("after a restart, without the label", "h1", 0)
				g.end()
			})
		})
	}
}

func TestAChangeOfTheConfigWhileStoppedEndsDowntimesToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, fleet(2, 1), j, &runner{})
		g.must("", program.PutRule{Rule: event.DowntimeRule{ID: "move", Filter: "label.role=web", Author: "m", Text: "x", Start: in(0), End: in(time.Hour)}})
		time.Sleep(time.Second)
		g.end()
		set := fleet(2, 1)
		set.Get("h1").Labels = map[string]string{"role": "db"}
		g = start(t, set, j, &runner{})
		time.Sleep(time.Second)
		g.wantDepth("without the label", "h1", 0)
		g.wantDepth("with it", "h1!s0", 1)
		g.end()
	})
}
