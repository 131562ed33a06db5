package rehearse

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
)

// Entries returns the verdicts that stand in an event: one for each contact and
// channel, in order.
func Entries(e *event.Event) []Entry {
	var all []Entry
	requests := e.Requests()
	for i := range e.Notes {
		n := &e.Notes[i]
		base := Entry{
			Time: e.Time, Object: e.Object, Kind: n.Kind, Number: n.Number,
			Policy: n.Policy, Steps: n.Steps, Until: n.Until,
		}
		if e.Status != nil {
			base.State, base.Type = e.Status.State, e.Status.Type
		}
		if len(n.People) == 0 {
			base.Gate, base.Why = n.By, n.Blocking().Why
			all = append(all, base)
		}
		for j := range n.People {
			all = append(all, verdicts(base, n, &n.People[j], &requests)...)
		}
	}
	return all
}

// verdicts returns what a note says of one contact; it takes the contact's requests
// from the front of the list.
func verdicts(base Entry, n *event.Note, p *event.Person, requests *[]event.Request) []Entry {
	base.Contact = p.Name
	switch {
	case p.Told:
		base.Told, base.Until = true, 0
		base.Why = chosen(p)
	default:
		base.Gate, base.Why = p.By, p.Blocking().Why
		if base.Why == "" { // a gate of the object has decided for everybody
			base.Gate, base.Why = n.By, n.Blocking().Why
		}
		return []Entry{base}
	}
	if len(p.Channels) == 0 {
		return []Entry{base}
	}
	var all []Entry
	for range p.Channels {
		r := (*requests)[0]
		*requests = (*requests)[1:]
		base.Channel, base.Request = r.Channel, r.ID
		all = append(all, base)
	}
	return all
}

// chosen says why a contact is among those who are told.
func chosen(p *event.Person) string {
	for _, g := range p.Gates {
		if g.Name == string(notify.GateChosen) {
			return g.Why
		}
	}
	return ""
}
