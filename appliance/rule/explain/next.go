package explain

import (
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// next says what time alone does: for everybody, or for the contact that is asked
// about.
func (a *asking) next() {
	n, note := &a.answer.Next, a.o.Notify
	switch {
	case note == nil:
		n.Text = "nobody is ever told of this " + a.o.Kind().String() + ": the configuration names no contacts for it"
		return
	case note.Heartbeat:
		n.Text = "every check result is told"
		return
	case a.in.Kind != notify.Problem && a.in.Kind != notify.Recovery:
		n.Text = "nothing by itself: " + a.are("told") + " when something happens"
		return
	}
	told, over := a.foreseen()
	ends := a.ends(over)
	if told != 0 {
		n.At, n.Kind = told, a.in.Kind
	}
	switch still := a.still(); {
	case ends != "" && told == over && told != 0:
		n.Text = ends + ": " + a.are("told") + " then (" + string(n.Kind) + ")" + still
	case ends != "" && told != 0:
		n.Text = ends + "; " + a.are("told") + " at " + stamp(told) + " (" + string(n.Kind) + ")" + still
	case ends != "" && !note.Timed:
		n.Text = ends + "; " + a.are("told") + " with a check result after that" + still
	case ends != "":
		n.Text = ends + ", but by that alone nobody is told"
		if a.q.Contact != "" {
			n.Text = ends + ", but by that alone " + a.are("not told")
		}
	case !note.Timed:
		n.Text = a.are("told") + " with check results only: the next one decides anew"
	case told == 0:
		n.Text = "nothing by itself: " + a.are("told") + " when something happens"
	case told <= a.at:
		n.Text = a.are(a.again()) + " at once (" + string(n.Kind) + ")"
	default:
		n.Text = a.are(a.again()) + " at " + stamp(told) + " (" + string(n.Kind) + ")"
	}
}

// are begins a sentence about those who are asked about.
func (a *asking) are(what string) string {
	who, is := "people", " are "
	if a.q.Contact != "" {
		who, is = a.q.Contact, " is "
	}
	if a.answer.Past {
		is = " would have been "
	}
	return who + is + what
}

func (a *asking) again() string {
	told := a.in.Fields.Number > 0
	if a.q.Contact != "" {
		told, _ = a.heard(a.q.Contact)
	}
	if told && a.in.Kind == notify.Problem {
		return "told again"
	}
	return "told"
}

func (a *asking) still() string {
	switch {
	case a.in.Kind != notify.Problem:
		return ""
	case a.answer.Past:
		return " if the problem had still been there"
	}
	return " if the problem is still there"
}

// foreseen returns when people, or the contact, are told by time alone, and when what
// blocks now is over by itself; 0 is never, as far as is looked.
func (a *asking) foreseen() (told, over object.Time) {
	if a.answer.Decision.Send && a.o.Notify.Timed {
		return a.at, 0
	}
	l := a.lapse(a.at, a.supposed())
	blocks := a.blockedFor(l)
	l.run(a.at.Add(lapseLong), func() bool {
		if over == 0 && blocks != nil && !blocks() {
			over = l.now
		}
		if slices.ContainsFunc(l.notes, a.tells) {
			told = l.now
		}
		return told == 0
	})
	return told, over
}

// tells tells whether a decision is what is waited for.
func (a *asking) tells(n event.Note) bool {
	if !n.Send || n.Kind != string(a.in.Kind) {
		return false
	}
	return a.q.Contact == "" || slices.ContainsFunc(n.People, func(p event.Person) bool { return p.Told && p.Name == a.q.Contact })
}

// blockedFor returns what asks whether the gate that blocks still does, if it looks at
// something that ends by itself; nil for all others.
func (a *asking) blockedFor(l *lapse) func() bool {
	switch a.answer.Decision.By {
	case notify.GateDowntime:
		return func() bool { return l.own.Status.DowntimeDepth > 0 }
	case notify.GateHostDowntime:
		return func() bool { return l.host != nil && l.host.Status.DowntimeDepth > 0 }
	case notify.GateAcknowledged:
		return func() bool { return l.own.Status.Ack != object.AckNone }
	}
	return nil
}

// ends says when what blocks is over; "" = not by itself.
func (a *asking) ends(over object.Time) string {
	if over == 0 {
		return ""
	}
	kind, st := a.o.Kind().String(), a.in.Status
	switch a.answer.Decision.By {
	case notify.GateAcknowledged:
		return "the acknowledgement" + by(st) + " expires at " + stamp(over)
	case notify.GateHostDowntime:
		kind, st = "host", a.in.Host
	}
	the := "the downtime of the "
	if len(running(st)) > 1 {
		the = "the last downtime of the "
	}
	return the + kind + " ends at " + stamp(over)
}
