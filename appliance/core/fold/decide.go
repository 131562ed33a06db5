package fold

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Reason says in one word why Decide refused; it serves as a metric label.
type Reason string

// The reasons of a refusal.
const (
	BadState   Reason = "state"     // no state of this kind of object
	BadCommand Reason = "command"   // the command does not fit the object
	PassiveOff Reason = "passive"   // submitted results are not accepted now
	Behind     Reason = "behind"    // the object has seen a newer epoch than the writer's
	NoProblem  Reason = "fine"      // there is no problem to take note of
	TooMany    Reason = "full"      // the object holds as much as it may
	Forbidden  Reason = "forbidden" // something that holds now forbids it
)

// Refusal is the error of Decide: the command changes nothing, and why.
type Refusal struct {
	Object object.ID // "" = the whole program
	Reason Reason
	Text   string // what is wrong and what would be right
}

// Error names the object and what is wrong.
func (r *Refusal) Error() string {
	if r.Object == "" {
		return "decide for the program: " + r.Text
	}
	return fmt.Sprintf("decide %s: %s", r.Object, r.Text)
}

func refuse(env *Env, why Reason, format string, args ...any) error {
	return &Refusal{Object: env.Object.ID, Reason: why, Text: fmt.Sprintf(format, args...)}
}

// Decide judges a command about one object. It returns what to write, which
// may be nothing, or a *Refusal. now is the time of the decision. Nothing has
// changed until the events come back from the log and Apply takes them.
func Decide(env *Env, s *State, c Command, now object.Time) (Decision, error) {
	if newest := max(s.Fence, s.Measure.Epoch); env.Epoch < newest {
		return Decision{}, refuse(env, Behind, "epoch %d is older than %d; wait for the newest view", env.Epoch, newest)
	}
	d := decider{env: env, old: s, now: now, base: s.Status, checked: s.Measure.LastCheck}
	if !s.Status.Checked && s.Status.Attempt == 0 {
		d.base = New(env.Object).Status
	}
	d.next = d.base
	switch c := c.(type) {
	case Result:
		return d.result(&c)
	case SampleHost:
		return d.sampleHost()
	case Switch:
		return d.setSwitches(c)
	case SetProgramSwitches:
		return d.programSwitches()
	case ClearFlapping:
		return d.clearFlapping(c)
	}
	return d.operate(c)
}

// operate judges what operators ask for and what time brings.
func (d *decider) operate(c Command) (Decision, error) {
	switch c := c.(type) {
	case Tick:
		return d.tick()
	case Reroot:
		return d.reroot()
	case Acknowledge:
		return d.acknowledge(c)
	case RemoveAcknowledgement:
		return d.removeAcknowledgement(c)
	case AddComment:
		return d.addComment(c)
	case RemoveComments:
		return d.removeComments(c)
	case ScheduleDowntime:
		return d.scheduleDowntime(c.Downtime)
	case CancelDowntimes:
		return d.cancelDowntimes(c)
	case Tune:
		return d.tune(c)
	case SetModified:
		return d.setModified(c)
	case Reschedule:
		return d.reschedule(c)
	case DelayNotification:
		return d.delayNotification(c)
	case SetNotificationNumber:
		return d.setNotificationNumber(c)
	case Notify:
		return d.notify(c)
	case Remind:
		return d.remind()
	case Missed:
		return d.missed(c)
	}
	return Decision{}, refuse(d.env, BadCommand, "command %T is unknown to this build", c)
}

// decider holds one decision while it is made.
type decider struct {
	env  *Env
	old  *State
	now  object.Time
	base event.Status // the status before, never empty
	next event.Status // the status after

	started, stopped, ackCleared, startedFlexible bool

	checked object.Time  // start of the newest check
	ticks   bool         // time passes
	notes   []event.Note // decisions about telling people that were made before the event
	noted   bool         // there are no others to be made
	facts   map[string]string
	also    []event.Kind // what happened beside the above, in order
	made    int          // comments and downtimes of this decision
}

// changed tells whether the decision belongs on the log.
func (d *decider) changed() bool { return d.next != d.old.Status }

// envelope fills what every event of the decision has.
func (d *decider) envelope(e *event.Event, k event.Kind) {
	e.Version, e.ID, e.Kind, e.Object = event.Version, d.env.ID, k, d.env.Object.ID
	e.Epoch, e.Writer, e.Instance, e.Time = d.env.Epoch, d.env.Writer, d.env.Instance, d.now
}

// log makes the event for the log, complete with status and measure.
func (d *decider) log(out *Decision, k event.Kind, m *event.Measure) {
	e := &out.Log
	out.HasLog, e.Stream = true, event.Log
	d.envelope(e, k)
	e.Prev = d.old.Last
	e.Measure = m
	for _, also := range [...]struct {
		kind event.Kind
		is   bool
	}{
		{event.AckCleared, d.ackCleared},
		{event.FlappingStarted, d.started},
		{event.FlappingStopped, d.stopped},
	} {
		if also.is && also.kind != k {
			e.Also = append(e.Also, also.kind)
		}
	}
	for _, also := range d.also {
		if also != k {
			e.Also = append(e.Also, also)
		}
	}
	e.Facts = d.facts
	d.announce(e)
	status := d.next
	e.Status = &status
}

// measure makes the event for the stream of results.
func (d *decider) measure(out *Decision, k event.Kind, m *event.Measure) {
	out.HasResult, out.Result.Stream = true, event.Results
	d.envelope(&out.Result, k)
	out.Result.Measure = m
}

// nextMeasure returns a copy of the newest measure with the next number.
func (d *decider) nextMeasure() *event.Measure {
	m := d.old.Measure
	m.Epoch, m.N = d.env.Epoch, d.old.Measure.N+1
	return &m
}
