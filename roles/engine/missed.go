package engine

import (
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
}

// sendings are the notifications of problems by the ids of their open messages. They
// are followed so that one which reaches nobody is not taken for told.
type sendings map[string]*sending

// enter takes note of the messages about a problem that an event asks for.
func (m sendings) enter(ev *event.Event) {
	if len(ev.Notes) == 0 || ev.Status == nil {
		return
	}
	s := &sending{problem: ev.Status.Problem, number: ev.Status.NotificationNumber}
	for _, r := range ev.Requests() {
		if r.Note.Kind == string(notify.Problem) {
			m[r.ID] = s
			s.left++
		}
	}
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
			m.enter(p.Event)
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
// object, nil if nothing is.
func (m sendings) end(ev *event.Event) fold.Command {
	if ev.Kind != event.NotificationDelivered && ev.Kind != event.NotificationAbandoned {
		return nil
	}
	id := ev.Facts[event.FactRequest]
	s := m[id]
	if s == nil {
		return nil
	}
	delete(m, id)
	s.left--
	s.reached = s.reached || ev.Kind == event.NotificationDelivered
	if s.left > 0 || s.reached {
		return nil
	}
	return fold.Missed{Problem: s.problem, Number: s.number}
}

// followSending has people told again of a problem whose messages were all given up.
func (e *Engine) followSending(key int32, ev *event.Event) {
	e.state.sendings.enter(ev)
	c := e.state.sendings.end(ev)
	if c != nil && !e.state.stopped && e.view.Load().Owner(string(ev.Object)) == e.opt.ID {
		e.metrics.missed.Inc()
		e.decide(key, job{command: c})
	}
}
