package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Handling is what people do about an object: all that they said and set.
type Handling struct {
	Sentences []string // what is to know at once
	Links     []Link   // why it fails or stays quiet: its host, what is in front of it
	Ack       *Ack
	Downtimes []Downtime
	Comments  []Comment
	Settings  []Setting
	Switches  []Switch
}

// Empty tells whether nobody did or said anything.
func (h Handling) Empty() bool {
	return h.Ack == nil && len(h.Downtimes)+len(h.Comments)+len(h.Settings) == 0
}

// Ack is an acknowledgement.
type Ack struct {
	Author string
	Text   string
	When   When
	Until  string // in words
	Remove string // address of the form
}

// Downtime is one downtime of an object.
type Downtime struct {
	Badge  Badge // RUNNING, COMING, WAITING
	Object Link  // whose it is, on pages about many
	Text   string
	Author string
	Start  When
	End    When
	How    []string // flexible, triggered
	Rule   Link     // the downtime for many that made it
	ID     string
	Cancel string
}

// Comment is a remark of an operator.
type Comment struct {
	Object Link
	Text   string
	Author string
	When   When
	Until  string // "" = stays
	Delete string
}

// Setting is one thing that somebody set against the config.
type Setting struct {
	Object Link
	Label  string
	Value  string
	Config string // what the configuration said, "" if that is not known
	Author string
	When   When
	Back   []Pair // fields that set it back
}

// Switch is one switch with who changed it.
type Switch struct {
	Label   string
	On      bool
	Changed bool // against the config
	Author  string
	When    When
	URL     string // of the form that turns it
	Verb    string // Turn off, Turn on
	Whole   bool   // the same is off for the whole program, which comes first
	Back    []Pair // fields that set it back, nil = it is as configured
}

// NewHandling fills what people do about an item; lookup finds others.
func NewHandling(i projection.Item, lookup func(object.ID) projection.Item, now time.Time) Handling {
	h := Handling{Ack: newAck(i, now), Switches: NewSwitches(i, now)}
	s := &i.State.Status
	if s.Flapping {
		h.Sentences = append(h.Sentences, "Flapping: the state changes too often to be trusted.")
	}
	if s.DowntimeDepth > 1 {
		h.Sentences = append(h.Sentences, fmt.Sprintf("%d downtimes run at once.", s.DowntimeDepth))
	}
	if s.Root != "" && s.Root != i.Object.ID {
		root := lookup(s.Root)
		h.Links = append(h.Links, Link{Label: string(s.Root), URL: URL(s.Root), Key: "Behind", Count: ", which is " + NewBadge(root).Name})
	}
	if o := i.Object; o.Kind() == object.Service {
		if host := lookup(o.Host.ID); host.State.Status.DowntimeDepth > 0 {
			h.Links = append(h.Links, Link{Label: o.Host.Name, URL: URL(o.Host.ID), Key: "Its host", Count: " is in downtime" + untilText(host.State, now)})
		}
	}
	if x := s.Extra; x != nil {
		for n := range x.Downtimes {
			h.Downtimes = append(h.Downtimes, NewDowntime(i.Object.ID, &x.Downtimes[n], URL(i.Object.ID), now))
		}
		slices.SortStableFunc(h.Downtimes, func(a, b Downtime) int { return strings.Compare(a.Start.Machine, b.Start.Machine) })
		for n := range x.Comments {
			if x.Comments[n].Kind != event.CommentAcknowledgement || h.Ack == nil {
				h.Comments = append(h.Comments, NewComment(i.Object.ID, &x.Comments[n], URL(i.Object.ID), now))
			}
		}
		for n := range x.Settings {
			h.Settings = append(h.Settings, NewSetting(i.Object.ID, &x.Settings[n], now))
		}
	}
	return h
}

// untilText says until when the downtime that ends last runs.
func untilText(s *fold.State, now time.Time) string {
	var last object.Time
	if s.Status.Extra == nil {
		return ""
	}
	for i := range s.Status.Extra.Downtimes {
		if d := &s.Status.Extra.Downtimes[i]; d.Started != 0 {
			last = max(last, d.Until())
		}
	}
	if last == 0 {
		return ""
	}
	w := NewWhen(last, now)
	return " until " + w.Text + " (" + w.Rel + ")"
}

func newAck(i projection.Item, now time.Time) *Ack {
	s := &i.State.Status
	if s.Ack == object.AckNone {
		return nil
	}
	a := &Ack{Author: "somebody", Until: "until the state changes", Remove: FormURL("remove-acknowledgement", i.Object.ID, URL(i.Object.ID))}
	if s.Ack == object.AckSticky {
		a.Until = "until it has recovered"
	}
	if s.AckExpires != 0 {
		w := NewWhen(s.AckExpires, now)
		a.Until += ", at most until " + w.Text + " (" + w.Rel + ")"
	}
	if x := s.Extra; x != nil {
		a.Author, a.Text = first(x.AckAuthor, a.Author), x.AckText
		if x.AckTime != 0 {
			a.When = NewWhen(x.AckTime, now)
		}
	}
	return a
}

