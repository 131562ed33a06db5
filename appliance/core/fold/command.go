package fold

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Command is something that may change an object: see the types that
// implement it.
type Command interface{ command() }

// Result is the outcome of one check, active or passive.
type Result struct {
	// State as the check's exit says, before hosts' parents are looked at.
	// Hosts: Up or Down (passive also Unreachable).
	State   object.State
	Passive bool
	// Stamped says that Start was given by whoever submitted the result: one that
	// is older than the newest, or the same once more, is refused.
	Stamped bool
	// Expired marks a result that jaque makes itself because none arrived
	// within the object's freshness.
	Expired  bool
	Output   string
	Long     string
	Perfdata string
	Start    object.Time // of the execution; passive: when it was submitted
	Latency  int64       // microseconds from due to started
	Took     int64       // microseconds of execution
	// Next is when the next check is planned, if the caller knows better than
	// the object's own grid; 0 = the grid.
	Next object.Time
}

// SampleHost records the host's present state in its flap history, as a result
// of one of its services does when enough time has passed.
type SampleHost struct{}

// Switch sets switches of the object against its config, or back.
type Switch struct {
	What   object.Switches
	On     bool
	Author string
	// Spread begins checks within the next minute, each object at a place of its
	// own, because many objects are switched together; else they begin now.
	Spread bool
}

// SetProgramSwitches tells an object that program-wide settings changed, so
// that what they forbid ends now (flapping, when its detection goes off).
type SetProgramSwitches struct{}

// ClearFlapping empties the flap history.
type ClearFlapping struct{ Author string }

// Acknowledge takes note of a problem. It replaces an earlier acknowledgement.
type Acknowledge struct {
	Kind       object.AckKind // AckNormal or AckSticky
	Notify     bool           // tell the contacts
	Persistent bool           // the comment stays when the acknowledgement ends
	Expires    object.Time    // 0 = never
	Author     string
	Text       string
	Entry      object.Time // when it was asked for; 0 = now
}

// RemoveAcknowledgement takes an acknowledgement back.
type RemoveAcknowledgement struct{ Author string }

// AddComment adds a comment of an operator.
type AddComment struct {
	Author     string
	Text       string
	Persistent bool
	Expires    object.Time // 0 = never
	Entry      object.Time // when it was asked for; 0 = now
}

// RemoveComments removes comments: one by ID or Number, or with neither all.
type RemoveComments struct {
	ID     string
	Number uint64
	Author string
}

// ScheduleDowntime adds a downtime. ID, Number and Comment are filled where they
// are empty, Entry where it is 0; one whose ID is known already is left alone.
type ScheduleDowntime struct{ Downtime event.Downtime }

// CancelDowntimes ends the downtimes that fit everything which is set; at least
// one field beside Author must be.
type CancelDowntimes struct {
	ID     string
	Number uint64
	Rule   string // every downtime made from a program-wide one
	// Trigger means those that a downtime with this ID starts, because it was
	// cancelled. Without the command they end with it by the next Tick.
	Trigger string
	Start   object.Time // the start they were scheduled for
	Text    string      // the whole text
	All     bool        // whatever they are
	Author  string
}

// Reroot finds the root of the object's problem anew, because the hosts around it
// changed.
type Reroot struct{}

// Tick lets time pass: what starts, ends or expires by now does so.
type Tick struct{}

// Tune sets a setting of the object against its config: see event's Setting…
// names. Switches are set by Switch.
type Tune struct {
	Name   string
	Value  string // "" = as configured again
	Author string
	Spread bool // as in Switch
}

// SetModified sets Nagios' bits of modified attributes and nothing else.
type SetModified struct {
	Bits   uint32
	Author string
}

// Reschedule plans the next check.
type Reschedule struct {
	At     object.Time
	Forced bool // whatever switches, periods and dependencies say
	// Strict refuses a check of which it is known now that something would forbid
	// it at its time; else it is skipped then.
	Strict bool
	Author string
}

// DelayNotification says when people may next be told about the present problem.
type DelayNotification struct {
	Until  object.Time
	Author string
}

// SetNotificationNumber says how many notifications the present problem had.
type SetNotificationNumber struct {
	Number int32
	Author string
}

// Notify asks to tell people something of an operator's own.
type Notify struct {
	Broadcast bool // all contacts of the object and of its escalations
	Forced    bool // whatever filters say
	Increment bool // count it as a notification of the problem
	Author    string
	Text      string
}

// Remind tells people of the present problem, or of the recovery that they are
// owed, if it is time to: the result of a service may be a reason to tell of its
// host again.
type Remind struct{}

// Missed takes note that nobody got a problem's notification: every message of it
// was given up. People are told again after a pause, since the problem is unknown to
// all. It changes nothing if the problem or its counter are not the same any more.
type Missed struct {
	Problem object.Time // as in the status
	Number  int32       // of the notification
	// Lost are the contacts who for certain got nothing of it, and were told of the
	// problem by no notification before: they do not know of the problem.
	Lost []string
}

func (Missed) command()                {}
func (Remind) command()                {}
func (Result) command()                {}
func (SampleHost) command()            {}
func (Switch) command()                {}
func (SetProgramSwitches) command()    {}
func (ClearFlapping) command()         {}
func (Acknowledge) command()           {}
func (RemoveAcknowledgement) command() {}
func (AddComment) command()            {}
func (RemoveComments) command()        {}
func (ScheduleDowntime) command()      {}
func (CancelDowntimes) command()       {}
func (Reroot) command()                {}
func (Tick) command()                  {}
func (Tune) command()                  {}
func (SetModified) command()           {}
func (Reschedule) command()            {}
func (DelayNotification) command()     {}
func (SetNotificationNumber) command() {}
func (Notify) command()                {}
