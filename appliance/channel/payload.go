package channel

import (
	"net/url"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

// PayloadVersion is the version of the shape of a Payload. A field that is added
// does not change it; one that goes or means something else does.
const PayloadVersion = 1

// Payload is what a webhook is sent, as JSON. Every field is always there: a time
// that is not known is null, a text "". Times are RFC 3339 in UTC.
type Payload struct {
	Version int    `json:"version"`
	ID      string `json:"id"`     // the same for each attempt
	Thread  string `json:"thread"` // the same for all messages of an incident
	Kind    string `json:"kind"`   // of all items, "MIXED" if they differ, "TEST"
	Contact string `json:"contact"`
	Alias   string `json:"alias"` // of the contact
	Channel string `json:"channel"`
	Repeat  bool   `json:"repeat"` // it may have been sent before
	Test    bool   `json:"test"`   // nothing has happened
	Time    string `json:"time"`   // when it was written
	Root    string `json:"root"`   // the failed host that explains the others
	URL     string `json:"url"`    // of the dashboard
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Short   string `json:"short"`
	Count   int    `json:"count"` // of items

	Items []PayloadItem `json:"items"`

	spare map[string]string // the labels of the item that templates see where there is none
}

// PayloadItem is what happened to one object.
type PayloadItem struct {
	Object     string            `json:"object"` // "web1" or "web1!http"
	Host       string            `json:"host"`
	Service    string            `json:"service"` // "" for a host
	Alias      string            `json:"alias"`
	Address    string            `json:"address"` // of the host
	Kind       string            `json:"kind"`    // PROBLEM, RECOVERY, ACKNOWLEDGEMENT, …
	Number     int32             `json:"number"`  // of the notification in the incident
	State      string            `json:"state"`   // OK, WARNING, CRITICAL, UNKNOWN, UP, DOWN, UNREACHABLE
	StateType  string            `json:"state_type"`
	Was        string            `json:"was"` // state before, "" if it is the same
	Output     string            `json:"output"`
	LongOutput string            `json:"long_output"`
	Perfdata   string            `json:"perfdata"`
	Time       string            `json:"time"`
	Since      *string           `json:"since"` // start of the problem
	Labels     map[string]string `json:"labels"`
	Author     string            `json:"author"`
	Comment    string            `json:"comment"`
	Policy     string            `json:"policy"`
	Steps      []string          `json:"steps"`  // of the escalation
	Others     []string          `json:"others"` // who else was told
	URL        string            `json:"url"`
}

// NewPayload returns what a webhook is sent for a message.
func NewPayload(m *message.Message, words message.Rendered) *Payload {
	p := &Payload{
		Version: PayloadVersion, ID: m.ID, Thread: m.Thread, Kind: kindOf(m), Channel: m.Channel, Repeat: m.Repeat, Test: m.Test,
		Time: stamp(m.Now), Root: string(m.Root), URL: m.URL, Subject: words.Subject, Text: words.Text, Short: words.Short,
		Count: len(m.Items), Items: make([]PayloadItem, 0, len(m.Items)),
	}
	if m.Contact != nil {
		p.Contact, p.Alias = m.Contact.Name, m.Contact.Alias
	}
	for i := range m.Items {
		p.Items = append(p.Items, payloadItem(m, &m.Items[i]))
	}
	return p
}

// kindOf returns the kind that all items have.
func kindOf(m *message.Message) string {
	switch {
	case m.Test:
		return "TEST"
	case len(m.Items) == 0:
		return ""
	}
	for i := range m.Items {
		if m.Items[i].Kind != m.Items[0].Kind {
			return "MIXED"
		}
	}
	return m.Items[0].Kind
}

func payloadItem(m *message.Message, it *message.Item) PayloadItem {
	p := PayloadItem{
		Object: string(it.ID), Host: it.ID.Host(), Service: it.ID.Service(), Kind: it.Kind, Number: it.Number, Time: stamp(it.Time),
		Labels: map[string]string{}, Author: it.Author, Comment: it.Text, Policy: it.Policy,
		Steps: list(it.Steps), Others: list(it.Others), URL: objectURL(m.URL, it.ID),
	}
	kind := it.ID.Kind()
	if it.Status != nil {
		p.State, p.StateType = stateName(kind, it.Status), it.Status.Type.String()
	}
	if it.Was != nil {
		p.Was = "PENDING"
		if it.Was.Checked {
			p.Was = it.Was.State.Name(kind)
		}
	}
	if it.Measure != nil {
		p.Output, p.LongOutput, p.Perfdata = it.Measure.Output, it.Measure.Long, it.Measure.Perfdata
	}
	if it.Since != 0 {
		since := stamp(it.Since)
		p.Since = &since
	}
	if it.Object != nil {
		p.Alias, p.Labels = it.Object.Alias, it.Object.AllLabels()
		p.Address = it.Object.HostObject().Address
	}
	return p
}

func stateName(k object.Kind, s *event.Status) string {
	if !s.Checked {
		return "PENDING"
	}
	return s.State.Name(k)
}

// list makes an empty list of none, which JSON tells apart.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return slices.Clone(names)
}

// stamp writes an instant.
func stamp(t object.Time) string { return t.Std().UTC().Format(time.RFC3339) }

// objectURL returns the page of an object, "" if the dashboard's address is not known.
func objectURL(base string, id object.ID) string {
	if base == "" {
		return ""
	}
	if id.Kind() == object.Host {
		return base + "/hosts/" + url.PathEscape(id.Host())
	}
	return base + "/services/" + url.PathEscape(id.Host()) + "/" + url.PathEscape(id.Service())
}
