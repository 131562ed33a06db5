package explain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// shop is a config with one service of whose problems alice is told at once, carol
// after an hour and bob by day only; dave is nobody's contact.
func shop() *object.Set {
	contact := func(name string, period object.Period) *object.Contact {
		c := &object.Contact{Name: name, Alias: strings.ToUpper(name), Notify: &object.ContactNotification{Channels: []string{"email"}}}
		for _, k := range []object.Kind{object.Host, object.Service} {
			*c.Notify.Of(k) = object.Reach{Options: object.NoteAll, Period: period}
		}
		return c
	}
	alice, bob, carol, dave := contact("alice", nil), contact("bob", hours{14, 18}), contact("carol", nil), contact("dave", nil)
	host := &object.Object{ID: "web01", Name: "web01", Rule: &object.Rule{Attempts: 1}}
	service := &object.Object{
		ID: "web01!http", Name: "http", Host: host, Rule: &object.Rule{Attempts: 3, NoteInterval: 30 * time.Minute},
		Notify: &object.Notification{
			Name: "shop", Contacts: []*object.Contact{alice, bob}, Options: object.NoteAll, Timed: true, FromFirst: true, ToTold: true,
			Steps: []*object.Step{{Name: "boss", Contacts: []*object.Contact{carol}, After: time.Hour, Interval: -1, Options: object.NoteAll, Adds: true}},
		},
	}
	set := object.NewSet("1", object.DefaultSettings(), []*object.Object{host, service})
	set.Contacts = map[string]*object.Contact{"alice": alice, "bob": bob, "carol": carol, "dave": dave}
	return set
}

// world is the shop at noon with the service in a status.
func world(st event.Status) *explain.World {
	states := map[object.ID]*fold.State{
		"web01":      {Status: event.Status{Checked: true, Attempt: 1, MaxAttempts: 1}},
		"web01!http": {Status: st},
	}
	return &explain.World{Set: shop(), State: func(id object.ID) *fold.State { return states[id] }, Now: noon, Started: noon - 86400e3, Complete: true}
}

const minute = 60_000

// failed is the service with a problem that is hard since ten minutes and of which
// nobody was told.
func failed() event.Status {
	return event.Status{
		State: object.Critical, Checked: true, Attempt: 3, MaxAttempts: 3, Hard: noon - 10*minute, LastHardChange: noon - 10*minute,
		LastChange: noon - 12*minute, Problem: noon - 12*minute,
	}
}

