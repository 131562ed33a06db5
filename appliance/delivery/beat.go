package delivery

import (
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// beat is a heartbeat to somebody.
type beat struct {
	object           object.ID
	contact, channel string
}

// heartbeat tells whether a message is a round of a heartbeat. It is alone in it.
func heartbeat(b *deliver.Batch) bool {
	return len(b.Requests) > 0 && b.Requests[0].Note.Kind == string(notify.Heartbeat)
}

// listenFor says in the log when a heartbeat begins to fail and when it gets through
// again. Its attempts are too many to say so of each.
func (d *Delivery) listenFor(b *deliver.Batch, s sent) {
	if !heartbeat(b) || b.Expired || s.cut {
		return
	}
	k := beat{b.Requests[0].Event.Object, b.Contact, b.Channel}
	switch {
	case s.err == nil && d.silent[k]:
		delete(d.silent, k)
		d.log.Info("the heartbeat gets through again", "object", string(k.object), "contact", k.contact, "channel", k.channel)
	case s.err != nil && !d.silent[k]:
		d.silent[k] = true
		d.log.Warn("the heartbeat does not get through", "object", string(k.object), "contact", k.contact, "channel", k.channel,
			"reason", s.reason())
	}
}
