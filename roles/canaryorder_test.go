package roles

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// roundOf returns the requests of a round of the canary: those of a contact and the
// ping.
func roundOf(id, kind string, channels ...string) []*deliver.Pending {
	e := &event.Event{ID: id, Object: "jaque!canary", Time: object.At(time.Now()), Notes: []event.Note{{
		Kind: kind, Send: true, Until: object.At(time.Now().Add(time.Minute)), People: []event.Person{
			{Name: "canary", Told: true, Channels: []string{"canary"}}, {Name: "ops", Told: true, Channels: channels},
		},
	}}}
	var all []*deliver.Pending
	for _, r := range e.Requests() {
		all = append(all, &deliver.Pending{Request: r, Time: e.Time})
	}
	return all
}

func TestAPingWaitsForTheMessagesOfItsRound(t *testing.T) {
	delivered, abandoned := &event.Event{Kind: event.NotificationDelivered}, &event.Event{Kind: event.NotificationAbandoned}
	synctest.Test(t, func(t *testing.T) {
		o, r, other := newPingOrder(), roundOf("r1", "HEARTBEAT", "email", "webhook"), roundOf("r2", "HEARTBEAT", "email", "webhook")
		ping, email, webhook := r[0], r[1], r[2]
		for step, s := range []struct {
			do   func()
			held bool
		}{
			{func() {}, true},
			{func() { o.settled(email, delivered) }, true},
			{func() { o.settled(webhook, abandoned) }, true},
			{func() { o.settled(other[1], delivered); o.settled(other[2], delivered) }, true},
			{func() { o.settled(webhook, delivered) }, false},
		} {
			if s.do(); o.held(ping) != s.held {
				t.Errorf("step %d: it is held: %t", step, !s.held)
			}
		}
		if o.held(email) || o.held(roundOf("r3", "PROBLEM", "email")[0]) {
			t.Error("what is no ping of a round is held")
		}
		late := roundOf("r4", "HEARTBEAT", "email")[0]
		if !o.held(late) {
			t.Error("a ping is not held at the beginning")
		}
		time.Sleep(time.Minute)
		if o.held(late) {
			t.Error("a ping is held although its time is over")
		}
		if alone := roundOf("r5", "HEARTBEAT")[0]; o.held(alone) {
			t.Error("a ping that is alone is held")
		}
		for n := range 3 * rounds {
			o.settled(roundOf("n"+strconv.Itoa(n), "HEARTBEAT", "email")[1], delivered)
		}
		if len(o.got) != rounds || len(o.last) != rounds {
			t.Errorf("%d rounds are remembered", len(o.got))
		}
	})
}
