package macro

import (
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// Source is what macros are answered from. Every field may be left out; what is
// not known is empty.
type Source struct {
	// Object is the host or service that the text is for. Macros of the host
	// of a service are answered too.
	Object *object.Object
	// Find returns any other object, nil if there is none.
	Find func(object.ID) *object.Object
	// Objects is what the totals count: everything, or what the contact that
	// is notified may see.
	Objects []*object.Object
	// State returns what is known of an object, nil if nothing is.
	State func(object.ID) *fold.State

	// HostGroup and ServiceGroup return a group, nil if there is none.
	HostGroup    func(name string) *Group
	ServiceGroup func(name string) *Group

	Contact      *Contact // that is being notified
	FindContact  func(name string) *Contact
	ContactGroup func(name string) *ContactGroup

	// Period returns a period by name, nil if there is none.
	Period func(name string) object.Period

	User func(n int) string // of $USERn$
	Args []string           // of $ARG1$ and on, expanded already
	// Static answers macros of an operator's own names, and those that belong to
	// no object, such as
	// MAINCONFIGFILE or NOTIFICATIONTYPE, by their names.
	Static map[string]string
	// Declared returns what an object's declaration says under one of Nagios'
	// directives that object.Object has no field for: check_command,
	// display_name, importance, notification_period, notifications_enabled.
	Declared func(o *object.Object, directive string) string

	Now      object.Time
	Started  object.Time    // of the program: an object without a change is as old as it
	Location *time.Location // of the date macros; nil = UTC
	Dates    DateFormat
}

// DateFormat is the order in which dates are written.
type DateFormat uint8

// The date formats, as in the setting date_format.
const (
	US DateFormat = iota // 02-28-2026
	Euro
	ISO8601
	StrictISO8601 // with a T before the time of day
)

// Group is a group of hosts or services. Its members are sorted by ID.
type Group struct {
	Name, Alias      string
	Notes            string
	NotesURL, Action string
	Members          []*object.Object
}

// Contact is somebody who is notified.
type Contact struct {
	Name, Alias, Email, Pager string
	Addresses                 [6]string
	Groups                    []string
	Vars                      map[string]string // upper-case names without "_"
}

// ContactGroup is a group of contacts.
type ContactGroup struct {
	Name, Alias string
	Members     []string
}

// host returns the host that the text is for, nil if it is for none.
func (s *Source) host() *object.Object {
	if s.Object == nil {
		return nil
	}
	return s.Object.HostObject()
}

func (s *Source) service() *object.Object {
	if s.Object == nil || s.Object.Kind() != object.Service {
		return nil
	}
	return s.Object
}

func (s *Source) find(id object.ID) *object.Object {
	if s.Find == nil {
		return nil
	}
	return s.Find(id)
}

// state returns the state of an object, that of one never checked if nothing is
// known.
func (s *Source) state(o *object.Object) *fold.State {
	if s.State != nil {
		if st := s.State(o.ID); st != nil {
			return st
		}
	}
	fresh := fold.New(o)
	return &fresh
}

func (s *Source) declared(o *object.Object, directive string) string {
	if s.Declared == nil {
		return ""
	}
	return s.Declared(o, directive)
}

func (s *Source) group(kind object.Kind, name string) *Group {
	find := s.HostGroup
	if kind == object.Service {
		find = s.ServiceGroup
	}
	if find == nil {
		return nil
	}
	return find(name)
}

func (s *Source) contact(name string) *Contact {
	if s.FindContact == nil {
		return nil
	}
	return s.FindContact(name)
}

func (s *Source) contactGroup(name string) *ContactGroup {
	if s.ContactGroup == nil {
		return nil
	}
	return s.ContactGroup(name)
}
