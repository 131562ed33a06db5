package explain

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// Question is what somebody wants to know.
type Question struct {
	Object  object.ID
	Contact string      // "" = everybody who could be told
	At      object.Time // 0 = World.Now
	// Kind is the notification that is asked about. "" is the one that fits the
	// state: of the problem, of the recovery that is owed, else of the problem that
	// there would be if the object failed at At.
	Kind notify.Kind
}

// World is what an answer is made from. Set, State and Now must be set.
type World struct {
	Set *object.Set
	// State returns what an object's state was at Question.At, for a time to come
	// what it is now; nil = not known. See Rewind.
	State   func(object.ID) *fold.State
	Program *program.State // what operators set; nil = nothing
	Started object.Time    // of the program
	Loaded  object.Time    // when the running config was loaded; 0 = not known
	Now     object.Time
	// Events are the decisions about the object and the outcomes of its requests,
	// newest first, as far as they were read; Complete says that there are no older
	// ones.
	Events   []event.Event
	Complete bool
	Open     []Open   // requests of the object without an outcome
	Caveats  []string // what else limits the answer, in sentences
}

// Open is a request that nobody has delivered or given up yet.
type Open struct {
	ID       string // of event.Request
	Failures int    // attempts that failed
	Reason   string // of the last failure, "" = none
}
