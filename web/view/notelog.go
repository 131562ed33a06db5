package view

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// NoteRows is how many rows the notification log shows at once, noteMembers how
// many objects of one row.
const (
	NoteRows    = 50
	noteMembers = 20
)

// Notes is the page of the notification log.
type Notes struct {
	Chrome Chrome
	Form   []Field
	Narrow bool // more is asked for than what a quick link does
	Quick  []Link
	Strip  Strip
	Rows   []NoteRow
	Error  string
	Empty  string
	Older  Link // what is further back; without an address there is nothing
}

// NoteRow is a decision about telling people, or several of them that became one
// message, or that came to nothing for the same reason.
type NoteRow struct {
	ID      string // of the element
	When    When
	Badge   Badge
	Object  Link
	Kind    string
	Number  string // which notification of the problem
	Root    Link   // the failed host that explains the problem
	Count   string // how many objects it is about, "" = one
	Members []Link // those objects
	Rest    string // how many more there are
	People  []Told
	Nobody  string // why nobody was told
	Instead string // why the only one who is asked about was not told, in one sentence
	Others  string // who else was not told, in words
	Policy  string // the policy and the steps of the escalation that chose
	Gates   []GateLine
	Each    []Verdict
	Explain string // address, "" = nothing can be explained
	Gone    string // why the object has no page, "" = it has
	host    bool
	keys    []string // of the messages, or why nobody was told
	members int
}

// Told is somebody who is told.
type Told struct {
	Contact Link
	Ways    []Way
}

// GateLine is a gate with its verdict.
type GateLine struct {
	Name    string
	Verdict string // passed, blocked, not reached
	Text    string
	Until   When // when time alone may lift a block; zero = not by time
}

// Verdict is what the gates of one contact said.
type Verdict struct {
	Contact Link
	Alias   string
	Told    bool
	Says    string // told, not told, would be told; "" = as Told says
	Why     string // one sentence
	Over    string // channels
	If      string // what would have to be different
	Gates   []GateLine
}

// NewGates returns the gates of a decision in their order.
func NewGates(all []event.Gate) []GateLine {
	out := make([]GateLine, len(all))
	for i, g := range all {
		out[i] = GateLine{Name: g.Name, Verdict: g.Verdict.String(), Text: first(g.Why, notify.Gate(g.Name).Meaning(), g.Name)}
	}
	return out
}

// NoteLog makes rows of decisions, which come newest first.
type NoteLog struct {
	Ask        NoteAsk
	Deliveries *Deliveries
	Now        time.Time
	Known      func(object.ID) bool // whether an object has a page; nil = each has
	Rows       []NoteRow
}

// link leads to an object, or to the log of one that has no page any more.
func (l *NoteLog) link(id object.ID) Link {
	if l.Known != nil && !l.Known(id) {
		return Link{Label: string(id), URL: notesURL((&NoteAsk{Object: id}).Query())}
	}
	return Link{Label: string(id), URL: URL(id)}
}

// Add takes in the decisions of an event; those that were not asked for are left
// out.
func (l *NoteLog) Add(e *event.Event) {
	requests := e.Requests()
	for i := range e.Notes {
		n := &e.Notes[i]
		own := slices.DeleteFunc(slices.Clone(requests), func(r event.Request) bool { return r.Note != n })
		if !l.Ask.wants(e, n, own, l.Deliveries, object.At(l.Now)) {
			continue
		}
		row := l.row(e, n, own)
		if at := l.joins(&row); at != nil {
			at.join(&row)
			continue
		}
		l.Rows = append(l.Rows, row)
	}
}

// joins returns the row that a decision belongs to. Decisions that share a message
// are one wherever they stand; those that came to nothing only next to each other.
func (l *NoteLog) joins(row *NoteRow) *NoteRow {
	if len(row.keys) == 0 {
		return nil
	}
	for i := range slices.Backward(l.Rows) {
		at := &l.Rows[i]
		if at.Kind == row.Kind && slices.ContainsFunc(row.keys, func(k string) bool { return slices.Contains(at.keys, k) }) {
			return at
		}
		if row.Nobody != "" {
			return nil
		}
	}
	return nil
}

