package coordination_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/rule/membership"
)

// T16: a log at epoch 57 and an empty store give an epoch above 57; one that
// turns up only later is repaired.
func TestTheEpochStartsAboveTheLogAndIsRepaired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s coordination.Memory
		if _, err := s.Repair(t.Context(), 1); !errors.Is(err, coordination.ErrNotMember) {
			t.Fatalf("Repair before Register: %v, want ErrNotMember", err)
		}
		me := membership.Member{ID: "a", Instance: "1"}
		ahead := uint64(time.Now().UnixMilli()) + 5000
		v, err := s.Register(t.Context(), me, ahead)
		if err != nil || v.Epoch != ahead+1 {
			t.Fatalf("Register over %d: epoch %d, %v", ahead, v.Epoch, err)
		}
		if v, _ = s.Repair(t.Context(), ahead+100); v.Epoch != ahead+101 || !v.Has(me) {
			t.Errorf("Repair over %d gives %+v", ahead+100, v)
		}
	})
}

func TestAStoreThatWasLostStartsAtTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s coordination.Memory
		v, _ := s.Register(t.Context(), membership.Member{ID: "a"}, 3)
		if want := uint64(time.Now().UnixMilli()); v.Epoch != want {
			t.Errorf("epoch %d, want the wall clock's %d", v.Epoch, want)
		}
		if err := s.Leave(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		again, _ := s.Register(t.Context(), membership.Member{ID: "a"}, 3)
		if again.Epoch <= v.Epoch || len(again.Members) != 1 {
			t.Errorf("after leaving and coming back: %+v, want a newer epoch and one member", again)
		}
	})
}
