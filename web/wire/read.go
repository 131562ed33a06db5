package wire

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Downtime is one downtime of one object.
type Downtime struct {
	ID       string    `json:"id"`
	Number   uint64    `json:"number"` // as Nagios' interfaces know it
	Object   object.ID `json:"object"`
	Kind     string    `json:"kind"` // fixed, flexible or triggered
	Author   string    `json:"author"`
	Comment  string    `json:"comment"`
	Entry    Time      `json:"entry"`
	Start    Time      `json:"start"`
	End      Time      `json:"end"`
	Flexible float64   `json:"flexible"` // seconds it lasts once it started, 0 = from start to end
	Trigger  string    `json:"trigger"`  // id of the downtime that starts it, "" = none
	Rule     string    `json:"rule"`     // id of the downtime for many objects or times it was made from, "" = none
	Started  Time      `json:"started"`  // null = it does not run
	Until    Time      `json:"until"`    // when it ends as things are; null = with its trigger
}

// FromDowntime returns a downtime in the words of the API.
func FromDowntime(id object.ID, d *event.Downtime) Downtime {
	w := Downtime{
		ID: d.ID, Number: d.Number, Object: id, Kind: "fixed", Author: d.Author, Comment: d.Text, Entry: Time(d.Entry),
		Start: Time(d.Start), End: Time(d.End), Flexible: float64(d.Duration) / 1000, Trigger: d.Trigger, Rule: d.Rule,
		Started: Time(d.Started), Until: Time(d.Until()),
	}
	switch {
	case d.Trigger != "":
		w.Kind = "triggered"
	case d.Duration > 0:
		w.Kind = "flexible"
	}
	return w
}

// Rule is a downtime for many objects, for those that come later, or for many
// times. Exactly one of Object, Group and Filter says what it is for.
type Rule struct {
	ID           string       `json:"id"`
	Number       uint64       `json:"number"`
	Author       string       `json:"author"`
	Comment      string       `json:"comment"`
	Entry        Time         `json:"entry"`
	Object       object.ID    `json:"object,omitempty"`
	WithServices bool         `json:"with_services,omitempty"`
	Group        string       `json:"group,omitempty"`
	Filter       string       `json:"filter,omitempty"`
	Target       string       `json:"target"`  // the same in words
	Objects      int          `json:"objects"` // that have a downtime made from it now
	Start        Time         `json:"start"`   // recurring: the first time it may begin
	End          Time         `json:"end"`     // recurring: it begins no more from here, null = for ever
	Flexible     float64      `json:"flexible"`
	Ranges       []string     `json:"ranges,omitempty"` // recurring
	Timezone     string       `json:"timezone,omitempty"`
	Occurrences  []Occurrence `json:"occurrences,omitempty"` // recurring: the next times
}

// FromRule returns a downtime for many objects or times in the words of the API,
// without what follows from how things are: its target in words, its objects and
// its next times.
func FromRule(r *event.DowntimeRule) Rule {
	return Rule{
		ID: r.ID, Number: r.Number, Author: r.Author, Comment: r.Text, Entry: Time(r.Entry), Object: r.Object,
		WithServices: r.WithServices, Group: r.Group, Filter: r.Filter, Start: Time(r.Start), End: Time(r.End),
		Flexible: float64(r.Duration) / 1000, Ranges: r.Ranges, Timezone: r.Zone,
	}
}

// Downtimes is a page of downtimes. Rules stand on every page.
type Downtimes struct {
	Items []Downtime `json:"items"`
	Rules []Rule     `json:"rules"`
	Total int        `json:"total"`
	Next  string     `json:"next"`
}

// Comment is one comment of an object.
type Comment struct {
	ID         string    `json:"id"`
	Number     uint64    `json:"number"`
	Object     object.ID `json:"object"`
	Kind       string    `json:"kind"` // user or acknowledgement
	Author     string    `json:"author"`
	Comment    string    `json:"comment"`
	Time       Time      `json:"time"`
	Expires    Time      `json:"expires"`
	Persistent bool      `json:"persistent"`
}

// FromComment returns a comment in the words of the API.
func FromComment(id object.ID, c *event.Comment) Comment {
	return Comment{
		ID: c.ID, Number: c.Number, Object: id, Kind: c.Kind, Author: c.Author, Comment: c.Text,
		Time: Time(c.Time), Expires: Time(c.Expires), Persistent: c.Persistent,
	}
}

// Comments is a page of comments.
type Comments struct {
	Items []Comment `json:"items"`
	Total int       `json:"total"`
	Next  string    `json:"next"`
}

// Setting is one thing that an operator set against the configuration.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Author string `json:"author"`
	Time   Time   `json:"time"`
}

// FromSettings returns settings in the words of the API.
func FromSettings(all []event.Setting) []Setting {
	out := make([]Setting, len(all))
	for i, s := range all {
		out[i] = Setting{Name: s.Name, Value: s.Value, Author: s.Author, Time: Time(s.Time)}
	}
	return out
}

// ProgramSwitch is one switch of the whole program. Author and Time are of who
// set it against the configuration.
type ProgramSwitch struct {
	Name       string `json:"name"`
	On         bool   `json:"on"`
	Configured bool   `json:"configured"`
	Author     string `json:"author,omitempty"`
	Time       Time   `json:"time"`
}

// Contact is a contact for whom something differs from the configuration.
type Contact struct {
	Name     string    `json:"name"`
	Hosts    bool      `json:"host_notifications"`
	Services bool      `json:"service_notifications"`
	Settings []Setting `json:"settings"`
}

// ObjectSettings is what operators set of one object.
type ObjectSettings struct {
	Object   object.ID `json:"object"`
	Settings []Setting `json:"settings"`
}

// Settings is all that operators set against the configuration; Total and Next
// are of the objects.
type Settings struct {
	Program  []ProgramSwitch  `json:"program"`
	Contacts []Contact        `json:"contacts"`
	Objects  []ObjectSettings `json:"objects"`
	Total    int              `json:"total"`
	Next     string           `json:"next"`
}
