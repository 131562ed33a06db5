package event

import (
	"jaque.sh/jaque/appliance/core/object"
)

// Version is the version of the encoding this build writes.
const Version = 1

// Kind says what happened. New meaning is a new kind; a kind never changes its
// meaning. Readers leave kinds alone that they do not know.
type Kind string

// The kinds of event.
const (
	CheckResult       Kind = "check.result"
	FlappingStarted   Kind = "flapping.started"
	FlappingStopped   Kind = "flapping.stopped"
	FlappingSampled   Kind = "flapping.sampled" // a measurement: only the flap history moved on
	AckSet            Kind = "ack.set"
	AckCleared        Kind = "ack.cleared"
	CommentAdded      Kind = "comment.added"
	CommentRemoved    Kind = "comment.removed"
	DowntimeScheduled Kind = "downtime.scheduled"
	DowntimeStarted   Kind = "downtime.started"
	DowntimeEnded     Kind = "downtime.ended"
	DowntimeCancelled Kind = "downtime.cancelled"
	ObjectAdded       Kind = "object.added"
	ObjectChanged     Kind = "object.changed"
	ObjectRemoved     Kind = "object.removed"
	SettingChanged    Kind = "setting.changed"
	CommandRejected   Kind = "command.rejected"
	EngineJoined      Kind = "engine.joined"
	EngineLeft        Kind = "engine.left"
	EpochRaised       Kind = "epoch.raised"
	ConfigLoaded      Kind = "config.loaded"
	CheckScheduled    Kind = "check.scheduled" // somebody asked for a check at a time
	HandlerRan        Kind = "handler.ran"     // the outcome of an event handler
	RootChanged       Kind = "root.changed"    // another failed host explains the problem, or none does any more

	NotificationRequested  Kind = "notification.requested" // somebody asked to tell people
	NotificationIntended   Kind = "notification.intended"
	NotificationSuppressed Kind = "notification.suppressed"
	NotificationDelivered  Kind = "notification.delivered"
	NotificationFailed     Kind = "notification.failed"
	NotificationAbandoned  Kind = "notification.abandoned"
	// NotificationMissed says that a problem's notification reached nobody, so that
	// it is told again.
	NotificationMissed Kind = "notification.missed"
	// NotificationReleased says that an engine that delivers begins with nothing any
	// more for contacts that others have now, and what of theirs may have been sent.
	// It is about no object: a reader that does not know it passes it over.
	NotificationReleased Kind = "notification.released"
)

// Outcome tells whether events of the kind say what became of something that an
// object's decision asked for. They stand beside its decisions, whoever writes
// them needs not own the object, and the fold leaves them alone.
func (k Kind) Outcome() bool {
	switch k {
	case HandlerRan, NotificationDelivered, NotificationFailed, NotificationAbandoned:
		return true
	}
	return false
}

// Stream says on which of the two streams an event stands and so which promise
// holds for it.
type Stream uint8

// The two streams. Log holds decisions: ordered, compare-and-set per object,
// synced before they are acknowledged. Results holds measurements: flushed in
// the background, kept short.
const (
	Log Stream = iota
	Results
)

// String returns "log" or "results".
func (s Stream) String() string {
	if s == Results {
		return "results"
	}
	return "log"
}

