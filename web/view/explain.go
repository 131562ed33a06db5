package view

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// mostPeople and mostRecords are how much of an explanation a page shows.
const (
	mostPeople  = 200
	openPeople  = 20
	mostRecords = 50
)

// Explain is the page that says who is told of an object, and why or why not.
type Explain struct {
	Chrome    Chrome
	Form      []Field
	Error     string
	Object    Link
	Badge     Badge  // of the present state; "" = it is not about now
	Tense     string // when it is about
	Condition string
	Supposed  string
	Tone      string // of the verdict
	Verdict   string
	If        string // what would have to be different, in one sentence
	Changes   []Change
	Facts     []Fact
	Gates     []GateLine
	Reached   string // how far the gates were passed, in words
	People    []Verdict
	Count     int       // of all contacts
	Folded    []Verdict // further ones, behind a fold
	Rest      string    // people who are not shown
	Next      Next
	Ahead     []Ahead
	Recorded  []NoteRow
	Log       string // address of the log of the object
	Caveats   []string
}

// Change is one thing that would have to be different.
type Change struct {
	Gate string
	Text string
	When When // zero = time does not help
}

// Next is what happens by itself next.
type Next struct {
	When When // zero = nothing
	Text string
}

// Ahead is a notification to come.
type Ahead struct {
	When   When
	Number string
	Told   []Link
	Steps  string
	Times  string // how often it is repeated
}

// ExplainAsk is what somebody wants to know.
type ExplainAsk struct {
	Object  string
	Contact string
	Kind    string
	At      string // as in the address
	Moment  time.Time
}

// Fields returns the form to ask something else, with the contacts to choose from.
func (a *ExplainAsk) Fields(contacts []string) []Field {
	out := []Field{
		{Name: "object", Label: "Object", Value: a.Object},
		{Kind: FieldSelect, Name: "contact", Label: "Contact", Options: []Option{{Label: "everybody", On: a.Contact == ""}}},
		{Kind: FieldSelect, Name: "kind", Label: "Kind", Options: []Option{{Label: "what fits the state", On: a.Kind == ""}}},
		{Kind: FieldMoment, Name: "at", Label: "At (UTC)", Value: moment(a.Moment)},
	}
	if a.Contact != "" && !slices.Contains(contacts, a.Contact) {
		contacts = append([]string{a.Contact}, contacts...)
	}
	for _, c := range contacts {
		out[1].Options = append(out[1].Options, Option{Value: c, Label: c, On: c == a.Contact})
	}
	for _, k := range noteKinds {
		out[2].Options = append(out[2].Options, Option{Value: string(k), Label: string(k), On: string(k) == a.Kind})
	}
	return out
}

// Explained fills the page from an answer.
func (v *Explain) Explained(a *explain.Answer, now time.Time) {
	d := &a.Decision
	v.Object = Link{Label: string(a.Object), URL: URL(a.Object)}
	v.Condition, v.Supposed = a.Condition, Sentence(a.Supposed)
	v.Verdict, v.If = Sentence(d.Verdict, namesOf(d)...), sure(d.If)
	for _, c := range a.Caveats {
		v.Caveats = append(v.Caveats, Sentence(c))
	}
	v.Log = notesURL((&NoteAsk{Object: a.Object}).Query())
	v.Tone = "pending"
	if d.Send {
		v.Tone = "ok"
	}
	at := NewWhen(a.At, now)
	switch {
	case a.Past:
		v.Tense = "As it was at " + at.Text + ", " + at.Rel
	case a.Future:
		v.Tense = "As if nothing happened until " + at.Text + ", " + at.Rel
	default:
		v.Tense = "As it is now"
	}
	if a.Past || a.Future {
		v.Badge = Badge{}
	}
	v.Facts = decisionFacts(d, now)
	v.Gates, v.Reached = explained(d.Gates, now), reached(d.Gates)
	for _, c := range d.Changes {
		v.Changes = append(v.Changes, newChange(&c, now))
	}
	v.people(a, now)
	v.Next, v.Ahead = NewNext(a, now), newAhead(a.Ahead, now)
	for i := range a.Recorded {
		if i == mostRecords {
			break
		}
		v.Recorded = append(v.Recorded, recorded(a.Object, &a.Recorded[i], now))
	}
}

