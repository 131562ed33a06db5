package engine

import (
	"maps"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Rejection is a command of which something was refused, and whose sender does not
// wait for the answer.
type Rejection struct {
	Author string
	Reason string            // of the first refusal
	Object object.ID         // of the first refusal; "" = the program
	Facts  map[string]string // more about it
}

// mostReason is how long the reason of a rejection may be on the log, in bytes.
const mostReason = 4 << 10

// Reject puts on the log that a command was refused, so that every follower can
// tell. The event is one of the system, because the object may not exist; its
// object stands among the facts.
func (e *Engine) Reject(r Rejection) {
	facts := maps.Clone(r.Facts)
	if facts == nil {
		facts = map[string]string{}
	}
	if r.Object != "" {
		facts["object"] = string(r.Object)
	}
	e.announceFor(&event.Event{
		Kind: event.CommandRejected, Author: r.Author, Text: cutText(r.Reason, mostReason), Facts: facts,
	}, "command")
}
