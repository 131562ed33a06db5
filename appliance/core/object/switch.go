package object

// AckKind is the kind of an acknowledgement.
type AckKind uint8

// The kinds of acknowledgement. A normal one ends with any change of state, a
// sticky one with the recovery.
const (
	AckNone AckKind = iota
	AckNormal
	AckSticky
)

// Switches is a set of things that can be switched on and off at run time, per
// object or for the whole program.
type Switches uint16

// The switches.
const (
	SwitchActive Switches = 1 << iota
	SwitchPassive
	SwitchNotifications
	SwitchFlapDetection
	SwitchEventHandler
)

// Has tells whether the set holds every switch of w.
func (s Switches) Has(w Switches) bool { return s&w == w }
