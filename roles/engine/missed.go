package engine

import (
	"maps"
	"slices"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// sending is one notification of a problem whose messages are on their way.
type sending struct {
	problem object.Time
	number  int32
	left    int  // messages without an outcome
	reached bool // somebody got one, or that is not known
	// lost tells of each contact who was not told of the problem before whether
	// nothing of what was sent to him can have arrived so far.
	lost map[string]bool
}

// sendings are the notifications of problems by the ids of their open messages. They
// are followed so that one which reaches nobody is not taken for told.
type sendings map[string]*sending

// enter takes note of the messages about a problem that an event asks for. knew
// tells whether a contact was told of it before.
func (m sendings) enter(ev *event.Event, knew func(contact string) bool) {
	if len(ev.Notes) == 0 || ev.Status == nil {
		return
	}
	s := &sending{problem: ev.Status.Problem, number: ev.Status.NotificationNumber, lost: map[string]bool{}}
	for _, r := range ev.Requests() {
		if r.Note.Kind == string(notify.Problem) {
			m[r.ID] = s
			s.left++
			s.lost[r.Contact] = !knew(r.Contact)
		}
	}
}

// told returns who was told of the problem in front of an event.
func told(before *event.Status) func(string) bool {
	all := notify.FieldsOf(before).Told
	return func(contact string) bool { return slices.Contains(all, contact) }
}

// begin takes over what is open at a start. Where some messages of a notification
// have an outcome already, it is not known whether somebody got one.
func (m sendings) begin(open []*deliver.Pending) {
	waiting := make(map[string]bool, len(open))
	for _, p := range open {
		waiting[p.ID] = true
	}
	for _, p := range open {
		if m[p.ID] == nil {
			// Who was told by a notification before the first one is not known any more.
			m.enter(p.Event, func(string) bool { return p.Event.Status.NotificationNumber > 1 })
		}
	}
	for id, s := range m {
		if !waiting[id] {
			delete(m, id)
			s.left--
			s.reached = true
		}
	}
}

// end takes the outcome of a message. It returns what is to be decided about the
// object, if anything is.
func (m sendings) end(ev *event.Event) (c fold.Missed, ok bool) {
	if ev.Kind != event.NotificationDelivered && ev.Kind != event.NotificationAbandoned {
		return c, false
	}
	id := ev.Facts[event.FactRequest]
	s := m[id]
	if s == nil {
		return c, false
	}
	delete(m, id)
	s.left--
	s.reached = s.reached || ev.Kind == event.NotificationDelivered
	if ev.Kind == event.NotificationDelivered || ev.Facts[event.FactLost] == "" {
		s.lost[ev.Facts[event.FactContact]] = false
	}
	if s.left > 0 || s.reached {
		return c, false
	}
	c = fold.Missed{Problem: s.problem, Number: s.number}
	for _, name := range slices.Sorted(maps.Keys(s.lost)) {
		if s.lost[name] {
			c.Lost = append(c.Lost, name)
		}
	}
	return c, true
}

// followSending has people told again of a problem whose messages were all given up.
func (e *Engine) followSending(key int32, before *fold.State, ev *event.Event) {
	e.state.sendings.enter(ev, told(&before.Status))
	if m, ok := e.state.missed[ev.Object]; ok && ev.Status != nil &&
		(ev.Status.Problem != m.Problem || ev.Status.NotificationNumber != m.Number || ev.Has(event.NotificationMissed)) {
		delete(e.state.missed, ev.Object)
	}
	c, ok := e.state.sendings.end(ev)
	switch {
	case !ok:
	case e.owns(ev.Object) && !e.state.stopped:
		e.metrics.missed.Inc()
		e.decide(key, job{command: c})
	default: // its owner does that, unless it dies before
		e.state.missed[ev.Object] = c
	}
}

// makeUpMissed decides what the owner of an object before owed to it; it tells whether
// there was something.
func (e *Engine) makeUpMissed(key int32) bool {
	id := e.state.entries[key].obj.ID
	c, ok := e.state.missed[id]
	if !ok {
		return false
	}
	delete(e.state.missed, id)
	e.metrics.missed.Inc()
	e.decide(key, job{command: c})
	return true
}
