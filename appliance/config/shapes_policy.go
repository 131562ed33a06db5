package config

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Match is one label with the values that satisfy it.
type Match struct {
	Label  string
	Values []string
}

// Policy says who is told what of which objects, and when. Of those that are for an
// object the first one whose states and period fit has its say.
type Policy struct {
	Name    string   // unique; "policies[0]" if it has none of its own
	Match   []Match  // labels that must all hold
	Groups  []string // of hosts or services; none = every object
	Objects []string // "host", "host!service", with * for any text; none = every object
	Except  []string // the same, left out
	Only    string   // "hosts", "services" or "" for both
	States  States   // that it is for; none = all
	Period  string   // name of the Period in which it has its say; "" = always
	Tell    object.NoteOptions
	Told
	After    time.Duration // how long a problem must last first
	Repeat   time.Duration // between repetitions; 0 = told once; below 0 = the object's
	Group    object.Grouping
	ToChosen bool // a recovery goes to those whom the policy chooses then
	Escalate []Escalation
}

// Told are those who are told: contacts, and whoever is on call.
type Told struct {
	Notify []string // contacts, or groups of contacts
	OnCall []string // names of schedules
}

// States are states of hosts and of services.
type States struct{ Hosts, Services object.StateMask }

// None tells whether no state is named.
func (s States) None() bool { return s == States{} }

// Of returns the states of a kind.
func (s States) Of(k object.Kind) object.StateMask {
	if k == object.Host {
		return s.Hosts
	}
	return s.Services
}

// Escalation is a further circle of people from an age of the problem or from a
// number of notifications on.
type Escalation struct {
	After    time.Duration
	From, To int // numbers of notifications; 0 = no bound
	Told
	Repeat  time.Duration // below 0 = that of the policy
	States  States        // in which it holds; none = all
	Period  string        // in which it holds; "" = always
	Instead bool          // of those who are told anyway, not beside them
}

// Schedule says who is on call, as it is declared. What it means is among the rotas
// of Config.
type Schedule struct {
	Name, Alias string
	Timezone    string // IANA name; "" = the server's
	Layers      []Layer
	Overrides   []Override // as they are declared
}

// Layer is a rotation of a schedule.
type Layer struct {
	Name, Start, Handover, Every, Period, Timezone string
	Contacts, Days                                 []string
}

// Override replaces the layers of a schedule for a while.
type Override struct {
	From, To, Contact string
	Nobody            bool
	Reason            string
}
