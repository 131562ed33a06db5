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

// Env is everything beside the object's own state that a decision may look at.
type Env struct {
	Object   *object.Object
	Settings *object.Settings

	// Host is the state of a service's host; nil for hosts.
	Host *State
	// ParentsUp counts the parents of a host whose present state is UP (or
	// that are still PENDING); parents themselves stand in Object.
	ParentsUp int
	// Look returns the state of any other object, nil if nothing is known of it.
	// nil = nobody can be looked at: dependencies hold and nothing has a root.
	Look func(object.ID) *State
	// Periods are those of the running config, for the names that operators set.
	Periods map[string]object.Period
	// Trigger tells about the downtime that starts another one; nil = unknown.
	Trigger func(id string) Trigger
	// Contacts is what operators set of contacts, Known are those of the running
	// config; both by name.
	Contacts map[string]event.ContactStatus
	Known    map[string]*object.Contact
	// Late says that the object stands in line for time to pass: Due is about
	// everything else.
	Late bool
	// Comment and Downtime are the first numbers that are free; a decision uses
	// them upwards.
	Comment, Downtime uint64
	// Skipped is when a due check was last not run because of its period or a
	// dependency; 0 = never. The next one is planned from there.
	Skipped object.Time
	// Heard is when the newest result was got, by how long that is ago: it goes along with
	// the clock of who asks when that is set, and owes nothing to the clock of who wrote the
	// result. 0 = not known, then the result's own time counts.
	Heard object.Time
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

// Trigger is what is known of the downtime that starts another one.
type Trigger struct {
	Known   bool        // it is scheduled or runs
	Started object.Time // 0 = it does not run
}

// Work is something to do for an object now.
type Work uint8

// The kinds of work.
const (
	Nothing     Work = iota
	RunCheck         // execute the object's check, if nothing blocks it: see Blocked
	ExpireCheck      // no result arrived within the freshness: decide an Expired result
	ForceCheck       // execute the check whatever switches, periods and dependencies say
	PassTime         // decide a Tick: a downtime starts or ends, something expires
)

// String returns the work in one word.
func (w Work) String() string {
	return [...]string{"nothing", "run", "expire", "force", "time"}[w]
}
