package explain

import (
	"math"
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// lift takes away from an input what a gate of the object blocks for.
func lift(in *notify.Input, g notify.Gate) {
	switch g {
	case notify.GateProgram:
		in.Settings.On |= object.ProgramNotifications
	case notify.GatePolicy:
		if n := in.Object.Notify; n != nil {
			n.States, n.Period = 0, nil
		}
	case notify.GatePeriod:
		in.Object.Rule.NotePeriod = nil
		if name, set := in.Status.Setting(event.SettingNotePeriod); set && in.Periods[name] != nil {
			in.Periods[name] = nil // nil = always
		}
	case notify.GateSwitch:
		in.Status.Off &^= object.SwitchNotifications
		in.Status.On |= object.SwitchNotifications
	case notify.GateOption:
		for n := range policies(in) {
			n.Options = object.NoteAll
		}
	case notify.GateDependency:
		in.Failed, in.MasterBack = "", 0
	case notify.GateHost:
		in.Host.State, in.HostBack = object.Up, 0
	case notify.GateHostDowntime:
		in.Host.DowntimeDepth = 0
	default:
		liftStatus(in, g)
	}
}

// liftStatus takes away what stands in the object's own status.
func liftStatus(in *notify.Input, g notify.Gate) {
	switch g {
	case notify.GateProblem:
		in.Status.State = failed(in.Object.Kind())
	case notify.GateHard:
		in.Status.Type = object.Hard
	case notify.GateAcknowledged:
		in.Status.Ack = object.AckNone
	case notify.GateTold:
		for n := range policies(in) {
			for _, c := range n.Contacts {
				told(in, c.Name)
			}
		}
		in.Fields.Notified |= object.NoteAll.Problems()
	case notify.GateDelay:
		for n := range policies(in) {
			n.FirstDelay = 0
		}
	case notify.GateFlapping:
		in.Status.Flapping = false
	case notify.GateDowntime:
		in.Status.DowntimeDepth = 0
		if in.Before != nil {
			in.Before.DowntimeDepth = 0
		}
	case notify.GateFlexible:
		in.Flexible = false
	case notify.GateRepeat, notify.GateInterval:
		in.Fields.Next = 0
	}
}

// failed returns the state of a kind of object that fails.
func failed(k object.Kind) object.State {
	if k == object.Host {
		return object.Down
	}
	return object.Critical
}

// liftContact takes away what a gate of a contact blocks for.
func liftContact(in *notify.Input, g notify.Gate, who string) {
	kind := in.Object.Kind()
	if in.Known[who] == nil {
		name(in, who)
	}
	switch g {
	case notify.GateKnown, notify.GateChosen:
		name(in, who)
	case notify.GateImportance:
		reaches(in, who, func(c *object.ContactNotification) { c.Importance = math.MinInt })
	case notify.GateContactSwitch:
		reaches(in, who, func(c *object.ContactNotification) { c.Of(kind).Off = false })
		set := in.Contacts[who]
		set.HostOff, set.ServiceOff = set.HostOff && kind != object.Host, set.ServiceOff && kind == object.Host
		setContact(in, who, set)
	case notify.GateContactPeriod:
		reaches(in, who, func(c *object.ContactNotification) { c.Of(kind).Period = nil })
		set := in.Contacts[who]
		set.Settings = slices.DeleteFunc(slices.Clone(set.Settings), func(s event.Setting) bool {
			return s.Name == kind.String()+"_notification_period"
		})
		setContact(in, who, set)
	case notify.GateContactOption:
		reaches(in, who, func(c *object.ContactNotification) { c.Of(kind).Options = object.NoteAll })
	case notify.GateContactProblem:
		reaches(in, who, func(c *object.ContactNotification) { c.Of(kind).Options = object.NoteAll })
		told(in, who)
	}
}

func setContact(in *notify.Input, who string, set event.ContactStatus) {
	if in.Contacts == nil {
		in.Contacts = map[string]event.ContactStatus{}
	}
	in.Contacts[who] = set
}
