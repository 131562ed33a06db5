package object

import "time"

// NoteOptions is a set of what people are told about: bit n for State(n), where
// OK stands for the recovery, then what is no state.
type NoteOptions uint8

// What people are told about beside states.
const (
	NoteRecovery NoteOptions = 1 << OK
	NoteFlapping NoteOptions = 1 << (iota + 3)
	NoteDowntime
)

// NoteAll is everything that people can be told about.
const NoteAll = NoteRecovery | 1<<Warning | 1<<Critical | 1<<Unknown | NoteFlapping | NoteDowntime

// Has tells whether the set holds everything of w.
func (n NoteOptions) Has(w NoteOptions) bool { return n&w == w }

// State tells whether the set holds a state; OK means the recovery.
func (n NoteOptions) State(s State) bool { return n&(1<<s) != 0 }

// Problems returns the states of problems in the set.
func (n NoteOptions) Problems() StateMask {
	return StateMask(n) & (1<<Warning | 1<<Critical | 1<<Unknown)
}

// Notification says whom an object's problems are told to and when. It is shared
// by all objects for which it is the same and never changes.
type Notification struct {
	Contacts []*Contact // told where no step says otherwise; each once, sorted by name
	Options  NoteOptions
	// FirstDelay is how long a problem has to be hard before anybody is told.
	FirstDelay time.Duration
	Importance int // of the service, or of the host with all its services
	Steps      []*Step

	// FromFirst counts FirstDelay from when the problem first was hard; else from
	// the last change of its hard state, as Nagios does.
	FromFirst bool
	// ToTold sends a recovery to everybody who was told of the incident; else to
	// those whom the steps choose when it is sent, as Nagios does.
	ToTold bool
	// Timed tells people when their time has come; else they are only told with a
	// check result, as Nagios does.
	Timed bool
}

// Step is one step of an escalation: from then on others are told. It holds from a
// number of notifications or from an age of the problem on; both must fit.
type Step struct {
	Name        string // for people
	Contacts    []*Contact
	First, Last int32 // numbers of notifications; Last 0 = without end
	// After and Until bound the age of the hard problem; Until 0 = without end.
	After, Until time.Duration
	Interval     time.Duration // between notifications; below 0 = the object's
	Options      NoteOptions   // states in which the step holds
	Period       Period        // nil = always
	// Adds tells the step's contacts beside those who are told anyway; else
	// instead of them.
	Adds bool
}

// Reach is what a contact is told about one kind of object, and how.
type Reach struct {
	Off      bool
	Options  NoteOptions
	Period   Period     // nil = always
	Commands []*Handler // run one by one
}

// ContactNotification is how a contact is told.
type ContactNotification struct {
	Hosts, Services Reach
	// Importance is what an object needs at least.
	Importance int
}

// Of returns what the contact is told about a kind of object.
func (c *ContactNotification) Of(k Kind) *Reach {
	if k == Host {
		return &c.Hosts
	}
	return &c.Services
}
