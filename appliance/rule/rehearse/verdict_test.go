package rehearse_test

import (
	"flag"
	"math/rand/v2"
	"reflect"
	"testing"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
	"jaque.sh/jaque/appliance/rule/rehearse/trial"
)

var scenarios = flag.Int("scenarios", 30, "how many random scenarios are looked at")

func TestEveryTransitionHasExactlyOneVerdictForEachContact(t *testing.T) {
	transitions, verdicts := 0, 0
	for seed := 1; seed <= *scenarios && !t.Failed(); seed++ {
		tr := trial.New(begin, rand.New(rand.NewPCG(uint64(seed), 6)).IntN)
		s := tr.Scene()
		s.Watch = func(e *event.Event) {
			if e.Transition && e.Status != nil && e.Status.State != object.OK {
				transitions++
				verdicts += oneEach(t, seed, s.Set.Get(e.Object), e)
			}
		}
		rehearse.Run(s, deliver.Limits{})
	}
	t.Logf("%d scenarios with %d transitions into problems and %d verdicts", *scenarios, transitions, verdicts)
}

// oneEach looks for one verdict about each contact that the policy names, with one
// gate that has decided or none.
func oneEach(t *testing.T, seed int, o *object.Object, e *event.Event) (verdicts int) {
	t.Helper()
	seen, problems := map[string]int{}, 0
	for i := range e.Notes {
		n := &e.Notes[i]
		if n.Kind != string(notify.Problem) {
			continue
		}
		problems++
		for j := range n.People {
			p := &n.People[j]
			seen[p.Name]++
			verdicts++
			if blocked := n.By != "" || p.By != ""; p.Told == blocked {
				t.Errorf("scenario %d, %s: %s is told %t by %q, %q", seed, e.Object, p.Name, p.Told, n.By, p.By)
			}
		}
	}
	if problems != 1 {
		t.Errorf("scenario %d, %s: %d decisions about the problem, want 1", seed, e.Object, problems)
	}
	policy := o.Notify.For(e.Status.State, e.Time)
	if policy == nil {
		policy = o.Notify
	}
	wanted := map[string]bool{}
	for _, c := range policy.Contacts {
		wanted[c.Name] = true
	}
	for _, s := range policy.Steps {
		for _, c := range s.Contacts {
			wanted[c.Name] = true
		}
	}
	for name := range wanted {
		if seen[name] != 1 {
			t.Errorf("scenario %d, %s: %d verdicts about %s, want 1", seed, e.Object, seen[name], name)
		}
	}
	return verdicts
}

func TestTheSameSceneHasTheSameOutcome(t *testing.T) {
	for seed := range uint64(20) {
		tr := trial.New(begin, rand.New(rand.NewPCG(seed, 7)).IntN)
		one, two := rehearse.Run(tr.Scene(), deliver.Limits{}), rehearse.Run(tr.Scene(), deliver.Limits{})
		if !reflect.DeepEqual(one.Entries, two.Entries) || !reflect.DeepEqual(one.Messages, two.Messages) {
			t.Errorf("scenario %d has two outcomes", seed)
		}
	}
}
