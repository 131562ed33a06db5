package fold

import (
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
	}
	if err := d.timely(r, state); err != nil {
		return Decision{}, err
	}
	if d.env.Object.Kind() == object.Host {
		d.judgeHost(state, r)
	} else {
		d.judgeService(state)
	}
	d.next.State, d.next.Checked = state, true
	d.next.MaxAttempts = attemptsOf(d.env, &d.base)
	d.next.Root = rootNow(d.env, &d.next)
	d.stamp()
	d.clearAck()
	d.grantWish(r)
	d.startFlexible()
	d.tidy()

	m := d.nextMeasure()
	d.fill(m, r)
	d.checked = r.Start
	d.history(m)
	d.flap(m.Ring)
	d.turn()

	var out Decision
	d.measure(&out, event.CheckResult, m)
	if d.changed() || d.freshProblem() || d.repeats() {
		if r.Expired {
			d.note("expired", "true")
		}
		d.log(&out, event.CheckResult, m)
		d.transition(&out.Log)
	}
	return out, nil
}

func attempts(o *object.Object) int32 { return int32(max(o.Rule.Attempts, 1)) }

func (d *decider) acceptable(r *Result) error {
	o := d.env.Object
	highest := object.Unknown
	switch {
	case o.Kind() == object.Host:
		highest = object.Unreachable
	case r.Passive && r.State > highest:
		r.State = object.Unknown // as a plugin's exit code would be
	}
	if r.State > highest {
		return refuse(d.env, BadState, "a %s has no state %d; use 0 to %d", o.Kind(), r.State, highest)
	}
	if !r.Passive {
		return nil
	}
	if o.Notify != nil && o.Notify.Heartbeat {
		return refuse(d.env, PassiveOff, "each round of the canary is a check of its own: a submitted result proves nothing; let its checks run")
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
	limit, hostUp := attemptsOf(d.env, &d.base), true
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
	limit := attemptsOf(d.env, &d.base)
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
	d.dropAck()
}

// dropAck ends the acknowledgement. Its comments go with it, except those that
// were to stay.
func (d *decider) dropAck() {
	d.ackCleared = true
	d.next.Ack, d.next.AckExpires = object.AckNone, 0
	x := d.extra()
	x.AckAuthor, x.AckText, x.AckTime = "", "", 0
	x.Comments, _ = without(x.Comments, func(c *event.Comment) bool {
		return c.Kind == event.CommentAcknowledgement && !c.Persistent
	})
}

// grantWish ends the wish for a check with the first one that started since.
func (d *decider) grantWish(r *Result) {
	x := d.next.Extra
	if r.Passive || r.Expired || x == nil || x.CheckAt == 0 || r.Start < x.CheckAt {
		return
	}
	x = d.extra()
	x.CheckAt, x.CheckForced = 0, false
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
