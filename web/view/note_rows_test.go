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

func outcome(k event.Kind, seq uint64, attempts int, reason string) event.Event {
	return event.Event{Kind: k, Seq: seq, Time: object.Time(seq * 1000), Facts: map[string]string{
		event.FactRequest: "r", event.FactAttempts: fmt.Sprint(attempts), event.FactReason: reason, event.FactMessage: "m", event.FactWith: "2",
	}}
}

func TestOutcomesAreWhatTheLogSays(t *testing.T) {
	failed, delivered, abandoned := event.NotificationFailed, event.NotificationDelivered, event.NotificationAbandoned
	for name, c := range map[string]struct {
		events []event.Event
		want   string
	}{
		"nothing is said":                     {nil, " 0 "},
		"it arrived at once":                  {[]event.Event{outcome(delivered, 1, 1, "")}, "delivered 0 "},
		"it arrived after failures":           {[]event.Event{outcome(failed, 1, 2, "busy"), outcome(delivered, 2, 3, "")}, "delivered 2 busy"},
		"the newest failure gives the reason": {[]event.Event{outcome(failed, 1, 1, "busy"), outcome(failed, 2, 3, "gone")}, " 3 gone"},
		"it was given up":                     {[]event.Event{outcome(failed, 1, 1, "busy"), outcome(abandoned, 2, 9, "too late")}, "abandoned 9 too late"},
		"the first final outcome counts":      {[]event.Event{outcome(delivered, 1, 1, ""), outcome(abandoned, 2, 1, "late")}, "delivered 0 "},
		"other events say nothing":            {[]event.Event{outcome(event.CheckResult, 1, 1, "")}, " 0 "},
	} {
		for _, backwards := range []bool{false, true} {
			o := Outcomes{}
			for i := range c.events {
				if backwards {
					i = len(c.events) - 1 - i
				}
				o.Add(&c.events[i])
			}
			got := o["r"]
			if text := fmt.Sprint(got.Final, " ", got.Failures, " ", got.Reason); text != c.want {
				t.Errorf("%s, backwards %v: %q, want %q", name, backwards, text, c.want)
			}
		}
	}
}

func TestTheOrderOfOutcomesDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []event.Event
		final := false
		for seq := range uint64(rapid.IntRange(0, 6).Draw(t, "events")) {
			k := rapid.SampledFrom([]event.Kind{event.NotificationFailed, event.NotificationFailed, event.NotificationDelivered, event.NotificationAbandoned}).Draw(t, "kind")
			if final && k == event.NotificationFailed {
				continue // what is final is not tried again
			}
			final = final || k != event.NotificationFailed
			all = append(all, outcome(k, seq+1, int(seq)+1, fmt.Sprint("reason ", seq)))
		}
		inOrder, mixed := Outcomes{}, Outcomes{}
		for i := range all {
			inOrder.Add(&all[i])
		}
		for _, e := range rapid.Permutation(all).Draw(t, "order") {
			mixed.Add(&e)
		}
		if a, b := inOrder["r"], mixed["r"]; a != b {
			t.Fatalf("in order %+v, mixed %+v", a, b)
		}
	})
}

// noted returns an event with one decision that tells somebody over a channel.
func noted(seq uint64, id object.ID, why string) event.Event {
	n := event.Note{Kind: "PROBLEM", Send: why == "", Number: 1, Gates: []event.Gate{{Name: "program", Verdict: event.GatePassed}}}
	n.People = []event.Person{{Name: "alice", Told: n.Send, Channels: []string{"email"}}}
	if why != "" {
		n.Gates = append(n.Gates, event.Gate{Name: "host", Verdict: event.GateBlocked, Why: why})
	}
	return event.Event{
		Kind: event.CheckResult, Seq: seq, ID: fmt.Sprint("e", seq), Object: id, Time: object.At(sample.Now),
		Status: &event.Status{State: object.Critical, Checked: true}, Notes: []event.Note{n},
	}
}

