package deliver_test

import (
	"fmt"
	"slices"
	"testing"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
)

// saying puts a release on the log and returns the fold's reading of it.
func saying(o *deliver.Open, seq uint64, r deliver.Release) *deliver.Release {
	o.Apply(&event.Event{
		Stream: event.Log, Seq: seq, Kind: event.NotificationReleased, Writer: r.ID, Instance: r.Instance, Epoch: r.Epoch, Facts: r.Facts(),
	})
	return o.Release(r.Instance)
}

func TestWhoMayHaveSentWhatIsTakenOver(t *testing.T) {
	two := []string{"a", "b"}
	for _, c := range []struct {
		name     string
		all      []deliver.Former
		said     []deliver.Release
		failures int
		want     bool
	}{
		{"it left in order and had not begun", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Epoch: 7, Left: true, Owners: two}}, 0, false},
		{"it left in order and names the request", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Left: true, Owners: two, Doubt: map[string]bool{"other": true, "request": true}}}, 0, true},
		{"it names others alone", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Left: true, Owners: two, Doubt: map[string]bool{"other": true}}}, 0, false},
		{"it left and does not vouch", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Left: true}}, 0, true},
		{"the contact was not its own", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Left: true, Owners: []string{"b"}}}, 0, true},
		{
			"it left before it had the contact again, which another had in between",
			[]deliver.Former{{ID: "a", Instance: "1", Since: 8, Epoch: 9}},
			[]deliver.Release{{ID: "a", Instance: "1", Epoch: 7, Left: true, Owners: two}},
			0, true,
		},
		{"it died", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, nil, 0, true},
		{"it died after it let go of something else", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Epoch: 8, Owners: two}}, 0, true},
		{"another run under its id left", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "2", Left: true, Owners: two}}, 0, true},
		{"it lives and lets go", []deliver.Former{{ID: "a", Instance: "1", Live: true, Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Epoch: 8, Owners: two}}, 0, false},
		{"it lives and has not heard of the change", []deliver.Former{{ID: "a", Instance: "1", Live: true, Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Epoch: 7, Owners: two}}, 0, true},
		{
			"one of two died",
			[]deliver.Former{{ID: "a", Instance: "1", Epoch: 8}, {ID: "b", Instance: "2", Epoch: 8}},
			[]deliver.Release{{ID: "a", Instance: "1", Left: true, Owners: two}},
			0, true,
		},
		{"an attempt has failed", []deliver.Former{{ID: "a", Instance: "1", Epoch: 8}}, []deliver.Release{{ID: "a", Instance: "1", Left: true, Owners: two}}, 1, true},
		{"it is not known who had it", nil, nil, 0, true},
	} {
		o := &deliver.Open{}
		for i, r := range c.said {
			saying(o, uint64(i+1), r)
		}
		p := &deliver.Pending{Failures: c.failures}
		p.ID = "request"
		owner := func(ids []string) string { return slices.Min(ids) }
		if got := deliver.MayHaveSent(p, c.all, o.Release, owner); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestTheNewestReleaseOfARunCountsAndNoneAfterItLeft(t *testing.T) {
	o := &deliver.Open{}
	saying(o, 1, deliver.Release{ID: "a", Instance: "1", Epoch: 7})
	if r := saying(o, 2, deliver.Release{ID: "a", Instance: "1", Epoch: 8}); r.Epoch != 8 {
		t.Errorf("the older one counts: %+v", r)
	}
	saying(o, 3, deliver.Release{ID: "a", Instance: "1", Epoch: 8, Left: true, Owners: []string{"a", "b"}})
	if r := saying(o, 4, deliver.Release{ID: "a", Instance: "1", Epoch: 9}); !r.Left || len(r.Owners) != 2 {
		t.Errorf("it says more after it has left: %+v", r)
	}
	for i := range 500 {
		saying(o, uint64(5+i), deliver.Release{ID: "b", Instance: fmt.Sprint("run-", i), Epoch: 9})
	}
	if o.Release("1") != nil || o.Release("run-499") == nil {
		t.Error("the oldest are not let go of")
	}
}

// What was written again may come behind what was said later.
func TestALateReleaseChangesNothing(t *testing.T) {
	o := &deliver.Open{}
	saying(o, 1, deliver.Release{ID: "a", Instance: "1", Epoch: 9, Owners: []string{"a"}, Doubt: map[string]bool{"request": true}})
	if r := saying(o, 2, deliver.Release{ID: "a", Instance: "1", Epoch: 8}); r.Epoch != 9 || r.Seq() != 1 {
		t.Errorf("the older one counts: %+v", r)
	}
	if !o.Doubted("request") || o.Doubted("other") {
		t.Error("it is not known what is in doubt")
	}
	c := o.Clone()
	saying(c, 3, deliver.Release{ID: "a", Instance: "1", Epoch: 10})
	if !o.Doubted("request") || c.Doubted("request") {
		t.Error("a copy changes with what it was made of")
	}
}

// More than it can name, or what it cannot write down, is not vouched for.
func TestAReleaseVouchesForNothingWhereItCannotNameEachDoubt(t *testing.T) {
	many := deliver.Release{ID: "a", Instance: "1", Owners: []string{"a"}}
	for i := range 1000 {
		many.Name(fmt.Sprint("request-", i))
	}
	odd := deliver.Release{ID: "b", Instance: "2", Owners: []string{"b"}}
	odd.Name("one\ntwo")
	o := &deliver.Open{}
	for i, r := range []deliver.Release{many, odd} {
		if got := saying(o, uint64(i+1), r); got == nil || len(got.Owners) != 0 {
			t.Errorf("%s vouches: %v", r.ID, got)
		}
	}
}
