package rehearse

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// Scene is what a rehearsal begins with and what happens in it.
type Scene struct {
	Set        *object.Set
	Start, End object.Time
	// Settled begins with objects that were checked before and are fine; else
	// nothing was ever checked, as at the first start of an engine.
	Settled bool
	// Cast are the objects that are checked; nil = all. What the others would say is
	// taken to change nothing.
	Cast []object.ID
	// Find says what a check finds that starts at a time; nil = all is well.
	Find func(o *object.Object, at object.Time) Finding
	// Acts are what else happens, sorted by time.
	Acts []Act
	// Beyond is how long after End it is looked for who is told next; 0 = not at all.
	Beyond time.Duration
	// Watch is called with every decision on the log in its order; the event may be
	// kept. nil = nobody looks.
	Watch func(*event.Event)
}

// Finding is what a check finds.
type Finding struct {
	State  object.State
	Output string
	Takes  time.Duration // of the execution
}

// Act is something that happens beside checks. Exactly one of Command, Program and
// Set is set.
type Act struct {
	At      object.Time
	Object  object.ID    // of Command
	Command fold.Command // as of an operator; a fold.Result is a submitted one
	Program program.Command
	Set     *object.Set // another config of the same objects
	// First starts the check that a Reschedule asks for before anything else that is
	// due in the same instant; one that takes no time is judged there too.
	First bool
}

// Outcome is what came of a scene.
type Outcome struct {
	Entries  []Entry   // every verdict about telling somebody, in order
	Messages []Message // as they went out, in order
	// Abandoned are messages that were not due before their deadline, in order. Their
	// Number is 0.
	Abandoned []Message
	Refused   []Refused // acts that were refused
	// Next are the entries of the first decision after the end that tells somebody;
	// none if there was none within Scene.Beyond.
	Next []Entry
	// Cut tells that the look beyond the end was given up because too much happened
	// in it.
	Cut bool
}

// Refused is an act that the core refused, and why.
type Refused struct {
	Act Act
	Err error
}

// Entry is the verdict about one contact and one channel, or about a contact who is
// not told, or about nobody where nobody could have been told.
type Entry struct {
	Time    object.Time
	Object  object.ID
	Kind    string // PROBLEM, RECOVERY, …
	Number  int32  // of the notification
	State   object.State
	Type    object.StateType
	Policy  string   // name of the policy that had its say
	Steps   []string // of the escalation that chose the contacts
	Contact string   // "" = nobody could have been told
	Told    bool
	Channel string // over which the contact is told; "" = has none, or is not told
	// Gate is the gate that has decided against it; "" if the contact is told. Why
	// is its sentence, or why the contact was chosen.
	Gate, Why string
	Until     object.Time // when time alone may change the decision; 0 = not by time
	// Request is the id of what is to be delivered, Message the number of the
	// message it went out in, from 1 on; 0 = in none by the end.
	Request   string
	Message   int
	Abandoned bool // the deadline has passed before it was due
}

// Message is one message to one contact over one channel.
type Message struct {
	Number           int // from 1 on
	Time             object.Time
	Contact, Channel string
	Group            string    // what its notifications have in common; "" = it is about one
	Root             object.ID // the failed host that explains them; "" = none
	Entries          []int     // indexes of Outcome.Entries
}
