package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/explain"
	"jaque.sh/jaque/web/sample"
)

// became returns an outcome of a request of somebody, some minutes ago.
func became(k event.Kind, request, who string, minutes int) event.Event {
	return event.Event{Kind: k, Object: "h!s", Time: object.At(sample.Now.Add(-time.Duration(minutes) * time.Minute)), Facts: map[string]string{
		event.FactRequest: request, event.FactContact: who, event.FactChannel: "email", event.FactKind: "PROBLEM", event.FactAttempts: "1", event.FactReason: "too late",
	}}
}

func TestWhatWasGivenUpIsSaidWhileItMatters(t *testing.T) {
	delivered, abandoned := event.NotificationDelivered, event.NotificationAbandoned
	six := []event.Event{became(event.NotificationFailed, "a", "ann", 9)}
	for n := range 6 {
		six = append(six, became(abandoned, fmt.Sprint(n), fmt.Sprint("p", n), 57))
	}
	for name, c := range map[string]struct {
		events  []event.Event
		problem int // minutes ago, 0 = there is none
		want    string
	}{
		"nothing happened":                    {nil, 60, ""},
		"six people heard nothing":            {six, 60, "6 contacts were not reached about 1 problem that nobody took note of: every message to them was given up."},
		"the problem is over":                 {six, 0, ""},
		"it was about an earlier problem":     {six, 30, ""},
		"one refused at once counts":          {[]event.Event{became(abandoned, "a", "ann", 5)}, 60, "1 contact was not reached about 1 problem that nobody took note of: every message to them was given up."},
		"another channel reached the contact": {[]event.Event{became(abandoned, "a", "ann", 5), became(delivered, "b", "ann", 6)}, 60, ""},
		"somebody else was reached":           {[]event.Event{became(abandoned, "a", "ann", 5), became(delivered, "b", "bob", 6)}, 60, "1 contact was not reached about 1 problem that nobody took note of: every message to them was given up."},
		"it had arrived before":               {[]event.Event{became(abandoned, "a", "ann", 5), became(delivered, "a", "ann", 6)}, 60, ""},
	} {
		var a Abandonments
		for i := range c.events {
			a.Add(&c.events[i])
		}
		got := ""
		for _, b := range a.Banner(func(object.ID) object.Time {
			if c.problem == 0 {
				return 0
			}
			return object.At(sample.Now.Add(-time.Duration(c.problem) * time.Minute))
		}) {
			if got += b.Text; b.Link.URL != "/notifications?outcome=abandoned" {
				t.Errorf("%s: it leads to %s", name, b.Link.URL)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTheOrderOfAbandonmentsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []event.Event
		for range rapid.IntRange(0, 8).Draw(t, "events") {
			k := rapid.SampledFrom([]event.Kind{event.NotificationDelivered, event.NotificationAbandoned}).Draw(t, "kind")
			all = append(all, became(k, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "request"), "ann", len(all)))
		}
		var one, other Abandonments
		for i := range all {
			one.Add(&all[i])
		}
		for _, e := range rapid.Permutation(append(all, all...)).Draw(t, "order") {
			other.Add(&e)
		}
		n, since := one.Since()
		if m, at := other.Since(); n != m || since != at {
			t.Fatalf("%d since %d in order, %d since %d otherwise", n, since, m, at)
		}
		other.Forget(object.At(sample.Now) + 1)
		if m, _ := other.Since(); m != 0 {
			t.Fatalf("%d are left of what is forgotten", m)
		}
	})
}

func TestOutcomesAreOneLineEach(t *testing.T) {
	say := func(k event.Kind, event, who string) event.Event {
		return became(k, "h!s/1/1/PROBLEM/"+event+"/"+who+"/email", who, 1)
	}
	events := []event.Event{
		say(event.NotificationDelivered, "e2", "ann"), say(event.NotificationAbandoned, "e2", "bob"),
		{Kind: event.CheckResult, Object: "h!s"},
		say(event.NotificationDelivered, "e2", "cem"), say(event.NotificationDelivered, "e1", "ann"),
	}
	var got []string
	for _, l := range NewLines(events, sample.Now) {
		got = append(got, l.What+" ("+l.Text+")")
	}
	if len(got) != 3 || got[0] != "notification PROBLEM: 2 messages delivered, 1 given up (bob over email given up: too late)" || got[1] != "check result ()" || !strings.HasPrefix(got[2], "notification delivered") {
		t.Errorf("got %q", got)
	}
}

