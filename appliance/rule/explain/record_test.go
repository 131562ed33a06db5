package explain_test

import (
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// story is what happened to the service, newest first: alice and bob are told by
// mail, alice over two channels; then the problem is acknowledged and not told
// again.
func story() []event.Event {
	ack := failed()
	ack.Ack, ack.Extra = object.AckSticky, &event.Extra{AckAuthor: "alice"}
	first, second := failed(), ack
	told := event.Note{
		Kind: "PROBLEM", Send: true, Number: 1, Policy: "shop", Gates: []event.Gate{{Name: "program", Verdict: event.GatePassed}},
		People: []event.Person{
			{Name: "alice", Told: true, Channels: []string{"email", "telegram"}, Gates: []event.Gate{{Name: "chosen", Verdict: event.GatePassed, Why: "the policy shop names the contact"}}},
			{Name: "bob", By: "contact_period", Channels: []string{"email"}, Gates: []event.Gate{{Name: "contact_period", Verdict: event.GateBlocked, Why: "outside it"}}},
			{Name: "carol", Told: true, Channels: []string{"email"}},
		},
	}
	quiet := event.Note{
		Kind: "PROBLEM", By: "acknowledgement", Gates: []event.Gate{{Name: "acknowledgement", Verdict: event.GateBlocked, Why: "acknowledged by alice"}, {Name: "host"}},
		People: []event.Person{{Name: "alice", By: "acknowledgement"}},
	}
	problem := event.Event{ID: "d1", Kind: event.CheckResult, Object: "web01!http", Seq: 10, Epoch: 1, Time: noon - 10*minute, Status: &first, Notes: []event.Note{told}}
	id := func(n int) string { return problem.Requests()[n].ID }
	outcome := func(k event.Kind, n int, at object.Time, facts map[string]string) event.Event {
		facts[event.FactRequest] = id(n)
		return event.Event{ID: "o" + id(n), Kind: k, Object: "web01!http", Seq: 11 + uint64(n), Epoch: 1, Time: at, Facts: facts}
	}
	all := []event.Event{
		problem,
		outcome(event.NotificationFailed, 1, noon-9*minute, map[string]string{event.FactAttempts: "1", event.FactReason: "greylisted"}),
		outcome(event.NotificationDelivered, 0, noon-9*minute, map[string]string{event.FactAttempts: "1", event.FactWith: "3", event.FactMessage: "m", event.FactRepeat: "true"}),
		outcome(event.NotificationDelivered, 0, noon-8*minute, map[string]string{event.FactAttempts: "2"}),
		{ID: "d2", Kind: event.CheckResult, Object: "web01!http", Seq: 20, Epoch: 1, Prev: 10, Time: noon - 5*minute, Status: &second, Notes: []event.Note{quiet}},
	}
	slices.Reverse(all)
	return all
}

func TestRecordsSayWhatBecameOfEveryRequest(t *testing.T) {
	events := story()
	third := events[len(events)-1].Requests()[2].ID
	all := explain.Records(events, []explain.Open{{ID: third}})
	if len(all) != 2 || all[0].Send || all[0].Why != "acknowledged by alice" || all[0].By != notify.GateAcknowledged {
		t.Fatalf("records %+v", all)
	}
	if g := all[0].Gates[1]; g.Verdict != notify.NotReached || g.Why != "" || g.Meaning == "" {
		t.Errorf("a gate that was not reached says %+v", g)
	}
	sent := all[1]
	if sent.State != "CRITICAL" || sent.Policy != "shop" || sent.Gates[0].Why != notify.GateProgram.Meaning() {
		t.Errorf("%+v", sent)
	}
	for i, want := range []explain.Delivery{
		{Contact: "alice", Channel: "email", Status: explain.Delivered, Time: noon - 9*minute, Attempts: 1, With: 3, Message: "m", Repeat: true},
		{Contact: "alice", Channel: "telegram", Status: explain.Failed, Time: noon - 9*minute, Attempts: 1, Reason: "greylisted"},
		{Contact: "carol", Channel: "email", Status: explain.Waiting},
	} {
		want.Request = sent.Deliveries[i].Request
		if sent.Deliveries[i] != want {
			t.Errorf("%+v, want %+v", sent.Deliveries[i], want)
		}
	}
	var says []string
	for _, p := range sent.People {
		says = append(says, p.Name+" "+p.Says+": "+p.Why)
	}
	if got := strings.Join(says, "; "); got != "alice told: the policy shop names the contact; bob not told: outside it; carol told: " {
		t.Errorf("people: %s", got)
	}
	if old := explain.Records(events, nil)[1].Deliveries[2]; old.Status != explain.Unsaid {
		t.Errorf("a request of which nothing is known is %s", old.Status)
	}
}

func TestTheStateOfThePastIsThatOfTheEventBefore(t *testing.T) {
	o, events := shop().Get("web01!http"), story()
	for _, c := range []struct {
		name  string
		at    object.Time
		ack   object.AckKind
		state object.State
		known bool
	}{
		{"behind all events it is the last one's", noon, object.AckSticky, object.Critical, true},
		{"between two it is the first one's", noon - 6*minute, object.AckNone, object.Critical, true},
		{"at the very time of an event it is that one's", noon - 10*minute, object.AckNone, object.Critical, true},
		{"before all it is that of an object never checked", noon - 11*minute, object.AckNone, object.OK, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, known := explain.Rewind(o, events, c.at)
			if known != c.known || s.Status.Ack != c.ack || s.Status.State != c.state {
				t.Fatalf("known %v, %+v", known, s.Status)
			}
		})
	}
}

