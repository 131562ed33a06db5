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
	SwitchPerfdata
	SwitchObsess
)

// Has tells whether the set holds every switch of w.
func (s Switches) Has(w Switches) bool { return s&w == w }

// Program is a set of things that can be switched for the whole program.
type Program uint16

// The program-wide switches. Hosts and services are switched apart where Nagios
// does so. Obsessing is only kept and shown: jaque runs no obsess command.
const (
	ProgramHostChecks    Program = 1 << iota // scheduled checks of hosts run
	ProgramServiceChecks                     // scheduled checks of services run
	ProgramPassiveHosts                      // submitted results of hosts are accepted
	ProgramPassiveServices
	ProgramNotifications
	ProgramEventHandlers
	ProgramFlapDetection
	ProgramPerfdata
	ProgramHostFreshness // hosts that stop reporting go stale
	ProgramServiceFreshness
	ProgramObsessHosts
	ProgramObsessServices
)

// ProgramDefault is what is on where a config says nothing.
const ProgramDefault = ProgramObsessHosts - 1

// Has tells whether the set holds every switch of w.
func (p Program) Has(w Program) bool { return p&w == w }