// people fills in the contacts, those who are told in front where there are many.
func (v *Explain) people(a *explain.Answer, now time.Time) {
	all := make([]*explain.Person, len(a.Decision.People))
	for i := range a.Decision.People {
		all[i] = &a.Decision.People[i]
	}
	if v.Count = len(all); v.Count > openPeople {
		slices.SortStableFunc(all, func(a, b *explain.Person) int {
			if a.Told == b.Told {
				return 0
			}
			if a.Told {
				return -1
			}
			return 1
		})
	}
	for i, p := range all[:min(len(all), mostPeople)] {
		if i < openPeople {
			v.People = append(v.People, person(a, p, now))
		} else {
			v.Folded = append(v.Folded, person(a, p, now))
		}
	}
	if n := len(all) - mostPeople; n > 0 {
		v.Rest = "and " + Number(n) + " more: choose one in the form"
	}
}

// namesOf returns the names with which a verdict may begin.
func namesOf(d *explain.Decision) []string {
	names := make([]string, len(d.People))
	for i := range d.People {
		names[i] = d.People[i].Name
	}
	return names
}

// sure makes a sentence of what would have to be different.
func sure(text string) string {
	if text == "" {
		return ""
	}
	return Sentence("it " + text)
}

func decisionFacts(d *explain.Decision, now time.Time) []Fact {
	facts := []Fact{{Label: "Kind", Value: string(d.Kind)}}
	if d.Number > 0 {
		facts = append(facts, Fact{Label: "Number", Value: Number(int(d.Number))})
	}
	if d.Policy != "" {
		facts = append(facts, Fact{Label: "Policy", Value: d.Policy})
	}
	if len(d.Steps) > 0 {
		facts = append(facts, Fact{Label: "Escalation", Value: strings.Join(d.Steps, ", ")})
	}
	if d.Until != 0 {
		facts = append(facts, Fact{Label: "May change", When: NewWhen(d.Until, now)})
	}
	return facts
}

// explained returns gates as pages show them.
func explained(gates []explain.Gate, now time.Time) []GateLine {
	out := make([]GateLine, len(gates))
	for i, g := range gates {
		out[i] = GateLine{Name: string(g.Name), Verdict: g.Verdict.String(), Text: first(g.Why, g.Meaning, string(g.Name))}
		if g.Until != 0 {
			out[i].Until = NewWhen(g.Until, now)
		}
	}
	return out
}

// reached says how far a decision came.
func reached(gates []explain.Gate) string {
	passed := 0
	for i, g := range gates {
		switch g.Verdict {
		case notify.Passed:
			passed++
		case notify.Blocked:
			return "stopped at gate " + Number(i+1) + " of " + Number(len(gates))
		}
	}
	return "passed " + Count(passed, "gate", "gates")
}

func newChange(c *explain.Change, now time.Time) Change {
	out := Change{Gate: string(c.Gate), Text: c.Text}
	if c.At != 0 {
		out.When = NewWhen(c.At, now)
	}
	return out
}

func person(a *explain.Answer, p *explain.Person, now time.Time) Verdict {
	at := object.Time(0)
	if a.Past || a.Future {
		at = a.At
	}
	return Verdict{
		Contact: Link{Label: p.Name, URL: explainURL(a.Object, p.Name, "", at)}, Alias: alias(p), Told: p.Told, Says: inTense(a, p.Says), Why: p.Why,
		Over: strings.Join(p.Channels, ", "), If: sure(p.If), Gates: explained(p.Gates, now),
	}
}

// inTense puts what is said of somebody into the tense of the question.
func inTense(a *explain.Answer, says string) string {
	if a.Past && says == "would be told" {
		return "would have been told"
	}
	return says
}

func alias(p *explain.Person) string {
	if p.Alias == p.Name {
		return ""
	}
	return p.Alias
}

// NewNext says what happens by itself next.
func NewNext(a *explain.Answer, now time.Time) Next {
	n := Next{Text: a.Next.Text}
	if a.Next.At > object.At(now) {
		n.When = NewWhen(a.Next.At, now)
		return n
	}
	n.Text = Sentence(n.Text)
	return n
}

// soon returns an instant that has come as now.
func soon(at object.Time, now time.Time) When {
	w := NewWhen(at, now)
	if at <= object.At(now) {
		w.Rel, w.Ago = "now", "now"
	}
	return w
}

// mostAhead is how many notifications to come a page shows.
const mostAhead = 6

// sameAhead takes those to come that are told to the same people together.
func sameAhead(all []explain.Ahead) []explain.Ahead {
	var out []explain.Ahead
	for _, a := range all {
		if n := len(out) - 1; n >= 0 && slices.Equal(out[n].Told, a.Told) && slices.Equal(out[n].Steps, a.Steps) {
			out[n].Times, out[n].Last, out[n].More = out[n].Times+a.Times, a.Last, a.More
			continue
		}
		out = append(out, a)
	}
	return out
}

