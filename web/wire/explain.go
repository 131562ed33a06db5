package wire

import (
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// Explanation says who is told of an object at a time, and why or why not.
type Explanation struct {
	Object    object.ID      `json:"object"`
	At        Time           `json:"at"`
	Past      bool           `json:"past"`
	Future    bool           `json:"future"`
	Condition string         `json:"condition"`
	Supposed  string         `json:"supposed,omitempty"` // what was supposed, because nothing is to be told of the state as it is
	Decision  NoteDecision   `json:"decision"`
	Next      NoteNext       `json:"next"`
	Ahead     []NoteAhead    `json:"ahead"`    // notifications to come, as long as nothing happens
	Recorded  []Notification `json:"recorded"` // decisions on the log, newest first
	Caveats   []string       `json:"caveats"`  // what limits the answer
}

// NoteDecision is the decision that is made at the time.
type NoteDecision struct {
	Kind     notify.Kind  `json:"kind"`
	Send     bool         `json:"send"`
	Verdict  string       `json:"verdict"`
	By       notify.Gate  `json:"by"`    // the gate that has decided against it, "" = none
	Until    Time         `json:"until"` // when time alone may change it
	Policy   string       `json:"policy"`
	Number   int32        `json:"number"`
	Steps    []string     `json:"steps"`
	Gates    []NoteGate   `json:"gates"`
	Contacts []NotePerson `json:"contacts"`
	Changes  []NoteChange `json:"changes"`
	If       string       `json:"would_be_sent_if"`
}

// NoteGate is the verdict of one gate.
type NoteGate struct {
	Name    notify.Gate `json:"name"`
	Verdict string      `json:"verdict"` // passed, blocked, not reached
	Meaning string      `json:"meaning"`
	Why     string      `json:"why"`
	Until   Time        `json:"until"`
}

// NotePerson is the verdict about one contact.
type NotePerson struct {
	Name     string       `json:"name"`
	Alias    string       `json:"alias,omitempty"`
	Told     bool         `json:"told"`
	Says     string       `json:"says"` // told, not told, would be told, given up
	Why      string       `json:"why"`
	By       notify.Gate  `json:"by"`
	Channels []string     `json:"channels"`
	Gates    []NoteGate   `json:"gates"`
	Changes  []NoteChange `json:"changes,omitempty"`
	If       string       `json:"would_be_told_if,omitempty"`
}

// NoteChange is one thing that would have to be different.
type NoteChange struct {
	Gate    notify.Gate `json:"gate"`
	Contact string      `json:"contact,omitempty"` // whose gate it is
	At      Time        `json:"at"`                // the time that would have to come, null = time does not help
	Number  int32       `json:"number"`            // which notification of the problem it would have to be
	Text    string      `json:"text"`
}

// NoteNext is what happens by itself next.
type NoteNext struct {
	At   Time        `json:"at"`
	Kind notify.Kind `json:"kind"`
	Text string      `json:"text"`
}

// NoteAhead is a notification to come, or several to the same people.
type NoteAhead struct {
	At     Time     `json:"at"`
	Last   Time     `json:"last"`
	Number int32    `json:"number"`
	Times  int      `json:"times"`
	More   bool     `json:"more"`
	Steps  []string `json:"steps"`
	Told   []string `json:"told"`
}

// FromAnswer returns an explanation in the words of the API.
func FromAnswer(a *explain.Answer) Explanation {
	d := &a.Decision
	w := Explanation{
		Object: a.Object, At: Time(a.At), Past: a.Past, Future: a.Future, Condition: a.Condition, Supposed: a.Supposed,
		Decision: NoteDecision{
			Kind: d.Kind, Send: d.Send, Verdict: d.Verdict, By: d.By, Until: Time(d.Until), Policy: d.Policy, Number: d.Number,
			Steps: filled(d.Steps), Gates: gates(d.Gates), Contacts: persons(d.People), Changes: changes(d.Changes), If: d.If,
		},
		Next:  NoteNext{At: Time(a.Next.At), Kind: a.Next.Kind, Text: a.Next.Text},
		Ahead: make([]NoteAhead, len(a.Ahead)), Recorded: make([]Notification, len(a.Recorded)), Caveats: filled(a.Caveats),
	}
	for i := range a.Ahead {
		n := &a.Ahead[i]
		w.Ahead[i] = NoteAhead{At: Time(n.At), Last: Time(n.Last), Number: n.Number, Times: n.Times, More: n.More, Steps: filled(n.Steps), Told: filled(n.Told)}
	}
	for i := range a.Recorded {
		w.Recorded[i] = FromRecord(&a.Recorded[i])
	}
	return w
}

// filled returns a list that is written as [] where it is empty.
func filled(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func gates(all []explain.Gate) []NoteGate {
	w := make([]NoteGate, len(all))
	for i, g := range all {
		w[i] = NoteGate{Name: g.Name, Verdict: g.Verdict.String(), Meaning: g.Meaning, Why: g.Why, Until: Time(g.Until)}
	}
	return w
}

func persons(all []explain.Person) []NotePerson {
	w := make([]NotePerson, len(all))
	for i := range all {
		p := &all[i]
		w[i] = NotePerson{
			Name: p.Name, Alias: p.Alias, Told: p.Told, Says: p.Says, Why: p.Why, By: p.By, Channels: filled(p.Channels),
			Gates: gates(p.Gates), Changes: changes(p.Changes), If: p.If,
		}
	}
	return w
}

func changes(all []explain.Change) []NoteChange {
	w := make([]NoteChange, len(all))
	for i, c := range all {
		w[i] = NoteChange{Gate: c.Gate, Contact: c.Contact, At: Time(c.At), Number: c.Number, Text: c.Text}
	}
	return w
}
