package fold

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// rootNow returns the host that is down and explains the object's problem, "" if
// there is none: it is no problem, or the object's own.
func rootNow(env *Env, st *event.Status) object.ID {
	o := env.Object
	switch {
	case st.State == object.OK:
		return ""
	case o.Host != nil:
		if env.Host == nil {
			return ""
		}
		return rootOf(o.Host, env.Host)
	case env.Look == nil:
		return ""
	}
	// A host may have been found to be DOWN before its parents were: then they
	// explain it as soon as none of them is up.
	root := object.ID("")
	for _, p := range o.Parents {
		id := rootOf(p, env.look(p))
		if id == "" && st.State != object.Unreachable {
			return ""
		}
		if root == "" {
			root = id
		}
	}
	return root
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

// RootStale tells whether the hosts around an object say something else about the
// root of its problem than it does itself: its own next result may be far away.
func RootStale(env *Env, s *State) bool {
	return s.Status.Checked && s.Status.Root != rootNow(env, &s.Status)
}

// MovesRoots tells whether an event changed something about a host that the roots of
// others follow from. before is the host's state in front of it.
func MovesRoots(before *State, e *event.Event) bool {
	if e.Object.Kind() != object.Host || e.Status == nil {
		return false
	}
	return (before.Status.State == object.Up) != (e.Status.State == object.Up) || before.Status.Root != e.Status.Root
}

// reroot takes over the root that follows from the hosts around the object.
func (d *decider) reroot() (Decision, error) {
	if !RootStale(d.env, d.old) {
		return Decision{}, nil
	}
	d.next.Root = rootNow(d.env, &d.next)
	d.note("root", string(d.next.Root))
	d.note("was", string(d.base.Root))
	return d.said(event.RootChanged, "", ""), nil
}