func TestWhatBelongsTogetherIsOneRow(t *testing.T) {
	host, a, b, other := noted(1, "h", ""), noted(2, "h!a", ""), noted(3, "h!b", ""), noted(4, "x!a", "")
	all := Outcomes{}
	for _, e := range []event.Event{host, a, b} {
		for _, r := range e.Requests() {
			all[r.ID] = RequestOutcome{Final: OutcomeDelivered, Message: "m1", With: 3}
		}
	}
	for _, r := range other.Requests() {
		all[r.ID] = RequestOutcome{Final: OutcomeDelivered, Message: "m2", With: 1}
	}
	quiet := []event.Event{noted(5, "h!a", "the host is DOWN"), noted(6, "h!b", "the host is DOWN"), noted(7, "h!c", "the service flaps"), noted(8, "h!d", "the host is DOWN")}
	log := NoteLog{Deliveries: &Deliveries{Outcomes: all}, Now: sample.Now}
	for _, e := range append([]event.Event{b, other, a, host}, quiet...) {
		log.Add(&e)
	}
	var got []string
	for _, r := range log.Rows {
		line := r.Object.Label + " " + r.Count + " "
		for _, m := range r.Members {
			line += m.Label + " "
		}
		got = append(got, strings.TrimSpace(line+r.Nobody))
	}
	want := "h 3 in one message h!b h!a h; x!a; h!a 2 objects h!a h!b the host is DOWN; h!c  the service flaps; h!d  the host is DOWN"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}

func TestAStormIsBounded(t *testing.T) {
	log := NoteLog{Deliveries: &Deliveries{Outcomes: Outcomes{}}, Now: sample.Now}
	for n := range uint64(5000) {
		e := noted(n+1, object.ServiceID("h", fmt.Sprint("s", n)), "the host is DOWN")
		log.Add(&e)
	}
	if len(log.Rows) != 1 || len(log.Rows[0].Members) != noteMembers || log.Rows[0].Rest != "and 4\u202f980 more here" || log.Rows[0].Count != "5\u202f000 objects" {
		t.Errorf("%d rows, %d members, %q, %q", len(log.Rows), len(log.Rows[0].Members), log.Rows[0].Rest, log.Rows[0].Count)
	}
}

