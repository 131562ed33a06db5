package roles

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// spoken is a log of releases that all rosters read.
type spoken struct {
	open deliver.Open
	seq  uint64
}

func (s *spoken) say(r *deliver.Release) {
	if r == nil {
		return
	}
	s.seq++
	s.open.Apply(&event.Event{
		Stream: event.Log, Seq: s.seq, Kind: event.NotificationReleased, Writer: r.ID, Instance: r.Instance, Epoch: r.Epoch, Facts: r.Facts(),
	})
}

// seats are the rosters of some members that have all put a view in force.
func seats(s *spoken, v membership.View, ids ...string) map[string]*roster {
	all := map[string]*roster{}
	for _, id := range ids {
		r := rosterOf(id)
		r.said, r.doubted = s.open.Release, s.open.Doubted
		if r.adopt(v); v.Has(r.me) {
			r.past = nil
			r.enforce(v.Epoch, 0)
		}
		all[id] = r
	}
	return all
}

// ofOwner returns a request to a contact that a member has by a view.
func ofOwner(v membership.View, id string) *deliver.Pending {
	p := &deliver.Pending{Seq: 1}
	for i := 0; ; i++ {
		if p.Contact = fmt.Sprint("contact", i); v.Owner(p.Contact) == id {
			p.ID = "request"
			return p
		}
	}
}

func TestWhatIsTakenOverFromOneThatLeaves(t *testing.T) {
	for _, c := range []struct {
		name string
		word func(x *roster) *deliver.Release
		want bool
	}{
		{"it says that it leaves", func(x *roster) *deliver.Release { return x.release(true) }, false},
		{"it names the request", func(x *roster) *deliver.Release { w := x.release(true); w.Name("request"); return w }, true},
		{"it is killed", func(*roster) *deliver.Release { return nil }, true},
		{"others may still deliver to its contacts", func(x *roster) *deliver.Release { x.join(time.Now().Add(time.Hour), false); return x.release(true) }, true},
		{"it is out for a drill", func(x *roster) *deliver.Release { x.pause(true); return x.release(true) }, true},
		{"it has a view that is not in force", func(x *roster) *deliver.Release { x.adopt(viewOf(8, "a", "b")); return x.release(true) }, true},
	} {
		s := &spoken{}
		before, after := viewOf(7, "a", "b", "c"), viewOf(8, "b", "c")
		all := seats(s, before, "a", "b", "c")
		p := ofOwner(before, "a")
		s.say(c.word(all["a"]))
		for _, id := range []string{"b", "c"} {
			r := all[id]
			r.adopt(after)
			r.enforce(after.Epoch, s.seq)
			if got, mine := r.formerly(p), r.owns(p.Contact); mine && got != c.want || !mine && !got {
				t.Errorf("%s: %s, whose own it is (%t), says %t", c.name, id, mine, got)
			}
		}
	}
}

func TestWhatIsTakenOverByOneThatJoins(t *testing.T) {
	joins := func(words ...string) (r *roster, p *deliver.Pending, s *spoken) {
		s = &spoken{}
		before, after := viewOf(7, "a", "b"), viewOf(8, "a", "b", "c")
		all := seats(s, before, "a", "b")
		r = rosterOf("c")
		r.said, r.doubted = s.open.Release, s.open.Doubted
		r.join(time.Now().Add(time.Hour), false)
		r.adopt(after)
		for _, id := range words {
			all[id].adopt(after)
			s.say(all[id].release(false))
		}
		p = ofOwner(after, "c")
		r.enforce(after.Epoch, s.seq)
		return r, p, s
	}
	r, p, _ := joins("a", "b")
	if !r.letGo() || r.isShared(&deliver.Pending{Seq: 100}) || r.formerly(p) {
		t.Errorf("both have said that they let go: %t, %t, %t", r.letGo(), r.isShared(&deliver.Pending{Seq: 100}), r.formerly(p))
	}
	if r, p, _ := joins(); r.letGo() || !r.isShared(&deliver.Pending{Seq: 100}) || !r.formerly(p) {
		t.Error("nobody has said anything")
	}
	other := map[string]string{"a": "b", "b": "a"}[viewOf(7, "a", "b").Owner(p.Contact)]
	if r, p, _ := joins(other); r.letGo() || !r.isShared(&deliver.Pending{Seq: 100}) || !r.formerly(p) {
		t.Error("whoever had the contact has said nothing")
	}
}

// What waits while others may still begin with it is in doubt if one of them names it, or if
// it was due before that one must have heard of who has joined.
func TestWhatWaitsWhileOthersMayStillBeginWithIt(t *testing.T) {
	s := &spoken{}
	before, after := viewOf(7, "a"), viewOf(8, "a", "c")
	a := seats(s, before, "a")["a"]
	c := rosterOf("c")
	c.said, c.doubted = s.open.Release, s.open.Doubted
	until := time.Now().Add(time.Hour)
	c.join(until, false)
	c.adopt(after)
	c.enforce(after.Epoch, 0)
	p := ofOwner(after, "c")
	p.Seq = 5
	if at := object.At(until); !c.mayHaveBegun(p, at) || c.mayHaveBegun(p, at+1) {
		t.Errorf("nobody has said anything: what is due at the end of the time is in doubt: %t, what is later: %t", c.mayHaveBegun(p, at), c.mayHaveBegun(p, at+1))
	}
	other := *p
	other.ID = "other"
	a.adopt(after)
	w := a.release(false)
	w.Name("other")
	s.seq = 9
	s.say(w)
	if c.mayHaveBegun(p, 0) || !c.mayHaveBegun(&other, 0) {
		t.Errorf("what is not named is in doubt: %t, what is named: %t", c.mayHaveBegun(p, 0), c.mayHaveBegun(&other, 0))
	}
}

