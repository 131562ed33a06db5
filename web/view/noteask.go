package view

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// NoteAsk is what the notification log is narrowed to; empty parts narrow nothing.
type NoteAsk struct {
	Object  object.ID // a host stands for its services too
	Contact string
	Channel string // its kind, or its whole name
	Kind    string
	Outcome string // delivered, failed, abandoned, waiting, suppressed
	State   string
	Since   time.Time
	Until   time.Time
}

// noteKinds are the kinds of notification to choose from; constant.
var noteKinds = []notify.Kind{
	notify.Problem, notify.Recovery, notify.Acknowledgement, notify.FlappingStart, notify.FlappingStop, notify.FlappingDisabled,
	notify.DowntimeStart, notify.DowntimeEnd, notify.DowntimeCancelled, notify.Custom, notify.Heartbeat,
}

// noteOutcomes are the outcomes to choose from; constant.
var noteOutcomes = []string{OutcomeDelivered, "failed", OutcomeAbandoned, OutcomeWaiting, "suppressed"}

// NoteStates returns the states to which decisions can be narrowed.
func NoteStates() []string { return slices.Clone(noteStates) }

// noteStates are the states to choose from; constant.
var noteStates = []string{"OK", "WARNING", "CRITICAL", "UNKNOWN", "UP", "DOWN", "UNREACHABLE"}

// Wrong names the part that says something that nothing can have, and what it may
// say; "" if all is well.
func (a *NoteAsk) Wrong() (part, value string, known []string) {
	kinds := make([]string, len(noteKinds))
	for i, k := range noteKinds {
		kinds[i] = string(k)
	}
	for _, c := range []struct {
		part, value string
		known       []string
	}{{"kind", a.Kind, kinds}, {"outcome", a.Outcome, noteOutcomes}, {"state", a.State, noteStates}} {
		if c.value != "" && !slices.Contains(c.known, c.value) {
			return c.part, c.value, c.known
		}
	}
	return "", "", nil
}

// Narrow tells whether anything but the time is narrowed.
func (a *NoteAsk) Narrow() bool {
	return a.Object != "" || a.Contact != "" || a.Channel != "" || a.Kind != "" || a.Outcome != "" || a.State != ""
}

// Detailed tells whether more is narrowed than a quick link does.
func (a *NoteAsk) Detailed() bool {
	rest := *a
	rest.Outcome = ""
	return rest.Narrow() || !a.Since.IsZero() || !a.Until.IsZero()
}

// Query returns the address parameters that ask for the same.
func (a *NoteAsk) Query() url.Values {
	v := url.Values{}
	for _, p := range []Pair{
		{"object", string(a.Object)},
		{"contact", a.Contact},
		{"channel", a.Channel},
		{"kind", a.Kind},
		{"outcome", a.Outcome},
		{"state", a.State},
		{"since", stamp(a.Since)},
		{"until", stamp(a.Until)},
	} {
		if p.Value != "" {
			v.Set(p.Name, p.Value)
		}
	}
	return v
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// wants tells whether a decision is asked for.
func (a *NoteAsk) wants(e *event.Event, n *event.Note, requests []event.Request, l *Deliveries, now object.Time) bool {
	switch {
	case a.Object != "" && e.Object != a.Object && (a.Object.Kind() != object.Host || e.Object.Host() != a.Object.Host()),
		a.Kind != "" && n.Kind != a.Kind,
		// The canary's rounds would hide everything else.
		a.Kind == "" && a.Object == "" && n.Kind == string(notify.Heartbeat),
		a.State != "" && (e.Status == nil || e.Status.State.Name(e.Object.Kind()) != a.State),
		a.Outcome == "suppressed" && n.Send,
		a.Contact != "" && !slices.ContainsFunc(n.People, func(p event.Person) bool { return p.Name == a.Contact }):
		return false
	case a.Channel == "" && (a.Outcome == "" || a.Outcome == "suppressed"):
		return true
	}
	for i := range requests {
		r := &requests[i]
		if (a.Contact == "" || r.Contact == a.Contact) && a.over(r.Channel) && (a.Outcome == "" || l.has(r, a.Outcome, now)) {
			return true
		}
	}
	return false
}

// over tells whether a channel is asked for, by its kind or by its name.
func (a *NoteAsk) over(channel string) bool {
	kind, _, _ := strings.Cut(channel, ":")
	return a.Channel == "" || a.Channel == channel || a.Channel == kind
}

// Fields returns the form that narrows the log, with what there is to choose from.
func (a *NoteAsk) Fields(contacts, channels []string) []Field {
	choice := func(name, label, any, value string, from []string) Field {
		f := Field{Kind: FieldSelect, Name: name, Label: label, Options: []Option{{Label: any, On: value == ""}}}
		for _, v := range from {
			f.Options = append(f.Options, Option{Value: v, Label: v, On: v == value})
		}
		return f
	}
	kinds := make([]string, len(noteKinds))
	for i, k := range noteKinds {
		kinds[i] = string(k)
	}
	return []Field{
		{Name: "object", Label: "Object", Value: string(a.Object), Required: true},
		{Name: "contact", Label: "Contact", Value: a.Contact, List: contacts, Required: true},
		{Name: "channel", Label: "Channel", Value: a.Channel, List: channels, Required: true},
		choice("kind", "Kind", "every kind", a.Kind, kinds),
		choice("outcome", "Outcome", "every outcome", a.Outcome, noteOutcomes),
		choice("state", "State", "every state", a.State, noteStates),
		{Kind: FieldMoment, Name: "since", Label: "Since (UTC)", Value: moment(a.Since), Required: true},
		{Kind: FieldMoment, Name: "until", Label: "Until (UTC)", Value: moment(a.Until), Required: true},
	}
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04")
}

// Quick returns what is asked for most, as links.
func (a *NoteAsk) Quick() []Link {
	var out []Link
	for _, q := range []struct{ label, outcome string }{
		{"All", ""},
		{"Nobody told", "suppressed"},
		{"Waiting", OutcomeWaiting},
		{"Failed", "failed"},
		{"Abandoned", OutcomeAbandoned},
	} {
		to := *a
		to.Outcome = q.outcome
		if q.outcome == "" {
			to = NoteAsk{}
		}
		out = append(out, Link{Label: q.label, URL: notesURL(to.Query()), Current: a.Outcome == q.outcome && (q.outcome != "" || !a.Narrow())})
	}
	return out
}

func notesURL(v url.Values) string {
	if len(v) == 0 {
		return "/notifications"
	}
	return "/notifications?" + v.Encode()
}

// Older returns the address of what lies before a position of the log.
func (a *NoteAsk) Older(before uint64) string {
	v := a.Query()
	v.Set("before", Plain(before))
	return notesURL(v)
}

// Plain writes a number for machines.
func Plain(n uint64) string { return strconv.FormatUint(n, 10) }
