package journal

import (
	"bytes"
	"errors"

	"github.com/nats-io/nats.go"

	"jaque.sh/jaque/appliance/core/event"
)

// A server stores what it delivers itself like everything else: whoever may ask for a
// stored message, or for anything of its API, names the subject of the answer. No event
// is among that, even if it reads as one.

// streamHeader is the header that a server puts into a message that it delivers from its
// store.
const streamHeader = "Nats-Stream"

// deliveredLine begins that header among those that are stored with a message.
var deliveredLine = []byte("\r\n" + streamHeader + ":")

// errForeign: nobody has published the message as an event.
var errForeign = errors.New("no event: the log server has stored an answer of its own here")

// decodeStored reads an event of a stream; headers are those stored with it.
func decodeStored(headers, data []byte, e *event.Event) error {
	if len(headers) > 0 && bytes.Contains(headers, deliveredLine) {
		return errForeign
	}
	return decode(data, e)
}

// decodeMessage reads an event that was delivered with so many stream headers by the
// way it was asked for.
func decodeMessage(m *nats.Msg, own int, e *event.Event) error {
	if len(m.Header[streamHeader]) > own {
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
