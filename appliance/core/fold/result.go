package fold

import (
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// result judges the outcome of a check.
func (d *decider) result(r *Result) (Decision, error) {
	if err := d.acceptable(r); err != nil {
		return Decision{}, err
	}
	state := r.State
	if d.env.Object.Kind() == object.Host {
		state = d.reachability(r)
		d.judgeHost(state, r)
	} else {
		d.judgeService(state)
	}
	d.next.State, d.next.Checked = state, true
	d.next.MaxAttempts = attempts(d.env.Object)
	d.stamp()
	d.clearAck()

	m := d.nextMeasure()
	d.fill(m, r)
	d.history(m)
	d.flap(m.Ring)

	var out Decision
	d.measure(&out, event.CheckResult, m)
	if d.changed() || d.freshProblem() {
		d.log(&out, event.CheckResult, m)
		d.transition(&out.Log)
		if r.Expired {
			out.Log.Facts = map[string]string{"expired": "true"}
		}
	}
	return out, nil
}

func attempts(o *object.Object) int32 { return int32(max(o.Rule.Attempts, 1)) }

func (d *decider) acceptable(r *Result) error {
	o := d.env.Object
	highest := object.Unknown
	if o.Kind() == object.Host {
		highest = object.Unreachable
	}
	if r.State > highest {
		return refuse(d.env, BadState, "a %s has no state %d; use 0 to %d", o.Kind(), r.State, highest)
	}
	if !r.Passive {
		return nil
	}
	if !d.env.Settings.PassiveChecks(o.Kind()) {
		return refuse(d.env, PassiveOff, "submitted results are switched off for the whole program; switch passive checks on")
	}
	if !Enabled(o, &d.base, object.SwitchPassive) {
		return refuse(d.env, PassiveOff, "submitted results are switched off for this %s; switch its passive checks on", o.Kind())
	}
	return nil
}

// judgeService sets type and attempt by the service tables of Nagios Core 4.5.
func (d *decider) judgeService(state object.State) {
	limit, hostUp := attempts(d.env.Object), true
	if h := d.env.Host; h != nil {
		hostUp = h.Status.State == object.Up
	}
	was := &d.base
	switch {
	case state == object.OK:
		// A soft recovery is soft only in what is told about it.
		d.set(object.Hard, 1)
	case was.State == object.OK:
		// A problem behind a host that is not UP is hard at once.
		d.set(softUnless(!hostUp || limit == 1), 1)
	case was.Type == object.Soft && hostUp && was.Attempt+1 < limit:
		d.set(object.Soft, was.Attempt+1)
	case was.Type == object.Soft || state != was.State || was.Attempt == was.MaxAttempts:
		d.set(object.Hard, limit)
	default:
		// It became hard because of its host: the attempt stays.
		d.set(object.Hard, min(was.Attempt, limit))
	}
}

// judgeHost sets type and attempt by the host tables of Nagios Core 4.5.
func (d *decider) judgeHost(state object.State, r *Result) {
	limit := attempts(d.env.Object)
	counts := !r.Passive || d.env.Settings.PassiveHostsAreSoft
	was := &d.base
	switch {
	case state == object.Up:
		soft := counts && was.State != object.Up && was.Type == object.Soft
		d.set(softUnless(!soft), 1)
	case !counts:
		d.set(object.Hard, 1)
	case was.State == object.Up:
		d.set(softUnless(limit == 1), 1)
	case was.Type == object.Soft && was.Attempt+1 < limit:
		d.set(object.Soft, was.Attempt+1)
	default:
		d.set(object.Hard, limit)
	}
}

func (d *decider) set(t object.StateType, attempt int32) {
	d.next.Type, d.next.Attempt = t, attempt
}

func softUnless(hard bool) object.StateType {
	if hard {
		return object.Hard
	}
	return object.Soft
}

// reachability tells DOWN from UNREACHABLE by the parents' present states. A
// submitted state stands as it is unless the settings say otherwise.
func (d *decider) reachability(r *Result) object.State {
	switch {
	case r.State == object.Up, r.Passive && !d.env.Settings.TranslatePassiveHosts:
		return r.State
	case len(d.env.Object.Parents) == 0, d.env.ParentsUp > 0:
		return object.Down
	}
	return object.Unreachable
}

// stamp sets the times that follow from the change.
func (d *decider) stamp() {
	first := !d.base.Checked
	if first || d.next.State != d.base.State {
		d.next.LastChange = d.now
	}
	if d.next.Type == object.Hard && (first || d.next.State != d.base.LastHard) {
		d.next.LastHard, d.next.LastHardChange = d.next.State, d.now
	}
	switch {
	case d.next.State == object.OK:
		d.next.Problem = 0
	case d.next.Problem == 0:
		d.next.Problem = d.now
	}
}

// clearAck ends a normal acknowledgement with any change of state and a sticky
// one with the recovery; the hardening of the same state ends neither.
func (d *decider) clearAck() {
	if d.base.Ack == object.AckNone {
		return
	}
	recovered := d.next.State == object.OK
	if !recovered && (d.base.Ack == object.AckSticky || d.next.State == d.base.State) {
		return
	}
	d.ackCleared = true
	d.next.Ack, d.next.AckExpires = object.AckNone, 0
	d.next.Extra = withoutAck(d.next.Extra)
}

// withoutAck returns a copy without the acknowledgement and its comments,
// except those that were to stay; nil if nothing is left.
func withoutAck(x *event.Extra) *event.Extra {
	if x == nil {
		return nil
	}
	left := event.Extra{Downtimes: x.Downtimes}
	left.Comments = slices.DeleteFunc(slices.Clone(x.Comments), func(c event.Comment) bool {
		return c.Kind == "acknowledgement" && !c.Persistent
	})
	if len(left.Comments) == 0 {
		left.Comments = nil
	}
	if left.Comments == nil && left.Downtimes == nil {
		return nil
	}
	return &left
}

// fill takes what the check said into the measure.
func (d *decider) fill(m *event.Measure, r *Result) {
	m.State, m.Passive = d.next.State, r.Passive
	m.LastCheck, m.Latency, m.Took = r.Start, r.Latency, r.Took
	m.Output, m.Long, m.Perfdata = r.Output, r.Long, r.Perfdata
	m.LastIn[m.State&3] = r.Start
	switch {
	case r.Next != 0:
		m.NextCheck = r.Next
	case !r.Passive || m.NextCheck == 0:
		// What somebody submits leaves the plan of the active checks alone.
		m.NextCheck = nextActive(d.env, &d.next, m.LastCheck)
	}
}

// freshProblem tells whether the result counts as a new problem although
// nothing changed: every hard one of a volatile service does.
func (d *decider) freshProblem() bool {
	return d.env.Object.Rule.Volatile && d.env.Object.Kind() == object.Service &&
		d.next.State != object.OK && d.next.Type == object.Hard
}

// transition says on the event what was before if state or type changed.
func (d *decider) transition(e *event.Event) {
	b := &d.base
	if b.Checked && b.State == d.next.State && b.Type == d.next.Type {
		return
	}
	e.Transition = true
	e.Was = &event.Was{State: b.State, Type: b.Type, Attempt: b.Attempt, Checked: b.Checked}
}
