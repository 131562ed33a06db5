package event

import "jaque.sh/jaque/appliance/core/object"

// Program is what a decision made of program-wide things. Each part that is set
// is complete and replaces what was known of it; the newest position wins.
type Program struct {
	Switches *Switches      // "sw"
	Contact  *ContactStatus // "ct"
	Rule     *DowntimeRule  // "dr", a downtime for many objects or many times
	RuleGone string         // "dg", id of one that was cancelled or is over
}

// Switches is what operators set against the config for the whole program.
type Switches struct {
	Off      object.Program // "off"
	On       object.Program // "on"
	Settings []Setting      // "st", sorted by Name: who set what and when
}

// ContactStatus is what operators set of a contact against the config.
type ContactStatus struct {
	Name            string    // "n"
	HostOff         bool      // "ho", host notifications are off
	ServiceOff      bool      // "so", service notifications are off
	HostModified    uint32    // "hm", Nagios' bits of modified attributes
	ServiceModified uint32    // "sm"
	Modified        uint32    // "md"
	Settings        []Setting // "st", sorted by Name: host_notifications, service_notifications, host_notification_period, …
}

// DowntimeRule is a downtime for many objects, for objects that come later, or
// for many times. The engine makes an object's own downtimes from it.
type DowntimeRule struct {
	ID     string      // "id"
	Number uint64      // "n", of the sequence of downtimes
	Author string      // "by"
	Text   string      // "x"
	Entry  object.Time // "t"

	// What it is for: exactly one of Object, Group and Filter.
	Object       object.ID // "o"
	WithServices bool      // "ws", with Object a host: all its services too
	Group        string    // "g", hosts of a group with their services, and services in it
	Filter       string    // "fi", everything that matches

	Start    object.Time // "s", once: the start; recurring: the first day it may begin
	End      object.Time // "e", once: the end; recurring: begins no more from here, 0 = for ever
	Duration object.Time // "d", milliseconds; > 0 = flexible

	// Recurring: spans as in a period of the config ("sunday 02:00-04:00") in an
	// IANA zone. Empty = once.
	Ranges []string // "r"
	Zone   string   // "z"
}
