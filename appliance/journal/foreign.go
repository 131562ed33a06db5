package journal

import (
	"errors"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/core/event"
)

// A server stores what it delivers itself like everything else: whoever may ask for a
// stored message, or for anything of its API, names the subject of the answer. No event
// is among that, even if it reads as one.

// errForeign: nobody has published the message as an event.
var errForeign = errors.New("no event: the log server has stored an answer of its own here")

// decodeStored reads an event of a stream; headers are those stored with it.
func decodeStored(headers, data []byte, e *event.Event) error {
	if bucket.Delivered(headers) {
		return errForeign
	}
	return decode(data, e)
}

// decodeMessage reads an event that was delivered with so many stream headers by the
// way it was asked for.
func decodeMessage(m *nats.Msg, own int, e *event.Event) error {
	if len(m.Header[bucket.StreamHeader]) > own {
		return errForeign
	}
	return decode(m.Data, e)
}

// decode reads an event, which has a kind: anything in JSON can be decoded otherwise.
func decode(data []byte, e *event.Event) error {
	if err := event.Decode(data, e); err != nil {
		return err
	}
	if e.Kind == "" {
		return errForeign
	}
	return nil
}

// direct is how many stream headers an answer to a direct get has of its own.
const direct = 1

// ReadStored reads an event as it stands in a store, with the headers that were sent
// with it. Foreign tells of an error whether nobody has published it as an event.
func ReadStored(headers, data []byte, e *event.Event) error { return decodeStored(headers, data, e) }

// ReadDelivered is ReadStored for a message that a consumer has delivered.
func ReadDelivered(m *nats.Msg, e *event.Event) error { return decodeMessage(m, 0, e) }

// LookStored takes a glance at an event as ReadStored would read it; false = only
// ReadStored can tell.
func LookStored(headers, data []byte, g *event.Glance) bool {
	return !bucket.Delivered(headers) && g.Look(data) && g.Kind != ""
}

// LookDelivered is LookStored for a message that a consumer has delivered.
func LookDelivered(m *nats.Msg, g *event.Glance) bool {
	return len(m.Header[bucket.StreamHeader]) == 0 && g.Look(m.Data) && g.Kind != ""
}

// Foreign tells whether an error of reading an event says that there is none: every
// reader passes such a message over.
func Foreign(err error) bool { return errors.Is(err, errForeign) }

// DeliveredAs reads the position and the consumer's count from the reply subject of a
// message that a consumer has delivered.
func DeliveredAs(reply string) (seq, count uint64, ok bool) { return deliveredAs(reply) }
