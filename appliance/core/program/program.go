package program

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// State is the fold of the events about the whole program. A State is never
// changed in place: Apply makes another one, so any goroutine may read it. The
// zero State is a program as configured.
type State struct {
	Switches event.Switches
	Contacts map[string]event.ContactStatus // by name; only those that differ from the config
	Rules    map[string]event.DowntimeRule  // by ID; those that are not over
	Sub      uint64                         // log position of the newest event in it
}

// Command is something that may change program-wide things: see the types that
// implement it.
type Command interface{ program() }

// Switch sets program-wide switches against the config, or back.
type Switch struct {
	What   object.Program
	On     bool
	Author string
}

// SwitchContact switches what a contact is told.
type SwitchContact struct {
	Name            string
	Hosts, Services bool // which of the two are meant
	On              bool
	Author          string
}

// TuneContact sets a setting of a contact: host_notification_period,
// service_notification_period, or event.SettingVar and a variable's name.
type TuneContact struct {
	Name    string
	Setting string
	Value   string // "" = as configured again
	Author  string
}

// SetContactModified sets Nagios' bits of modified attributes of a contact: of
// the contact itself, of its host and of its service notifications. nil = leave.
type SetContactModified struct {
	Name                    string
	Bits, HostBits, SvcBits *uint32
	Author                  string
}

// PutRule adds a downtime for many objects or many times, or replaces the one
// with its ID. ID and Number are filled where they are empty.
type PutRule struct{ Rule event.DowntimeRule }

// RemoveRule takes a downtime of PutRule away: an operator cancelled it, or it is
// over.
type RemoveRule struct {
	ID     string
	Over   bool // its last time has passed; nobody cancelled it
	Author string
}

func (Switch) program()             {}
func (SwitchContact) program()      {}
func (TuneContact) program()        {}
func (SetContactModified) program() {}
func (PutRule) program()            {}
func (RemoveRule) program()         {}

// Env is everything beside the state that a decision may look at.
type Env struct {
	Set      *object.Set
	Downtime uint64 // the first free number of a downtime
	Epoch    uint64
	Writer   string
	Instance string
	ID       string // names the decision; it becomes the event's ID
}