func TestAskSaysWhoIsToldAndWhatIsInTheWay(t *testing.T) {
	healthy := event.Status{Checked: true, Attempt: 1, MaxAttempts: 3}
	with := func(change func(*event.Status)) event.Status {
		st := failed()
		change(&st)
		return st
	}
	for _, c := range []struct {
		name string
		st   event.Status
		q    explain.Question
		want []string
	}{
		{
			"a problem that may be told is told", failed(),
			explain.Question{},
			[]string{
				"CRITICAL (hard, attempt 3 of 3) since 2027-01-02 11:48:00 UTC", "the notification PROBLEM would be sent to alice",
				"alice would be told: the policy shop names the contact", "bob not told: outside the contact's notification period hours",
				"people are told at once (PROBLEM)",
			},
		},
		{
			"what is acknowledged is told once somebody takes that back", with(func(st *event.Status) {
				st.Ack, st.Extra = object.AckSticky, &event.Extra{AckAuthor: "alice"}
			}),
			explain.Question{},
			[]string{
				"acknowledged by alice", "would not be sent: the problem is acknowledged by alice",
				"would be sent if the acknowledgement by alice were removed", "nothing by itself",
			},
		},
		{
			"a contact whose period is closed is told when it opens", failed(),
			explain.Question{Contact: "bob"},
			[]string{
				"would not be sent to bob: outside the contact's notification period",
				"would be told if it were 2027-01-02 14:00:00 UTC or later, when the contact's notification period opens",
			},
		},
		{
			"a soft problem in a downtime needs both to be over", with(func(st *event.Status) {
				st.Type, st.Attempt, st.DowntimeDepth = object.Soft, 1, 1
				st.Extra = &event.Extra{Downtimes: []event.Downtime{{Author: "ops", Started: noon - minute, End: noon + 60*minute}}}
			}),
			explain.Question{},
			[]string{
				"the state is soft: attempt 1 of 3", "in a downtime",
				"would be sent if the state were hard: attempt 3 of 3 and the downtime of the service by ops, which ends at 2027-01-02 13:00:00 UTC, were cancelled or over",
			},
		},
		{
			"what is healthy is asked about as if it failed", healthy,
			explain.Question{},
			[]string{"OK", "it is OK; this is what would happen if it became CRITICAL (hard) at 2027-01-02 12:00:00 UTC", "PROBLEM would be sent to alice"},
		},
		{
			"what was never checked is pending",
			event.Status{Attempt: 1, MaxAttempts: 3},
			explain.Question{},
			[]string{"PENDING: no check has finished yet", "it is PENDING; this is"},
		},
		{
			"a recovery that is owed is asked about", with(func(st *event.Status) {
				st.State, st.Hard, st.Notified, st.Told, st.NotificationNumber = object.OK, 0, 1<<object.Critical, "carol\n", 2
			}),
			explain.Question{},
			[]string{"people were told of the problem and not yet of the recovery", "RECOVERY would be sent to carol"},
		},
		{
			"who was told waits for the interval", with(func(st *event.Status) {
				st.NotificationNumber, st.Notified, st.Told, st.LastNotification, st.NextNotification = 1, 1<<object.Critical, "alice\n", noon-10*minute, noon+20*minute
			}),
			explain.Question{},
			[]string{
				"told once, last at 2027-01-02 11:50:00 UTC", "PROBLEM number 2 would not be sent: the interval ends at 2027-01-02 12:20:00 UTC",
				"alice told: told of the problem; not again now: the interval ends at", "if it were 2027-01-02 12:20:00 UTC or later, when the interval is over",
				"people are told again at 2027-01-02 12:20:00 UTC (PROBLEM)",
			},
		},
		{
			"a contact whom nothing names is a stranger", failed(),
			explain.Question{Contact: "dave"},
			[]string{
				"dave not told: neither the policy shop nor a step of an escalation names dave",
				"would be told if the policy shop and the step of its escalation that holds named dave",
			},
		},
		{
			"a time to come takes everything as it is, and people are told on the way", failed(),
			explain.Question{At: noon + 201*minute},
			[]string{
				"told 8 times", "PROBLEM number 9 would not be sent: the interval ends at 2027-01-02 15:50:00 UTC",
				"this is what happens if everything stays as it is until then, and people are told meanwhile",
			},
		},
		{
			"what people are told until a time to come is taken for told", failed(),
			explain.Question{At: noon + 10*minute},
			[]string{"told once, last at 2027-01-02 12:00:00 UTC", "PROBLEM number 2 would not be sent: the interval ends at 2027-01-02 12:30:00 UTC"},
		},
		{
			"a step that tells others is not what a contact has to wait for", with(func(st *event.Status) {
				st.NotificationNumber, st.Notified, st.Told, st.LastNotification, st.NextNotification = 1, 1<<object.Critical, "alice\n", noon-10*minute, notify.Never
			}),
			explain.Question{Contact: "alice"},
			[]string{"the interval is 0, and the problem was told", "would be told if the notification interval were not 0"},
		},
		{
			"another kind may be asked about", failed(),
			explain.Question{Kind: notify.DowntimeStart},
			[]string{"the notification DOWNTIMESTART would be sent to alice"},
		},
		{
			"a recovery may be asked about while there is a problem", failed(),
			explain.Question{Kind: notify.Recovery},
			[]string{"if it became OK (hard)", "RECOVERY would not be sent: nobody was told of the problem", "if somebody had been told of the problem"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.q.Object = "web01!http"
			a, err := explain.Ask(c.q, world(c.st))
			if err != nil {
				t.Fatal(err)
			}
			text := text(a)
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%q is missing in\n%s", want, text)
				}
			}
		})
	}
}

