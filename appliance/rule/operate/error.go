package operate

import (
	"fmt"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Fault says which kind of mistake a request has.
type Fault uint8

// The faults.
const (
	Malformed  Fault = iota // the request contradicts itself or lacks something
	NotFound                // a name that nothing has
	BadFilter               // a filter that does not parse
	NoMatch                 // nothing is meant: an empty group, a filter that nothing passes
	WrongScope              // a scope that the named objects cannot have
)

// Error is what is wrong with a request. Nothing was done.
type Error struct {
	Fault  Fault
	Text   string   // what is wrong and what to write instead
	Column int      // BadFilter: of the first character that is wrong, from 1
	Name   string   // NotFound: the name that nothing has
	Near   []string // NotFound: names that may have been meant, the nearest first
}

// Error returns the text, with the names that may have been meant.
func (e *Error) Error() string {
	if len(e.Near) == 0 {
		return e.Text
	}
	return e.Text + "; did you mean " + strings.Join(e.Near, " or ") + "?"
}

func malformed(format string, args ...any) *Error {
	return &Error{Fault: Malformed, Text: fmt.Sprintf(format, args...)}
}

func wrongScope(scope Scope, id object.ID) *Error {
	return &Error{Fault: WrongScope, Text: fmt.Sprintf("scope %q: %s is a service; name hosts, or leave the scope out", scope, id)}
}
