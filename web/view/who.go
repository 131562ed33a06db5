package view

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// NotReached is said of somebody who was to be told, and whose every message was
// given up.
const NotReached = explain.GivenUp

// mostWho is how many contacts the page of an object shows.
const mostWho = 25

// Who says on the page of an object who was told of the present incident, who was
// not, and why.
type Who struct {
	Show    bool   // somebody could be told at all
	Broken  string // why it cannot be said, "" = it can
	Never   string // nobody is ever told: why not
	None    string // why nobody could be, "" = somebody could
	Since   When   // of the incident; zero = there is none
	People  []WhoPerson
	Rest    Link      // those who are not shown
	Last    []NoteRow // the newest decision, where nothing is wrong now
	Next    Next
	Ahead   *Ahead // what is told next, nil = nothing
	Explain string
	Log     string
}

// WhoPerson is one contact.
type WhoPerson struct {
	Contact Link
	Told    bool
	Would   bool   // would be told now, as long as nothing is wrong
	Word    string // told, not told, given up, …
	Tone    string
	Kind    string // what the contact was told last
	When    When
	Times   string // "3 times"
	Before  string // of what else the contact was told: "PROBLEM, 2 times"
	Ways    []Way
	Why     string // why the contact was not told, or would not be now
}

// NobodyEver returns the section of an object that no policy is for.
func NobodyEver(id object.ID) Who {
	return Who{
		Show: true, Never: "Nobody is ever told of this " + id.Kind().String() + ": no policy is for it.", Explain: explainURL(id, "", "", 0),
		Log: notesURL((&NoteAsk{Object: id}).Query()),
	}
}

// WhoBroken returns the section of an object where it cannot be said who was told.
func WhoBroken(id object.ID, why string) Who {
	return Who{Show: true, Broken: why, Explain: explainURL(id, "", "", 0), Log: notesURL((&NoteAsk{Object: id}).Query())}
}

// tellings count of what somebody was told, newest first.
type tellings struct {
	kinds []string
	times map[string]int
}

func (t *tellings) add(kind string) {
	if t.times == nil {
		t.times = map[string]int{}
	}
	if t.times[kind]++; t.times[kind] == 1 {
		t.kinds = append(t.kinds, kind)
	}
}

// before says of what somebody was told before the newest kind.
func (t *tellings) before() string {
	var parts []string
	for _, k := range t.kinds[min(1, len(t.kinds)):] {
		if n := t.times[k]; n > 1 {
			k += ", " + Number(n) + " times"
		}
		parts = append(parts, k)
	}
	return strings.Join(parts, "; ")
}

// NewWho fills the section from an answer about now; since is when the incident
// began, 0 = the object is well and nothing is owed.
func NewWho(a *explain.Answer, since object.Time, now time.Time) Who {
	w := Who{
		Show: true, Explain: explainURL(a.Object, "", "", 0), Log: notesURL((&NoteAsk{Object: a.Object}).Query()),
		Next: NewNext(a, now),
	}
	if since != 0 {
		w.Since = NewWhen(since, now)
	} else {
		w.Next = Next{} // what is ahead of a problem that is not there
	}
	if ahead := newAhead(a.Ahead, now); len(ahead) > 0 && since != 0 {
		w.Ahead = &ahead[0]
	}
	if since == 0 && len(a.Recorded) > 0 {
		w.Last = []NoteRow{recorded(a.Object, &a.Recorded[0], now)}
	}
	people := map[string]*WhoPerson{}
	times := map[string]*tellings{}
	for i := range a.Recorded {
		if r := &a.Recorded[i]; since != 0 && r.Time >= since {
			w.record(r, people, times, now)
		}
	}
	for i := range a.Decision.People {
		p := &a.Decision.People[i]
		at := people[p.Name]
		if at == nil {
			at = &WhoPerson{Contact: Link{Label: p.Name, URL: explainURL(a.Object, p.Name, "", 0)}}
			people[p.Name] = at
		}
		switch {
		case p.Told && !at.Told && since == 0:
			at.Would, at.Why = true, ""
		case !p.Told && !at.Told && at.Why == "":
			at.Why = p.Why
		}
	}
	w.list(people, times)
	if len(w.People) == 0 {
		w.None = first(a.Decision.Verdict, "nobody is to be told of this object")
	}
	return w
}

// record takes in a decision; they come newest first.
func (w *Who) record(r *explain.Record, people map[string]*WhoPerson, times map[string]*tellings, now time.Time) {
	for i := range r.People {
		p := &r.People[i]
		at := people[p.Name]
		if at == nil {
			at = &WhoPerson{Contact: contactLink(p.Name)}
			people[p.Name] = at
		}
		if !p.Told {
			if !at.Told && at.Why == "" {
				at.Why = first(p.Why, r.Why)
			}
			continue
		}
		if times[p.Name] == nil {
			times[p.Name] = &tellings{}
		}
		times[p.Name].add(string(r.Kind))
		if at.Told {
			continue
		}
		at.Told, at.Kind, at.When, at.Why = true, string(r.Kind), NewWhen(r.Time, now), ""
		for j := range r.Deliveries {
			if d := &r.Deliveries[j]; d.Contact == p.Name {
				at.Ways = append(at.Ways, delivered(d, r.Time, now))
			}
		}
	}
}

// word says in a word how it stands with somebody: who was to be told and could not
// be reached has heard nothing.
func (p *WhoPerson) word(incident bool) {
	switch p.Word, p.Tone = "would not be told", "pending"; {
	case p.Would:
		p.Word, p.Tone = "would be told", "ok"
	case incident:
		p.Word = "not told"
	}
	if !p.Told {
		return
	}
	p.Word, p.Tone = "told", "ok"
	states := map[string]int{}
	for _, w := range p.Ways {
		states[w.State]++
	}
	switch {
	case states[OutcomeDelivered] > 0 || states[OutcomeLost] > 0:
	case states[OutcomeWaiting] > 0:
		p.Word, p.Tone = "being told", "pending"
	case len(p.Ways) == 0:
		p.Word, p.Tone = "has no channel to be told over", "warn"
	default:
		p.Word, p.Tone = NotReached, "crit"
	}
}

// list puts those who were told first.
func (w *Who) list(people map[string]*WhoPerson, times map[string]*tellings) {
	for name, p := range people {
		p.word(w.Since.Machine != "")
		if t := times[name]; t != nil {
			if n := t.times[p.Kind]; n > 1 {
				p.Times = Number(n) + " times, last"
			}
			p.Before = t.before()
		}
		w.People = append(w.People, *p)
	}
	slices.SortFunc(w.People, func(a, b WhoPerson) int {
		if a.Told != b.Told {
			if a.Told {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Contact.Label, b.Contact.Label)
	})
	if n := len(w.People); n > mostWho {
		w.Rest = Link{Label: "and " + Number(n-mostWho) + " more", URL: w.Explain}
		w.People = w.People[:mostWho]
	}
}
