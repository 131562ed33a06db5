package notify

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// forced is why a gate passes that a forced notification does not ask.
const forced = "the notification is forced"

// Note returns the outcome as it stands on the log, for a kind of object. What a gate
// says when it passes is left out, unless it is about who was chosen or forced:
// Meaning says the rest.
func (o *Outcome) Note(k object.Kind) event.Note {
	n := event.Note{
		Kind: string(o.Kind), Send: o.Send, By: string(o.By), Until: o.Until, Number: o.Number,
		Policy: o.Policy, Steps: o.Steps, Group: o.Group, Gates: logged(o.Gates),
	}
	for i := range o.Contacts {
		c := &o.Contacts[i]
		p := event.Person{Name: c.Name, Told: c.Told && o.Send, By: string(c.By), Gates: logged(c.Gates)}
		if c.Config != nil && c.Config.Notify != nil {
			p.Channels = c.Config.Notify.Over(k)
		}
		n.People = append(n.People, p)
	}
	return n
}

func logged(all []Check) []event.Gate {
	gates := make([]event.Gate, len(all))
	for i, c := range all {
		gates[i] = event.Gate{Name: string(c.Gate), Verdict: event.GateVerdict(c.Verdict)}
		if c.Verdict == Blocked || c.Gate == GateChosen || c.Gate == GatePolicy || c.Why == forced {
			gates[i].Why = c.Why
		}
	}
	return gates
}

// Meaning says in a sentence without a full stop what a gate asks for; "" for one
// that this build does not know.
func (g Gate) Meaning() string {
	switch g {
	case GateProgram:
		return "notifications are on for the whole program"
	case GatePolicy:
		return "a policy is for the object, its state and the time"
	case GatePeriod:
		return "inside the object's notification period"
	case GateSwitch:
		return "notifications are on for the object"
	case GateProblem:
		return "there is a problem to speak of"
	case GateOption:
		return "the object tells of this at all"
	case GateHard:
		return "the state is hard"
	case GateAcknowledged:
		return "nobody has acknowledged the problem"
	case GateDependency:
		return "nothing that the object depends on has failed"
	case GateTold:
		return "somebody was told of the problem"
	case GateDelay:
		return "the problem is old enough for the first notification"
	case GateFlapping:
		return "the object does not flap"
	case GateDowntime:
		return "the object is in no downtime"
	case GateHostDowntime:
		return "its host is in no downtime"
	}
	return g.furtherMeaning()
}

func (g Gate) furtherMeaning() string {
	switch g {
	case GateFlexible:
		return "no flexible downtime begins with the problem"
	case GateRepeat:
		return "the problem may be told again at all"
	case GateHost:
		return "the host is there, so that the problem is the service's"
	case GateInterval:
		return "enough time has passed since the last notification"
	case GateContacts:
		return "a contact is left to be told"
	case GateKnown:
		return "the config has the contact"
	case GateChosen:
		return "the object, its policy or a step of the escalation names the contact"
	case GateImportance:
		return "the object is important enough for the contact"
	case GateContactSwitch:
		return "the contact's notifications are on"
	case GateContactPeriod:
		return "inside the contact's notification period"
	case GateContactOption:
		return "the contact wants to hear of this"
	case GateContactProblem:
		return "the contact was told of the problem"
	}
	return ""
}
