package fold

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// State is what is known about one object: the fold of the events about it. It
// is a value; copying it copies everything but text and Extra, which are never
// changed in place. The zero State is an object nothing is known about.
type State struct {
	Status  event.Status
	Measure event.Measure

	Last  uint64 // log position of the last accepted event; the next one's Prev
	Sub   uint64 // log position of the last event of the object, accepted or not
	Fence uint64 // newest epoch seen for the object on the log
}

// Outcome says what Apply did with an event.
type Outcome uint8

// The outcomes of Apply.
const (
	Accepted Outcome = iota // the state is the event's
	Stale                   // written under an older epoch: discarded, counted
	Conflict                // decided on another base: discarded, fence raised
	Repeated                // this position, or a newer measurement, is already in
	Unknown                 // a kind or a shape this build does not know: left alone
)

// String returns the outcome as a metric label.
func (o Outcome) String() string {
	return [...]string{"accepted", "stale", "conflict", "repeated", "unknown"}[o]
}

// Command is something that may change an object: see the types that
// implement it.
type Command interface{ command() }

// Result is the outcome of one check, active or passive.
type Result struct {
	// State as the check's exit says, before hosts' parents are looked at.
	// Hosts: Up or Down (passive also Unreachable).
	State   object.State
	Passive bool
	// Expired marks a result that jaque makes itself because none arrived
	// within the object's freshness.
	Expired  bool
	Output   string
	Long     string
	Perfdata string
	Start    object.Time // of the execution; passive: when it was submitted
	Latency  int64       // microseconds from due to started
	Took     int64       // microseconds of execution
	// Next is when the next check is planned, if the caller knows better than
	// the object's own grid; 0 = the grid.
	Next object.Time
}

// SampleHost records the host's present state in its flap history, as a result
// of one of its services does when enough time has passed.
type SampleHost struct{}

// Switch sets switches of the object against its config, or back.
type Switch struct {
	What   object.Switches
	On     bool
	Author string
}

// SetProgramSwitches tells an object that program-wide settings changed, so
// that what they forbid ends now (flapping, when its detection goes off).
type SetProgramSwitches struct{}

// ClearFlapping empties the flap history.
type ClearFlapping struct{ Author string }

func (Result) command()             {}
func (SampleHost) command()         {}
func (Switch) command()             {}
func (SetProgramSwitches) command() {}
func (ClearFlapping) command()      {}

// Env is everything beside the object's own state that a decision may look at.
type Env struct {
	Object   *object.Object
	Settings *object.Settings

	// Host is the state of a service's host; nil for hosts.
	Host *State
	// ParentsUp counts the parents of a host whose present state is UP (or
	// that are still PENDING); parents themselves stand in Object.
	ParentsUp int
	// Started is since when this process cares for the object. What was due
	// before is not made up for, and the freshness of what was never checked
	// counts from here.
	Started object.Time

	Epoch    uint64
	Writer   string
	Instance string
	// ID names the decision; it becomes the event's ID.
	ID string
}

// Decision is what Decide returns: at most one decision for the log and at most
// one measurement. A check result that changes nothing has only the latter.
type Decision struct {
	Log       event.Event // valid if HasLog
	Result    event.Event // valid if HasResult
	HasLog    bool
	HasResult bool
}

// Work is something to do for an object now.
type Work uint8

// The kinds of work.
const (
	Nothing     Work = iota
	RunCheck         // execute the object's check
	ExpireCheck      // no result arrived within the freshness: decide an Expired result
)

// String returns "nothing", "run" or "expire".
func (w Work) String() string {
	return [...]string{"nothing", "run", "expire"}[w]
}