// An owner in between of whom this process has not heard may have sent it.
func TestAGapInTheViewsIsDoubt(t *testing.T) {
	s := &spoken{}
	before, after := viewOf(7, "a", "b"), viewOf(9, "b")
	all := seats(s, before, "a", "b")
	p := ofOwner(before, "a")
	s.say(all["a"].release(true))
	b := all["b"]
	b.adopt(after)
	b.enforce(after.Epoch, s.seq)
	if !b.formerly(p) {
		t.Error("it is not marked")
	}
}

// Who has missed a view, or has not said yet what an earlier one took, does not know who
// had its contacts in between, and vouches for nothing.
func TestWhoHasMissedAViewVouchesForNothing(t *testing.T) {
	s := &spoken{}
	a := seats(s, viewOf(7, "a", "b"), "a")["a"]
	a.adopt(viewOf(9, "a", "b", "c"))
	if w := a.release(false); w == nil || w.Epoch != 9 || len(w.Owners) != 0 {
		t.Errorf("it has missed a view and says %+v", w)
	}
	a = seats(s, viewOf(7, "a", "b"), "a")["a"]
	a.adopt(viewOf(8, "a", "b", "c"))
	a.adopt(viewOf(9, "a", "b", "c", "d"))
	if w := a.release(false); w == nil || w.Epoch != 9 || len(w.Owners) != 0 {
		t.Errorf("it has not said what it has given to c and says %+v", w)
	}
}

// A request may be looked at late: by then others have let go of the contact, but they may
// have begun with it before.
func TestWhatComesInAndIsLookedAtLate(t *testing.T) {
	s := &spoken{seq: 10}
	before, after := viewOf(7, "a", "b", "c"), viewOf(8, "b", "c")
	all := seats(s, before, "a", "b", "c")
	p := ofOwner(before, "a")
	p.Seq = 5
	named := all["a"].release(true)
	named.Name("other")
	s.say(named)
	b := all[after.Owner(p.Contact)]
	b.adopt(after)
	b.enforce(after.Epoch, s.seq)
	other := *p
	other.ID = "other"
	newer := other
	newer.Seq = 20
	if b.isShared(p) || !b.isShared(&other) {
		t.Errorf("what is not named is marked: %t, what is named: %t", b.isShared(p), b.isShared(&other))
	}
	if b.isShared(&newer) {
		t.Error("what came when the contact was its own is marked")
	}
	killed := seats(&spoken{seq: 10}, before, "b", "c")[after.Owner(p.Contact)]
	killed.adopt(after)
	killed.enforce(after.Epoch, 10)
	if !killed.isShared(p) {
		t.Error("what one may have sent that was killed is not marked")
	}
}

// Whoever names a request is believed, whether it is known to have had the contact or not.
func TestWhatAnybodyNamesIsInDoubt(t *testing.T) {
	s := &spoken{}
	before, after := viewOf(7, "a", "b", "c"), viewOf(8, "b", "c")
	all := seats(s, before, "a", "b", "c")
	p := ofOwner(before, "a")
	s.say(all["a"].release(true))
	w := all["c"].release(true)
	w.Name(p.ID)
	s.say(w)
	r := all[after.Owner(p.Contact)]
	r.adopt(after)
	r.enforce(after.Epoch, s.seq)
	if !r.formerly(p) {
		t.Error("it is not marked")
	}
}

// Notifiers, and engines that take over from them, are told nothing.
func TestWhereNobodySaysAnythingEverythingIsInDoubt(t *testing.T) {
	r := rosterOf("a")
	r.adopt(viewOf(7, "a", "b"))
	r.enforce(7, 0)
	r.adopt(viewOf(8, "a", "b", "c"))
	if w := r.release(true); w != nil || r.letGo() || !r.formerly(&deliver.Pending{}) {
		t.Errorf("a notifier says %+v", w)
	}
	s := &spoken{}
	e := rosterOf("a")
	e.said, e.doubted = s.open.Release, s.open.Doubted
	e.join(time.Now().Add(time.Hour), true)
	e.adopt(viewOf(1, "a"))
	e.enforce(1, 0)
	if e.letGo() || !e.rivals() || !e.formerly(&deliver.Pending{}) {
		t.Error("an engine takes the notifiers before it for gone")
	}
}

// A contact that is lost and comes back without another view is in doubt, and one that
// leaves alone has nobody to tell.
func TestThereIsNothingToSayWithoutOthers(t *testing.T) {
	s := &spoken{}
	alone := seats(s, viewOf(7, "a"), "a")["a"]
	if w := alone.release(true); w != nil {
		t.Errorf("it says %+v", w)
	}
	p := ofOwner(viewOf(7, "a"), "a")
	if !alone.formerly(p) {
		t.Error("nobody is known to have had it, and it is not marked")
	}
	two := seats(s, viewOf(7, "a", "b"), "a", "b")
	if w := two["a"].release(false); w != nil {
		t.Errorf("it says %+v although nothing went to another", w)
	}
	two["a"].adopt(viewOf(8, "a", "b", "c"))
	w := two["a"].release(false)
	if w == nil || w.Epoch != 8 || w.Left || !slices.Equal(w.Owners, []string{"a", "b"}) || two["a"].release(false) != nil {
		t.Errorf("it says %+v once another has joined", w)
	}
}
