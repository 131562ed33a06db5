package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Window is how far back an object's timeline reaches.
const Window = 24 * time.Hour

// mostLines is how many lines of its history the page of an object shows.
const mostLines = 50

// Detail is the page of one host or service.
type Detail struct {
	Chrome    Chrome
	Row       Row
	ID        string
	Service   bool
	Kind      string // host, service
	Address   string
	Host      Row // of a service
	Long      string
	Perf      []Perf
	Raw       string // performance data as written
	Handling  Handling
	Who       Who
	Tools     []Tool
	NeedsAck  bool // a problem that nobody took note of
	Facts     []Fact
	Labels    []Fact
	Groups    []Link
	Parents   []Row
	Children  []Row
	Services  []Row
	Timeline  []Stretch
	Lines     []Line
	EventsURL string
	Notes     string
	NotesURL  string
	ActionURL string
	Check     Form
	Broken    string // why there is no history
}

// Fact is a labelled value; a moment when When is not zero.
type Fact struct {
	Label string
	Value string
	When  When
	URL   string
}

// Form is a button that asks the engine for something.
type Form struct {
	Action string
	Label  string
	Why    string // why it cannot be used, "" = it can
}

// Sources are what a detail page is filled from.
type Sources struct {
	Item   projection.Item
	Lookup func(object.ID) projection.Item
	Events []event.Event // newest first, without what became of notifications
	Cut    bool          // there are older ones
	// Outcomes are what became of notifications, newest first.
	Outcomes []event.Event
	Owner    string
	Next     object.Time // the next check, 0 = none is planned
	Check    Form
	Off      object.Program // what is off for the whole program
	Why      string         // why this browser cannot change anything, "" = it can
	Broken   string
}

// NewDetail fills the page of an object.
func NewDetail(c Chrome, src Sources, now time.Time) Detail {
	o, s := src.Item.Object, src.Item.State
	d := Detail{
		Chrome: c, Row: NewRow(src.Item, now), ID: string(o.ID), Service: o.Kind() == object.Service,
		Kind: o.Kind().String(), Address: o.HostObject().Address, Long: s.Measure.Long,
		Perf: NewPerf(s.Measure.Perfdata), Raw: s.Measure.Perfdata,
		Handling: NewHandling(src.Item, src.Lookup, now), Tools: tools(src.Item, src.Why), Labels: labels(o),
		EventsURL: "/events?object=" + escape(string(o.ID)), Check: src.Check, Broken: src.Broken,
	}
	d.Handling.Switches = under(d.Handling.Switches, o.Kind(), src.Off)
	d.Check.Action, d.Check.Label = URL(o.ID)+"/check", "Check now"
	d.NeedsAck = s.Status.Checked && s.Status.State != object.OK && s.Status.Ack == object.AckNone
	n := newNoter(src.Item, src.Lookup, now)
	d.Notes = n.text("NOTES", o.Rule.Notes)
	d.NotesURL, d.ActionURL = n.text("NOTESURL", o.Rule.NotesURL), n.text("ACTIONURL", o.Rule.ActionURL)
	d.Facts = timings(src, now)
	past := History{Events: src.Events, Cut: src.Cut, Since: s.Status.LastChange}
	d.Timeline = NewTimeline(o.Kind(), d.Row.Badge, &past, now.Add(-Window), now)
	both := slices.Concat(src.Events, src.Outcomes)
	slices.SortStableFunc(both, func(a, b event.Event) int { return cmp.Compare(b.Seq, a.Seq) })
	d.Lines = NewLines(both, now)
	d.Lines = d.Lines[:min(len(d.Lines), mostLines)]
	for _, g := range slices.Sorted(slices.Values(o.Groups)) {
		d.Groups = append(d.Groups, Link{Label: g, URL: ListURL(o.Kind(), "group="+quote(g))})
	}
	rows := func(objects []*object.Object) []Row {
		var out []Row
		for _, x := range objects {
			out = append(out, NewRow(src.Lookup(x.ID), now))
		}
		return out
	}
	if d.Service {
		d.Host = NewRow(src.Lookup(o.Host.ID), now)
		return d
	}
	d.Parents, d.Children, d.Services = rows(o.Parents), rows(o.Children), rows(o.Services)
	return d
}

// Tool is a command that the page of an object offers.
type Tool struct {
	Label string
	URL   string
	Key   string // shortcut
}

// tools returns the commands of an object's page; where none can be used, none.
func tools(i projection.Item, why string) []Tool {
	if why != "" {
		return nil
	}
	id, s := i.Object.ID, &i.State.Status
	names := []string{"schedule-downtime", "add-comment", "submit-result"}
	if s.Checked && s.State != object.OK {
		names = append([]string{"acknowledge"}, names...)
	}
	var out []Tool
	for _, name := range names {
		w, _ := CommandWords(name)
		out = append(out, Tool{Label: w.Heading, URL: FormURL(name, id, URL(id)), Key: w.Key})
	}
	return append(out, Tool{Label: "More", URL: "/do?object=" + escape(string(id)) + "&back=" + escape(URL(id)), Key: "m"})
}

func labels(o *object.Object) []Fact {
	all := o.AllLabels()
	var out []Fact
	for k, v := range all {
		out = append(out, Fact{Label: k, Value: v, URL: ListURL(o.Kind(), "label."+k+"="+quote(v))})
	}
	slices.SortFunc(out, func(a, b Fact) int {
		if a.Label < b.Label {
			return -1
		}
		return 1
	})
	return out
}

func timings(src Sources, now time.Time) []Fact {
	o, s, m := src.Item.Object, &src.Item.State.Status, &src.Item.State.Measure
	kind := "not known before the first check"
	if s.Checked {
		kind = fmt.Sprintf("%s, attempt %d of %d", s.Type, s.Attempt, s.MaxAttempts)
	}
	facts := []Fact{
		{Label: "State changed", When: NewWhen(s.LastChange, now)},
		{Label: "Hard state changed", When: NewWhen(s.LastHardChange, now)},
		{Label: "State type", Value: kind},
		{Label: "Last check", When: NewWhen(m.LastCheck, now)},
		{Label: "Next check", When: NewWhen(src.Next, now)},
		{Label: "Took", Value: Micros(m.Took)},
		{Label: "Started late by", Value: Micros(m.Latency)},
		{Label: "Check", Value: first(string(o.Rule.Check.Kind), "none")},
	}
	if o.Rule.Interval > 0 {
		facts = append(facts, Fact{Label: "Every", Value: Span(o.Rule.Interval) + ", while soft " + Span(o.Rule.Retry)})
	}
	if o.Rule.Freshness > 0 {
		facts = append(facts, Fact{Label: "Stale after", Value: Span(o.Rule.Freshness)})
	}
	return append(facts,
		Fact{Label: "Zone", Value: first(o.Zone, "default")},
		Fact{Label: "Owner", Value: first(src.Owner, "not known")},
		Fact{Label: "Declared by", Value: first(o.Rule.Name, "not known")},
	)
}
