package roles

import (
	"sync"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/delivery"
)

// pingOrder keeps the address outside from being asked before the contact of the
// canary has got the message of the same round: only a round that is complete may say
// outside that all is well. Any goroutine may use it.
type pingOrder struct {
	mu    sync.Mutex
	known map[string]*roundSeen // by the event of a round
	last  []string              // the events of the newest rounds, oldest first
}

// roundSeen is what this process has seen of a round.
type roundSeen struct {
	first time.Time       // it was heard of
	got   map[string]bool // its requests that were delivered
}

func newPingOrder() *pingOrder { return &pingOrder{known: map[string]*roundSeen{}} }

// round returns what was seen of a round, from now on if that is nothing.
func (o *pingOrder) round(id string) *roundSeen {
	r := o.known[id]
	if r == nil {
		r = &roundSeen{first: time.Now(), got: map[string]bool{}}
		o.known[id] = r
		if o.last = append(o.last, id); len(o.last) > rounds {
			delete(o.known, o.last[0])
			o.last = o.last[1:]
		}
	}
	return r
}

// settled takes note of a message of a round, whichever process has delivered it.
func (o *pingOrder) settled(p *deliver.Pending, e *event.Event) {
	if e.Kind != event.NotificationDelivered || p.Note.Kind != string(notify.Heartbeat) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.round(p.Event.ID).got[p.ID] = true
}

// held tells that a ping has to wait for another message of its round, or that it has
// waited for as long as a round lasts: the clock that wrote it may be another one. What
// was delivered before this process began is not known: such a round does not count.
func (o *pingOrder) held(p *deliver.Pending) delivery.Hold {
	if !isPing(p.Contact, p.Channel) || p.Note.Kind != string(notify.Heartbeat) {
		return delivery.Go
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	round := o.round(p.Event.ID)
	for _, r := range p.Event.Requests() {
		switch {
		case isPing(r.Contact, r.Channel) || round.got[r.ID]:
		case time.Since(round.first) >= p.Note.Until.Sub(p.Time):
			return delivery.Over
		default:
			return delivery.Wait
		}
	}
	return delivery.Go
}

// isPing tells whether a way leads to the address outside.
func isPing(contact, channel string) bool {
	return contact == config.CanaryContact && channel == config.ChannelCanary
}
