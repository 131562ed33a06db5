package object

import (
	"fmt"
	"time"
)

// Kind is host or service.
type Kind uint8

// The two kinds of object.
const (
	Host Kind = iota
	Service
)

// String returns "host" or "service".
func (k Kind) String() string {
	if k == Host {
		return "host"
	}
	return "service"
}

// State is the numeric state of an object with the values of the Nagios plugin
// API: services use OK to Unknown, hosts Up, Down and Unreachable. PENDING is
// not a state: it is an object that has never been checked.
type State uint8

// Service states.
const (
	OK State = iota
	Warning
	Critical
	Unknown
)

// Host states.
const (
	Up State = iota
	Down
	Unreachable
)

// The names of the states by number; constant.
var (
	serviceStates = [...]string{"OK", "WARNING", "CRITICAL", "UNKNOWN"}
	hostStates    = [...]string{"UP", "DOWN", "UNREACHABLE"}
)

// Name returns the state in the words of its kind, for example "CRITICAL" or "DOWN".
func (s State) Name(k Kind) string {
	switch {
	case k == Host && int(s) < len(hostStates):
		return hostStates[s]
	case k == Service && int(s) < len(serviceStates):
		return serviceStates[s]
	}
	return fmt.Sprintf("STATE(%d)", uint8(s))
}

// ParseState reads a state's name for a kind, as Name writes it.
func ParseState(k Kind, name string) (State, error) {
	names := serviceStates[:]
	if k == Host {
		names = hostStates[:]
	}
	for i, n := range names {
		if n == name {
			return State(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no %s state; write one of %v", name, k, names)
}

// StateType is soft while a problem is being retried, hard once it counts.
type StateType uint8

// The two types of state. The zero value is Hard: an object starts hard.
const (
	Hard StateType = iota
	Soft
)

// String returns "hard" or "soft".
func (t StateType) String() string {
	if t == Soft {
		return "soft"
	}
	return "hard"
}

// Time is an instant in milliseconds since the Unix epoch, UTC; 0 means never.
// The core uses it instead of time.Time because it is a third of the size and
// has one meaning on the wire and in memory.
type Time int64

// At converts a standard time, cutting it to milliseconds. The zero time is 0.
func At(t time.Time) Time {
	if t.IsZero() {
		return 0
	}
	return Time(t.UnixMilli())
}

// Std returns the instant in UTC, the zero time for "never".
func (t Time) Std() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t)).UTC()
}

// Add returns the instant d later; parts of a millisecond are cut off.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// Ahead tells whether an instant from which a wait is counted lies ahead of the clock by
// more than that wait: a clock that was ahead has written it, or the clock was set back.
func (t Time) Ahead(now Time, wait time.Duration) bool { return t > now.Add(wait) }

// Over returns when a wait that is counted from t is over. It is over now if t is ahead,
// or it were only when the clock has come to t.
func (t Time) Over(now Time, wait time.Duration) Time {
	if t.Ahead(now, wait) {
		return now
	}
	return t.Add(wait)
}
