package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Line is one event of a history.
type Line struct {
	When   When
	Badge  Badge
	Object string
	URL    string // of the object, "" = of the whole system
	What   string // in words
	Text   string // output, comment, reason
	Seq    uint64 // position on the log
	Was    string // the condition before, "" = unchanged
	Kind   string
}

var words = map[event.Kind]string{
	event.CheckResult: "check result", event.FlappingStarted: "started flapping", event.FlappingStopped: "stopped flapping",
	event.AckSet: "acknowledged", event.AckCleared: "acknowledgement ended", event.CommentAdded: "comment added",
	event.CommentRemoved: "comment removed", event.DowntimeScheduled: "downtime scheduled", event.DowntimeStarted: "downtime started",
	event.DowntimeEnded: "downtime ended", event.DowntimeCancelled: "downtime cancelled", event.ObjectAdded: "added to the configuration",
	event.ObjectChanged: "configuration changed", event.ObjectRemoved: "removed from the configuration",
	event.SettingChanged: "setting changed", event.CommandRejected: "command rejected", event.EngineJoined: "engine joined",
	event.EngineLeft: "engine left", event.EpochRaised: "epoch raised", event.ConfigLoaded: "configuration loaded",
	event.NotificationIntended: "notification due", event.NotificationSuppressed: "notification suppressed",
	event.NotificationDelivered: "notification delivered", event.NotificationFailed: "notification failed",
	event.NotificationAbandoned: "notification abandoned", event.NotificationMissed: "notification reached nobody", event.NotificationRequested: "notification asked for",
	event.NotificationReleased: "contacts given to others",
	event.CheckScheduled:       "check asked for", event.HandlerRan: "event handler ran", event.RootChanged: "root cause changed",
}

// Word returns a kind of event for people.
func Word(k event.Kind) string { return first(words[k], string(k)) }

// NewLine returns the line of an event.
func NewLine(e *event.Event, now time.Time) Line {
	l := Line{When: NewWhen(e.Time, now), Object: string(e.Object), Kind: string(e.Kind), Text: e.Text, Seq: e.Seq}
	kind := e.Object.Kind()
	what := []string{Word(e.Kind)}
	for _, k := range e.Also {
		what = append(what, Word(k))
	}
	if e.Object != "" {
		l.URL = URL(e.Object)
	}
	switch {
	case e.Status != nil:
		l.Badge = badge(kind, e.Status)
	case e.Measure != nil:
		l.Badge = Badge{Name: e.Measure.State.Name(kind), Tone: Tone(kind, e.Measure.State)}
	}
	if e.Has(event.CheckResult) && e.Measure != nil {
		l.Text = first(e.Measure.Output, l.Text)
		if e.Measure.Passive {
			what[0] = "submitted result"
		}
	}
	if s := e.Status; s != nil && s.Checked && s.State != object.OK && s.MaxAttempts > 1 {
		what = append(what, fmt.Sprintf("%s %d/%d", s.Type, s.Attempt, s.MaxAttempts))
	}
	if e.Transition && e.Was != nil {
		l.Was = was(kind, e)
	}
	if e.Author != "" {
		what = append(what, "by "+e.Author)
	}
	l.What = strings.Join(what, ", ")
	if e.Program != nil {
		l.Text = programText(e)
	}
	if l.Text == "" {
		l.Text = facts(e.Facts)
	}
	return l
}

// NewLines returns the lines of events, newest first. What became of the messages of
// one notification is one line, where the newest of it stands.
func NewLines(events []event.Event, now time.Time) []Line {
	var out []Line
	at := map[string]int{} // place of a notification's line
	became := map[string]*outcomes{}
	for i := range events {
		e := &events[i]
		id := notificationOf(e)
		if id == "" {
			out = append(out, NewLine(e, now))
			continue
		}
		all := became[id]
		if all == nil {
			all = &outcomes{}
			at[id], became[id] = len(out), all
			out = append(out, NewLine(e, now))
		}
		if all.add(e); len(all.seen) > 1 {
			l := &out[at[id]]
			l.What, l.Text = all.words(e.Facts[event.FactKind]), first(all.reason, strings.Join(all.people, ", "))
		}
	}
	return out
}

// outcomes counts what became of the messages of one notification.
type outcomes struct {
	seen                         []string // requests with the outcome, each once
	delivered, failed, abandoned int
	people                       []string
	reason                       string // of the newest that went wrong
}

