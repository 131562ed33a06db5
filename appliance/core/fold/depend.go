package fold

import (
	"jaque.sh/jaque/appliance/core/object"
)

// Block says in one word why a due check must not run; it serves as a metric
// label.
type Block string

// The reasons why a check does not run. Forced ones run all the same.
const (
	BlockSwitch     Block = "switch"     // active checks are off for the object or for the program
	BlockPeriod     Block = "period"     // outside the check period
	BlockDependency Block = "dependency" // something that the object depends on has failed
)

// Blocked tells whether a due check must not run now and why, "" if it may. If
// it is for a dependency, master is what has failed.
func Blocked(env *Env, s *State, now object.Time) (why Block, master object.ID) {
	if !active(env, &s.Status) {
		return BlockSwitch, ""
	}
	if !object.Inside(checkPeriodOf(env, &s.Status), now) {
		return BlockPeriod, ""
	}
	if m := failed(env, env.Object, execution, now, maxInherit); m != nil {
		return BlockDependency, m.ID
	}
	return "", ""
}

// NotificationBlocked returns what has failed that forbids to tell people about
// the object's problems now, "" if nothing has. A service is kept quiet by the
// dependencies of its host too.
func NotificationBlocked(env *Env, now object.Time) (master object.ID) {
	if m := failed(env, env.Object, notification, now, maxInherit); m != nil {
		return m.ID
	}
	if host := env.Object.Host; host != nil {
		if m := failed(env, host, notification, now, maxInherit); m != nil {
			return m.ID
		}
	}
	return ""
}

// mastersBack returns when the last of what keeps people from being told about the
// object while it has failed, or of a host's parents, came back, 0 if nothing did. What has failed now is not
// asked for.
func mastersBack(env *Env, now object.Time) (back object.Time) {
	if env.Look == nil {
		return 0
	}
	of := func(o *object.Object) {
		for _, d := range o.Depends {
			if m := &env.look(d.Master).Status; holds(d, notification, now) && m.State == object.OK {
				back = max(back, m.LastChange)
			}
		}
	}
	of(env.Object)
	if env.Object.Host != nil {
		of(env.Object.Host)
	}
	for _, p := range env.Object.Parents {
		if m := &env.look(p).Status; m.State == object.Up {
			back = max(back, m.LastChange)
		}
	}
	return back
}

// purpose is what a dependency is about.
type purpose uint8

const (
	execution purpose = iota
	notification
)

// criteria returns the states of the master that count as failed.
func (p purpose) criteria(d *object.Dependency) (states object.StateMask, pending bool) {
	if p == notification {
		return d.Notification, d.NotificationPending
	}
	return d.Execution, d.ExecutionPending
}

// maxInherit bounds how far inherited dependencies are followed. A config has no
// circles; the bound is for those that were never validated.
const maxInherit = 32

// failed returns the first master that has failed so that it counts: alone, or
// with all others of its group. Dependencies that do not hold now are passed
// over, each on its own.
func failed(env *Env, o *object.Object, p purpose, now object.Time, depth int) *object.Object {
	if len(o.Depends) == 0 || env.Look == nil || depth == 0 {
		return nil
	}
	for i, d := range o.Depends {
		if !holds(d, p, now) || !broken(env, d, p, now, depth) {
			continue
		}
		if d.Group == "" || i == firstOf(o.Depends, d.Group, p, now) && !stands(env, o.Depends, d.Group, p, now, depth) {
			return d.Master
		}
	}
	return nil
}

// holds tells whether a dependency says anything about a purpose now.
func holds(d *object.Dependency, p purpose, now object.Time) bool {
	states, pending := p.criteria(d)
	return (states != 0 || pending) && object.Inside(d.Period, now)
}

// firstOf returns the place of the first dependency of a group that holds, so
// that the group is looked at once.
func firstOf(all []*object.Dependency, group string, p purpose, now object.Time) int {
	for i, d := range all {
		if d.Group == group && holds(d, p, now) {
			return i
		}
	}
	return -1
}

// stands tells whether any master of a group is as it should be.
func stands(env *Env, all []*object.Dependency, group string, p purpose, now object.Time, depth int) bool {
	for _, d := range all {
		if d.Group == group && holds(d, p, now) && !broken(env, d, p, now, depth) {
			return true
		}
	}
	return false
}

// broken tells whether a dependency's master is in a state that counts as
// failed, or what it depends on itself is and that is inherited. While the state
// is soft, the last hard one counts.
func broken(env *Env, d *object.Dependency, p purpose, now object.Time, depth int) bool {
	s := env.look(d.Master)
	states, pending := p.criteria(d)
	state := s.Status.State
	if s.Status.Type == object.Soft {
		state = s.Status.LastHard
	}
	if pending && !s.Status.Checked || states.Has(state) {
		return true
	}
	return d.Inherits && failed(env, d.Master, p, now, depth-1) != nil
}

// look returns the state of another object, that of one never checked if nothing
// is known of it.
func (e *Env) look(o *object.Object) *State {
	if e.Look != nil {
		if s := e.Look(o.ID); s != nil {
			return s
		}
	}
	s := New(o)
	return &s
}
