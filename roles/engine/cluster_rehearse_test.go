package engine_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/appliance/rule/rehearse/trial"
	"jaque.sh/jaque/roles/engine"
)

// liveWith plays a scene with several engines; each act reaches another one of them.
func liveWith(t *testing.T, tr *trial.Trial, s *rehearse.Scene, ids ...string) (verdicts []rehearse.Entry, refused int) {
	c := newCluster(t, func() *object.Set { return s.Set })
	for _, id := range ids {
		c.join(id, func(o *engine.Options) { o.Runner = actor{tr} })
	}
	for i, a := range s.Acts {
		time.Sleep(time.Until(a.At.Std()))
		n := c.nodes[ids[i%len(ids)]]
		report, err := n.e.Do(context.Background(), []operate.Action{{Object: a.Object, Command: a.Command, Program: a.Program}})
		if err != nil {
			t.Fatal(err)
		}
		if report.Results[0].Err != nil {
			refused++
		}
	}
	time.Sleep(time.Until(s.End.Std()) + time.Millisecond/2)
	synctest.Wait()
	c.agree()
	c.end()
	events, err := c.j.History(context.Background(), journal.Query{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(events)
	for i := range events {
		verdicts = append(verdicts, comparable(&events[i])...)
	}
	return verdicts, refused
}

// S104, S113: three engines tell people the same as one, whoever of them owns a host,
// its services and the hosts around it, and whichever of them a command reaches.
func TestThreeEnginesTellTheSameAsARehearsal(t *testing.T) {
	most, verdicts, told, met := max(*scenarios/6, 1), 0, 0, 0
	for seed := *firstSeed; seed < *firstSeed+most && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(uint64(seed), 4))
			tr := trial.New(object.At(time.Now()), rnd.IntN)
			s := tr.Scene()
			got := rehearse.Run(s, deliver.Limits{})
			s.Set = tr.Set()
			want, refused := liveWith(t, tr, s, "a", "b", "c")
			for i := range got.Entries {
				got.Entries[i].Request, got.Entries[i].Message = "", 0
			}
			if !compare(t, seed, got.Entries, want) {
				met++
			}
			if len(got.Refused) != refused {
				t.Errorf("scenario %d: the rehearsal refused %d acts, the engines %d", seed, len(got.Refused), refused)
			}
			verdicts += len(want)
			for i := range want {
				if want[i].Told {
					told++
				}
			}
		})
	}
	t.Logf("%d scenarios with %d verdicts, of which %d told somebody; %d were left", most, verdicts, told, met)
}
