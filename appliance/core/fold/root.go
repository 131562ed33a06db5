package fold

import "jaque.sh/jaque/appliance/core/object"

// root returns the host that is down and explains the object's problem, "" if
// there is none: it is no problem, or the object's own.
func (d *decider) root() object.ID {
	o := d.env.Object
	switch {
	case d.next.State == object.OK:
		return ""
	case o.Host != nil:
		if d.env.Host == nil {
			return ""
		}
		return rootOf(o.Host, d.env.Host)
	case d.next.State != object.Unreachable || d.env.Look == nil:
		return ""
	}
	for _, p := range o.Parents {
		if id := rootOf(p, d.env.look(p)); id != "" {
			return id
		}
	}
	return ""
}

// rootOf returns what explains the problems behind a host, "" if it is up.
func rootOf(host *object.Object, s *State) object.ID {
	switch {
	case s.Status.State == object.Up:
		return ""
	case s.Status.Root != "":
		return s.Status.Root
	}
	return host.ID
}
