package object

import (
	"slices"
	"time"
)

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

// Notification says whom an object's problems are told to and when: what one policy
// of the config makes for the objects it is for. It is shared by all objects for
// which it is the same and never changes.
type Notification struct {
	Name     string     // of the policy, for people; "" where the config knows none
	Contacts []*Contact // told where no step says otherwise; each once, sorted by name
	Rotas    []Rota     // who is on call by them is told too
	Options  NoteOptions
	// FirstDelay is how long a problem has to be hard before anybody is told.
	FirstDelay time.Duration
	// Interval is after how long a problem is told again; 0 = that of the object's
	// rule, below 0 = it is told once.
	Interval   time.Duration
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

	// States and Period bound what the policy is for. Outside of them the next one
	// in Else has its say; nil = every time. A recovery and what is no state is for
	// every policy whose Period fits.
	States StateMask // of problems; 0 = all
	Period Period
	Else   *Notification

	// Group says which notifications become one message.
	Group Grouping
	// Heartbeat tells every check result, whatever its state: the object is the
	// canary that proves the way from the schedule to the delivery.
	Heartbeat bool
}

// For returns the notification that has its say about a state at a time: the one
// itself or one of those in Else; nil if none has. OK stands for everything that
// is no problem.
func (n *Notification) For(s State, t Time) *Notification {
	for ; n != nil; n = n.Else {
		if (s == OK || n.States == 0 || n.States.Has(s)) && Inside(n.Period, t) {
			return n
		}
	}
	return nil
}

// Rota is an on-call schedule. Any goroutine may ask it.
type Rota interface {
	Name() string
	// OnCall returns the name of the contact who is on call at a time, "" if nobody
	// is, why, and until when the answer holds; 0 = for ever.
	OnCall(Time) (contact, why string, until Time)
	// Members returns everybody who may ever be on call, sorted.
	Members() []string
}

// GroupBy is what notifications have in common that become one message.
type GroupBy string

// The ways to group. A label is GroupLabel and its name.
const (
	GroupNone   GroupBy = ""       // each is a message of its own
	GroupRoot   GroupBy = "root"   // the failed host that explains the problems, else the object alone
	GroupHost   GroupBy = "host"   // the host
	GroupPolicy GroupBy = "policy" // the policy: all that one contact gets by it
	GroupLabel  GroupBy = "label:"
)

// Grouping says which notifications to one contact become one message and how long
// the message waits for more of them.
type Grouping struct {
	By GroupBy
	// Wait is how long the first message of a group waits for others, Interval
	// how long after a message of the group the next one does.
	Wait, Interval time.Duration
}

// Step is one step of an escalation: from then on others are told. It holds from a
// number of notifications or from an age of the problem on; both must fit.
type Step struct {
	Name        string // for people
	Contacts    []*Contact
	Rotas       []Rota
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
	// Channels are the names of the ways over which messages go to the contact,
	// beside the Commands of its Reach: "email", "telegram", …
	Channels []string
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

// Over returns the names of the ways over which the contact is told about a kind of
// object, each once: the channels, and the commands by their names.
func (c *ContactNotification) Over(k Kind) []string {
	names := slices.Clone(c.Channels)
	for _, h := range c.Of(k).Commands {
		if name := CommandChannel + h.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// CommandChannel begins the names of channels that are a command of the Reach.
const CommandChannel = "command:"
