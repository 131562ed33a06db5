package roles

import (
	"sync"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// pingOrder keeps the address outside from being asked before the contact of the
// canary has got the message of the same round: only a round that is complete may say
// outside that all is well. Any goroutine may use it.
type pingOrder struct {
	mu   sync.Mutex
	got  map[string]map[string]bool // the delivered requests of a round, by its event
	last []string                   // the events of the newest rounds, oldest first
}

func newPingOrder() *pingOrder { return &pingOrder{got: map[string]map[string]bool{}} }

// settled takes note of a message of a round, whichever process has delivered it.
func (o *pingOrder) settled(p *deliver.Pending, e *event.Event) {
	if e.Kind != event.NotificationDelivered || p.Note.Kind != string(notify.Heartbeat) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	round := p.Event.ID
	if o.got[round] == nil {
		o.got[round] = map[string]bool{}
		if o.last = append(o.last, round); len(o.last) > rounds {
			delete(o.got, o.last[0])
			o.last = o.last[1:]
		}
	}
	o.got[round][p.ID] = true
}

// held tells that a ping has to wait for another message of its round. One whose time
// is over is let go, so that it is given up. What was delivered before this process
// began is not known: such a round does not count.
func (o *pingOrder) held(p *deliver.Pending) bool {
	if !isPing(p.Contact, p.Channel) || p.Note.Kind != string(notify.Heartbeat) || object.At(time.Now()) >= p.Note.Until {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range p.Event.Requests() {
		if !isPing(r.Contact, r.Channel) && !o.got[p.Event.ID][r.ID] {
			return true
		}
	}
	return false
}

// isPing tells whether a way leads to the address outside.
func isPing(contact, channel string) bool {
	return contact == config.CanaryContact && channel == config.ChannelCanary
}
