package explain_test

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// inDowntime puts a status into a downtime that ends in an hour.
func inDowntime(st event.Status) event.Status {
	st.DowntimeDepth = 1
	st.Extra = &event.Extra{Downtimes: []event.Downtime{{ID: "d", Author: "ops", Start: noon - 60*minute, Started: noon - 60*minute, End: noon + 60*minute}}}
	return st
}

// said asks and returns the whole answer in words.
func said(t *testing.T, q explain.Question, w *explain.World) string {
	t.Helper()
	a, err := explain.Ask(q, w)
	if err != nil {
		t.Fatal(err)
	}
	return text(a)
}

func expectText(t *testing.T, text string, want ...string) {
	t.Helper()
	for _, part := range want {
		if no, is := strings.CutPrefix(part, "not: "); is && strings.Contains(text, no) || !is && !strings.Contains(text, part) {
			t.Errorf("%q in\n%s", part, text)
		}
	}
}

func TestWhatEndsByItselfIsSaidWithWhatFollows(t *testing.T) {
	http := explain.Question{Object: "web01!http"}
	at := func(q explain.Question, t object.Time) explain.Question { q.At = t; return q }
	who := func(q explain.Question, c string) explain.Question { q.Contact = c; return q }
	acked := failed()
	acked.Ack, acked.AckExpires, acked.Extra = object.AckSticky, noon+20*minute, &event.Extra{AckAuthor: "alice"}
	const until = "2027-01-02 13:00:00 UTC"
	for _, c := range []struct {
		name string
		q    explain.Question
		st   event.Status
		want []string
	}{
		{"a downtime of the service", http, inDowntime(failed()), []string{
			"the downtime of the service ends at " + until + ": people are told then (PROBLEM) if the problem is still there",
			"if the downtime of the service by ops, which ends at " + until + ", were cancelled or over",
		}},
		{"of whom is not told at its end it is said too", who(http, "dave"), inDowntime(failed()), []string{
			"the downtime of the service ends at " + until + ", but by that alone dave is not told",
		}},
		{"an acknowledgement that expires", http, acked, []string{
			"the acknowledgement by alice expires at 2027-01-02 12:20:00 UTC: people are told then",
			"if the acknowledgement by alice, which expires at 2027-01-02 12:20:00 UTC, were removed or over",
		}},
		{"while the downtime runs", at(http, noon+30*minute), inDowntime(failed()), []string{"in a downtime", "would not be sent: the service is in a downtime"}},
		{"at its very end it is over", at(http, noon+60*minute), inDowntime(failed()), []string{"not: in a downtime", "would be sent to alice", "told at once"}},
		{"behind its end people have been told", at(http, noon+70*minute), inDowntime(failed()), []string{
			"not: in a downtime", "told once, last at " + until, "PROBLEM number 2 would not be sent: the interval ends at 2027-01-02 13:30:00 UTC",
		}},
		{"behind an expired acknowledgement", at(http, noon+21*minute), acked, []string{"not: acknowledged", "told once, last at 2027-01-02 12:20:00 UTC"}},
		{"what never ends is not said to", http, func() event.Status { st := acked; st.AckExpires = 0; return st }(), []string{"nothing by itself: people are told when something happens"}},
		{"a contact whose period is closed is not told at once", who(http, "bob"), failed(), []string{"would not be sent to bob", "bob is told at 2027-01-02 14:", "not: people are told"}},
	} {
		t.Run(c.name, func(t *testing.T) { expectText(t, said(t, c.q, world(c.st)), c.want...) })
	}
}

func TestTheDowntimeOfTheHostIsOverBehindItsEnd(t *testing.T) {
	w := world(failed())
	host, own := inDowntime(event.Status{Checked: true, Attempt: 1, MaxAttempts: 1}), failed()
	w.State = func(id object.ID) *fold.State {
		if id == "web01" {
			return &fold.State{Status: host}
		}
		return &fold.State{Status: own}
	}
	expectText(t, said(t, explain.Question{Object: "web01!http"}, w),
		"its host is in a downtime", "the downtime of the host ends at 2027-01-02 13:00:00 UTC: people are told then (PROBLEM)")
	expectText(t, said(t, explain.Question{Object: "web01!http", At: noon + 61*minute}, w),
		"not: its host is in a downtime", "told once, last at 2027-01-02 13:00:00 UTC")
	w.Set.Get("web01!http").Notify.Timed = false
	expectText(t, said(t, explain.Question{Object: "web01!http"}, w), "13:00:00 UTC; people are told with a check result after that if the problem is still there")
}

// What the escalation does to a contact by time or by number is said as it is.
func TestStepsAreSaidAsTheyComeAbout(t *testing.T) {
	told := failed()
	told.NotificationNumber, told.Notified, told.Told = 1, 1<<object.Critical, "alice\n"
	told.LastNotification, told.NextNotification = noon-10*minute, noon+110*minute
	untold := failed()
	for _, c := range []struct {
		name string
		step object.Step
		st   event.Status
		who  string
		want string
	}{
		{
			"one that tells others instead comes before the interval is over",
			object.Step{Name: "boss", After: time.Hour, Interval: -1},
			told, "alice",
			"would be told if the interval ended before the escalation tells others instead (boss)",
		},
		{
			"one that begins with a number",
			object.Step{Name: "lead", First: 2, Interval: -1, Adds: true},
			untold, "carol",
			"would be told if it were the notification number 2, with which the step lead of the escalation begins",
		},
		{
			"one that begins with a number and an age",
			object.Step{Name: "lead", First: 2, After: time.Hour, Interval: -1, Adds: true},
			untold, "carol",
			"with which the step lead of the escalation begins and it were 2027-01-02 12:50:00 UTC or later",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := world(c.st)
			n := w.Set.Get("web01!http").Notify
			c.step.Contacts, c.step.Options = n.Steps[0].Contacts, object.NoteAll
			n.Steps = []*object.Step{&c.step}
			expectText(t, said(t, explain.Question{Object: "web01!http", Contact: c.who}, w), c.want)
		})
	}
}