// text is an answer as lines.
func text(a *explain.Answer) string {
	lines := []string{a.Condition, a.Supposed, a.Decision.Verdict, a.Decision.If, a.Next.Text}
	for _, p := range a.Decision.People {
		lines = append(lines, p.Name+" "+p.Says+": "+p.Why, p.If)
	}
	return strings.Join(append(lines, a.Caveats...), "\n")
}

func TestAHostIsAskedAboutWithoutContacts(t *testing.T) {
	a, err := explain.Ask(explain.Question{Object: "web01"}, world(failed()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"became DOWN", "would not be sent: no contact is left to be told", "if the host named a contact", "names no contacts for it"} {
		if !strings.Contains(text(a), want) {
			t.Errorf("%q is missing in\n%s", want, text(a))
		}
	}
}

func TestNamesThatMeanNothingSayWhatMayHaveBeenMeant(t *testing.T) {
	for _, c := range []struct {
		name string
		q    explain.Question
		want string
	}{
		{"an object", explain.Question{Object: "web01!htp"}, `no object is called "web01!htp"; did you mean "web01!http"?`},
		{"a contact", explain.Question{Object: "web01", Contact: "alce"}, `no contact is called "alce"; did you mean "alice"?`},
		{"a kind", explain.Question{Object: "web01", Kind: "PROBLM"}, `no kind of notification is called "PROBLM"; did you mean "PROBLEM"?`},
		{"nothing near", explain.Question{Object: "mail"}, `no object is called "mail"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := explain.Ask(c.q, world(failed()))
			var u *explain.Unknown
			if !errors.As(err, &u) || err.Error() != c.want {
				t.Fatalf("%v, want %s", err, c.want)
			}
		})
	}
}

// The escalation that is foretold is the one that the decisions make.
func TestWhatLiesAheadSaysWhenOthersAreTold(t *testing.T) {
	a, err := explain.Ask(explain.Question{Object: "web01!http"}, world(failed()))
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Ahead) < 3 {
		t.Fatalf("ahead %+v", a.Ahead)
	}
	first, boss := a.Ahead[0], a.Ahead[1]
	if first.At != noon || first.Number != 1 || !slices.Equal(first.Told, []string{"alice"}) || first.Times != 2 {
		t.Errorf("first %+v", first)
	}
	if boss.At != noon+50*minute || !slices.Equal(boss.Steps, []string{"boss"}) || !slices.Contains(boss.Told, "carol") {
		t.Errorf("the step after an hour %+v", boss)
	}
	if last := a.Ahead[len(a.Ahead)-1]; !last.More {
		t.Errorf("it goes on for ever: %+v", last)
	}
}

// Whatever is asked of, the answer says what the decision says, and has a sentence
// for everybody.
func TestAnAnswerSaysWhatTheDecisionSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		w := &explain.World{Set: s.set, Now: noon, Started: noon - 86400e3, State: func(id object.ID) *fold.State {
			if id == "h" {
				return &fold.State{Status: s.host}
			}
			return &fold.State{Status: *s.in.Status}
		}}
		a, err := explain.Ask(explain.Question{Object: "h!s"}, w)
		if err != nil {
			t.Fatal(err)
		}
		d := &a.Decision
		if a.Condition == "" || d.Verdict == "" || a.Next.Text == "" {
			t.Fatalf("no words: %+v", a)
		}
		if d.Send == (d.If != "") || d.Send != (len(d.Changes) == 0) {
			t.Fatalf("send %v, %q", d.Send, d.If)
		}
		for _, p := range d.People {
			if p.Why == "" || p.Told != (p.Says == "would be told") || p.Told != (p.If == "") {
				t.Fatalf("%+v", p)
			}
		}
	})
}
