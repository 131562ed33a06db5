package fold

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// maxOnDemand bounds the checks that one result asks for. Who is left out has a
// place in the schedule.
const maxOnDemand = 500

// OnDemand returns what should be checked now because of a result: the states
// that the judgement of this and of the next results depends on. before and after
// are the object's states around the event.
func OnDemand(env *Env, before, after *State, e *event.Event) []object.ID {
	if e.Kind != event.CheckResult {
		return nil
	}
	var list []object.ID
	if env.Object.Kind() == object.Host {
		list = relatives(env, before, after)
	} else if hostWanted(env, before, after) {
		list = append(list, env.Object.Host.ID)
	}
	// The masters' states shall be fresh when the problem gets hard.
	if st := &after.Status; st.State != object.OK && st.Type == object.Soft && st.Attempt == st.MaxAttempts-1 {
		for _, d := range env.Object.Depends {
			list = append(list, d.Master.ID)
		}
	}
	return list[:min(len(list), maxOnDemand)]
}

// horizon is how old a result may be that answers a result which changes nothing
// (Nagios: cached_host_check_horizon).
const horizon = 15 * time.Second

// Fresh returns since when a check must have begun to answer what a result asks for:
// what was found out before a change was does not tell what explains it.
func Fresh(before, after *State, e *event.Event, now object.Time) object.Time {
	if before.Status.State != after.Status.State && e.Measure != nil {
		return e.Measure.LastCheck
	}
	return now.Add(-horizon)
}

// hostWanted tells whether a service's result asks how its host is: it is in
// trouble otherwise than before, or well although the host is not.
func hostWanted(env *Env, before, after *State) bool {
	if after.Status.State != object.OK {
		return !before.Status.Checked || before.Status.State != after.Status.State
	}
	return env.Host != nil && env.Host.Status.State != object.Up
}

// relatives returns the hosts around one that went down or came back: after a
// failure the parents that are thought to be up and the children that are not
// known to be out of reach, after a recovery whoever is not well.
func relatives(env *Env, before, after *State) (list []object.ID) {
	wasUp, isUp := before.Status.State == object.Up, after.Status.State == object.Up
	if wasUp == isUp {
		return nil
	}
	add := func(all []*object.Object, wanted func(object.State) bool) {
		for _, h := range all {
			if len(list) < maxOnDemand && wanted(env.look(h).Status.State) {
				list = append(list, h.ID)
			}
		}
	}
	notUp := func(s object.State) bool { return s != object.Up }
	if isUp {
		add(env.Object.Parents, notUp)
		add(env.Object.Children, notUp)
		// Its services' problems may be gone with its own.
		add(env.Object.Services, func(s object.State) bool { return s != object.OK })
		return list
	}
	add(env.Object.Parents, func(s object.State) bool { return s == object.Up })
	add(env.Object.Children, func(s object.State) bool { return s != object.Unreachable })
	return list
}
