package roles

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/delivery"
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
			held delivery.Hold
		}{
			{func() {}, delivery.Wait},
			{func() { o.settled(email, delivered) }, delivery.Wait},
			{func() { o.settled(webhook, abandoned) }, delivery.Wait},
			{func() { o.settled(other[1], delivered); o.settled(other[2], delivered) }, delivery.Wait},
			{func() { o.settled(webhook, delivered) }, delivery.Go},
		} {
			if s.do(); o.held(ping) != s.held {
				t.Errorf("step %d: it is not held as %d", step, s.held)
			}
		}
		if o.held(email) != delivery.Go || o.held(roundOf("r3", "PROBLEM", "email")[0]) != delivery.Go {
			t.Error("what is no ping of a round is held")
		}
		late := roundOf("r4", "HEARTBEAT", "email")[0]
		ahead := roundOf("r6", "HEARTBEAT", "email")[0] // of a clock that is
		ahead.Time, ahead.Note.Until = ahead.Time.Add(time.Hour), ahead.Note.Until.Add(time.Hour)
		if o.held(late) != delivery.Wait || o.held(ahead) != delivery.Wait {
			t.Error("a ping is not held at the beginning")
		}
		time.Sleep(time.Minute)
		if o.held(late) != delivery.Over || o.held(ahead) != delivery.Over {
			t.Error("a ping is held although its time is over")
		}
		if alone := roundOf("r5", "HEARTBEAT")[0]; o.held(alone) != delivery.Go {
			t.Error("a ping that is alone is held")
		}
		for n := range 3 * rounds {
			o.settled(roundOf("n"+strconv.Itoa(n), "HEARTBEAT", "email")[1], delivered)
		}
		if len(o.known) != rounds || len(o.last) != rounds {
			t.Errorf("%d rounds are remembered", len(o.known))
		}
	})
}
