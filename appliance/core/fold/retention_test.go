package fold_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
)

// Retention may remove the beginning of an object's events, and a start without a
// snapshot then sees its first event with a base that is gone. It is the base.
func TestTheFirstEventThatIsLeftIsTheBase(t *testing.T) {
	ev := func(seq, prev, epoch uint64) *event.Event {
		return &event.Event{
			Stream: event.Log, Seq: seq, Prev: prev, Epoch: epoch, Kind: event.CheckResult, Object: "h",
			Status: &event.Status{Attempt: int32(seq), Checked: true},
		}
	}
	s, o := fold.Apply(fold.State{}, ev(40, 31, 5))
	if o != fold.Accepted || s.Last != 40 || s.Fence != 5 {
		t.Fatalf("first event that is left: %s, %+v", o, s)
	}
	if s, o = fold.Apply(s, ev(41, 31, 5)); o != fold.Conflict || s.Last != 40 {
		t.Errorf("an event on the base that is gone: %s, %+v, want a conflict", o, s)
	}
	if s, o = fold.Apply(s, ev(42, 40, 5)); o != fold.Accepted || s.Status.Attempt != 42 {
		t.Errorf("the next event: %s, %+v", o, s)
	}
}
