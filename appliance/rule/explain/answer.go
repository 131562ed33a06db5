package explain

import (
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// Answer says who is told what about an object at a time, and why. Sentences have
// no full stop; times are 0 where there is none.
type Answer struct {
	Object    object.ID
	At        object.Time
	Past      bool   // At is before the present
	Future    bool   // At is behind the present: as if nothing happened until then
	Condition string // of the object at At, in words
	// Supposed says what was supposed, because nothing is to be told of the state as
	// it is; "" = nothing.
	Supposed string
	Decision Decision
	Next     Next
	Ahead    []Ahead  // notifications to come, as long as nothing happens
	Recorded []Record // decisions on the log, newest first
	Caveats  []string // what limits the answer
}

// Decision is the decision that is made at the time.
type Decision struct {
	Kind    notify.Kind
	Send    bool   // somebody is told, with Question.Contact that one
	Verdict string // the whole of it in one sentence
	By      notify.Gate
	Until   object.Time // when time alone may change it; 0 = not by time
	Policy  string
	Number  int32    // of the notification
	Steps   []string // of the escalation that choose the contacts
	Gates   []Gate   // the object's, in order
	// People are those who could be told, sorted by name; with Question.Contact
	// that one alone.
	People []Person
	// Changes are what has to be different for somebody, or the contact, to be told:
	// all of them together. None = somebody is told, or nothing helps.
	Changes []Change
	If      string // Changes in one sentence: "would be sent if …"
}

// Gate is the verdict of one gate.
type Gate struct {
	Name    notify.Gate
	Verdict notify.Verdict
	Meaning string // what the gate asks for
	Why     string // "" = not reached
	Until   object.Time
}

// Person is the verdict about one contact.
type Person struct {
	Name     string
	Alias    string
	Told     bool
	Says     string // told, not told, would be told or given up
	Why      string // one sentence
	By       notify.Gate
	Channels []string // over which the contact is told
	Gates    []Gate   // the contact's, in order
	// Changes are as in Decision, for this contact. They are sought for the first 50
	// people alone; Question.Contact asks about one.
	Changes []Change
	If      string
}

// Change is one thing that would have to be different.
type Change struct {
	Gate    notify.Gate // that blocks as things are
	Contact string      // whose gate it is; "" = the object's
	At      object.Time // the time that would have to come; 0 = time does not help
	Number  int32       // which notification of the problem it would have to be; 0 = that does not help
	Text    string      // behind "if": "the acknowledgement by alice were removed"
}

// Next is what happens by itself next.
type Next struct {
	At   object.Time // 0 = nothing happens by time alone
	Kind notify.Kind
	Text string
}

// Ahead is a notification to come, or several that are told to the same people by
// the same steps of the escalation.
type Ahead struct {
	At     object.Time // of the first one
	Last   object.Time // of the last one that was looked at
	Number int32       // of the first one
	Times  int         // how many, at least
	More   bool        // and so on until something happens
	Steps  []string
	Told   []string // names, sorted
}

// Record is a decision that stands on the log.
type Record struct {
	Object object.ID
	Time   object.Time
	Event  string // id of the event
	Seq    uint64 // its position on the log
	Cause  string // kind of the event, "check.result"
	State  string // of the object then, as in CRITICAL
	Kind   notify.Kind
	Send   bool
	Text   string // of an operator, with notifications he asked for
	Author string
	Number int32
	Policy string
	Steps  []string
	By     notify.Gate
	Why    string // why nobody was told; "" = somebody was
	Until  object.Time
	Gates  []Gate
	People []Person
	// Deliveries are the messages it asked for, in order.
	Deliveries []Delivery
}

// Status is what became of a request.
type Status string

// The statuses of deliveries.
const (
	Waiting   Status = "waiting"   // not delivered yet
	Failed    Status = "failed"    // an attempt failed; it is tried again
	Delivered Status = "delivered" // final
	Abandoned Status = "abandoned" // given up; final
	Unsaid    Status = "unknown"   // its outcome is not in what was read
)

// Delivery is one message to one contact over one channel.
type Delivery struct {
	Request  string // the id
	Contact  string
	Channel  string
	Status   Status
	Time     object.Time // of the newest outcome
	Attempts int         // 0 = not known, or none
	Reason   string      // of the last failure
	Repeat   bool        // it was marked as a possible repetition
	Group    string      // whose message it was in
	With     int         // for how many requests that message was
	Message  string      // its id
}
