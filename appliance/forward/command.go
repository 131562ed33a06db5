package forward

import (
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// Version is the version of the messages that this build writes and reads.
const Version = 1

// Hop is the number of the hop that every message makes: the first and last one.
const Hop = 1

// Errors of a command of which the other engine has said nothing.
var (
	// ErrUnreached: the engine does not listen, or the server cannot be reached. The
	// command was surely not taken.
	ErrUnreached = errors.New("the engine does not answer to its name")
	// ErrUnanswered: the command was sent and nothing was heard in time. It may still
	// take effect.
	ErrUnanswered = errors.New("the engine has not answered in time")
)

// Command is an action for an object on its way to the engine that owns it.
type Command struct {
	ID     string // becomes the id of the decision
	Action operate.Action
}

// mostID bounds an id in a message, in bytes.
const mostID = 128

// Code is what the owner says of a command that was not done.
type Code string

// The codes. A code never changes its meaning; one that this build does not know means
// Failed.
const (
	NotFound    Code = "not_found"   // the owner has no such object
	Refused     Code = "refused"     // the command was understood and refused
	Busy        Code = "busy"        // too many commands wait there
	Stopping    Code = "stopping"    // the engine is on its way out, or not there yet
	NotBegun    Code = "not_begun"   // nothing was done about it
	NotOwned    Code = "not_owned"   // the object is not that engine's either
	Unconfirmed Code = "unconfirmed" // the log has not confirmed it; it may still take effect
	Failed      Code = "failed"      // something else
)

// Failure is the error of a command that the owner did not carry out, or of which it
// does not know.
type Failure struct {
	Code Code
	Text string // what the owner says, as it would say it itself; "" = nothing but the code
	// Refusal is why the decision was refused; nil = it was not decided.
	Refusal *fold.Refusal
}

// Error returns the words of the owner.
func (f *Failure) Error() string {
	if f.Text == "" {
		return string(f.Code)
	}
	return f.Text
}

// Subject is where an engine takes forwarded commands in an installation; prefix is
// that of its subjects, "" = none.
func Subject(prefix, engine string) string { return root(prefix) + object.ID(engine).Token() }

// Everywhere is the pattern of all of them.
func Everywhere(prefix string) string { return root(prefix) + "*" }

func root(prefix string) string {
	if prefix != "" {
		prefix += "."
	}
	return prefix + "jaque.cmd."
}

// check says what is wrong with a command that is to be forwarded.
func (c *Command) check() error {
	switch {
	case c.ID == "" || len(c.ID) > mostID:
		return fmt.Errorf("the id %.80q of a forwarded command has %d bytes; use 1 to %d", c.ID, len(c.ID), mostID)
	case c.Action.Command == nil:
		return fmt.Errorf("command %s is for no object; only those for objects are forwarded", c.ID)
	}
	return nil
}
