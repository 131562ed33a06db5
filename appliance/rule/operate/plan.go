package operate

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/period"
)

// Plan returns what a request asks for, one action per object. It decides nothing:
// each action may still be refused. A request that cannot be meant as it is
// written is an *Error, and nothing of it is to be done.
func Plan(w *World, r *Request) ([]Action, error) {
	if (r.Command == nil) == (r.Program == nil) {
		return nil, malformed("the request has no command, or two; give one")
	}
	if r.Program != nil {
		if len(r.Target.Objects) > 0 || r.Target.Group != "" || r.Target.Filter != "" {
			return nil, malformed("the command is about the whole program; leave the target out")
		}
		if err := w.check(r.Program); err != nil {
			return nil, err
		}
		return []Action{{Program: r.Program}}, nil
	}
	objects, err := w.Objects(&r.Target)
	if err != nil {
		return nil, err
	}
	actions := make([]Action, len(objects))
	for i, o := range objects {
		actions[i] = Action{Object: o.ID, Command: r.Command}
	}
	return actions, nil
}

// check looks at the names that a command about the program holds.
func (w *World) check(c program.Command) error {
	var err error
	switch c := c.(type) {
	case program.SwitchContact:
		_, err = Contact(w.Set, c.Name)
	case program.TuneContact:
		_, err = Contact(w.Set, c.Name)
	case program.SetContactModified:
		_, err = Contact(w.Set, c.Name)
	case program.PutRule:
		return w.checkRule(&c.Rule)
	case program.RemoveRule:
		if w.Program == nil {
			return nil
		}
		if _, ok := w.Program.Rules[c.ID]; !ok {
			return unknown("downtime", c.ID, keys(w.Program.Rules), nil)
		}
	}
	return err
}

// checkRule looks at what a downtime for many objects is for and when.
func (w *World) checkRule(r *event.DowntimeRule) error {
	if given(r.Object != "", r.Group != "", r.Filter != "") != 1 {
		return malformed("the downtime needs one of an object, a group and a filter")
	}
	switch {
	case r.Object != "":
		o, err := Object(w.Set, r.Object)
		if err != nil {
			return err
		}
		if r.WithServices && o.Kind() == object.Service {
			return wrongScope(WithServices, r.Object)
		}
	case r.Group != "":
		if _, err := Group(w.Set, r.Group); err != nil {
			return err
		}
	default:
		if err := Lasting(r.Filter); err != nil {
			return err
		}
	}
	return w.checkTimes(r)
}

// checkTimes looks at when a recurring downtime comes again.
func (w *World) checkTimes(r *event.DowntimeRule) error {
	switch {
	case len(r.Ranges) == 0 && r.Zone != "":
		return malformed("time zone %q belongs to a recurring downtime; add ranges, or leave it out", r.Zone)
	case len(r.Ranges) == 0:
		return nil
	}
	// How a span is written does not depend on the zone.
	if _, err := period.Recurring(r.Ranges, time.UTC); err != nil {
		return malformed("ranges: %v", err)
	}
	if w.Zone != nil && r.Zone != "" {
		if err := w.Zone(r.Zone); err != nil {
			return malformed("time zone %q: %v; write a name such as Europe/Berlin", r.Zone, err)
		}
	}
	return nil
}