func TestWaysSayWhatBecameOfAMessage(t *testing.T) {
	e := noted(1, "h!a", "")
	r := e.Requests()[0]
	now := object.At(sample.Now.Add(2 * time.Minute))
	known := func(o RequestOutcome) *Deliveries {
		return &Deliveries{Outcomes: Outcomes{r.ID: o}, Open: map[string]Waiting{}}
	}
	at := e.Time.Add(11 * time.Second)
	for name, c := range map[string]struct {
		d    *Deliveries
		want string
	}{
		"it waits for its first attempt":     {&Deliveries{Open: map[string]Waiting{r.ID: {}}}, "waiting pending 2 min"},
		"it is tried again":                  {&Deliveries{Open: map[string]Waiting{r.ID: {Failures: 2, Reason: "busy"}}}, "waiting warn 2 min (attempt 3) busy"},
		"nobody knows what is open":          {&Deliveries{}, "waiting pending 2 min"},
		"its outcome is gone from the log":   {&Deliveries{Open: map[string]Waiting{}}, "not known unknown"},
		"it arrived":                         {known(RequestOutcome{Final: OutcomeDelivered, Time: at}), "delivered ok 11 s"},
		"it arrived late and maybe twice":    {known(RequestOutcome{Final: OutcomeDelivered, Time: at, Failures: 2, Repeat: true, Reason: "busy"}), "delivered ok 11 s (attempt 3, marked as a possible repetition)"},
		"it was given up":                    {known(RequestOutcome{Final: OutcomeAbandoned, Time: at, Failures: 7, Reason: "gone"}), "abandoned crit 11 s (7 attempts) gone"},
		"it is known to be open and to fail": {&Deliveries{Outcomes: Outcomes{r.ID: {Failures: 1, Reason: "x"}}, Open: map[string]Waiting{r.ID: {}}}, "waiting warn 2 min (attempt 2) x"},
	} {
		w := c.d.way(&r, now)
		if got := strings.Join(strings.Fields(w.State+" "+w.Tone+" "+w.After+w.Tail()+" "+w.Reason), " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestTheStripSaysHowTheDeliveryGoes(t *testing.T) {
	ago := func(d time.Duration) object.Time { return object.At(sample.Now.Add(-d)) }
	for name, c := range map[string]struct {
		d    Delivery
		want string
	}{
		"nothing is known":    {Delivery{}, "pending Whether anything waits is not known here"},
		"nothing waits":       {Delivery{Known: true}, "ok Nothing waits to be delivered"},
		"one is on its way":   {Delivery{Known: true, Open: 1, InFlight: 1, Oldest: ago(time.Second)}, "pending 1 message waits to be delivered the oldest for 1 s, 1 being sent now"},
		"they wait for long":  {Delivery{Known: true, Open: 2000, Oldest: ago(time.Hour)}, "warn 2\u202f000 messages wait to be delivered the oldest for 1 h"},
		"a channel is broken": {Delivery{Known: true, Channels: []ChannelState{{Name: "email", Failing: ago(time.Minute)}}}, "crit 1 channel fails nothing waits to be delivered"},
		"some were given up":  {Delivery{Known: true, Abandoned: 6, AbandonedSince: ago(time.Hour)}, "crit Not everybody was reached nothing waits to be delivered 6 notifications were given up since 11:00 UTC"},
		"the log is damaged":  {Delivery{Known: true, Broken: true}, "ok Nothing waits to be delivered The event log cannot be read now: what was delivered and what was given up is not known."},
	} {
		s := NewStrip(c.d, sample.Now)
		if got := strings.Join(strings.Fields(s.Tone+" "+s.Headline+" "+s.Detail+" "+s.Given.Label+" "+s.Broken), " "); strings.ReplaceAll(got, "2 000", "2\u202f000") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestChannelsFailUntilOneMessageArrives(t *testing.T) {
	say := func(k event.Kind, channel, attempts string, at object.Time) event.Event {
		return event.Event{Kind: k, Time: at, Facts: map[string]string{event.FactChannel: channel, event.FactAttempts: attempts, event.FactReason: "why"}}
	}
	got := NewChannels([]event.Event{ // newest first
		say(event.NotificationFailed, "email", "2", 90), say(event.NotificationFailed, "email", "1", 80), say(event.NotificationDelivered, "email", "1", 70),
		say(event.NotificationFailed, "email", "1", 60),
		say(event.NotificationDelivered, "chat:2", "1", 90), say(event.NotificationAbandoned, "chat", "3", 80),
		say(event.NotificationAbandoned, "telegram", "1", 90), say(event.NotificationDelivered, "telegram", "1", 80),
		say(event.NotificationDelivered, "", "1", 80),
	})
	want := []ChannelState{{Name: "chat", Sent: 90}, {Name: "email", Sent: 70, Failing: 80, Reason: "why"}, {Name: "telegram", Sent: 80, GaveUp: 90, Reason: "why"}}
	if c := newChannel(got[len(got)-1], sample.Now); c.Badge.Name != "GAVE UP" {
		t.Errorf("a channel that gave up last: %+v", c)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestContactsAreBoundedAndFound(t *testing.T) {
	set := object.NewSet("g", object.DefaultSettings(), nil)
	set.Contacts = map[string]*object.Contact{}
	for n := range 500 {
		name := fmt.Sprintf("c%03d", n)
		set.Contacts[name] = &object.Contact{Name: name, Alias: "Person " + name}
	}
	page := func(name string) Contacts {
		return NewContactPage(Chrome{}, "", ContactSources{Set: set, Program: &program.State{}, Name: name}, sample.Now)
	}
	if v := page(""); len(v.List) != MostContacts || v.Rest != "1 to 30 of 500 contacts" || v.Before.URL != "" || v.After.URL != "/contacts?page=2" {
		t.Errorf("%d contacts, %q, %+v, %+v", len(v.List), v.Rest, v.Before, v.After)
	}
	v := NewContactPage(Chrome{}, "", ContactSources{Set: set, Program: &program.State{}, Name: "c", Page: 99}, sample.Now)
	if len(v.List) != 20 || v.List[19].Name != "c499" || v.Before.URL != "/contacts?name=c&page=16" || v.After.URL != "" {
		t.Errorf("behind the end: %d contacts, %+v, %+v", len(v.List), v.Before, v.After)
	}
	if v := page("PERSON C49"); len(v.List) != 10 || v.Rest != "" {
		t.Errorf("found %d, %q", len(v.List), v.Rest)
	}
	if v := page("zoe"); v.Empty != "No contact matches “zoe”." {
		t.Errorf("nobody: %q", v.Empty)
	}
	set.Contacts = nil
	if v := page(""); !strings.Contains(v.Empty, "declares no contacts") {
		t.Errorf("without contacts: %q", v.Empty)
	}
}

// idle is an on-call schedule with nobody in it.
type idle struct{}

func (idle) Name() string      { return "idle" }
func (idle) Members() []string { return nil }
func (idle) OnCall(object.Time) (who, why string, until object.Time) {
	return "", "no layer is active", 0
}

func TestWhoIsOnCallIsSaidAlsoIfNobodyIs(t *testing.T) {
	set := sample.Told().Set()
	set.Objects[0].Notify = &object.Notification{Steps: []*object.Step{{Rotas: []object.Rota{idle{}}}}, Else: set.Objects[0].Notify}
	v := NewContactPage(Chrome{}, "", ContactSources{Set: set, Program: &program.State{}}, sample.Now)
	var got []string
	for _, d := range v.Duty {
		got = append(got, d.Name+": "+d.Contact.Label+" until "+d.Until.Machine)
	}
	if strings.Join(got, "; ") != "idle:  until ; night: lars until 2026-03-02T00:00:00Z" {
		t.Errorf("on call: %q", got)
	}
	for _, c := range v.List {
		if (c.Name == "lars") != (len(c.OnCall) == 1) {
			t.Errorf("%s is on call by %v", c.Name, c.OnCall)
		}
	}
}

func TestWhoWasToldIsOnePersonEach(t *testing.T) {
	told := func(name string, at object.Time, s explain.Status) explain.Record {
		return explain.Record{
			Time: at, Kind: "PROBLEM", Send: true, People: []explain.Person{{Name: name, Told: true}, {Name: "zoe", Why: "not on call"}},
			Deliveries: []explain.Delivery{{Contact: name, Channel: "email", Status: s}},
		}
	}
	since := object.At(sample.Now.Add(-time.Hour))
	a := &explain.Answer{
		Object: "h!s", Decision: explain.Decision{People: []explain.Person{{Name: "new", Why: "not yet"}, {Name: "alice", Why: "the interval"}}},
		Recorded: []explain.Record{
			told("alice", since+20, explain.Delivered), told("alice", since+10, explain.Abandoned), told("bob", since+5, explain.Abandoned),
			told("cem", since+4, explain.Waiting), told("old", since-5, explain.Delivered),
		},
	}
	var got []string
	for _, p := range NewWho(a, since, sample.Now).People {
		got = append(got, strings.Join(strings.Fields(p.Contact.Label+" "+p.Word+" "+p.Times+" "+p.Why), " "))
	}
	want := "alice told 2 times, last; bob given up; cem being told; new not told not yet; zoe not told not on call"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	w := NewWho(&explain.Answer{Decision: explain.Decision{Verdict: "nobody is named"}}, 0, sample.Now)
	if w.None != "nobody is named" || len(w.People) != 0 {
		t.Errorf("nobody: %+v", w)
	}
	w = NewWho(&explain.Answer{Decision: explain.Decision{People: []explain.Person{{Name: "alice", Told: true}}}, Recorded: a.Recorded}, 0, sample.Now)
	if len(w.People) != 1 || w.People[0].Word != "would be told" || len(w.Last) != 1 {
		t.Errorf("a healthy object: %+v", w)
	}
}
