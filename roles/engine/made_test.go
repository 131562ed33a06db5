package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/operate"
)

// planned is a downtime for everything that begins now.
func planned(id string) operate.Action {
	return operate.Action{Program: program.PutRule{Rule: event.DowntimeRule{
		ID: id, Filter: "*", Author: "maria", Text: "move", Start: in(0), End: in(time.Hour),
	}}}
}

// have counts the objects with a downtime.
func (g *rig) have() (n int) {
	for _, o := range g.p.Set().Objects {
		if x := g.status(o.ID).Extra; x != nil && len(x.Downtimes) > 0 {
			n++
		}
	}
	return n
}

func TestAnAnswerForManyComesWhenEachHasItsDowntime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(100, 19), slow(), &runner{}) // 2,000 objects, and a log that takes a second
		g.do(planned("a"))
		if n := g.have(); n != 2000 {
			t.Errorf("%d of 2000 have it with the answer", n)
		}
		began := time.Now()
		g.do(planned("a"), operate.Action{Program: program.RemoveRule{ID: "nothing"}})
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("a rule that changes nothing is waited for %s", took)
		}
		g.end()
	})
}

func TestAnAnswerForManyIsNotWaitedForForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &faulty{Journal: newJournal()}
		j.append = func(e *event.Event, _ uint64, _ journal.Done) bool { return e.Object != "" }
		g := start(t, fleet(2, 1), j, &runner{})
		began := time.Now()
		report := g.do(planned("a"))
		if took := time.Since(began); report.Results[0].Err != nil || took != 5*time.Second {
			t.Errorf("%v after %s, want that it is done after 5 s", report.Results[0].Err, took)
		}
		g.end()
	})
}

func TestAReplacedRuleIsWaitedForToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, fleet(2, 1), newJournal(), &runner{})
		g.do(planned("a"))
		next := planned("a")
		r := next.Program.(program.PutRule)
		r.Rule.Start, r.Rule.End = in(time.Hour), in(2*time.Hour)
		next.Program = r
		began := time.Now()
		g.do(next)
		if took := time.Since(began); took > time.Second || g.have() != 4 {
			t.Errorf("after %s %d have it", took, g.have())
		}
		g.must("h0", fold.CancelDowntimes{All: true})
		g.end()
	})
}