// Event is one fact. JSON keys are short because a year of them is kept.
type Event struct {
	// Stream and Seq say where the event stands; the journal fills them when
	// it reads, they are not encoded.
	Stream Stream
	Seq    uint64

	Version  int         // "v"
	ID       string      // "id", unique per decision; a retry of the same append repeats it
	Kind     Kind        // "k", what caused the decision
	Also     []Kind      // "also", what else happened in the same decision, in order
	Object   object.ID   // "o"; "" for an event of the whole system
	Epoch    uint64      // "e", of the view under which the writer decided
	Writer   string      // "w", engine id
	Instance string      // "i", random id of the writer's process run
	Prev     uint64      // "p", position of the accepted event the decision was based on; 0 = none
	Time     object.Time // "t", of the decision; the fold knows no other clock

	// Transition marks a change of state or state type ("tr"); Was is the
	// condition before ("was").
	Transition bool
	Was        *Was

	// Status is the object's complete new state ("s"). It stands in every
	// decision about an object and in no measurement.
	Status *Status
	// Measure is what the newest check result measured ("m"). It stands in
	// every measurement and, complete, in every decision about an object.
	Measure *Measure

	// Program is what the decision made of program-wide things ("pr"); only in
	// events without an object.
	Program *Program

	// Notes are the decisions about telling people that were made with the event
	// ("n"), one for each kind of notification that was attempted. Those that say
	// Send are requests, see Note.Requests.
	Notes []Note

	// Facts that only some kinds have.
	Author string            // "by", who asked for it
	Text   string            // "x", comment, reason of a refusal, …
	Facts  map[string]string // "f", small facts of the kind, for people and history
}

// Has tells whether the event is of a kind, as its cause or among Also.
func (e *Event) Has(k Kind) bool {
	if e.Kind == k {
		return true
	}
	for _, a := range e.Also {
		if a == k {
			return true
		}
	}
	return false
}

// Was is the condition before a transition.
type Was struct {
	State   object.State     // "s"
	Type    object.StateType // "t"
	Attempt int32            // "a"
	Checked bool             // "c", false = it was PENDING
}

// Status is the part of an object's state that only decisions change. It is
// flat and complete: one event is enough to repair any reader.
type Status struct {
	State       object.State     // "s"
	Type        object.StateType // "t"
	Checked     bool             // "c", false = PENDING
	Flapping    bool             // "fl"
	Attempt     int32            // "a", 1 … MaxAttempts
	MaxAttempts int32            // "ma", as the writer's config had it
	LastHard    object.State     // "lh", last hard state

	LastChange     object.Time // "lc", of the state
	LastHardChange object.Time // "lhc", of the hard state
	Problem        object.Time // "pb", start of the present problem and its id; 0 = none
	// Root is the host that is down and explains this problem: the one whose
	// failure made the parents, or the service's host, fail ("rt"); "" = none.
	Root object.ID

	Ack           object.AckKind // "ak"
	AckExpires    object.Time    // "ax"; 0 = never
	DowntimeDepth int32          // "dd"

	NotificationNumber int32            // "nn"
	Notified           object.StateMask // "nd", states somebody was told about
	LastNotification   object.Time      // "ln"
	NextNotification   object.Time      // "nx", -1 = the problem is not told again
	// Hard is since when the present problem is hard ("hd"); 0 = it is not.
	Hard object.Time
	// Told are the names of the contacts who were told of the incident and not yet
	// of its end, sorted, each with a line feed behind it ("to").
	Told string

	// Off and On are switches that an operator set against the config.
	Off object.Switches // "off"
	On  object.Switches // "on"

	// Extra holds what few objects have; nil for most ("x").
	Extra *Extra
}

// Extra holds an object's acknowledgement, comments, downtimes and what
// operators set against the config. It is never changed in place.
type Extra struct {
	AckAuthor string      // "aa"
	AckText   string      // "at"
	AckTime   object.Time // "aw", when it was set
	// CheckAt is when somebody wants the next check, 0 = no wish ("ca"); CheckForced
	// runs it whatever switches, periods and dependencies say ("cf").
	CheckAt     object.Time
	CheckForced bool
	Modified    uint32     // "md", Nagios' bits of modified attributes
	Comments    []Comment  // "c"
	Downtimes   []Downtime // "d"
	Settings    []Setting  // "st", sorted by Name
}

// Setting is one thing that an operator set against the config.
type Setting struct {
	Name  string // "n": see the Setting… names
	Value string // "v"
	// Config is what the config said at the time ("c"), "" if that is not known.
	// Once it says something else, the config counts again.
	Config string
	Author string      // "by"
	Time   object.Time // "t"
}