func newAhead(all []explain.Ahead, now time.Time) []Ahead {
	var out []Ahead
	for _, a := range sameAhead(all) {
		if len(out) == mostAhead {
			out[mostAhead-1].Times = joined(out[mostAhead-1].Times, "and so on")
			break
		}
		v := Ahead{When: soon(a.At, now), Number: "no. " + Number(int(a.Number)), Steps: strings.Join(a.Steps, ", ")}
		for _, name := range a.Told {
			v.Told = append(v.Told, contactLink(name))
		}
		switch {
		case a.Times > 1 && a.More:
			v.Times = "and again, " + Number(a.Times) + " times until " + NewWhen(a.Last, now).Text + ", and so on"
		case a.Times > 1:
			v.Times = "and again, " + Number(a.Times) + " times until " + NewWhen(a.Last, now).Text
		case a.More:
			v.Times = "and so on"
		}
		out = append(out, v)
	}
	return out
}

// recorded returns the row of a decision on the log.
func recorded(id object.ID, r *explain.Record, now time.Time) NoteRow {
	row := NoteRow{
		ID: "note-" + Plain(r.Seq) + "-" + strings.ToLower(string(r.Kind)), When: NewWhen(r.Time, now), Kind: string(r.Kind),
		Badge: stateBadge(id.Kind(), r.State), Gates: explained(r.Gates, now), Nobody: r.Why, Explain: explainURL(id, "", string(r.Kind), r.Time),
	}
	if r.Number > 0 {
		row.Number = "no. " + Number(int(r.Number))
	}
	if r.Policy != "" {
		row.Policy = "policy " + r.Policy
	}
	if len(r.Steps) > 0 {
		row.Policy = strings.TrimPrefix(row.Policy+", escalation: "+strings.Join(r.Steps, ", "), ", ")
	}
	not := 0
	for i := range r.People {
		p := &r.People[i]
		v := Verdict{Contact: contactLink(p.Name), Told: p.Told, Why: p.Why, Gates: explained(p.Gates, now)}
		if p.Says == explain.GivenUp {
			v.Says = NotReached
		}
		row.Each = append(row.Each, v)
		if !p.Told {
			not++
			continue
		}
		t := Told{Contact: contactLink(p.Name)}
		for j := range r.Deliveries {
			if d := &r.Deliveries[j]; d.Contact == p.Name {
				t.Ways = append(t.Ways, delivered(d, r.Time, now))
			}
		}
		row.People = append(row.People, t)
	}
	switch {
	case len(row.Each) == 1 && not == 1 && r.Send:
		row.Instead = r.People[0].Name + " was not told: " + first(r.People[0].Why, "no gate says why")
	case not > 0 && r.Send:
		row.Others = Count(not, "other is", "others are") + " not told"
	}
	return row
}

// delivered says what became of a delivery of a decision made at a time.
func delivered(d *explain.Delivery, asked object.Time, now time.Time) Way {
	w := Way{Channel: d.Channel, State: OutcomeLost, Tone: "unknown", Reason: d.Reason, Repeat: d.Repeat}
	switch d.Status {
	case explain.Delivered:
		w.State, w.Tone, w.Reason = OutcomeDelivered, "ok", ""
		w.tries(d.Attempts)
	case explain.Abandoned:
		w.State, w.Tone = OutcomeAbandoned, "crit"
		if d.Attempts > 1 {
			w.Tries = Count(d.Attempts, "attempt", "attempts")
		}
	case explain.Failed:
		w.State, w.Tone, w.After = OutcomeWaiting, "warn", Span(now.Sub(asked.Std()))
		w.tries(d.Attempts + 1)
		return w
	case explain.Waiting:
		w.State, w.Tone, w.After = OutcomeWaiting, "pending", Span(now.Sub(asked.Std()))
		return w
	case explain.Unsaid:
		return w
	}
	w.At, w.After = NewWhen(d.Time, now), Length(d.Time.Std().Sub(asked.Std()))
	return w
}

// stateBadge returns the badge of a state by its name.
func stateBadge(k object.Kind, name string) Badge {
	for s := object.OK; s <= object.Unknown; s++ {
		if s.Name(k) == name {
			return Badge{Name: name, Tone: Tone(k, s)}
		}
	}
	return Badge{Name: first(name, "PENDING"), Tone: "pending"}
}
