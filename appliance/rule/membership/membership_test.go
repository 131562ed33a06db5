package membership_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/rule/membership"
)

func members(ids ...string) []membership.Member {
	var out []membership.Member
	for _, id := range ids {
		out = append(out, membership.Member{ID: id, Instance: "i-" + id})
	}
	return out
}

// Published vectors: another implementation must reach the same owners.
func TestWeightVectors(t *testing.T) {
	for _, c := range []struct {
		member, object string
		want           uint64
	}{
		{"engine-a", "web01", 0x34873176e54b1d75},
		{"engine-a", "web01!http", 0x134bdb0f0829b69f},
		{"engine-b", "web01", 0x4030628610ff1abd},
		{"engine-b", "web01!http", 0x8bc5cd144c8bf0a6},
	} {
		if got := membership.Weight(c.member, c.object); got != c.want {
			t.Errorf("Weight(%q, %q) = %#x, want %#x", c.member, c.object, got, c.want)
		}
	}
}

// S109, S111: every object has exactly one owner, and a leave moves only the
// leaver's objects, a join only objects to the joiner.
func TestOwnerMovesOnlyWhatItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,6}`), 2, 6, rapid.ID[string]).Draw(t, "ids")
		v := membership.View{Epoch: 1, Members: members(ids...)}
		gone := rapid.SampledFrom(ids).Draw(t, "gone")
		less := v.Leave(gone)
		for i := range 50 {
			o := fmt.Sprintf("host%d!svc", i)
			before, after := v.Owner(o), less.Owner(o)
			if !slices.Contains(ids, before) {
				t.Fatalf("owner of %s is %q, no member", o, before)
			}
			if before != gone && after != before {
				t.Fatalf("%s moved from %s to %s though %s left", o, before, after, gone)
			}
		}
	})
}

// S110: whoever has the list works out the same owner, in whatever order it stands.
func TestOwnerDoesNotDependOnTheOrderOfMembers(t *testing.T) {
	a := membership.View{Members: members("a", "b", "c")}
	b := membership.View{Members: members("c", "a", "b")}
	for i := range 200 {
		o := fmt.Sprint("host", i)
		if a.Owner(o) != b.Owner(o) {
			t.Fatalf("owner of %s: %s and %s", o, a.Owner(o), b.Owner(o))
		}
	}
}

// S083: three engines each own a share.
func TestSharesAreRoughlyEven(t *testing.T) {
	v := membership.View{Members: members("a", "b", "c")}
	share := map[string]int{}
	for i := range 30000 {
		share[v.Owner(fmt.Sprintf("host%d!svc%d", i/10, i%10))]++
	}
	for id, n := range share {
		if n < 9500 || n > 10500 {
			t.Errorf("%s owns %d of 30000 objects, want about 10000", id, n)
		}
	}
}

// S114: every membership change raises the epoch, also a restart of the only
// member.
func TestEveryChangeRaisesTheEpoch(t *testing.T) {
	first := membership.First(membership.Member{ID: "a", Instance: "1"}, 57, 0)
	if first.Epoch != 58 {
		t.Errorf("first epoch over a log at 57 is %d, want 58", first.Epoch)
	}
	if v := membership.First(membership.Member{ID: "a"}, 57, 1_000_000); v.Epoch != 1_000_000 {
		t.Errorf("first epoch is %d, want the wall clock's 1000000", v.Epoch)
	}
	again := first.Join(membership.Member{ID: "a", Instance: "2"}, 0)
	if again.Epoch != 59 || len(again.Members) != 1 || again.Members[0].Instance != "2" {
		t.Errorf("a restart gives %+v, want epoch 59 with the new instance only", again)
	}
	if v := again.Leave("nobody"); v.Epoch != again.Epoch {
		t.Errorf("a leave of nobody raised the epoch to %d", v.Epoch)
	}
	if v := again.Repair(100); v.Epoch != 101 || len(v.Members) != 1 {
		t.Errorf("repair over 100 gives %+v, want epoch 101", v)
	}
	if v := again.Repair(59); v.Epoch != 59 {
		t.Errorf("repair at its own epoch gives %d, want 59", v.Epoch)
	}
}

func TestAMemberIsItsIDAndItsRun(t *testing.T) {
	v := membership.View{Members: []membership.Member{{ID: "a", Instance: "1", Serves: membership.Serves("vm")}}}
	if !v.Has(membership.Member{ID: "a", Instance: "1"}) || v.Has(membership.Member{ID: "a", Instance: "2"}) || v.Has(membership.Member{ID: "b", Instance: "1"}) {
		t.Errorf("who is in %+v?", v)
	}
}

func TestOnlyWhoServesANameOwnsIt(t *testing.T) {
	v := membership.View{Epoch: 1, Members: []membership.Member{
		{ID: "a", Serves: membership.Serves("graphite", "vm")}, {ID: "b", Serves: membership.Serves("vm")}, {ID: "c", Serves: membership.Serves()},
	}}
	for name, c := range map[string]struct {
		view   membership.View
		object string
		may    []string
	}{
		"what one serves is its own":              {v, "graphite", []string{"a"}},
		"what two serve belongs to one of them":   {v, "vm", []string{"a", "b"}},
		"what nobody serves belongs to nobody":    {v, "influx", []string{""}},
		"a name is not a part of another":         {v, "v", []string{""}},
		"who says nothing serves everything":      {membership.View{Members: []membership.Member{{ID: "d"}}}, "influx", []string{"d"}},
		"the others of a fleet serve nothing new": {v, "", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.view.Serving(c.object).Owner(c.object); !slices.Contains(c.may, got) {
				t.Errorf("%q belongs to %q, want one of %q", c.object, got, c.may)
			}
		})
	}
}
