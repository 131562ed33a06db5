package trial_test

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse/trial"
)

const begin = object.Time(1_767_225_600_000)

func TestATrialFollowsFromWhatIsPicked(t *testing.T) {
	for seed := range uint64(50) {
		one := trial.New(begin, rand.New(rand.NewPCG(seed, 1)).IntN)
		two := trial.New(begin, rand.New(rand.NewPCG(seed, 1)).IntN)
		a, b := one.Scene(), two.Scene()
		if !reflect.DeepEqual(a.Acts, b.Acts) || len(a.Set.Objects) != len(b.Set.Objects) {
			t.Fatalf("seed %d makes two trials", seed)
		}
		for i, o := range a.Set.Objects {
			other := b.Set.Objects[i]
			if o.ID != other.ID || !reflect.DeepEqual(o.Rule, other.Rule) || o.Notify.Timed != other.Notify.Timed || o == other {
				t.Fatalf("seed %d: %s differs, or is shared", seed, o.ID)
			}
			if at := begin.Add(20 * time.Minute); one.Find(o, at) != two.Find(other, at) {
				t.Fatalf("seed %d: checks of %s find two things", seed, o.ID)
			}
		}
	}
}

func TestNothingHappensInTheSameMillisecond(t *testing.T) {
	tr := trial.New(begin, rand.New(rand.NewPCG(3, 1)).IntN)
	s := tr.Scene()
	places := map[object.Time]object.ID{}
	for _, o := range s.Set.Objects {
		at := fold.NextSlot(o.ID, time.Minute, begin) % 60_000
		if at >= 56_000 {
			t.Errorf("%s is checked when operators act", o.ID)
		}
		if places[at] != "" {
			t.Errorf("%s and %s are checked together", o.ID, places[at])
		}
		places[at] = o.ID
	}
	last := begin
	for _, a := range s.Acts {
		if a.At <= last || a.At%60_000 < 56_000 {
			t.Errorf("an act at %d behind one at %d", a.At, last)
		}
		last = a.At
	}
}

func TestPeriodsOfTrialsCountFromTheEpoch(t *testing.T) {
	for seed := range uint64(20) {
		s := trial.New(begin, rand.New(rand.NewPCG(seed, 2)).IntN).Scene()
		for name, p := range s.Set.Periods {
			for at := begin; at < begin.Add(2*time.Hour); at += 60_000 {
				inside, until := p.Window(at)
				if until == 0 {
					continue
				}
				next, _ := p.Window(until)
				before, _ := p.Window(until - 1)
				if until <= at || next == inside || before != inside {
					t.Fatalf("period %s (%s) changes at %d, not at %d", name, p, until, at)
				}
			}
		}
	}
}
