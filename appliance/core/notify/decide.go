package notify

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Decide says who is told and why, or why not. Every contact that the object or
// its escalation names has exactly one verdict.
func Decide(in *Input) Outcome { return decide(in).out }

func decide(in *Input) *decision {
	d := &decision{in: in}
	d.choose()
	d.out = Outcome{Kind: in.Kind, Fields: in.Fields, Policy: d.note.Name, Group: d.note.Group}
	d.number = in.Fields.Number
	if in.Kind == Problem || in.Increment {
		d.number++
	}
	d.out.Number = d.number
	d.findSteps()
	d.object()
	if d.lateOnly {
		d.out.Number = in.Fields.Number
	}
	d.people()
	d.settle()
	return d
}

// decision holds one decision while it is made.
type decision struct {
	in     *Input
	note   *object.Notification // never nil
	none   bool                 // no policy is for the state and the time
	number int32
	out    Outcome
	gates  gates

	steps []*object.Step // of the escalation that hold now
	// early tells that the problem is told again although the interval still runs,
	// because a step has just begun or a contact can be told at last: then they alone
	// are told. lateOnly tells that it is for such contacts alone; what the others
	// hear next, and when, stays as it is.
	early, lateOnly bool
}

// object goes through the gates of the object.
func (d *decision) object() {
	d.gate(GateProgram, d.program)
	if all := d.in.Object.Notify; all != nil && all.Name != "" {
		d.gate(GatePolicy, d.policy)
	}
	d.gate(GatePeriod, d.period)
	d.gate(GateSwitch, d.switched)
	switch k := d.in.Kind; {
	case k.state():
		d.ofState()
	case k == Heartbeat:
	case k == Acknowledgement:
		d.gate(GateProblem, func() Check {
			return passIf(d.in.Status.State != object.OK, "there is a problem", "there is no problem that somebody could take note of")
		})
	case k.flapping():
		d.gate(GateOption, func() Check { return d.tells(object.NoteFlapping, "flapping") })
		d.downtimes()
	case k.downtime():
		d.gate(GateOption, func() Check { return d.tells(object.NoteDowntime, "downtimes") })
		d.gate(GateDowntime, d.otherDowntime)
	default:
		d.downtimes()
	}
}

// ofState goes through the gates of problems and recoveries.
func (d *decision) ofState() {
	problem := d.in.Kind == Problem
	d.gate(GateHard, d.hard)
	if problem {
		d.gate(GateAcknowledged, d.acknowledged)
	}
	d.gate(GateDependency, d.dependency)
	d.gate(GateOption, func() Check {
		name := d.in.Status.State.Name(d.in.Object.Kind())
		if !problem {
			return d.tells(object.NoteRecovery, "recoveries")
		}
		return d.tells(1<<d.in.Status.State, name)
	})
	if problem {
		d.gate(GateDelay, d.delay)
	} else {
		d.gate(GateTold, func() Check {
			return passIf(d.in.Fields.Notified != 0, "somebody was told of the problem", "nobody was told of the problem")
		})
	}
	d.gate(GateFlapping, func() Check {
		return passIf(!d.in.Status.Flapping, "the "+d.kind()+" does not flap", "the "+d.kind()+" flaps")
	})
	d.downtimes()
	if problem {
		d.gate(GateFlexible, func() Check {
			return passIf(!d.in.Flexible, "no flexible downtime begins with this problem", "a flexible downtime begins with this problem")
		})
		d.gate(GateRepeat, d.repeat)
	}
	if d.in.Host != nil {
		d.gate(GateHost, d.host)
	}
	if problem {
		d.gate(GateInterval, d.interval)
	}
}

func (d *decision) downtimes() {
	d.gate(GateDowntime, func() Check { return downtime(d.kind(), d.in.Status) })
	if d.in.Host != nil {
		d.gate(GateHostDowntime, func() Check { return downtime("host", d.in.Host) })
	}
}

// gate asks a gate unless the operator forces the notification through.
func (d *decision) gate(g Gate, ask func() Check) {
	d.gates.look(g, func() Check {
		if d.in.Forced {
			return pass(forced)
		}
		return ask()
	})
}

func (d *decision) kind() string { return d.in.Object.Kind().String() }

func (d *decision) volatile() bool {
	return d.in.Object.Rule.Volatile && d.in.Object.Kind() == object.Service
}

func (d *decision) toTold() bool { return d.in.Kind == Recovery && d.note.ToTold }

// before returns the status before the change.
func (d *decision) before() *event.Status {
	if d.in.Before != nil {
		return d.in.Before
	}
	return d.in.Status
}
