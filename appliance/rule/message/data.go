package message

import (
	"net/url"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// Bounds of what a message holds, whatever happened.
const (
	listed      = 50   // objects that the texts name
	offered     = 100  // objects that a template can list
	lineLimit   = 1000 // characters of a line of output
	longLines   = 15   // lines of long output
	nameLimit   = 200  // characters of a name
	commentSize = 1000 // characters of what somebody wrote
	// addressLimit is how many bytes of an object's name stand in an address; a
	// longer one would be cut by whoever shows it.
	addressLimit = 500
)

// Data is what templates see. The fields of the first entry can be named directly:
// {{.Host}} is {{(index .Items 0).Host}}. Every text in it is one clean line.
type Data struct {
	Entry
	Subject  string // as jaque would write it
	Headline string // what happened, one sentence without a full stop
	Tone     string // crit, warn, unknown, ok or calm

	Items  []Entry // the root first, then the worst, then the newest; at most 100
	Count  int     // of the objects, however many are in Items
	More   int     // of those that are not in Items
	Counts []Count // the objects behind the root, or all if there is none, by state, the worst first
	Root   string  // the failed host that explains the others; "" = none
	Behind string  // what is behind the root: "200 services and 3 hosts"; "" = nothing

	Contact, Channel string
	Repeat, Test     bool
	ID, Thread       string
	Dashboard        string // address of the dashboard; "" = not known
	Version          string // of jaque
	Now              time.Time

	trouble string // why an operator's template is not used
}

// Entry is what happened to one object. Times are in the zone of the message, the
// zero time is "never".
type Entry struct {
	Kind    string // PROBLEM, RECOVERY, ACKNOWLEDGEMENT, FLAPPINGSTART, DOWNTIMESTART, CUSTOM, …
	Object  string // as commands name it: "web01!disk"
	Title   string // "disk on web01", "web01"
	Says    string // "disk on web01 is CRITICAL"
	Host    string
	Service string // "" = it is about the host
	Alias   string // of the object; "" = none
	Address string // of the host
	State   string // CRITICAL, DOWN, …
	Was     string // the state before; "" = the same
	Tone    string // crit, warn, unknown, ok or calm

	Output  string
	Long    []string // further lines of output
	Omitted int      // lines of output that are not in Long

	Time, Since time.Time     // of what happened; of the problem
	Lasted      time.Duration // of a problem that is over
	Brief       bool          // the problem came and went before this message
	Number      int           // of the notification about the problem
	Attempt     string        // "3 of 3"; "" = never checked

	Author, Text string // who asked for it and what they wrote
	AckBy        string // who has acknowledged the problem; "" = nobody
	AckText      string
	AckTime      time.Time
	Downtime     time.Time // until when a downtime runs
	Policy       string    // whose policy tells it
	Steps        []string  // of the escalation
	Why          string    // why this contact
	Others       []string  // who else was told
	Labels       map[string]string
	Groups       []string
	Notes        string

	URL, Explain, Acknowledge string // pages of the dashboard; "" = its address is not known

	id   object.ID
	rank int // how bad it is
}

// Count is how many objects are in a state.
type Count struct {
	State string
	N     int
	Tone  string
}

// IsHost tells whether the entry is about a host.
func (e *Entry) IsHost() bool { return e.Service == "" }

// page returns the address of an object's page.
func page(base string, id object.ID) string {
	if base == "" {
		return ""
	}
	if id.Kind() == object.Host {
		return base + "/hosts/" + url.PathEscape(id.Host())
	}
	return base + "/services/" + url.PathEscape(id.Host()) + "/" + url.PathEscape(id.Service())
}

// links fills in the addresses of the dashboard's pages about an entry.
func (e *Entry) links(m *Message, base string) {
	if base == "" || len(e.id) > addressLimit {
		return
	}
	e.URL = page(base, e.id)
	ask := url.Values{"object": {string(e.id)}, "kind": {e.Kind}}
	if m.Contact != nil {
		ask.Set("contact", m.Contact.Name)
	}
	if !e.Time.IsZero() {
		ask.Set("at", e.Time.UTC().Format(time.RFC3339Nano))
	}
	e.Explain = base + "/explain?" + ask.Encode()
	if e.Kind == problem && e.AckBy == "" {
		e.Acknowledge = base + "/do?" + url.Values{"command": {"acknowledge"}, "object": {string(e.id)}}.Encode()
	}
}

// base returns the address of the dashboard if it is one that may be clicked on.
func (m *Message) base() string {
	u, err := url.Parse(strings.TrimRight(m.URL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}
