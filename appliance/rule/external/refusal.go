package external

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/object"
)

// Reason says in one word why a line was refused; it serves as a metric label.
type Reason string

// The reasons of a refusal.
const (
	Malformed   Reason = "malformed"   // the line is no command
	Unknown     Reason = "unknown"     // no command has this name
	Custom      Reason = "custom"      // a command for a module of Nagios
	Argument    Reason = "argument"    // an argument is missing or is not what stands there
	Target      Reason = "target"      // an argument names something that is not there
	Unsupported Reason = "unsupported" // the command has no meaning here
)

// Refusal is the error of Parse and Translate: nothing was changed, and why.
type Refusal struct {
	Reason  Reason
	Command string // upper-case name, "" where it could not be read
	Text    string // what is wrong and what to write instead
}

// Error names the command and what is wrong.
func (r *Refusal) Error() string {
	if r.Command == "" {
		return "external command: " + r.Text
	}
	return fmt.Sprintf("external command %s: %s", r.Command, r.Text)
}

func refusal(why Reason, command, format string, args ...any) *Refusal {
	return &Refusal{Reason: why, Command: command, Text: fmt.Sprintf(format, args...)}
}

// Special is what a command asks of the program itself, beyond what actions can
// do. Whoever runs it decides whether it may.
type Special struct {
	Kind   SpecialKind
	Path   string // ProcessFile: the file with further commands
	Delete bool   // ProcessFile: remove the file behind that
	Text   string // WriteLog
}

// SpecialKind is the kind of a Special.
type SpecialKind uint8

// The kinds of Special.
const (
	NotSpecial  SpecialKind = iota
	Reload                  // read the config again
	ProcessFile             // read commands from a file
	WriteLog                // write a text to the log
)

// Command is one line, read but not yet looked up: its arguments have the right
// form, what they name may not exist.
type Command struct {
	Name    string      // as the table has it; aliases are replaced
	Time    object.Time // when it was written
	Stamped bool        // Time stood in the line
	Args    []string    // texts are clean; optional ones may be missing
	Special Special     // nearly always NotSpecial
	// ID is the prefix of the identities that the command gives to what it
	// makes, for a caller that sets it before Translate. Without one they follow
	// from the line, so that the same line in the same second makes one thing.
	ID string

	row *row
}
