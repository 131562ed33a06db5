package view

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Sheet is the form of one command: a page of its own, or the same in a dialog.
type Sheet struct {
	Chrome  Chrome
	Heading string
	Command string
	Why     string // why it cannot be used, "" = it can
	SignIn  string // where to sign in, "" = that is not why
	Over    string // what it is about is not there any more; "" = it is
	Error   string // what is wrong with the whole
	Target  Target
	Notes   []string // what is to be known before
	Fields  []Field
	Hidden  []Pair
	Submit  string // label of the button
	Dismiss string // label of the way out
	Danger  bool   // it takes something away
	Review  bool   // the button leads to a look at what will be done first
	Back    string // where it was opened
	Preview Preview
}

// Target says what a command is for.
type Target struct {
	Text string // "web01!http", "12 services", "everything that matches …"
	URL  string // of one object
}

// Pair is a field that is sent along unseen.
type Pair struct{ Name, Value string }

// Field is one field of a form.
type Field struct {
	Kind     FieldKind
	Name     string
	Label    string
	Value    string
	Hint     string
	Error    string
	On       bool // of a FieldCheck
	Required bool
	Focus    bool     // gets the focus when the form opens
	Options  []Option // of a FieldSelect, FieldChoice and FieldMany
	List     []string // suggestions
	// Group gathers neighbours with the same one; For names the choice that they
	// belong to, as "repeat-weekly": the page hides them under another choice.
	Group string
	For   string
}

// FieldKind is how a field is filled in.
type FieldKind uint8

// The kinds of field.
const (
	FieldText   FieldKind = iota
	FieldArea             // several lines
	FieldCheck            // yes or no
	FieldSelect           // one of many
	FieldChoice           // one of few
	FieldMany             // some of few
	FieldMoment           // date and time
	FieldDay              // date
	FieldClock            // time of day
)

// Type returns the type of the input.
func (f Field) Type() string {
	switch f.Kind {
	case FieldMoment:
		return "datetime-local"
	case FieldDay:
		return "date"
	case FieldClock:
		return "time"
	case FieldCheck, FieldMany:
		return "checkbox"
	case FieldChoice:
		return "radio"
	}
	return "text"
}

// ID returns the id of the input.
func (f Field) ID() string { return "f-" + f.Name }

// Described returns the ids of what explains the field, "" if nothing does.
func (f Field) Described() string {
	switch {
	case f.Error != "":
		return f.ID() + "-error"
	case f.Hint != "":
		return f.ID() + "-hint"
	}
	return ""
}

// Option is one value of a field.
type Option struct {
	Value string
	Label string
	On    bool
}

// Block is a run of fields with one group.
type Block struct {
	Group  string
	Fields []Field
}

// Blocks returns the fields in runs of the same group.
func (s Sheet) Blocks() []Block {
	var out []Block
	for _, f := range s.Fields {
		if n := len(out); n > 0 && out[n-1].Group == f.Group {
			out[n-1].Fields = append(out[n-1].Fields, f)
			continue
		}
		out = append(out, Block{Group: f.Group, Fields: []Field{f}})
	}
	return out
}

// Preview says what a command will touch and when.
type Preview struct {
	Text        string // "touches 12 objects", "" = nothing is known yet
	Error       string
	Total       int
	Notes       []string // what is to be known before
	Names       []Link   // the first of them
	Rest        string   // how many more, "" = none
	Occurrences []Occurrence
	Zone        string // of the local times
}

// Occurrence is one time of a recurring downtime.
type Occurrence struct {
	UTC    string // from and to
	Local  string
	Length string
	DST    string // what is special about the night, "" = nothing
}

// Review is the look at what a command will do, before it is done.
type Review struct {
	Chrome  Chrome
	Heading string
	Summary []Fact // what was filled in
	Preview Preview
	Hidden  []Pair
	Confirm bool // the number has to be written
	Error   string
	Submit  string
	Dismiss string
	Danger  bool
	Back    string
}

// Outcome is what became of a command.
type Outcome struct {
	Chrome  Chrome
	Heading string
	Parts   []Part
	Lines   []Result
	Rest    string // how many more objects, "" = none
	Back    string
}

// Result is what became of a command for one object.
type Result struct {
	Badge  Badge
	Word   string // done, refused, failed, not confirmed
	Name   string
	URL    string
	Detail string
}

// resultBadge returns the badge of an outcome, in the words of the API.
func resultBadge(outcome string) Badge {
	tone, ok := map[string]string{"done": "ok", "refused": "warn", "failed": "crit", "not confirmed": "pending", "submitted": "pending"}[outcome]
	if !ok {
		tone = "unknown"
	}
	return Badge{Name: strings.ToUpper(outcome), Tone: tone}
}

// NewResult returns the line of one object; without an object it is about the
// whole program.
func NewResult(id object.ID, outcome, detail string) Result {
	r := Result{Badge: resultBadge(outcome), Word: outcome, Name: "the whole program", Detail: detail}
	if id != "" {
		r.Name, r.URL = string(id), URL(id)
	}
	return r
}

// ID returns the object that a line is about, "" = the whole program.
func (r Result) ID() object.ID {
	if r.URL == "" {
		return ""
	}
	return object.ID(r.Name)
}

// Is returns the line with another outcome.
func (r Result) Is(outcome, detail string) Result {
	return NewResult(r.ID(), outcome, detail)
}

// Notice is the outcome of a command, said on the page it came from.
type Notice struct {
	Tone string // ok, warn, crit, pending
	Text string
	Link Link
}
