package view

import (
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// The ways in which a request may stand.
const (
	OutcomeDelivered = "delivered"
	OutcomeAbandoned = "abandoned"
	OutcomeWaiting   = "waiting"
	OutcomeLost      = "not known" // it is open no more, and its outcome is not on the log any more
)

// RequestOutcome is what the log says of one request.
type RequestOutcome struct {
	Final    string // OutcomeDelivered, OutcomeAbandoned; "" = none yet
	Time     object.Time
	Seq      uint64 // of the final one that counts: the first
	Failures int    // attempts that failed
	Reason   string // of the last failure, or why it was abandoned
	Message  string // id of the message it was in
	With     int    // requests in that message
	Repeat   bool   // the message said that it may be a repetition

	failed int    // attempts that failed, as the failures say
	why    string // of the newest of them
	newest uint64 // position of that one
	tries  int    // as the final outcome says
	last   string // its reason
}

// Outcomes are what became of requests, by their ids.
type Outcomes map[string]RequestOutcome

// Add takes in an event; those that are no outcome change nothing. The order
// in which events come does not matter.
func (o Outcomes) Add(e *event.Event) {
	final := ""
	switch e.Kind {
	case event.NotificationDelivered:
		final = OutcomeDelivered
	case event.NotificationAbandoned:
		final = OutcomeAbandoned
	case event.NotificationFailed:
	default:
		return
	}
	id := e.Facts[event.FactRequest]
	was := o[id]
	was.add(e, final)
	o[id] = was
}

func (o *RequestOutcome) add(e *event.Event, final string) {
	f := e.Facts
	tries, _ := strconv.Atoi(f[event.FactAttempts])
	switch {
	case final == "":
		o.failed = max(o.failed, tries, 1)
		if e.Seq >= o.newest {
			o.why, o.newest = f[event.FactReason], e.Seq
		}
	case o.Final == "" || e.Seq < o.Seq: // the first one counts
		o.Final, o.Time, o.Seq, o.Message = final, e.Time, e.Seq, f[event.FactMessage]
		o.With, _ = strconv.Atoi(f[event.FactWith])
		o.Repeat, o.tries, o.last = f[event.FactRepeat] == "true", tries, f[event.FactReason]
	}
	o.Failures, o.Reason = max(o.failed, o.tries), o.why
	switch o.Final {
	case OutcomeDelivered:
		o.Failures = max(o.failed, o.tries-1)
	case OutcomeAbandoned:
		o.Reason = first(o.last, o.why)
	}
}

// Waiting is an open request.
type Waiting struct {
	Failures int
	Reason   string // of the last failure
}

// Deliveries says how requests stand: what the log says, and which are open.
type Deliveries struct {
	Outcomes Outcomes
	Open     map[string]Waiting // by id; nil = this process does not know
}

// Way is one channel over which somebody is told, and what became of it.
type Way struct {
	Channel string
	State   string // one of the Outcome… words
	Tone    string // names shape and colour
	After   string // how long it took, or has taken
	At      When   // of the outcome
	Tries   string // "attempt 3", "" = the first one
	Reason  string
	Repeat  bool
}

// Tail says in brackets what else is to be known, "" for nothing.
func (w Way) Tail() string {
	tail := w.Tries
	if w.Repeat {
		tail = joined(tail, "marked as a possible repetition")
	}
	if tail == "" {
		return ""
	}
	return " (" + tail + ")"
}

// way returns how a request stands.
func (l *Deliveries) way(r *event.Request, now object.Time) Way {
	w := Way{Channel: r.Channel, State: OutcomeLost, Tone: "unknown"}
	o, said := l.Outcomes[r.ID]
	open, waits := l.Open[r.ID]
	asked := r.Event.Time
	switch {
	case said && o.Final == OutcomeDelivered:
		w.State, w.Tone, w.Repeat = OutcomeDelivered, "ok", o.Repeat
		w.tries(o.Failures + 1)
	case said && o.Final == OutcomeAbandoned:
		w.State, w.Tone, w.Reason = OutcomeAbandoned, "crit", o.Reason
		if o.Failures > 1 {
			w.Tries = Count(o.Failures, "attempt", "attempts")
		}
	case waits || l.Open == nil:
		w.State, w.Tone = OutcomeWaiting, "pending"
		failures := max(open.Failures, o.Failures)
		if failures > 0 {
			w.Tone = "warn"
		}
		w.Reason = first(open.Reason, o.Reason)
		w.tries(failures + 1)
		w.After = Span(now.Std().Sub(asked.Std()))
		return w
	default:
		return w
	}
	w.At = NewWhen(o.Time, now.Std())
	w.After = Length(o.Time.Std().Sub(asked.Std()))
	return w
}

func (w *Way) tries(n int) {
	if n > 1 {
		w.Tries = "attempt " + Number(n)
	}
}

// has tells whether a request stands in a way that a filter names. What failed
// at least once has failed, whatever became of it.
func (l *Deliveries) has(r *event.Request, state string, now object.Time) bool {
	o := l.Outcomes[r.ID]
	if state == "failed" {
		return o.Failures > 0 || l.Open[r.ID].Failures > 0
	}
	return l.way(r, now).State == state
}

// message returns the id of the message that a request was delivered in, "" if it
// was in none with others.
func (l *Deliveries) message(id string) (string, int) {
	if o := l.Outcomes[id]; o.Final == OutcomeDelivered && o.With > 1 {
		return o.Message, o.With
	}
	return "", 0
}
