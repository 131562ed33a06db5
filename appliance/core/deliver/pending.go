package deliver

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// Pending is a request without a final outcome. It never changes: a failed attempt
// makes another one with the same ID.
type Pending struct {
	// Request is what the log asks for. Its Event is a copy without what no message
	// needs: gates, notes that tell nobody, the ends of very long texts.
	event.Request
	Seq  uint64      // position of the event on the log
	Time object.Time // of the event
	// Since is the start of the problem the request is about, for a recovery that of
	// the problem that is over; 0 = there is none, or it is not known any more.
	Since object.Time
	// Root is the failed host that explained the problem then, for a recovery the one
	// that explained the problem that is over; "" = none.
	Root object.ID
	// Failures counts the attempts that failed as far as the log knows, Reason says
	// why the last of them did, By who tried it.
	Failures   int
	Reason, By string

	order int // among the requests of the event
}

// GroupKey names what becomes one message: the requests of a group to a contact over
// a channel.
type GroupKey struct{ Contact, Channel, Group string }

// Last is what is known of the newest message of a group.
type Last struct {
	Time   object.Time // when it went out; 0 = none did, or it was more than a day ago
	Thread string      // the message's Thread, "" = not known
}

// compare orders requests as the log has them.
func (p *Pending) compare(q *Pending) int {
	return cmp.Or(cmp.Compare(p.Seq, q.Seq), cmp.Compare(p.order, q.order), strings.Compare(p.ID, q.ID))
}

const recovery = string(notify.Recovery)

// The most bytes that a request keeps of texts.
const (
	maxOutput = 4 << 10
	maxLong   = 8 << 10
	maxText   = 4 << 10
)

// lean returns a copy of an event for messages. Nothing that the event points to is
// changed.
func lean(e *event.Event) *event.Event {
	c := *e
	c.Text = clip(e.Text, maxText)
	if e.Measure != nil {
		m := *e.Measure
		m.Output, m.Long, m.Perfdata = clip(m.Output, maxOutput), clip(m.Long, maxLong), clip(m.Perfdata, maxOutput)
		c.Measure = &m
	}
	c.Notes = nil
	for i := range e.Notes {
		if !e.Notes[i].Send {
			continue
		}
		n := e.Notes[i]
		n.Gates = nil
		n.People = append([]event.Person(nil), n.People...)
		for j := range n.People {
			n.People[j].Gates = chosen(n.People[j].Gates)
		}
		c.Notes = append(c.Notes, n)
	}
	return &c
}

// clip cuts a text to a number of bytes, between two characters.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return strings.Clone(s[:most])
}

// pending returns the requests of a lean event, without what only a fold knows.
func pending(e *event.Event) []*Pending {
	requests := e.Requests()
	all := make([]*Pending, len(requests))
	for i, r := range requests {
		all[i] = &Pending{Request: r, Seq: e.Seq, Time: e.Time, order: i}
		if e.Status != nil {
			all[i].Since, all[i].Root = e.Status.Problem, e.Status.Root
		}
	}
	return all
}

// chosen keeps of a contact's gates the one that says why the contact was chosen:
// the message tells it.
func chosen(all []event.Gate) []event.Gate {
	for i := range all {
		if all[i].Name == string(notify.GateChosen) {
			return all[i : i+1 : i+1]
		}
	}
	return nil
}