func TestABarSaysWhatIsNotKnown(t *testing.T) {
	ago := func(minutes int) object.Time { return object.At(sample.Now.Add(-time.Duration(minutes) * time.Minute)) }
	present := Badge{Name: "CRITICAL", Tone: "crit"}
	changed := event.Event{Time: ago(19), Was: &event.Was{Checked: true}, Status: &event.Status{Checked: true, State: object.Critical}}
	quiet := event.Event{Time: ago(5)}
	for name, c := range map[string]struct {
		h    History
		want string
	}{
		"the whole day is known":                   {History{Events: []event.Event{quiet, changed}}, "OK 23 h 41 min, CRITICAL 19 min"},
		"older events are cut off":                 {History{Events: []event.Event{quiet, changed}, Cut: true}, "NOT KNOWN 23 h 41 min, CRITICAL 19 min"},
		"the change itself is cut off":             {History{Events: []event.Event{quiet}, Cut: true, Since: ago(19)}, "NOT KNOWN 23 h 41 min, CRITICAL 19 min"},
		"the log has nothing of it":                {History{Since: ago(19)}, "NOT KNOWN 23 h 41 min, CRITICAL 19 min"},
		"the state is older than the day":          {History{Events: []event.Event{quiet}, Cut: true, Since: ago(3000)}, "CRITICAL 1 d"},
		"since when it is so is not known either ": {History{Events: []event.Event{quiet}, Cut: true}, "NOT KNOWN 23 h 55 min, CRITICAL 5 min"},
	} {
		var got []string
		for _, s := range NewTimeline(object.Service, present, &c.h, sample.Now.Add(-Window), sample.Now) {
			got = append(got, s.Badge.Name+" "+s.Span)
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTellingsAreCountedByTheirKind(t *testing.T) {
	since := object.At(sample.Now.Add(-time.Hour))
	var a explain.Answer
	for n, kind := range []string{"ACKNOWLEDGEMENT", "PROBLEM", "PROBLEM"} {
		r := explain.Record{Time: since.Add(time.Duration(10-n) * time.Minute), Kind: "PROBLEM", Send: true, People: []explain.Person{{Name: "ann", Told: true}}}
		if kind == "ACKNOWLEDGEMENT" {
			r.Kind = "ACKNOWLEDGEMENT"
		}
		a.Recorded = append(a.Recorded, r)
	}
	p := NewWho(&a, since, sample.Now).People
	if len(p) != 1 || p[0].Kind != "ACKNOWLEDGEMENT" || p[0].Times != "" || p[0].Before != "PROBLEM, 2 times" {
		t.Errorf("told: %+v", p)
	}
	for n := range 40 {
		a.Decision.People = append(a.Decision.People, explain.Person{Name: fmt.Sprintf("p%02d", n)})
	}
	if w := NewWho(&a, since, sample.Now); len(w.People) != mostWho || w.Rest != (Link{Label: "and 16 more", URL: w.Explain}) {
		t.Errorf("of many: %d, %+v", len(w.People), w.Rest)
	}
}

func TestManyContactsOfADecisionAreFolded(t *testing.T) {
	var a explain.Answer
	for n := range 300 {
		a.Decision.People = append(a.Decision.People, explain.Person{Name: fmt.Sprintf("p%03d", n), Told: n == 299, Says: "told"})
	}
	var v Explain
	v.Explained(&a, sample.Now)
	if v.Count != 300 || len(v.People) != openPeople || v.People[0].Contact.Label != "p299" || v.People[1].Contact.Label != "p000" || len(v.Folded) != mostPeople-openPeople || !strings.HasPrefix(v.Rest, "and 100 more") {
		t.Errorf("%d: %d open, %d folded, %q", v.Count, len(v.People), len(v.Folded), v.Rest)
	}
}

func TestWhatHasNoPageHasNoLinkToIt(t *testing.T) {
	log := NoteLog{Deliveries: &Deliveries{Outcomes: Outcomes{}}, Now: sample.Now, Known: func(id object.ID) bool { return id == "h!a" }}
	for _, e := range []event.Event{noted(2, "gone!a", ""), noted(1, "h!a", "")} {
		log.Add(&e)
	}
	if r := log.Rows[0]; r.Object.URL != "/notifications?object=gone%21a" || r.Explain != "" || r.Gone == "" {
		t.Errorf("what left the configuration: %+v", r)
	}
	if r := log.Rows[1]; r.Object.URL != "/services/h/a" || r.Explain == "" || r.Gone != "" {
		t.Errorf("what is in it: %+v", r)
	}
}

func TestLongOutputIsCut(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int // characters, 0 = it is shown whole
	}{
		"short":                       {"fine", 0},
		"just not too long":           {strings.Repeat("x", mostText), 0},
		"64 KiB in one word":          {strings.Repeat("x", 65536), fewText + 1},
		"characters count, not bytes": {strings.Repeat("é", mostText), 0},
		"long in another script":      {strings.Repeat("語", mostText+1), fewText + 1},
	} {
		if got := len([]rune(Clipped(c.text))); got != c.want {
			t.Errorf("%s: %d characters, want %d", name, got, c.want)
		}
	}
}

// zonedTurn is a schedule in a zone of its own.
type zonedTurn struct{ idle }

func (zonedTurn) Zone() *time.Location { return time.FixedZone("Europe/Berlin", 3600) }
func (zonedTurn) OnCall(object.Time) (who, why string, until object.Time) {
	return "maria", "layer days", object.At(sample.Now.Add(6 * time.Hour))
}

func TestATurnEndsInTheZoneOfItsSchedule(t *testing.T) {
	set := sample.Told().Set()
	set.Objects[0].Notify = &object.Notification{Rotas: []object.Rota{zonedTurn{}}, Else: set.Objects[0].Notify}
	v := NewContactPage(Chrome{}, "", ContactSources{Set: set, Program: &program.State{}}, sample.Now)
	if d := v.Duty[0]; d.Local != "Sun 2026-03-01 19:00 Europe/Berlin" || d.Until.Text != "2026-03-01 18:00:00 UTC" {
		t.Errorf("it ends %q, %q", d.Local, d.Until.Text)
	}
}

func TestTheNewestOutcomeIsOnTheCard(t *testing.T) {
	missed := became(event.NotificationAbandoned, "r", "maria", 3)
	v := NewContactPage(Chrome{}, "", ContactSources{
		Set: sample.Told().Set(), Program: &program.State{}, Name: "maria", Missed: map[string]*event.Event{"maria": &missed},
	}, sample.Now)
	if c := v.List[0]; c.Missed.Rel != "3 min ago" || c.Missing != "PROBLEM over email" || c.Why != "too late" || c.MissedOf.URL != "/notifications?object=h%21s" {
		t.Errorf("the card: %+v", c)
	}
}
