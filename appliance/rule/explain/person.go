package explain

import (
	"slices"

	"jaque.sh/jaque/appliance/core/notify"
)

// The words for what a contact hears.
const (
	saysTold  = "told"          // of the problem, or of the recovery, before
	saysNot   = "not told"      // and would not be now
	saysWould = "would be told" // by the decision

	// GivenUp is said of somebody who was to be told, and whose every message was
	// given up.
	GivenUp = "given up"
)

// person puts the verdict about a contact into words.
// seek also looks for what has to be different.
func (a *asking) person(c *notify.Contact, out *notify.Outcome, seek bool) Person {
	p := Person{Name: c.Name, Told: c.Told && out.Send, By: c.By, Gates: gatesOf(c.Gates)}
	a.configured(&p)
	if seek {
		p.Changes = a.changes(c.Name)
		p.If = condition(a.would("be told"), p.Changes)
	}
	p.Why = out.Why()
	for _, g := range c.Gates {
		switch {
		case g.Verdict == notify.Blocked:
			p.Why = g.Why
		case g.Gate == notify.GateChosen && p.Told:
			p.Why = g.Why
		}
	}
	switch {
	case p.Told:
		p.Says = saysWould
	default:
		a.before(&p)
	}
	return p
}

// before says whether somebody who is not told now has heard of the problem before.
func (a *asking) before(p *Person) {
	p.Says = saysNot
	if a.in.Kind != notify.Problem || a.answer.Supposed != "" {
		return
	}
	switch told, lost := a.heard(p.Name); {
	case told:
		p.Says, p.Why = saysTold, "told of the problem; not again now: "+p.Why
	case lost != "":
		p.Says, p.Why = GivenUp, lost+"; not again now: "+p.Why
	}
}

// heard tells whether somebody was told of the present problem, which is not the
// former one whose recovery may still be owed; lost is why, if every message was
// given up.
func (a *asking) heard(who string) (told bool, lost string) {
	if a.in.Fields.Number == 0 || !slices.Contains(a.in.Fields.Told, who) {
		return false, ""
	}
	meant, found := false, int32(0)
	for r := range a.tellings() {
		found++
		if !slices.ContainsFunc(r.People, func(p Person) bool { return p.Name == who && p.Told }) {
			continue
		}
		gone, why := r.lost(who)
		if !gone {
			return true, ""
		}
		if !meant {
			meant, lost = true, why
		}
	}
	// What was not read is taken for what the object remembers.
	return found < a.in.Fields.Number, lost
}

// tellings are the decisions that have told of the present problem, newest first, as
// far as they were read.
func (a *asking) tellings() func(yield func(*Record) bool) {
	return func(yield func(*Record) bool) {
		for i := range a.records {
			r := &a.records[i]
			if r.Time < a.in.Status.Problem {
				return
			}
			if r.Kind == notify.Problem && r.Send && !yield(r) {
				return
			}
		}
	}
}

// vain tells whether every message about the present problem was given up, and why
// the last one was.
func (a *asking) vain() (vain bool, why string) {
	found := int32(0)
	for r := range a.tellings() {
		found++
		for i := range r.Deliveries {
			d := &r.Deliveries[i]
			if d.Status != Abandoned {
				return false, ""
			}
			if !vain {
				vain, why = true, d.Reason
			}
		}
	}
	return vain && found >= a.in.Fields.Number, why
}

// stranger is the verdict about a contact whom nothing names.
func (a *asking) stranger(out *notify.Outcome) Person {
	who := a.q.Contact
	d := draft{in: a.in}
	p := Person{Name: who, Says: saysNot, By: notify.GateChosen, Why: "neither " + d.names() + " nor a step of an escalation names " + who}
	if out.By != "" && out.By != notify.GateContacts {
		p.By = out.By
		p.Why = out.Why() + "; and " + p.Why
	}
	a.configured(&p)
	p.Changes = a.changes(who)
	p.If = condition(a.would("be told"), p.Changes)
	return p
}

// configured adds what the config says of a contact.
func (a *asking) configured(p *Person) {
	c := a.w.Set.Contacts[p.Name]
	if c == nil {
		return
	}
	p.Alias = c.Alias
	if c.Notify != nil {
		p.Channels = c.Notify.Over(a.o.Kind())
	}
}