func (o *outcomes) add(e *event.Event) {
	who := e.Facts[event.FactContact]
	o.seen = append(o.seen, e.Facts[event.FactRequest])
	if who != "" && !slices.Contains(o.people, who) {
		o.people = append(o.people, who)
	}
	wrong := ""
	switch e.Kind {
	case event.NotificationDelivered:
		o.delivered++
	case event.NotificationFailed:
		o.failed++
		wrong = "attempt failed"
	default:
		o.abandoned++
		wrong = "given up"
	}
	if wrong != "" && o.reason == "" && e.Facts[event.FactReason] != "" {
		o.reason = who + " over " + e.Facts[event.FactChannel] + " " + wrong + ": " + e.Facts[event.FactReason]
	}
}

func (o *outcomes) words(kind string) string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, many string
	}{{o.delivered, "message delivered", "messages delivered"}, {o.abandoned, "given up", "given up"}, {o.failed, "attempt failed", "attempts failed"}} {
		if p.n > 0 {
			parts = append(parts, Count(p.n, p.one, p.many))
		}
	}
	return strings.TrimSpace("notification "+kind) + ": " + strings.Join(parts, ", ")
}

// notificationOf returns which notification an event says an outcome of, "" if it
// says none. Requests of one have the same id up to the contact and the channel.
func notificationOf(e *event.Event) string {
	switch e.Kind {
	case event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned:
	default:
		return ""
	}
	parts := strings.Split(e.Facts[event.FactRequest], "/")
	return strings.Join(parts[:max(len(parts)-2, 0)], "/")
}

// programText says what changed for the whole program.
func programText(e *event.Event) string {
	p := e.Program
	switch {
	case p.Rule != nil:
		return RuleTarget(p.Rule) + ": " + p.Rule.Text
	case p.RuleGone != "":
		return "downtime " + p.RuleGone + " for many objects or times"
	case p.Contact != nil:
		return "contact " + p.Contact.Name
	}
	var names []string
	for name := range strings.SplitSeq(e.Facts["switch"], ",") {
		names = append(names, SwitchLabel(name))
	}
	return "whole program: " + strings.TrimSpace(strings.Join(names, ", ")+" "+e.Facts["to"])
}

func was(k object.Kind, e *event.Event) string {
	switch {
	case !e.Was.Checked:
		return "PENDING"
	case e.Status != nil && e.Status.State == e.Was.State:
		return e.Was.Type.String()
	}
	return e.Was.State.Name(k)
}

func facts(m map[string]string) string {
	out := make([]string, 0, len(m))
	for k, v := range m {
		out = append(out, k+": "+v)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// Stretch is a time in one state. X and Width are its place in a bar of 1000.
type Stretch struct {
	Badge Badge
	From  When
	Span  string
	X     int
	Width int
}

// History is what is known of an object's states.
type History struct {
	Events []event.Event // newest first
	Cut    bool          // older ones are not among them
	Since  object.Time   // when the present state began; 0 = not known
}

// known returns from when on the states are known.
func (h *History) known() time.Time {
	if !h.Cut || len(h.Events) == 0 {
		return time.Time{}
	}
	oldest := h.Events[len(h.Events)-1].Time
	if h.Since != 0 && h.Since < oldest {
		return h.Since.Std()
	}
	return oldest.Std()
}

// notKnown stands for a time of which the history says nothing.
var notKnown = Badge{Name: "NOT KNOWN", Tone: "none"}

// NewTimeline returns the states of an object from since until now; present is its
// state now. What the history does not reach is not known.
func NewTimeline(k object.Kind, present Badge, h *History, since, now time.Time) []Stretch {
	var out []Stretch
	to, current, known := now, present, h.known()
	for i := range h.Events {
		e := &h.Events[i]
		at := e.Time.Std()
		if e.Was == nil || e.Status == nil || at.Before(since) || at.After(to) {
			continue
		}
		before := Badge{Name: "PENDING", Tone: "pending"}
		if e.Was.Checked {
			before = Badge{Name: e.Was.State.Name(k), Tone: Tone(k, e.Was.State)}
		}
		if before.Name == current.Name {
			continue
		}
		out = append(out, stretch(current, at, to, since, now))
		to, current = at, before
	}
	if begin := h.Since.Std(); h.Since != 0 && len(out) == 0 && begin.After(since) && begin.After(known) && begin.Before(now) {
		known = begin // the change to the present state is not in the history
	}
	if known.After(since) && !known.After(to) {
		if known.Before(to) {
			out = append(out, stretch(current, known, to, since, now))
		}
		to, current = known, notKnown
	}
	out = append(out, stretch(current, since, to, since, now))
	slices.Reverse(out)
	return out
}

func stretch(b Badge, from, to, since, now time.Time) Stretch {
	b.Soft = false
	total := now.Sub(since)
	x := int(1000 * from.Sub(since) / total)
	return Stretch{
		Badge: b, From: NewWhen(object.At(from), now), Span: Span(to.Sub(from)),
		X: x, Width: max(3, int(1000*to.Sub(since)/total)-x),
	}
}
