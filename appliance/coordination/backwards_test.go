package coordination

import (
	"errors"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
)

// A view record that goes backwards, as after a store that was brought back from a copy,
// ends the members that saw a later one, and says which epochs these are. Who registers
// afterwards comes above every epoch that is on the log.
func TestAViewThatGoesBackwardsEndsItsMembers(t *testing.T) {
	fleet(t, func(t *testing.T, _ *bus.Bus, keys keys) {
		start(t, keys, Engines, "a", "1").kill()
		a := start(t, keys, Engines, "a", "2")
		seen := a.View().Epoch
		e, err := keys.Get(t.Context(), a.viewKey())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := keys.Put(t.Context(), a.viewKey(), []byte(`{"epoch":1,"members":[{"id":"a","instance":"2"}]}`), e.Revision, 0); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-a.ended:
			if !errors.Is(err, ErrStoreLost) || !strings.Contains(err.Error(), "the view of membership is of epoch 1, ") || !strings.Contains(err.Error(), "was seen before") {
				t.Errorf("ended with %v", err)
			}
		case <-time.After(2 * testTTL):
			t.Fatal("a member goes on under a view of the past")
		}
		b := newMember(keys, Engines, "b", "1")
		v, err := b.Register(t.Context(), b.Member, seen)
		if err != nil || v.Epoch <= seen {
			t.Errorf("registered under %+v, %v; %d was seen", v, err, seen)
		}
	})
}
