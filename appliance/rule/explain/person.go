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
)

// person puts the verdict about a contact into words.
// seek also looks for what has to be different.
func (a *asking) person(c *notify.Contact, out *notify.Outcome, seek bool) Person {
	p := Person{Name: c.Name, Told: c.Told && out.Send, By: c.By, Gates: gatesOf(c.Gates)}
	a.configured(&p)
	if seek {
		p.Changes = Changes(a.in, c.Name)
		p.If = condition("would be told", p.Changes)
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
	case a.in.Kind == notify.Problem && slices.Contains(a.in.Fields.Told, c.Name) && a.answer.Supposed == "":
		p.Says, p.Why = saysTold, "told of the problem; not again now: "+p.Why
	default:
		p.Says = saysNot
	}
	return p
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
	p.Changes = Changes(a.in, who)
	p.If = condition("would be told", p.Changes)
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
