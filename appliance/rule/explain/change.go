package explain

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// maxChanges bounds how many things are changed, one after the other, until
// somebody is told. There are fewer gates.
const maxChanges = 64

// mostTried bounds for how many contacts of one decision it is sought what has to be
// different: each one costs some decisions about all of them.
const mostTried = 50

// draft is a decision that is made again and again, each time without what blocked
// it the last time.
type draft struct {
	in *notify.Input
	// still says that the clock stands still: what only time would change is taken
	// away instead. It is for what no time helps, as two periods that never meet, or
	// a step of the escalation that tells others.
	still   bool
	past    bool   // what is said is about the past
	who     string // who is to be told, "" = anybody
	changes []Change
}

// changes returns what has to be different, in the tense of the question.
func (a *asking) changes(contact string) []Change { return changesOf(a.in, contact, a.answer.Past) }

// changesOf returns what has to be different so that somebody, or one contact, is
// told: all of it together. None = that is so already, or nothing helps.
func changesOf(in *notify.Input, contact string, past bool) []Change {
	var best *draft
	for _, still := range []bool{false, true} {
		d := draft{in: clone(in), still: still, past: past}
		if d.seek(contact) && (best == nil || d.cost() < best.cost()) {
			best = &d
		}
	}
	if best == nil {
		return nil
	}
	return best.changes
}

// seek changes one thing after the other until it is enough.
func (d *draft) seek(contact string) bool {
	own(d.in, contact)
	d.who = contact
	for range maxChanges {
		out := notify.Decide(d.in)
		if enough(&out, contact) {
			return true
		}
		switch {
		case out.By != "" && out.By != notify.GateContacts:
			d.object(&out)
		case contact != "":
			d.contact(&out, contact)
		default:
			return d.anybody(&out)
		}
	}
	return false
}

func enough(out *notify.Outcome, contact string) bool {
	return out.Send && (contact == "" || slices.Contains(out.Told(), contact))
}

// object takes away what a gate of the object blocks for.
func (d *draft) object(out *notify.Outcome) {
	c := Change{Gate: out.By}
	// A downtime may be cancelled as well as be over: when it ends is said with it.
	ends := out.By == notify.GateDowntime || out.By == notify.GateHostDowntime || out.By == notify.GateAcknowledged
	if out.Until > d.in.Now && !d.still && !ends {
		d.wait(c, out.Until, out.Gates)
		return
	}
	if c.Text = d.tooLate(out); c.Text == "" {
		c.Text = d.ofObject(out.By)
	}
	d.add(c)
	lift(d.in, out.By)
}

// contact takes away what blocks a contact.
func (d *draft) contact(out *notify.Outcome, who string) {
	c := Change{Gate: notify.GateChosen, Contact: who}
	i := slices.IndexFunc(out.Contacts, func(c notify.Contact) bool { return c.Name == who })
	if i >= 0 {
		p := &out.Contacts[i]
		c.Gate = p.By
		if at := until(p.Gates); at > d.in.Now && !d.still {
			d.wait(c, at, p.Gates)
			return
		}
	}
	if c.Gate == notify.GateChosen && d.heldBack(who) {
		d.interval()
		return
	}
	if c.Gate == notify.GateChosen && !d.still {
		if at, why := d.turn(who); at != 0 {
			d.waitFor(c, at, why)
			return
		}
		if d.later(who) {
			return
		}
	}
	c.Text = d.ofContact(c.Gate, who)
	d.add(c)
	liftContact(d.in, c.Gate, who)
}

// heldBack tells whether a contact is not chosen only because the interval still runs:
// those alone are told before its end for whom something has begun.
func (d *draft) heldBack(who string) bool {
	next := d.in.Fields.Next
	return d.in.Kind == notify.Problem && (next == notify.Never || next > d.in.Now) && d.chosenAt(d.in.Now, who)
}

// interval lets the interval be over.
func (d *draft) interval() {
	c := Change{Gate: notify.GateInterval}
	switch next := d.in.Fields.Next; {
	case next == notify.Never:
		c.Gate = notify.GateRepeat
	case !d.still:
		d.waitFor(c, next, "the interval is over")
		return
	}
	c.Text = d.ofObject(c.Gate)
	d.add(c)
	lift(d.in, c.Gate)
}

// anybody takes away what blocks the contact to whom the least stands in the way.
func (d *draft) anybody(out *notify.Outcome) bool {
	var best *draft
	tried := 0
	for _, meant := range []bool{true, false} {
		for i := range out.Contacts {
			by := out.Contacts[i].By
			if (by != notify.GateChosen && by != notify.GateKnown) != meant || tried >= mostTried {
				continue
			}
			tried++
			try := draft{in: clone(d.in), still: d.still, past: d.past, changes: slices.Clone(d.changes)}
			if try.seek(out.Contacts[i].Name) && (best == nil || try.cost() < best.cost()) {
				best = &try
			}
		}
		if best != nil {
			break // nobody is to be named whom nothing names
		}
	}
	if best == nil && len(out.Contacts) == 0 {
		best = &draft{in: clone(d.in), past: d.past, changes: d.changes}
		best.add(Change{Gate: notify.GateContacts, Text: best.names() + d.did(" named", " had named") + " a contact"})
		name(best.in, "somebody")
		out := notify.Decide(best.in)
		if !out.Send {
			best = nil
		}
	}
	if best != nil {
		d.in, d.changes = best.in, best.changes
	}
	return best != nil
}

// cost says how much is to be changed: to wait is less than to do something, and
// nobody is to be told who was not meant.
func (d *draft) cost() (n int) {
	for i := range d.changes {
		switch c := &d.changes[i]; {
		case c.At != 0 || c.Number != 0:
			n++
		case c.Gate == notify.GateChosen || c.Gate == notify.GateKnown:
			n += 100
		default:
			n += 10
		}
	}
	return n
}

// wait lets the time come at which a gate may open. Of several times the last one
// is all that has to be said.
func (d *draft) wait(c Change, at object.Time, gates []notify.Check) {
	d.waitFor(c, at, opening(c.Gate, blocking(gates)))
}

func (d *draft) waitFor(c Change, at object.Time, why string) {
	c.At, c.Text = at, "it "+d.were()+" "+stamp(at)+" or later"
	if why != "" {
		c.Text += ", when " + why
	}
	d.in.Now = at
	d.changes = slices.DeleteFunc(d.changes, func(was Change) bool { return was.At != 0 })
	d.changes = append(d.changes, c)
}

func (d *draft) add(c Change) {
	if !slices.Contains(d.changes, c) {
		d.changes = append(d.changes, c)
	}
}

// until returns when time alone may lift what blocks.
func until(gates []notify.Check) object.Time {
	if c := blocking(gates); c != nil {
		return c.Until
	}
	return 0
}

func blocking(gates []notify.Check) *notify.Check {
	for i := range gates {
		if gates[i].Verdict == notify.Blocked {
			return &gates[i]
		}
	}
	return nil
}

// condition joins changes to one sentence; "" if there are none.
func condition(begin string, changes []Change) string {
	if len(changes) == 0 {
		return ""
	}
	var texts []string
	for i := range changes {
		texts = append(texts, changes[i].Text)
	}
	return begin + " if " + list(texts)
}

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
