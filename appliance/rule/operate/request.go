package operate

import (
	"iter"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
)

// Scope widens the objects that a target names.
type Scope string

// The scopes. Those about services and children mean the named hosts; for a
// service they are refused.
const (
	Itself       Scope = ""              // the objects alone
	Services     Scope = "services"      // the services of the hosts, not the hosts
	WithServices Scope = "with-services" // the hosts and their services
	Children     Scope = "children"      // every host behind the hosts, not the hosts
	WithChildren Scope = "with-children" // the hosts and every host behind them
	Beyond       Scope = "beyond"        // every host behind the hosts with its services, not the hosts
)

// Target says which objects are meant: exactly one of Objects, Group and Filter.
type Target struct {
	Objects []object.ID
	Group   string
	Kind    string // with Group and Filter: "host", "service" or "" for both
	Filter  string // as package filter reads it; "" is nothing, "*" everything
	Scope   Scope
}

// Request is one wish: a command for every object of a target, or a command
// about the whole program.
type Request struct {
	Target  Target
	Command fold.Command    // exactly one of Command
	Program program.Command // and Program
}

// Action is what is to be done: a command for an object, or for the program.
type Action struct {
	Object  object.ID
	Command fold.Command
	Program program.Command
	// Wait says that it builds on what the actions before it do, of other objects
	// too: it begins when they are done.
	Wait bool
}

// World is what requests are read against.
type World struct {
	Set     *object.Set
	State   func(object.ID) *fold.State
	Program *program.State
	Now     object.Time
	// Extras yields at least the objects whose states have comments or downtimes;
	// nil = every object of Set is looked at.
	Extras iter.Seq2[object.ID, *fold.State]
	// Address finds the first host by name that has an address; nil = ByAddress,
	// which looks at every host.
	Address func(address string) *object.Object
	// Zone tells what is wrong with the name of a time zone; nil = it is not
	// looked up.
	Zone func(name string) error
}

// Result is what became of one action; Err is nil if it is on the log, or if
// there was nothing to change.
type Result struct {
	Object object.ID // "" = the program
	Err    error
}

// Report is what became of a request.
type Report struct {
	ID      string   // names the request on the log
	Results []Result // in the order of the actions
}

// Failed returns the number of results with an error.
func (r *Report) Failed() (n int) {
	for i := range r.Results {
		if r.Results[i].Err != nil {
			n++
		}
	}
	return n
}