// FormURL returns the form of a command for an object that leads back to a page.
func FormURL(command string, id object.ID, to string) string {
	return "/do?command=" + command + "&object=" + escape(string(id)) + "&back=" + escape(to)
}

// NewDowntime returns a downtime as seen from now; its form leads back to a page.
func NewDowntime(id object.ID, d *event.Downtime, to string, now time.Time) Downtime {
	v := Downtime{
		Badge: Badge{Name: "COMING", Tone: "pending"}, Object: Link{Label: string(id), URL: URL(id)}, Text: d.Text, Author: d.Author,
		Start: NewWhen(d.Start, now), End: NewWhen(d.End, now), ID: d.ID,
		Cancel: "/do?command=cancel-downtime&id=" + escape(d.ID) + "&back=" + escape(to),
	}
	if d.Rule != "" { // every object of a rule has the same id
		v.Cancel = FormURL("cancel-downtime", id, to) + "&start=" + escape(d.Start.Std().Format(time.RFC3339))
	}
	switch {
	case d.Started != 0:
		v.Badge = Badge{Name: "RUNNING", Tone: "ok"}
		v.Start = NewWhen(d.Started, now)
		v.End = NewWhen(d.Until(), now)
		if d.Until() == 0 {
			v.End = When{Text: "the end of its trigger", Rel: "with its trigger"}
		}
	case d.Flexible() && d.Start <= object.At(now):
		v.Badge.Name = "WAITING"
	}
	if d.Duration > 0 {
		v.How = append(v.How, "flexible: "+Span(time.Duration(d.Duration)*time.Millisecond)+" from the first problem")
	}
	if d.Trigger != "" {
		v.How = append(v.How, "begins with downtime "+d.Trigger)
	}
	if d.Rule != "" {
		v.Rule = Link{Label: "made by " + d.Rule, URL: "/downtimes#rule-" + escape(d.Rule)}
	}
	return v
}

// NewComment returns a comment as seen from now; its form leads back to a page.
func NewComment(id object.ID, c *event.Comment, to string, now time.Time) Comment {
	v := Comment{
		Object: Link{Label: string(id), URL: URL(id)}, Text: c.Text, Author: c.Author, When: NewWhen(c.Time, now),
		Delete: "/do?command=delete-comment&id=" + escape(c.ID) + "&back=" + escape(to),
	}
	switch {
	case c.Expires != 0:
		v.Until = "goes " + NewWhen(c.Expires, now).Rel
	case c.Kind == event.CommentAcknowledgement:
		v.Until = "of the acknowledgement"
	case !c.Persistent:
		v.Until = "until jaque restarts"
	}
	return v
}

// isSwitch tells whether a setting is a switch.
func isSwitch(name string) bool {
	return slices.ContainsFunc(switchWords, func(w struct{ name, label string }) bool { return w.name == name })
}

// NewSetting returns what somebody set of an object.
func NewSetting(id object.ID, s *event.Setting, now time.Time) Setting {
	v := Setting{
		Object: Link{Label: string(id), URL: URL(id)}, Label: SwitchLabel(s.Name), Value: s.Value, Config: s.Config, Author: s.Author, When: NewWhen(s.Time, now),
	}
	if name, ok := strings.CutPrefix(s.Name, event.SettingVar); ok {
		v.Label = "Variable " + name
	}
	v.Back = []Pair{{"command", "set"}, {"setting", s.Name}, {"value", ""}, {"object", string(id)}, {"back", URL(id)}}
	if isSwitch(s.Name) {
		command := "enable"
		if s.Value == "on" {
			command = "disable"
		}
		v.Back = []Pair{{"command", command}, {"what", s.Name}, {"object", string(id)}, {"back", URL(id)}}
	}
	return v
}

// objectSwitches are those of switchWords as bits; constant.
var objectSwitches = []object.Switches{
	object.SwitchActive, object.SwitchPassive, object.SwitchNotifications, object.SwitchEventHandler, object.SwitchFlapDetection,
}

// NewSwitches returns the switches of an item with who changed them.
func NewSwitches(i projection.Item, now time.Time) []Switch {
	s := &i.State.Status
	id := i.Object.ID
	var out []Switch
	for n, bit := range objectSwitches {
		name := switchWords[n].name
		v := Switch{Label: switchWords[n].label, On: fold.Enabled(i.Object, s, bit), Changed: (s.Off|s.On)&bit != 0, Verb: "Turn on"}
		command := "enable"
		if v.On {
			command, v.Verb = "disable", "Turn off"
		}
		v.URL = FormURL(command, id, URL(id)) + "&what=" + name
		if v.Changed {
			v.Back = []Pair{{"command", command}, {"what", name}, {"object", string(id)}, {"back", URL(id)}}
			if s.Extra != nil {
				for _, x := range s.Extra.Settings {
					if x.Name == name {
						v.Author, v.When = x.Author, NewWhen(x.Time, now)
					}
				}
			}
		}
		out = append(out, v)
	}
	return out
}
