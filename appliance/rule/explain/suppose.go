package explain

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// stateName names the state of a status.
func stateName(o *object.Object, st *event.Status) string {
	if !st.Checked {
		return "PENDING"
	}
	return st.State.Name(o.Kind())
}

// suppose chooses the notification, and the state that it takes where the state is
// another.
func (a *asking) suppose() {
	st, k := a.in.Status, a.q.Kind
	bad := st.Checked && st.State != object.OK
	switch {
	case k != "":
	case a.o.Notify != nil && a.o.Notify.Heartbeat:
		k = notify.Heartbeat
	case !bad && st.Notified != 0:
		k = notify.Recovery
	default:
		k = notify.Problem
	}
	a.in.Kind = k
	switch {
	case k == notify.Problem && !bad:
		a.turn(a.failing())
	case k == notify.Recovery && st.State != object.OK:
		a.turn(object.OK)
	}
}

// failing returns the state that a failure gives the object: a host behind hosts
// that are down is not DOWN, but UNREACHABLE, which its policy may tell of or not. It is
// what the engine makes of such a result.
func (a *asking) failing() object.State {
	state := failed(a.o.Kind())
	env := *a.env
	env.Epoch = max(a.state.Fence, a.state.Measure.Epoch)
	d, err := fold.Decide(&env, a.state, fold.Result{State: state, Start: a.at}, a.at)
	if err == nil && d.HasLog && d.Log.Status != nil && d.Log.Status.State != object.OK {
		return d.Log.Status.State
	}
	return state
}

// turn supposes that the object changes its state at the time, hard.
func (a *asking) turn(to object.State) {
	before, after := *a.in.Status, *a.in.Status
	after.State, after.Type, after.Checked, after.Attempt = to, object.Hard, true, 1
	after.LastChange, after.LastHardChange, after.Problem = a.at, a.at, 0
	if to != object.OK {
		after.Problem, after.Attempt = a.at, max(after.MaxAttempts, 1)
	}
	a.in.Fields = notify.Turn(a.in.Fields, &before, &after, a.at)
	a.in.Before, a.in.Status = &before, &after
	is, happens, became := "is", "would happen", "became"
	if a.answer.Past {
		is, happens, became = "was", "would have happened", "had become"
	}
	a.answer.Supposed = fmt.Sprintf("it %s %s; this is what %s if it %s %s (hard) at %s",
		is, stateName(a.o, &before), happens, became, to.Name(a.o.Kind()), stamp(a.at))
}

// supposed returns the state that the answer is about, with what was supposed.
func (a *asking) supposed() *fold.State {
	s := *a.state
	s.Status = *a.in.Status
	a.in.Fields.Put(&s.Status)
	if a.answer.Supposed != "" {
		s.Measure.LastCheck = a.at
	}
	return &s
}
