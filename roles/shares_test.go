package roles

import (
	"fmt"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/sink/target"
)

func TestWhatIsShownOfTheEngines(t *testing.T) {
	x, now := &engines{}, time.Now()
	x.take(joined(1, "a", "local"), loaded(2, "a", "g1"), joined(3, "b", "local", "a"), loaded(4, "b", "g1"),
		joined(5, "c", "local", "a", "b"), left(6, "c", "expired"), joined(7, "d", "local", "a", "b"), left(8, "d", "stopped"))
	set := &object.Set{}
	for i := range 1000 {
		set.Objects = append(set.Objects, &object.Object{ID: object.HostID(fmt.Sprint("host", i))})
	}
	v := x.view()
	v.Members[1].Instance = "a later run" // that the log does not tell of yet
	var s shares
	got := s.of(set, v, x.all(), now.Add(time.Minute))
	if len(got) != 3 || got[0].ID != "a" || got[1].ID != "b" || got[2].ID != "c" {
		t.Fatalf("shown are %+v", got)
	}
	if a := got[0]; !a.Live || a.Generation != "g1" || a.Delivery != "local" || a.Joined.IsZero() || a.Objects+got[1].Objects != 1000 || a.Objects < 400 || a.Objects > 600 {
		t.Errorf("of a: %+v, b has %d objects", a, got[1].Objects)
	}
	if b := got[1]; !b.Live || b.Generation != "" || !b.Joined.IsZero() {
		t.Errorf("of a run that has said nothing yet: %+v", b)
	}
	if c := got[2]; c.Live || c.Gone.IsZero() || c.Objects != 0 {
		t.Errorf("of one that is missed: %+v", c)
	}
	if later := s.of(set, v, x.all(), now.Add(25*time.Hour)); len(later) != 2 {
		t.Errorf("a day later: %+v", later)
	}
	one := joined(9, "c", "local", "a", "b")
	if x.hear(&one); len(s.of(set, x.view(), x.all(), now)) != 3 || len(x.view().Members) != 3 {
		t.Errorf("after it has come back: %+v", x.view())
	}
	counted := s.owned
	if s.count(set, x.view()); len(s.owned) != 3 || fmt.Sprintf("%p", s.count(set, x.view())) != fmt.Sprintf("%p", s.owned) || len(counted) == 0 {
		t.Error("the objects are counted again for the same view")
	}
}

// A sink of measurements is none of the engines whose checks are executed elsewhere: they
// run those of events alone.
func TestASinkBelongsToAMemberThatCanRunIt(t *testing.T) {
	engine, all := &appliance{s: Settings{Role: Role{Name: Engine}}}, &appliance{s: Settings{Role: Role{Name: All}}}
	view := membership.View{Members: []membership.Member{{ID: "a", Serves: all.serves()}, {ID: "e", Serves: engine.serves()}}}
	owners := map[string]map[string]bool{}
	for i := range 50 {
		for _, input := range []string{target.Events, target.Metrics} {
			name := fmt.Sprint(input, i)
			who := all.candidates(view, config.Sink{Name: name, Input: input}).Owner(name)
			if other := engine.candidates(view, config.Sink{Name: name, Input: input}).Owner(name); other != who {
				t.Fatalf("%s belongs to %s for one and to %s for the other", name, who, other)
			}
			if owners[input] == nil {
				owners[input] = map[string]bool{}
			}
			owners[input][who] = true
		}
	}
	if len(owners[target.Events]) != 2 || len(owners[target.Metrics]) != 1 || !owners[target.Metrics]["a"] {
		t.Errorf("owners %v", owners)
	}
}
