package output

import (
	"fmt"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Run is one finished execution of a plugin.
type Run struct {
	Kind    object.Kind
	ID      object.ID // of the object, for texts
	Stdout  []byte
	Stderr  []byte
	Exit    int           // exit code; not looked at if Ended is not Exited
	Ended   End           // how the process ended
	Took    time.Duration // of the execution, for the text of a timeout
	Timeout object.State  // of a service whose check timed out

	// Aggressive makes exit code 1 of a host mean Down.
	Aggressive bool
}

// End says how a process ended.
type End uint8

// The ways to end. The zero value is a process that ended by itself.
const (
	Exited   End = iota // by itself, with an exit code
	Killed              // by a signal that was not ours
	TimedOut            // it took too long and was killed, whatever it then said
	Failed              // it could not be run or waited for
)

// Result is what a check says.
type Result struct {
	State    object.State
	Output   string // one line
	Long     string // further lines, separated by line feeds, none at the end
	Perfdata string // raw, one line
}

const (
	noServiceOutput = "(No output returned from plugin)"
	noHostOutput    = "(No output returned from host check)"
	onlyStderr      = "(No output on stdout) stderr: "
)

// Judge returns what an execution says. A host's state is Up or Down; whether
// it is Unreachable depends on its parents and is not decided here.
func Judge(r *Run) Result {
	switch {
	case r.Ended == TimedOut:
		text := fmt.Sprintf("(%s check timed out after %.2f seconds)", title(r.Kind), r.Took.Seconds())
		return Result{State: failure(r.Kind, r.Timeout), Output: text}
	case r.Ended == Failed:
		return Result{State: failure(r.Kind, object.Critical), Output: "(" + title(r.Kind) + " check did not exit properly)"}
	case r.Ended == Exited && (r.Exit < 0 || r.Exit > 3):
		return Result{State: failure(r.Kind, object.Critical), Output: outOfBounds(r)}
	}
	return read(r.Kind, state(r), text(r.Stdout, r.Stderr))
}

// read parses a text that goes with a state. Only a first line without a single
// character has a text of its own: one of blanks or of nothing but performance
// data stays empty, as in Nagios.
func read(kind object.Kind, state object.State, text string) Result {
	res := Parse(text)
	res.State = state
	if text == "" || text[0] == '\n' {
		res.Output = silence(kind)
	}
	return res
}

// state returns the state that an exit code within 0 … 3 means.
func state(r *Run) object.State {
	code := object.Unknown
	if r.Ended == Exited {
		code = object.State(r.Exit)
	}
	if r.Kind == object.Service {
		return code
	}
	if code == object.OK || code == object.Warning && !r.Aggressive {
		return object.Up
	}
	return object.Down
}

// failure returns the state of a check that has none of its own.
func failure(kind object.Kind, service object.State) object.State {
	if kind == object.Host {
		return object.Down
	}
	return service
}

func title(kind object.Kind) string {
	if kind == object.Host {
		return "Host"
	}
	return "Service"
}

func silence(kind object.Kind) string {
	if kind == object.Host {
		return noHostOutput
	}
	return noServiceOutput
}

func outOfBounds(r *Run) string {
	switch r.Exit {
	case 126:
		return "(Return code of 126 is out of bounds. Check if plugin is executable)"
	case 127:
		return "(Return code of 127 is out of bounds. Check if plugin exists)"
	}
	if r.Kind == object.Host {
		return fmt.Sprintf("(Return code of %d for host '%s' was out of bounds)", r.Exit, r.ID.Host())
	}
	return fmt.Sprintf("(Return code of %d for service '%s' on host '%s' was out of bounds)", r.Exit, r.ID.Service(), r.ID.Host())
}

// text returns what a plugin printed: its stdout, only without any its stderr.
func text(stdout, stderr []byte) string {
	if len(stdout) > 0 {
		return valid(stdout)
	}
	if len(stderr) > 0 {
		return onlyStderr + valid(stderr)
	}
	return ""
}

// valid returns bytes as text; runs of invalid bytes become one U+FFFD.
func valid(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }
