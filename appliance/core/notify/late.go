package notify

import (
	"slices"

	"jaque.sh/jaque/appliance/core/object"
)

// lateOpened is why somebody is told of a problem that others know already.
const lateOpened = "the contact's notification period has opened since the others were told"

// untold returns the contacts for whom a problem is that others were told of: those
// who want to hear of it and were not told. Where people are told with check results
// there are none: an interval holds for all.
func (d *decision) untold() []*object.Contact {
	if !d.mayBeLate() {
		return nil
	}
	var all []*object.Contact
	add := func(c *object.Contact, _ bool, _ string) {
		if d.lacks(c) && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	instead := false
	for _, s := range d.steps {
		instead = instead || !s.Adds
		d.ofStep(add, s)
	}
	if !instead {
		for _, c := range d.note.Contacts {
			add(c, true, "")
		}
		d.onCall(add, d.note.Rotas)
	}
	return all
}

// mayBeLate tells whether contacts may be told later than others.
func (d *decision) mayBeLate() bool {
	return d.in.Kind == Problem && d.note.Timed && d.in.Fields.Number != 0
}

// lacks tells whether a contact wants to hear of the problem and was not told.
func (d *decision) lacks(c *object.Contact) bool {
	return c.Notify != nil && !slices.Contains(d.in.Fields.Told, c.Name) && c.Notify.Of(d.in.Object.Kind()).Options.State(d.in.Status.State)
}

// awaited returns a contact who would be told late if the problem were for him, and it may
// become that with time alone: by a step whose period opens, another policy, or a change of
// who is on call. nil if there is none.
func (d *decision) awaited() *object.Contact {
	if !d.mayBeLate() {
		return nil
	}
	for n := d.in.Object.Notify; n != nil; n = n.Else {
		if c := d.awaitedOf(n.Contacts, n.Rotas); c != nil {
			return c
		}
		for _, s := range n.Steps {
			if c := d.awaitedOf(s.Contacts, s.Rotas); c != nil {
				return c
			}
		}
	}
	return nil
}

func (d *decision) awaitedOf(contacts []*object.Contact, rotas []object.Rota) *object.Contact {
	awaited := func(c *object.Contact) bool {
		return d.lacks(c) && !object.Inside(d.contactPeriod(c), d.in.Fields.Last)
	}
	for _, c := range contacts {
		if awaited(c) {
			return c
		}
	}
	for _, r := range rotas {
		for _, name := range r.Members() {
			if c := d.contactOf(name); awaited(c) {
				return c
			}
		}
	}
	return nil
}

// late returns those whose period was closed when others were told and is open now:
// they do not wait for the interval, which without a repetition never ends.
func (d *decision) late() []*object.Contact {
	return slices.DeleteFunc(d.untold(), func(c *object.Contact) bool {
		p := d.contactPeriod(c)
		return object.Inside(p, d.in.Fields.Last) || !object.Inside(p, d.in.Now)
	})
}

func (d *decision) contactPeriod(c *object.Contact) object.Period {
	set := d.in.Contacts[c.Name]
	return d.periodOf(c.Notify.Of(d.in.Object.Kind()), &set)
}
