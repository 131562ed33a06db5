package notify

import (
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Turn returns what a change of an object's status does to the fields, before
// anything is attempted. A new state, and one that becomes hard, is told at once
// whatever interval was running; a new problem is counted from the beginning even
// where the recovery from the last one could not be told yet.
func Turn(f Fields, before, after *event.Status, now object.Time) Fields {
	hard := after.State != object.OK && after.Type == object.Hard
	if before.State != after.State || hard && before.Type == object.Soft {
		f.Next = 0
	}
	owed := f.Notified != 0
	switch {
	case before.State == object.OK && after.State != object.OK && owed:
		f.Number = 0
	case before.State != object.OK && after.State == object.OK && !owed:
		f.Number = 0
	}
	switch {
	case after.State == object.OK:
		f.Hard = 0
	case hard && f.Hard == 0:
		f.Hard = now
	}
	return f
}

// settle writes into the fields what the decision has done.
func (d *decision) settle() {
	f, told := &d.out.Fields, d.out.Told()
	switch {
	case d.in.Kind == Recovery:
		d.recovered(told)
	case len(told) == 0:
	case d.lateOnly:
		f.Notified |= 1 << d.in.Status.State
		f.Told = union(f.Told, told)
	case d.in.Kind == Problem:
		f.Number, f.Last = d.number, d.in.Now
		f.Notified |= 1 << d.in.Status.State
		f.Next = d.next()
		f.Told = union(f.Told, told)
	case d.in.Increment:
		f.Number = d.number
	}
}

// recovered closes the incident once nobody is left who may still hear of its end.
func (d *decision) recovered(told []string) {
	f := &d.out.Fields
	var waiting []string
	switch d.out.By {
	case "", GateContacts:
		waiting = d.waiting()
	case GateOption:
		// The object never tells of recoveries.
	default:
		return
	}
	if len(told) == 0 && len(waiting) > 0 {
		return
	}
	if len(told) > 0 {
		f.Last = d.in.Now
	}
	f.Number, f.Next = 0, 0
	if d.toTold() && len(waiting) > 0 {
		f.Told = waiting
		return
	}
	f.Notified, f.Told = 0, nil
}

// waiting returns the contacts to whom the recovery may be told later: their
// period opens, or somebody switches them on again.
func (d *decision) waiting() []string {
	var names []string
	for i := range d.out.Contacts {
		if c := &d.out.Contacts[i]; c.By == GateContactPeriod || c.By == GateContactSwitch {
			names = append(names, c.Name)
		}
	}
	return names
}

// next returns when the problem may be told again.
func (d *decision) next() object.Time {
	every := d.in.Object.Rule.NoteInterval
	if own := d.note.Interval; own != 0 {
		every = max(own, 0)
	}
	own := true
	for _, s := range d.steps {
		if s.Interval >= 0 && (own || s.Interval < every) {
			every, own = s.Interval, false
		}
	}
	if every == 0 && !d.volatile() {
		return Never
	}
	return d.in.Now.Add(every)
}

// union returns the names of both sorted lists, sorted; neither is changed.
func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
