package notify

import (
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Never in Fields.Next says that the present problem is not told again.
const Never object.Time = -1

// Fields is what an object remembers of the notifications of an incident: since
// the first problem that was told until the recovery that was.
type Fields struct {
	Number   int32            // notifications of the present problem
	Notified object.StateMask // states of problems that somebody was told of; 0 = no recovery is owed
	Last     object.Time      // when somebody was last told of a problem or a recovery
	Next     object.Time      // earliest repetition; 0 = at once, Never = none
	Hard     object.Time      // since when the present problem is hard; 0 = it is not
	Told     []string         // contacts who were told and not yet of the recovery, sorted
}

// FieldsOf returns what a status holds of the fields.
func FieldsOf(st *event.Status) Fields {
	f := Fields{
		Number: st.NotificationNumber, Notified: st.Notified, Last: st.LastNotification, Next: st.NextNotification,
		Hard: st.Hard,
	}
	if st.Told != "" {
		f.Told = strings.Split(strings.TrimSuffix(st.Told, "\n"), "\n")
	}
	return f
}

// Put writes the fields into a status.
func (f *Fields) Put(st *event.Status) {
	st.NotificationNumber, st.Notified = f.Number, f.Notified
	st.LastNotification, st.NextNotification = f.Last, f.Next
	st.Hard, st.Told = f.Hard, ""
	if len(f.Told) > 0 {
		st.Told = strings.Join(f.Told, "\n") + "\n"
	}
}

// Input is everything that a decision looks at.
type Input struct {
	Object *object.Object
	Kind   Kind
	// What an operator asked for with a notification of his own: through every
	// gate, to everybody, counted.
	Forced, Broadcast, Increment bool
	Author, Text                 string

	Status *event.Status // of the object after the change
	Before *event.Status // before it; nil = as after
	Host   *event.Status // of a service's host; nil for hosts
	Fields Fields        // as Turn left them

	Settings *object.Settings               // with what operators switched
	Contacts map[string]event.ContactStatus // what operators set of contacts, by name
	Known    map[string]*object.Contact     // contacts of the running config
	Periods  map[string]object.Period       // of the running config, for the names that operators set
	Failed   object.ID                      // what the object depends on and has failed; "" = nothing
	// HostBack and MasterBack are when the host, or the last of what the object
	// depends on, came back, if the object was not checked since and its check is
	// still awaited, which it is until Proof; else 0.
	HostBack, MasterBack, Proof object.Time
	// Flexible tells that a flexible downtime begins with this very problem.
	Flexible bool
	Started  object.Time // of the program
	Now      object.Time
}

// Outcome is a decision with its reasons.
type Outcome struct {
	Kind Kind
	Send bool // somebody is told
	// Policy is the name of the policy that had its say, Group how it groups.
	Policy string
	Group  object.Grouping
	By     Gate // the gate of the object that has decided against it; "" = none
	// Until is when time alone may change the decision; 0 = not by time.
	Until object.Time

	Gates    []Check   // the object's, all of them in order
	Contacts []Contact // everybody who could have been told, sorted by name

	Steps  []string // names of the escalation's steps that chose the contacts; none = not escalated
	Number int32    // of this notification; 0 before the first one
	// Fields is what the object remembers from now on.
	Fields Fields
}

// Contact is the verdict about one contact.
type Contact struct {
	Name   string
	Config *object.Contact // nil if the config has it no more
	Told   bool
	By     Gate    // the gate that has decided against it; "" = none
	Gates  []Check // all of them in order
}

// Told returns the names of those who are told, in order.
func (o *Outcome) Told() []string {
	var names []string
	for i := range o.Contacts {
		if o.Contacts[i].Told {
			names = append(names, o.Contacts[i].Name)
		}
	}
	return names
}

// Why returns the sentence of the gate of the object that has decided, "" if none
// has.
func (o *Outcome) Why() string {
	for _, c := range o.Gates {
		if c.Verdict == Blocked {
			return c.Why
		}
	}
	return ""
}