func TestAHostBehindHostsThatAreDownBecomesUnreachable(t *testing.T) {
	w := world(failed())
	gate := &object.Object{ID: "gate", Name: "gate", Rule: &object.Rule{Attempts: 1}}
	host := w.Set.Get("web01")
	host.Parents = []*object.Object{gate}
	host.Notify = &object.Notification{Contacts: w.Set.Get("web01!http").Notify.Contacts, Options: 1 << object.Down, Timed: true}
	state := object.Up
	own := w.State
	w.State = func(id object.ID) *fold.State {
		if id == "gate" {
			return &fold.State{Status: event.Status{Checked: true, State: state}}
		}
		return own(id)
	}
	expectText(t, said(t, explain.Question{Object: "web01"}, w), "if it became DOWN (hard)", "would be sent to alice")
	state = object.Down
	expectText(t, said(t, explain.Question{Object: "web01"}, w), "if it became UNREACHABLE (hard)", "would not be sent: the host does not tell of UNREACHABLE")
}

// tried is a decision that told some, whose messages had an outcome each.
func tried(seq uint64, at object.Time, outcome event.Kind, who ...string) []event.Event {
	st := failed()
	note := event.Note{Kind: "PROBLEM", Send: true, Number: 1}
	for _, name := range who {
		note.People = append(note.People, event.Person{Name: name, Told: true, Channels: []string{"email"}})
	}
	e := event.Event{ID: "t", Kind: event.CheckResult, Object: "web01!http", Seq: seq, Time: at, Status: &st, Notes: []event.Note{note}}
	var all []event.Event
	for _, r := range e.Requests() {
		all = append(all, event.Event{Kind: outcome, Object: e.Object, Seq: seq + 1, Time: at, Facts: map[string]string{
			event.FactRequest: r.ID, event.FactReason: "550 no such user",
		}})
	}
	return append(all, e)
}

func TestWhoWasOnlyTriedToBeToldWasNotTold(t *testing.T) {
	st := failed()
	st.NotificationNumber, st.Notified, st.Told = 1, 1<<object.Critical, "alice\ncarol\n"
	st.LastNotification, st.NextNotification = noon-5*minute, noon+25*minute
	w := world(st)
	w.Events = tried(10, noon-5*minute, event.NotificationAbandoned, "alice")
	expectText(t, said(t, explain.Question{Object: "web01!http"}, w),
		"tried to tell once, last at 2027-01-02 11:55:00 UTC, and every message was given up: 550 no such user",
		"alice given up: 550 no such user; not again now: the interval ends")
	a, _ := explain.Ask(explain.Question{Object: "web01!http"}, w)
	if p := a.Recorded[0].People[0]; !p.Told || p.Says != explain.GivenUp || p.Why != "550 no such user" {
		t.Errorf("%+v", p)
	}
	w.Events = tried(10, noon-5*minute, event.NotificationDelivered, "alice")
	expectText(t, said(t, explain.Question{Object: "web01!http"}, w), "told once, last at", "alice told: told of the problem")
}

// The recovery of the problem before is still owed to carol; of the present one alice
// alone was told.
func TestToldIsWhoWasToldOfThePresentProblem(t *testing.T) {
	st := failed()
	st.NotificationNumber, st.Notified, st.Told = 1, 1<<object.Critical, "alice\ncarol\n"
	st.LastNotification, st.NextNotification = noon-5*minute, noon+25*minute
	w := world(st)
	w.Events = append(tried(10, noon-5*minute, event.NotificationDelivered, "alice"), tried(2, noon-100*minute, event.NotificationDelivered, "carol")...)
	expectText(t, said(t, explain.Question{Object: "web01!http"}, w), "alice told:", "carol not told:")
	st.NotificationNumber = 0
	w = world(st)
	w.Set.Get("web01!http").Notify.FirstDelay = time.Hour
	expectText(t, said(t, explain.Question{Object: "web01!http"}, w), "alice not told: the first delay", "carol not told:")
}

func TestThePastIsSaidInThePast(t *testing.T) {
	w := world(failed())
	st := failed()
	st.Ack, st.Extra = object.AckSticky, &event.Extra{AckAuthor: "alice"}
	w.State = func(object.ID) *fold.State { return &fold.State{Status: st} }
	q := explain.Question{Object: "web01!http", At: noon - minute}
	expectText(t, said(t, q, w), "would not have been sent: the problem is acknowledged",
		"would have been sent if the acknowledgement by alice had been removed", "people would have been told when something happens", "not: would be")
	q.Kind = notify.Recovery
	expectText(t, said(t, q, w), "it was CRITICAL; this is what would have happened if it had become OK (hard) at")
}
