package event

import (
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Note is one decision about telling people: what was attempted, the verdict of
// every gate, and who is told. Its words are those of package notify.
type Note struct {
	Kind   string      // "k": PROBLEM, RECOVERY, …
	Send   bool        // "s": somebody is told
	By     string      // "by": the object's gate that has decided against it; "" = none
	Until  object.Time // "u": when time alone may change the decision; 0 = not by time
	Number int32       // "nr": of the notification
	Policy string      // "p": name of the policy that had its say
	Steps  []string    // "st": of the escalation that chose the contacts
	Group  object.Grouping
	Gates  []Gate   // "g": the object's, in order
	People []Person // "c": everybody who could have been told, sorted by name
}

// Person is the verdict about one contact.
type Person struct {
	Name     string
	Told     bool     // "t"
	By       string   // "by": the gate that has decided against it; "" = none
	Channels []string // "ch": over which the contact is told
	Gates    []Gate   // "g": the contact's, in order
}

// Gate is the verdict of one gate. Why is kept where the gate has blocked, or has
// passed for another reason than usual.
type Gate struct {
	Name    string
	Verdict GateVerdict
	Why     string
}

// GateVerdict is what a gate has said.
type GateVerdict uint8

// The verdicts of gates.
const (
	GateNotReached GateVerdict = iota // an earlier gate had decided
	GatePassed
	GateBlocked
)

// String returns the verdict in words.
func (v GateVerdict) String() string {
	return [...]string{"not reached", "passed", "blocked"}[v%3]
}

// Blocking returns the gate that has decided against the note, the zero Gate if
// none has.
func (n *Note) Blocking() Gate { return blocking(n.Gates) }

// Blocking returns the gate that has decided against the contact, the zero Gate if
// none has.
func (p *Person) Blocking() Gate { return blocking(p.Gates) }

func blocking(all []Gate) Gate {
	for _, g := range all {
		if g.Verdict == GateBlocked {
			return g
		}
	}
	return Gate{}
}

// Request is one message that a note asks for: to one contact over one channel.
// It is open until an outcome of its ID stands on the log.
type Request struct {
	// ID is object, problem, number, kind, decision, contact and channel. It is a
	// function of the log: the same for every reader, over retries, restarts and
	// takeovers.
	ID      string
	Event   *Event // that asks for it
	Note    *Note  // of the event
	Contact string
	Channel string
}

// Requests returns what the event asks to be delivered, in order.
func (e *Event) Requests() []Request {
	var all []Request
	for i := range e.Notes {
		n := &e.Notes[i]
		if !n.Send {
			continue
		}
		for j := range n.People {
			for _, channel := range n.People[j].Channels {
				if n.People[j].Told {
					all = append(all, Request{e.requestID(n, n.People[j].Name, channel), e, n, n.People[j].Name, channel})
				}
			}
		}
	}
	return all
}

// requestID escapes the slashes of what people name, so that no two requests have
// the same.
func (e *Event) requestID(n *Note, contact, channel string) string {
	slash := strings.NewReplacer("%", "%25", "/", "%2F")
	var problem object.Time
	if e.Status != nil {
		problem = e.Status.Problem
	}
	return strings.Join([]string{
		slash.Replace(string(e.Object)), strconv.FormatInt(int64(problem), 10), strconv.Itoa(int(n.Number)),
		n.Kind, slash.Replace(e.ID), slash.Replace(contact), slash.Replace(channel),
	}, "/")
}

// FactDelivery is the fact of an engine that joined who delivers what it asks for:
// "local" is the engine's own process, "notifier" are processes of their own. Engines
// without the fact deliver themselves.
const FactDelivery = "delivery"

// The facts of the outcomes of requests.
const (
	FactRequest  = "request"  // the request's ID
	FactContact  = "contact"  // who
	FactChannel  = "channel"  // over what
	FactGroup    = "group"    // the group whose message it was in
	FactThread   = "thread"   // the message's thread, the same for all messages of an incident
	FactMessage  = "message"  // the message's own id, the same for all requests in it
	FactWith     = "with"     // how many requests the message was for
	FactAttempts = "attempts" // how often it was tried
	FactRepeat   = "repeat"   // "true": the message said that it may be a repetition
	FactLost     = "lost"     // "true": it was given up, and for certain nothing of it arrived
	FactReason   = "reason"   // why it failed or was abandoned
	FactKind     = "type"     // the note's kind
)

// The facts of NotificationReleased.
const (
	FactLeft   = "left"   // "true": the process delivers nothing any more
	FactOwners = "owners" // members among whom it shared the contacts until then; none = it vouches for no request
	FactDoubt  = "doubt"  // requests that may have been sent, one a line
)