// join takes another decision into the row. A host speaks for its services.
func (r *NoteRow) join(other *NoteRow) {
	if r.Members == nil {
		r.Members, r.members = []Link{r.Object}, 1
	}
	if other.host && !r.host {
		r.host, r.ID, r.Badge, r.Object, r.Number, r.Root = true, other.ID, other.Badge, other.Object, other.Number, other.Root
		r.Gates, r.Each, r.Others, r.Policy, r.Explain, r.Gone = other.Gates, other.Each, other.Others, other.Policy, other.Explain, other.Gone
	}
	for _, t := range other.People {
		if !slices.ContainsFunc(r.People, func(o Told) bool { return o.Contact == t.Contact }) {
			r.People = append(r.People, t)
		}
	}
	for _, k := range other.keys {
		if !slices.Contains(r.keys, k) {
			r.keys = append(r.keys, k)
		}
	}
	r.members++
	if len(r.Members) < noteMembers {
		r.Members = append(r.Members, other.Object)
	} else {
		r.Rest = "and " + Number(r.members-noteMembers) + " more here"
	}
	if r.Nobody != "" || r.Count == "" {
		r.Count = Number(r.members) + " objects"
	}
}

func (l *NoteLog) row(e *event.Event, n *event.Note, requests []event.Request) NoteRow {
	row := NoteRow{
		ID: "note-" + Plain(e.Seq) + "-" + strings.ToLower(n.Kind), When: NewWhen(e.Time, l.Now), Kind: n.Kind,
		host: e.Object.Kind() == object.Host, Object: l.link(e.Object), Gates: NewGates(n.Gates), Policy: chosenBy(n),
		Explain: explainURL(e.Object, "", n.Kind, e.Time),
	}
	if l.Known != nil && !l.Known(e.Object) {
		row.Explain, row.Gone = "", "not configured any more"
	}
	if e.Status != nil {
		row.Badge = badge(e.Object.Kind(), e.Status)
		if root := e.Status.Root; root != "" && root != e.Object {
			row.Root = l.link(root)
		}
	}
	if n.Number > 0 {
		row.Number = "no. " + Number(int(n.Number))
	}
	not := 0
	for i := range n.People {
		p := &n.People[i]
		row.Each = append(row.Each, Verdict{Contact: contactLink(p.Name), Told: p.Told, Why: p.Blocking().Why, Gates: NewGates(p.Gates)})
		if !p.Told {
			not++
		}
	}
	if !n.Send {
		row.Nobody = first(n.Blocking().Why, "no gate says why")
		row.keys = []string{strings.Join([]string{"", e.Object.Host(), row.Nobody}, "\n")}
		return row
	}
	if not > 0 {
		row.Others = Count(not, "other is", "others are") + " not told"
	}
	row.People = l.people(n, requests)
	l.group(&row, requests)
	return row
}

// people returns those who are told with what became of it.
func (l *NoteLog) people(n *event.Note, requests []event.Request) []Told {
	var out []Told
	for i := range n.People {
		p := &n.People[i]
		if !p.Told {
			continue
		}
		t := Told{Contact: contactLink(p.Name)}
		for j := range requests {
			if requests[j].Contact == p.Name {
				t.Ways = append(t.Ways, l.Deliveries.way(&requests[j], object.At(l.Now)))
			}
		}
		out = append(out, t)
	}
	return out
}

// group says in which messages a decision was, if others were in all of them.
func (l *NoteLog) group(row *NoteRow, requests []event.Request) {
	var messages []string
	most := 0
	for i := range requests {
		message, with := l.Deliveries.message(requests[i].ID)
		if message == "" {
			return
		}
		messages = append(messages, message)
		most = max(most, with)
	}
	if row.keys = messages; len(messages) > 0 {
		row.Count = Number(most) + " in one message"
	}
}

// chosenBy says whose words chose the contacts.
func chosenBy(n *event.Note) string {
	var parts []string
	if n.Policy != "" {
		parts = append(parts, "policy "+n.Policy)
	}
	if len(n.Steps) > 0 {
		parts = append(parts, "escalation: "+strings.Join(n.Steps, ", "))
	}
	return strings.Join(parts, ", ")
}

func contactLink(name string) Link {
	return Link{Label: name, URL: "/notifications?contact=" + escape(name)}
}

// explainURL returns the page that explains a decision about an object.
func explainURL(id object.ID, contact, kind string, at object.Time) string {
	u := "/explain?object=" + escape(string(id))
	if contact != "" {
		u += "&contact=" + escape(contact)
	}
	if kind != "" {
		u += "&kind=" + escape(kind)
	}
	if at != 0 {
		u += "&at=" + escape(at.Std().UTC().Format(time.RFC3339Nano))
	}
	return u
}