// The names of settings. Switches have the names of their events and the values
// "on" and "off"; intervals are Go durations; a custom variable is SettingVar and
// its upper-case name.
const (
	SettingActive        = "active_checks"
	SettingPassive       = "passive_checks"
	SettingNotifications = "notifications"
	SettingFlapDetection = "flap_detection"
	SettingEventHandler  = "event_handler"
	SettingPerfdata      = "perfdata"
	SettingObsess        = "obsess"
	SettingInterval      = "interval"
	SettingRetry         = "retry"
	SettingAttempts      = "attempts"
	SettingCheckPeriod   = "check_period"
	SettingNotePeriod    = "notification_period"
	SettingHandlerPeriod = "event_handler_period"
	SettingVar           = "var."
)

// Setting returns the value that an operator set, if any.
func (s *Status) Setting(name string) (value string, ok bool) {
	if s.Extra == nil {
		return "", false
	}
	for i := range s.Extra.Settings {
		if s.Extra.Settings[i].Name == name {
			return s.Extra.Settings[i].Value, true
		}
	}
	return "", false
}

// Comment is a remark of an operator or of jaque itself.
type Comment struct {
	ID         string      // "id"
	Number     uint64      // "n", for interfaces that know comments by number
	Kind       string      // "k": see the Comment… kinds
	Author     string      // "by"
	Text       string      // "x"
	Time       object.Time // "t"
	Expires    object.Time // "ex"; 0 = never
	Persistent bool        // "p"
}

// The kinds of comment. What a downtime or flapping says stands there, not in a
// comment of its own.
const (
	CommentUser            = "user"
	CommentAcknowledgement = "acknowledgement"
)

// Downtime is one scheduled or running downtime of an object.
type Downtime struct {
	ID       string      // "id"
	Number   uint64      // "n", for interfaces that know downtimes by number
	Comment  uint64      // "cn", the number such interfaces show its comment under
	Author   string      // "by"
	Text     string      // "x"
	Entry    object.Time // "t", when it was asked for
	Start    object.Time // "s"
	End      object.Time // "e"
	Duration object.Time // "d", milliseconds; > 0 = flexible
	Trigger  string      // "tr", id of the downtime that starts it
	Rule     string      // "ru", id of the program-wide downtime it was made from
	Started  object.Time // "st"; 0 = not running
}

// Flexible tells whether the downtime waits for a problem.
func (d *Downtime) Flexible() bool { return d.Duration > 0 && d.Trigger == "" }

// Until returns when a downtime that runs ends, when one that waits is given up.
// A triggered one without a length of its own ends with its trigger: 0.
func (d *Downtime) Until() object.Time {
	switch {
	case d.Duration > 0 && d.Started != 0:
		return d.Started + d.Duration
	case d.Trigger != "" && d.Duration == 0 && d.Started != 0:
		return 0
	}
	return d.End
}

// Measure is what the newest check result of an object said. Readers keep the
// newest by (Epoch, N), whichever stream it came from, so the interleaving of
// the two streams cannot matter: within one epoch an object has one writer, and
// that writer numbers its results.
type Measure struct {
	Epoch     uint64       // "e", under which the result was judged
	N         uint64       // "n", results judged for the object so far
	State     object.State // "s", as judged
	Passive   bool         // "pa"
	LastCheck object.Time  // "lc", start of the execution, or the submitter's time
	NextCheck object.Time  // "nc", as planned when the result was judged; 0 = not planned
	Ring      uint64       // "r", flap history: 21 states of 2 bits, the newest lowest
	RingTime  object.Time  // "rt", of the newest entry (hosts)
	Latency   int64        // "la", microseconds from due to started
	Took      int64        // "ex", microseconds of execution
	Output    string       // "o", first line
	Long      string       // "l", further lines
	Perfdata  string       // "pd", raw
	// Last time in each state, index by object.State ("ls").
	LastIn [4]object.Time
}
