package engine_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/appliance/rule/rehearse/trial"
	"jaque.sh/jaque/roles/engine"
)

var (
	scenarios = flag.Int("scenarios", 150, "how many random scenarios a rehearsal and the engine play")
	firstSeed = flag.Int("scenario", 1, "seed of the first scenario")
)

// actor is a runner whose checks find what a trial says, and take as long.
type actor struct{ trial *trial.Trial }

func (a actor) Run(ctx context.Context, j engine.Job) fold.Result {
	start := object.At(time.Now())
	f := a.trial.Find(j.Object, start)
	select {
	case <-time.After(f.Takes):
	case <-ctx.Done():
	}
	return fold.Result{State: f.State, Output: f.Output, Start: start, Took: f.Takes.Microseconds()}
}

// live plays a scene with the engine and returns the verdicts on the log and how
// many acts were refused.
func live(t *testing.T, tr *trial.Trial, s *rehearse.Scene) (verdicts []rehearse.Entry, refused int) {
	g := start(t, s.Set, newJournal(), nil, func(o *engine.Options) { o.Runner = actor{tr} })
	refused = enact(t, s, func(int) *engine.Engine { return g.e })
	if err := g.end(); err != nil {
		t.Fatal(err)
	}
	return verdictsOn(t, g.j), refused
}

// enact has engines carry out the acts of a scene, each the one it reaches, waits for the
// scene's end, and returns how many acts were refused.
func enact(t *testing.T, s *rehearse.Scene, reached func(act int) *engine.Engine) (refused int) {
	t.Helper()
	for i, a := range s.Acts {
		time.Sleep(time.Until(a.At.Std()))
		report, err := reached(i).Do(t.Context(), []operate.Action{{Object: a.Object, Command: a.Command, Program: a.Program}})
		if err != nil {
			t.Fatal(err)
		}
		if report.Results[0].Err != nil {
			refused++
		}
	}
	time.Sleep(time.Until(s.End.Std()) + time.Millisecond/2)
	synctest.Wait()
	return refused
}

// verdictsOn returns the verdicts on a log.
func verdictsOn(t *testing.T, log interface {
	History(ctx context.Context, q journal.Query) ([]event.Event, error)
},
) (verdicts []rehearse.Entry) {
	t.Helper()
	events, err := log.History(t.Context(), journal.Query{Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(events) // they come newest first
	for i := range events {
		verdicts = append(verdicts, comparable(&events[i])...)
	}
	return verdicts
}

// comparable returns the verdicts of an event without what only names the decision.
func comparable(e *event.Event) []rehearse.Entry {
	all := rehearse.Entries(e)
	for i := range all {
		all[i].Request = ""
	}
	return all
}

func TestARehearsalAndTheEngineTellTheSame(t *testing.T) {
	met := sameAsRehearsed(t, *scenarios, live)
	if met > 1+*scenarios/500 {
		t.Errorf("%d of %d scenarios were left: too many to say that the order never matters", met, *scenarios)
	}
}

// sameAsRehearsed rehearses scenarios, plays them, and wants the same verdicts. It returns
// how many were left at a result and an end of an interval in one millisecond.
func sameAsRehearsed(t *testing.T, most int, live func(t *testing.T, tr *trial.Trial, s *rehearse.Scene) (verdicts []rehearse.Entry, refused int)) (met int) {
	t.Helper()
	verdicts, told := 0, 0
	for seed := *firstSeed; seed < *firstSeed+most && !t.Failed(); seed++ {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(uint64(seed), 4))
			tr := trial.New(object.At(time.Now()), rnd.IntN)
			s := tr.Scene()
			got := rehearse.Run(s, deliver.Limits{})
			s.Set = tr.Set() // the engines shall share nothing with the rehearsal
			want, refused := live(t, tr, s)
			for i := range got.Entries {
				got.Entries[i].Request, got.Entries[i].Message = "", 0
			}
			if !compare(t, seed, got.Entries, want) {
				met++
			}
			if len(got.Refused) != refused {
				t.Errorf("scenario %d: the rehearsal refused %d acts, live %d were", seed, len(got.Refused), refused)
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
	return met
}

// meet tells whether two verdicts are of a result and of the end of an interval that
// fall into one millisecond: which of them comes first is not defined.
func meet(a, b *rehearse.Entry) bool {
	return a.Time == b.Time && a.Object == b.Object && a.Kind != b.Kind
}

// compare says where two sequences of verdicts part. It returns false where they part
// without being wrong.
func compare(t *testing.T, seed int, rehearsed, lived []rehearse.Entry) bool {
	t.Helper()
	for _, all := range [][]rehearse.Entry{rehearsed, lived} {
		slices.SortStableFunc(all, func(a, b rehearse.Entry) int {
			if a.Time != b.Time {
				return int(a.Time - b.Time)
			}
			return slices.Compare([]byte(a.Object), []byte(b.Object))
		})
	}
	for i := range max(len(rehearsed), len(lived)) {
		switch {
		case i >= len(rehearsed):
			t.Errorf("scenario %d: only the engine: %s", seed, written(&lived[i]))
		case i >= len(lived):
			t.Errorf("scenario %d: only the rehearsal: %s", seed, written(&rehearsed[i]))
		case meet(&rehearsed[i], &lived[i]):
			return false
		case !reflect.DeepEqual(rehearsed[i], lived[i]):
			t.Errorf("scenario %d, verdict %d:\n rehearsed %s\n lived     %s", seed, i, written(&rehearsed[i]), written(&lived[i]))
		default:
			continue
		}
		return true
	}
	return true
}

func written(e *rehearse.Entry) string { return fmt.Sprintf("%s %+v", e.Time.Std(), *e) }
