package view

import (
	"cmp"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
)

// Events is the history of one object or of all.
type Events struct {
	Chrome Chrome
	Object string
	Kind   string
	Kinds  []Link
	Lines  []Line
	Older  string // address of older events, "" = these are the oldest
	Error  string
}

// NewEvents fills the history page from events, newest first.
func NewEvents(c Chrome, objectID, kind string, events []event.Event, now time.Time) Events {
	v := Events{Chrome: c, Object: objectID, Kind: kind}
	v.Kinds = append(v.Kinds, Link{Label: "every kind", Current: kind == ""})
	for _, k := range []event.Kind{
		event.CheckResult, event.FlappingStarted, event.FlappingStopped, event.AckSet, event.AckCleared,
		event.DowntimeScheduled, event.DowntimeStarted, event.DowntimeEnded, event.CommentAdded,
		event.CommandRejected, event.ConfigLoaded, event.EngineJoined, event.EngineLeft,
	} {
		v.Kinds = append(v.Kinds, Link{Label: Word(k), Key: string(k), Current: string(k) == kind})
	}
	v.Lines = NewLines(events, now)
	return v
}

// Search is the answer to the search box.
type Search struct {
	Chrome   Chrome
	Text     string
	Error    string
	Hosts    []Row
	Services []Row
	AllHosts Link // the whole lists, when they are longer than what is shown
	All      Link
}

// Engine is the page about jaque itself.
type Engine struct {
	Chrome   Chrome
	Facts    []Fact
	Reload   Reload
	Engines  []EngineRow // that share the objects
	Lateness []Bar
	Log      []Fact
	Unready  []string
	Canary   Canary
	Strip    Strip
}

// Reload is the outcome of the last load of the configuration.
type Reload struct {
	Badge      Badge
	When       When
	Generation string
	Objects    string
	Problems   []string
}

// Bar is a labelled value in a bar of 1000.
type Bar struct {
	Label string
	Value string
	Width int
	Tone  string
}

// NewLateness returns the bars of check lateness, by name in seconds.
func NewLateness(names []string, seconds []float64) []Bar {
	const scale = 1.0 // a whole bar is a second
	bars := make([]Bar, len(names))
	for i, name := range names {
		s := seconds[i]
		b := Bar{Label: name, Value: Micros(int64(s * 1e6)), Width: min(1000, int(1000*s/scale)), Tone: "ok"}
		switch {
		case s >= 1:
			b.Tone = "crit"
		case s >= 0.25:
			b.Tone = "warn"
		}
		bars[i] = b
	}
	return bars
}

// Failure is the page about a request that went wrong.
type Failure struct {
	Chrome Chrome
	Status int
	Title  string
	Detail string
	Near   Link // what may have been meant
}

// SignIn is the page that asks for the token.
type SignIn struct {
	Chrome Chrome
	Back   string
	Error  string
}

// Summary says in one sentence how things stand, for readers who only listen.
func Summary(unhandled int) string {
	if unhandled == 0 {
		return "nothing needs you"
	}
	return fmt.Sprintf("%s unhandled", Count(unhandled, "problem is", "problems are"))
}

// Title returns the title of a page with the number of problems in front.
func Title(page string, unhandled int) string {
	title := cmp.Or(page, "Problems") + " · jaque"
	if unhandled > 0 {
		title = "(" + Number(unhandled) + ") " + title
	}
	return title
}