func TestAnEventOfAnOldEpochIsNoState(t *testing.T) {
	events := story()
	late := events[0]
	late.Seq, late.Time, late.Epoch, late.Prev = 30, noon-minute, 0, 20
	healthy := event.Status{Checked: true}
	late.Status = &healthy
	if s, _ := explain.Rewind(shop().Get("web01!http"), append([]event.Event{late}, events...), noon); s.Status.State != object.Critical {
		t.Fatalf("%+v", s.Status)
	}
}

func TestThePastSaysWhatLimitsIt(t *testing.T) {
	w := world(failed())
	w.Events, w.Loaded = story(), noon-minute
	for _, c := range []struct {
		name     string
		at       object.Time
		complete bool
		records  int
		want     string
	}{
		{"decisions are those up to then", noon - 6*minute, true, 1, "the configuration was loaded at 2027-01-02 11:59:00 UTC, after that time"},
		{"nothing before it is on the log", noon - 20*minute, true, 0, "no decision about it from before that time is on the log"},
		{"not enough was read", noon - 20*minute, false, 0, "the history that was read does not reach back"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.Complete = c.complete
			a, err := explain.Ask(explain.Question{Object: "web01!http", At: c.at}, w)
			if err != nil {
				t.Fatal(err)
			}
			if !a.Past || len(a.Recorded) != c.records || !strings.Contains(strings.Join(a.Caveats, "\n"), c.want) {
				t.Fatalf("past %v, %d records, %q", a.Past, len(a.Recorded), a.Caveats)
			}
			if !strings.Contains(a.Decision.Verdict, "would have been sent to alice") {
				t.Errorf("verdict %q", a.Decision.Verdict)
			}
		})
	}
	w.Events = append([]event.Event{{Kind: event.ObjectChanged, Object: "web01!http", Seq: 25, Time: noon - 2*minute}}, w.Events...)
	a, err := explain.Ask(explain.Question{Object: "web01!http", At: noon - 6*minute, Contact: "bob"}, w)
	if err != nil || !strings.Contains(strings.Join(a.Caveats, "\n"), "its configuration was changed at 2027-01-02 11:58:00 UTC") {
		t.Fatalf("%v, %q", err, a.Caveats)
	}
	if r := a.Recorded; len(r) != 1 || len(r[0].People) != 1 || len(r[0].Deliveries) != 0 || r[0].Send || r[0].Why != "outside it" {
		t.Errorf("what is not about bob is in %+v", r)
	}
}

// The turn of who is on call later is what is said, not that somebody should change
// the schedule.
func TestWhoIsOnCallLaterIsToldThen(t *testing.T) {
	w := world(failed())
	n := w.Set.Get("web01!http").Notify
	n.Rotas = []object.Rota{turns{}}
	for who, want := range map[string]string{
		"dave":  "would be told if it were 2027-01-02 18:00:00 UTC or later, when dave is on call by turns",
		"carol": "would be told if it were 2027-01-02 12:50:00 UTC or later, when the step boss of the escalation begins",
	} {
		a, err := explain.Ask(explain.Question{Object: "web01!http", Contact: who}, w)
		if err != nil || a.Decision.If != want {
			t.Errorf("%v, %q, want %q", err, a.Decision.If, want)
		}
	}
}

// turns has alice on call by day and dave from 18:00 on.
type turns struct{}

func (turns) Name() string { return "turns" }

func (turns) OnCall(at object.Time) (string, string, object.Time) {
	if inside, until := (hours{0, 18}).Window(at); inside {
		return "alice", "by turns", until
	}
	return "dave", "by turns", at/86400e3*86400e3 + 86400e3
}

func (turns) Members() []string { return []string{"alice", "dave"} }
