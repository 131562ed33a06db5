package notify

import (
	"jaque.sh/jaque/appliance/core/object"
)

// choose finds the policy that has its say. Where none is for the state and the
// time, the first one lends its contacts, so that they get a verdict.
func (d *decision) choose() {
	all := d.in.Object.Notify
	if all == nil {
		d.note = &object.Notification{Options: object.NoteAll}
		return
	}
	if d.note = all.For(d.chosenBy(), d.in.Now); d.note == nil {
		d.note, d.none = all, true
	}
}

// chosenBy returns the state by which the policy is chosen: that of a problem; OK
// for everything that is none.
func (d *decision) chosenBy() object.State {
	if d.in.Kind == Problem || d.in.Kind == Acknowledgement {
		return d.in.Status.State
	}
	return object.OK
}

// policy asks whether a policy is for the state and the time.
func (d *decision) policy() Check {
	if !d.none {
		return pass("the policy " + d.note.Name + " is for it")
	}
	c := block("no policy for the " + d.kind() + " is for " + d.in.Status.State.Name(d.in.Object.Kind()) + " at this time")
	for n := d.note; n != nil; n = n.Else {
		if s := d.chosenBy(); n.Period == nil || s != object.OK && n.States != 0 && !n.States.Has(s) {
			continue
		}
		if _, opens := n.Period.Window(d.in.Now); opens != 0 && (c.Until == 0 || opens < c.Until) {
			c.Until = opens
		}
	}
	if c.Until != 0 {
		c.Why += "; the next one begins at " + stamp(c.Until)
	}
	return c
}

// names says what names contacts: the policy, or the object itself where the config
// knows no policies.
func (d *decision) names() string {
	if d.note.Name == "" {
		return d.kind()
	}
	return "policy " + d.note.Name
}

// onCall chooses those who are on call now.
func (d *decision) onCall(add chooser, all []object.Rota) {
	for _, r := range all {
		if name, why, _ := r.OnCall(d.in.Now); name != "" {
			add(d.contactOf(name), true, "on call by "+r.Name()+", "+why)
		}
	}
}

// offDuty gives those who are not on call now the reason why they are not told.
func (d *decision) offDuty(add chooser, all []object.Rota) {
	for _, r := range all {
		why := "not on call by " + r.Name() + " now"
		if d.toTold() {
			why = d.notTold()
		}
		for _, name := range r.Members() {
			add(d.contactOf(name), false, why)
		}
	}
}

// contactOf returns a contact by its name, also one that the config has no more.
func (d *decision) contactOf(name string) *object.Contact {
	if c := d.in.Known[name]; c != nil {
		return c
	}
	return &object.Contact{Name: name}
}
