package fold_test

import (
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
)

// What became of a handler or a notification stands on another subject: it must
// move neither the base of the next decision nor the fence.
func TestOutcomesLeaveTheStateAlone(t *testing.T) {
	env, s := probed()
	must(t, env, s, fold.Result{State: 2, Start: started}, started)
	for _, k := range []event.Kind{event.HandlerRan, event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned} {
		e := event.Event{Seq: s.Sub + 10, Kind: k, Object: env.Object.ID, Epoch: 7}
		next, outcome := fold.Apply(*s, &e)
		if outcome != fold.Accepted || next != *s {
			t.Errorf("%s: %s, %+v", k, outcome, next)
		}
	}
}
