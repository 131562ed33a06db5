package notify

import "jaque.sh/jaque/appliance/core/object"

// Gate is one condition that an attempt has to meet. The names are stable: they are
// labels of metrics and stand in what operators read.
type Gate string

// The gates of an object, in the order in which they decide. Each kind of
// notification goes through those that mean something to it.
const (
	GateProgram      Gate = "program"         // notifications are on for the whole program
	GatePolicy       Gate = "policy"          // a policy is for the object, its state and the time
	GatePeriod       Gate = "period"          // inside the object's notification period
	GateSwitch       Gate = "switch"          // notifications are on for the object
	GateProblem      Gate = "problem"         // there is a problem to speak of
	GateOption       Gate = "option"          // the object tells of this at all
	GateHard         Gate = "hard"            // the state counts
	GateAcknowledged Gate = "acknowledgement" // nobody has taken note of the problem
	GateDependency   Gate = "dependency"      // nothing that the object depends on has failed
	GateTold         Gate = "told"            // somebody was told of the problem
	GateDelay        Gate = "delay"           // the problem is old enough for the first notification
	GateFlapping     Gate = "flapping"        // the object does not flap
	GateDowntime     Gate = "downtime"        // the object is not in a downtime
	GateHostDowntime Gate = "host_downtime"   // nor is its host
	GateFlexible     Gate = "flexible"        // no flexible downtime begins with the problem
	GateRepeat       Gate = "repeat"          // the problem may be told again at all
	GateHost         Gate = "host"            // the host is there, so that the problem is the service's
	GateInterval     Gate = "interval"        // enough time has passed since the last notification
	GateContacts     Gate = "contacts"        // a contact is left to be told
)

// The gates of a contact, in the order in which they decide.
const (
	GateKnown          Gate = "contact"        // the config still has the contact
	GateChosen         Gate = "chosen"         // the object, or a step of its escalation, names the contact
	GateImportance     Gate = "importance"     // the object is important enough
	GateContactSwitch  Gate = "contact_switch" // the contact's notifications are on
	GateContactPeriod  Gate = "contact_period" // inside the contact's notification period
	GateContactOption  Gate = "contact_option" // the contact wants to hear of this
	GateContactProblem Gate = "contact_told"   // the contact was told of the problem
)

// Verdict is what a gate says.
type Verdict uint8

// The verdicts.
const (
	NotReached Verdict = iota // an earlier gate has decided
	Passed
	Blocked
)

// String returns the verdict in words.
func (v Verdict) String() string { return [...]string{"not reached", "passed", "blocked"}[v] }

// Check is one gate with its verdict.
type Check struct {
	Gate    Gate
	Verdict Verdict
	Why     string // one sentence without a full stop; "" if not reached
	// Until is when time alone may lift a block; 0 = not by time.
	Until object.Time
	// Then is what happens at Until where the gate's own name does not say it: the
	// end of a sentence that begins with "when".
	Then string
}

// gates is a list of gates as it is gone through.
type gates struct {
	all []Check
	by  *Check // what has blocked
}

// look asks a gate; why is what a block, or a pass, says.
func (g *gates) look(gate Gate, ask func() Check) {
	if g.by != nil {
		g.all = append(g.all, Check{Gate: gate})
		return
	}
	c := ask()
	c.Gate = gate
	g.all = append(g.all, c)
	if c.Verdict == Blocked {
		g.by = &c
	}
}

func pass(why string) Check { return Check{Verdict: Passed, Why: why} }

func block(why string) Check { return Check{Verdict: Blocked, Why: why} }

// passIf passes with one sentence or blocks with another.
func passIf(is bool, yes, no string) Check {
	if is {
		return pass(yes)
	}
	return block(no)
}
