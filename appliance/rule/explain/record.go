package explain

import (
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// Rewind returns what an object's state was at a time, from its events, newest
// first; known tells whether any of them is from before. The oldest event is taken
// for the base of what follows.
func Rewind(o *object.Object, events []event.Event, at object.Time) (s *fold.State, known bool) {
	var state fold.State
	for i := len(events) - 1; i >= 0; i-- {
		e := &events[i]
		if e.Time > at || e.Object != o.ID || e.Stream != event.Log || e.Kind.Outcome() {
			continue
		}
		next, outcome := fold.Apply(state, e)
		state, known = next, known || outcome == fold.Accepted
	}
	if !known {
		state = fold.New(o)
	}
	return &state, known
}

// record takes the decisions from the log that are not later than the question.
func (a *asking) record() {
	cut := a.at
	if cut%1000 == 0 {
		cut += 999 // who writes a second means all of it
	}
	for _, r := range Records(a.w.Events, a.w.Open) {
		if r.Time > cut {
			continue
		}
		a.records = append(a.records, r)
		if a.concerns(&r) {
			a.answer.Recorded = append(a.answer.Recorded, r)
		}
	}
}

// concerns narrows a record to the contact that is asked about; false if it is not
// about him.
func (a *asking) concerns(r *Record) bool {
	who := a.q.Contact
	if who == "" {
		return true
	}
	return r.Narrow(who)
}

// Narrow leaves in a record only what is about a contact, whose verdict becomes the
// record's; false if nothing is.
func (r *Record) Narrow(who string) bool {
	var people []Person
	for _, p := range r.People {
		if p.Name == who {
			people = append(people, p)
		}
	}
	var sent []Delivery
	for _, d := range r.Deliveries {
		if d.Contact == who {
			sent = append(sent, d)
		}
	}
	r.People, r.Deliveries = people, sent
	if len(people) == 0 {
		return false
	}
	if p := &people[0]; !p.Told {
		r.Send, r.By, r.Why = false, p.By, p.Why
	}
	return true
}

// Records returns the decisions about telling people that events hold, in the
// order of the events, with what became of their requests: from the outcomes among
// the events and from what is open still.
func Records(events []event.Event, open []Open) []Record {
	known := outcomes(events, open)
	var all []Record
	for i := range events {
		e := &events[i]
		if len(e.Notes) == 0 {
			continue
		}
		requests := e.Requests()
		for j := range e.Notes {
			r := recordOf(e, &e.Notes[j])
			for k := range requests {
				if requests[k].Note == &e.Notes[j] {
					r.Deliveries = append(r.Deliveries, known.of(&requests[k]))
				}
			}
			r.giveUp()
			all = append(all, r)
		}
	}
	return all
}

// giveUp says of everybody whose every message was given up that he was told nothing.
func (r *Record) giveUp() {
	for i := range r.People {
		p := &r.People[i]
		if !p.Told {
			continue
		}
		if lost, why := r.lost(p.Name); lost {
			p.Says, p.Why = GivenUp, why
		}
	}
}

// lost tells whether every message of a decision to somebody was given up, and why
// the last of them was.
func (r *Record) lost(who string) (lost bool, why string) {
	for i := range r.Deliveries {
		switch d := &r.Deliveries[i]; {
		case d.Contact != who:
		case d.Status != Abandoned:
			return false, ""
		default:
			lost, why = true, d.Reason
		}
	}
	return lost, why
}

func recordOf(e *event.Event, n *event.Note) Record {
	r := Record{
		Object: e.Object, Time: e.Time, Event: e.ID, Seq: e.Seq, Cause: string(e.Kind), Author: e.Author, Text: e.Text,
		Kind: notify.Kind(n.Kind), Send: n.Send, Number: n.Number, Policy: n.Policy, Steps: n.Steps,
		By: notify.Gate(n.By), Until: n.Until, Gates: noted(n.Gates), Why: n.Blocking().Why,
	}
	if e.Status != nil {
		r.State = e.Status.State.Name(e.Object.Kind())
	}
	for i := range n.People {
		r.People = append(r.People, personOf(&n.People[i], n))
	}
	return r
}

func personOf(was *event.Person, n *event.Note) Person {
	p := Person{
		Name: was.Name, Told: was.Told, By: notify.Gate(was.By), Channels: was.Channels, Gates: noted(was.Gates),
		Says: saysNot, Why: was.Blocking().Why,
	}
	if was.Told {
		p.Says = saysTold
		for _, g := range was.Gates {
			if g.Name == string(notify.GateChosen) {
				p.Why = g.Why
			}
		}
	}
	if p.Why == "" && !was.Told {
		p.Why = n.Blocking().Why
	}
	return p
}

// noted returns gates as the log has them; the sentence of one that passed is what
// it means.
func noted(all []event.Gate) []Gate {
	gates := make([]Gate, len(all))
	for i, g := range all {
		name := notify.Gate(g.Name)
		gates[i] = Gate{Name: name, Verdict: notify.Verdict(g.Verdict), Meaning: name.Meaning(), Why: g.Why}
		if g.Verdict == event.GatePassed && g.Why == "" {
			gates[i].Why = gates[i].Meaning
		}
	}
	return gates
}

// became is what is known of requests by their ids.
type became map[string]Delivery

func outcomes(events []event.Event, open []Open) became {
	known := became{}
	for _, o := range open {
		d := Delivery{Status: Waiting, Attempts: o.Failures, Reason: o.Reason}
		if o.Failures > 0 {
			d.Status = Failed
		}
		known[o.ID] = d
	}
	// From the oldest on: the first final outcome counts.
	for i := len(events) - 1; i >= 0; i-- {
		if e := &events[i]; e.Facts[event.FactRequest] != "" {
			known.take(e)
		}
	}
	return known
}

func (b became) take(e *event.Event) {
	id := e.Facts[event.FactRequest]
	was := b[id]
	d := Delivery{
		Time: e.Time, Reason: e.Facts[event.FactReason], Repeat: e.Facts[event.FactRepeat] == "true",
		Group: e.Facts[event.FactGroup], Message: e.Facts[event.FactMessage],
	}
	d.Attempts, _ = strconv.Atoi(e.Facts[event.FactAttempts])
	d.With, _ = strconv.Atoi(e.Facts[event.FactWith])
	switch e.Kind {
	case event.NotificationDelivered:
		d.Status = Delivered
	case event.NotificationAbandoned:
		d.Status = Abandoned
	case event.NotificationFailed:
		d.Status, d.Attempts = Failed, max(d.Attempts, was.Attempts)
	default:
		return
	}
	if was.Status != Delivered && was.Status != Abandoned {
		b[id] = d
	}
}

func (b became) of(r *event.Request) Delivery {
	d, ok := b[r.ID]
	if !ok {
		d.Status = Unsaid
	}
	d.Request, d.Contact, d.Channel = r.ID, r.Contact, r.Channel
	return d
}
