package ingress

import (
	"errors"
	"fmt"
	"regexp"

	"jaque.sh/jaque/appliance/command"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// Version is the version of the messages that this build writes and reads.
const Version = 1

// Errors that a caller branches on.
var (
	// ErrNoEngine: no engine listens, or none can be reached. The command was
	// surely not taken.
	ErrNoEngine = errors.New("no engine takes commands")
	// ErrUnclaimed: no engine claimed the command in time. One that was slow may
	// still carry it out.
	ErrUnclaimed = errors.New("no engine has claimed the command in time")
	// ErrBusy: the engine that got the command has too many already, or stops. It
	// was not taken.
	ErrBusy = errors.New("the engine takes no more commands now")
	// ErrRefused: the message cannot be carried out as it is.
	ErrRefused = command.ErrRefused
)

// TooBig is the error of a command that does not fit into a message. It wraps
// ErrRefused.
type TooBig struct{ Bytes, Limit int }

// Error says how large the command is and what to do.
func (e *TooBig) Error() string {
	return fmt.Sprintf("the command has %d bytes, a message to the engines holds %d; send it for fewer objects, or with shorter texts", e.Bytes, e.Limit)
}

// Unwrap returns ErrRefused.
func (e *TooBig) Unwrap() error { return ErrRefused }

// Command is what somebody submitted.
type Command struct {
	// ID names the command. The ids of its events are ID for a single action, else
	// ID, a point and the number of the action from 0 in base 36.
	ID      string
	From    string // the process that submitted it, for logs
	Actions []operate.Action
}

// MostActions is how many actions one command may have.
const MostActions = 100_000

// most bounds names in messages, in bytes.
const most = 255

var idForm = regexp.MustCompile(`^[A-Za-z0-9_-]{8,64}$`)

// check says what is wrong with the frame of a command.
func (c *Command) check() error {
	switch {
	case !idForm.MatchString(c.ID):
		return fmt.Errorf("the id %.80q has another form: %w; use 8 to 64 letters, digits, - and _", c.ID, ErrRefused)
	case len(c.From) > most:
		return fmt.Errorf("the name of the sender has %d bytes, %d are the most: %w", len(c.From), most, ErrRefused)
	case len(c.Actions) == 0:
		return fmt.Errorf("nothing is asked for: %w", ErrRefused)
	case len(c.Actions) > MostActions:
		return fmt.Errorf("%d actions at once, %d is the most: %w", len(c.Actions), MostActions, ErrRefused)
	}
	return nil
}

// Author returns who asked for a command, as its first action that says so has it.
func (c *Command) Author() string { return command.Author(c.Actions) }

// Failure is an action that was not done, or of which nobody knows.
type Failure struct {
	Index   int       `json:"i"` // of the action
	Object  object.ID `json:"o,omitempty"`
	Why     string    `json:"why"`
	Unknown bool      `json:"unknown,omitempty"` // the log has not confirmed it in time
}

// Outcome is what became of a command.
type Outcome struct {
	ID      string
	Engine  string // that carried it out
	Total   int    // actions
	Refused int
	Unknown int
	// Failures are the first of those that were refused or are unknown.
	Failures []Failure
}

// mostFailures is how many failures an answer tells in full.
const mostFailures = 200

// newOutcome counts what failed of a command.
func newOutcome(c *Command, engine string, failures []Failure) Outcome {
	o := Outcome{ID: c.ID, Engine: engine, Total: len(c.Actions), Failures: failures[:min(len(failures), mostFailures)]}
	for _, f := range failures {
		if f.Unknown {
			o.Unknown++
		} else {
			o.Refused++
		}
	}
	return o
}

// Subject is where commands are published in an installation; prefix is that of
// its subjects, "" = none.
func Subject(prefix string) string {
	if prefix != "" {
		prefix += "."
	}
	return prefix + "jaque.work.cmd.ingress"
}

// group is the queue group of the engines: each command reaches one of them.
const group = "engines"
