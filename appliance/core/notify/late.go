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
	if d.in.Kind != Problem || !d.note.Timed || d.in.Fields.Number == 0 {
		return nil
	}
	var all []*object.Contact
	add := func(c *object.Contact, _ bool, _ string) {
		if c.Notify == nil || slices.Contains(d.in.Fields.Told, c.Name) || slices.Contains(all, c) {
			return
		}
		if c.Notify.Of(d.in.Object.Kind()).Options.State(d.in.Status.State) {
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
