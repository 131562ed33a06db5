package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// person wants to hear of everything about services.
func person(name string) *object.Contact {
	reach := object.Reach{Options: object.NoteAll}
	return &object.Contact{Name: name, Notify: &object.ContactNotification{Hosts: reach, Services: reach}}
}

// critical is a service that became hard CRITICAL an hour before noon, with what
// should be told about it.
func critical(n *object.Notification) *notify.Input {
	host := &object.Object{ID: "h", Name: "h", Rule: &object.Rule{}}
	settings := object.DefaultSettings()
	n.Options = object.NoteAll
	known := map[string]*object.Contact{}
	for _, c := range n.Contacts {
		known[c.Name] = c
	}
	for _, s := range n.Steps {
		if s.Options == 0 {
			s.Options = object.NoteAll
		}
		for _, c := range s.Contacts {
			known[c.Name] = c
		}
	}
	return &notify.Input{
		Object: &object.Object{ID: "h!s", Host: host, Rule: &object.Rule{NoteInterval: 2 * time.Hour}, Notify: n}, Kind: notify.Problem,
		Status: &event.Status{State: object.Critical, Checked: true, LastHardChange: noon - 3600e3}, Host: &event.Status{},
		Fields: notify.Fields{Hard: noon - 3600e3}, Settings: &settings, Known: known, Now: noon,
	}
}

// again attempts the same at another time, with the memory of what was told.
func again(in *notify.Input, out notify.Outcome, after time.Duration) notify.Outcome {
	in.Fields, in.Now = out.Fields, in.Now.Add(after)
	return notify.Decide(in)
}

func wantTold(t *testing.T, out notify.Outcome, want string) {
	t.Helper()
	if got := strings.Join(out.Told(), " "); got != want {
		t.Errorf("%s was told to %q, want %q (%s)", out.Kind, got, want, out.Why())
	}
}

// recovered turns the input into the recovery of what it was.
func recovered(in *notify.Input, f notify.Fields) {
	before := *in.Status
	in.Status = &event.Status{Checked: true}
	in.Fields, in.Kind = notify.Turn(f, &before, in.Status, in.Now), notify.Recovery
}

func TestARecoveryGoesToEverybodyWhoWasTold(t *testing.T) {
	in := critical(&object.Notification{
		ToTold: true, Contacts: []*object.Contact{person("ada")},
		Steps: []*object.Step{{Name: "late", First: 2, Contacts: []*object.Contact{person("bob"), person("cai")}}},
	})
	out := notify.Decide(in)
	wantTold(t, out, "ada")
	out = again(in, out, 2*time.Hour)
	wantTold(t, out, "bob cai")
	if len(out.Steps) == 0 || out.Number != 2 {
		t.Errorf("number %d, steps %q", out.Number, out.Steps)
	}
	delete(in.Known, "cai")
	recovered(in, out.Fields)
	out = notify.Decide(in)
	wantTold(t, out, "ada bob")
	if c := out.Contacts[2]; c.Name != "cai" || c.By != notify.GateKnown {
		t.Errorf("a contact who left the config: %+v", c)
	}
	if f := out.Fields; f.Number != 0 || f.Notified != 0 || f.Told != nil || f.Last != in.Now {
		t.Errorf("after the recovery: %+v", f)
	}
}

func TestARecoveryWaitsForTheContactWhosePeriodIsClosed(t *testing.T) {
	bob := person("bob")
	in := critical(&object.Notification{ToTold: true, Timed: true, Contacts: []*object.Contact{person("ada"), bob}})
	problem := notify.Decide(in)
	wantTold(t, problem, "ada bob")
	bob.Notify.Services.Period = hours{14, 16}
	recovered(in, problem.Fields)
	out := notify.Decide(in)
	wantTold(t, out, "ada")
	in.Fields = out.Fields
	at, kind := notify.Next(in)
	if at != noon+2*3600e3 || kind != notify.Recovery {
		t.Fatalf("next at %d: %s", at-noon, kind)
	}
	out = again(in, out, 2*time.Hour)
	wantTold(t, out, "bob")
	if out.Fields.Notified != 0 || out.Fields.Told != nil {
		t.Errorf("after the last recovery: %+v", out.Fields)
	}
}

func TestAnOwedRecoveryDoesNotMakeTheNextProblemEscalate(t *testing.T) {
	in := critical(&object.Notification{
		Contacts: []*object.Contact{person("ada")}, Steps: []*object.Step{{Name: "late", First: 2, Contacts: []*object.Contact{person("bob")}}},
	})
	out := notify.Decide(in)
	wantTold(t, out, "ada")
	problem := *in.Status
	recovered(in, out.Fields)
	in.Status.DowntimeDepth = 1
	out = notify.Decide(in)
	if out.By != notify.GateDowntime || out.Fields.Number != 1 || out.Fields.Notified == 0 {
		t.Fatalf("in the downtime: by %s, %+v", out.By, out.Fields)
	}
	in.Fields = notify.Turn(out.Fields, in.Status, &problem, in.Now)
	in.Status, in.Kind = &problem, notify.Problem
	out = notify.Decide(in)
	wantTold(t, out, "ada")
	if out.Number != 1 {
		t.Errorf("the new problem is told as number %d", out.Number)
	}
}

func TestWhoDoesNotHearOfAStateDoesNotHearOfItsEnd(t *testing.T) {
	few := person("few")
	few.Notify.Hosts.Options = 1<<object.Down | object.NoteRecovery
	in := critical(&object.Notification{Contacts: []*object.Contact{person("all"), few}})
	in.Object = &object.Object{ID: "h", Rule: &object.Rule{}, Notify: in.Object.Notify}
	in.Host, in.Status.State = nil, object.Unreachable
	out := notify.Decide(in)
	wantTold(t, out, "all")
	recovered(in, out.Fields)
	out = notify.Decide(in)
	wantTold(t, out, "all")
	if by := out.Contacts[1].By; by != notify.GateContactProblem {
		t.Errorf("the other one is told nothing because of %q", by)
	}
}

// A step that begins with the age of the problem does not wait for the interval, and
// tells its own contacts alone; with an interval of 0 it comes all the same.
func TestStepsBeginWithTheAgeOfTheProblem(t *testing.T) {
	for _, interval := range []time.Duration{0, 24 * time.Hour} {
		t.Run(interval.String(), func(t *testing.T) {
			in := critical(&object.Notification{
				Timed: true, Contacts: []*object.Contact{person("ada")},
				Steps: []*object.Step{
					{Name: "lead", After: 90 * time.Minute, Contacts: []*object.Contact{person("bob")}, Interval: -1, Adds: true},
					{Name: "head", After: 3 * time.Hour, Until: 4 * time.Hour, Contacts: []*object.Contact{person("cai")}, Interval: -1, Adds: true},
				},
			})
			in.Object.Rule.NoteInterval = interval
			out := notify.Decide(in)
			wantTold(t, out, "ada")
			for _, want := range []struct {
				name string
				at   time.Duration
			}{{"bob", 30 * time.Minute}, {"cai", 2 * time.Hour}} {
				in.Fields = out.Fields
				at, _ := notify.Next(in)
				if at != noon.Add(want.at) {
					t.Fatalf("%s: next after %v", want.name, at.Sub(noon))
				}
				if early := again(in, out, at.Sub(in.Now)-time.Second); early.Send {
					t.Errorf("%q were told too early", early.Told())
				}
				out = again(in, out, time.Second)
				wantTold(t, out, want.name)
			}
			in.Fields = out.Fields
			at, _ := notify.Next(in)
			if interval == 0 && at != 0 || interval > 0 && at != noon.Add(26*time.Hour) {
				t.Fatalf("after all steps: next after %v", at.Sub(noon))
			}
			if interval > 0 {
				wantTold(t, again(in, out, at.Sub(in.Now)), "ada bob")
			}
		})
	}
}

func TestTheFirstDelayCountsFromTheFirstOrTheLastHardState(t *testing.T) {
	in := critical(&object.Notification{Timed: true, Contacts: []*object.Contact{person("ada")}, FirstDelay: 90 * time.Minute})
	in.Status.LastHardChange = noon - 600e3
	for _, tt := range []struct {
		first bool
		at    object.Time
	}{{true, noon + 30*60e3}, {false, noon + 80*60e3}} {
		in.Object.Notify.FromFirst = tt.first
		out := notify.Decide(in)
		if at, _ := notify.Next(in); out.By != notify.GateDelay || out.Until != tt.at || at != tt.at {
			t.Errorf("from first %v: by %s until %v, next %v", tt.first, out.By, out.Until.Sub(noon), at.Sub(noon))
		}
	}
	in.Status.LastHardChange, in.Started = 0, noon-91*60e3
	if out := notify.Decide(in); !out.Send {
		t.Errorf("a problem as old as the program: %s", out.Why())
	}
}

// The opening of a period neither cuts an interval short nor is forgotten.
func TestPeriodsAndIntervals(t *testing.T) {
	in := critical(&object.Notification{Timed: true, Contacts: []*object.Contact{person("ada")}})
	in.Object.Rule.NotePeriod, in.Object.Rule.NoteInterval = hours{8, 13}, 22*time.Hour
	in.Periods = map[string]object.Period{"always": hours{0, 24}}
	out := notify.Decide(in)
	wantTold(t, out, "ada")
	in.Fields = out.Fields
	if at, _ := notify.Next(in); at != noon+22*3600e3 {
		t.Errorf("next after %v", at.Sub(noon))
	}
	out = again(in, out, 2*time.Hour)
	if out.By != notify.GatePeriod || out.Until != noon+20*3600e3 || out.Fields.Next != noon+22*3600e3 {
		t.Errorf("outside: by %s until %v, %+v", out.By, out.Until.Sub(noon), out.Fields)
	}
	out = again(in, out, 19*time.Hour)
	if out.By != notify.GateInterval {
		t.Errorf("after the opening: %q by %q", out.Told(), out.By)
	}
	in.Status.Extra = &event.Extra{Settings: []event.Setting{{Name: event.SettingNotePeriod, Value: "always"}}}
	wantTold(t, again(in, out, 12*time.Hour), "ada")
}

func TestWhatOperatorsSetOfContacts(t *testing.T) {
	off := person("off")
	off.Notify.Services.Off = true
	in := critical(&object.Notification{Contacts: []*object.Contact{person("ada"), off}})
	set := func(name, value string) map[string]event.ContactStatus {
		return map[string]event.ContactStatus{"off": {Settings: []event.Setting{{Name: name, Value: value}}}}
	}
	wantTold(t, notify.Decide(in), "ada")
	in.Contacts = set("service_notifications", "on")
	wantTold(t, notify.Decide(in), "ada off")
	off.Notify.Services.Off = false
	in.Periods, in.Contacts = map[string]object.Period{"night": hours{20, 22}}, set("service_notification_period", "night")
	out := notify.Decide(in)
	wantTold(t, out, "ada")
	if c := out.Contacts[1]; c.By != notify.GateContactPeriod || !strings.Contains(fmt.Sprint(c.Gates), "opens at 2001-09-09 20:00:00 UTC") {
		t.Errorf("%+v", c)
	}
}

func TestForcedAndBroadcast(t *testing.T) {
	in := critical(&object.Notification{
		Contacts: []*object.Contact{person("ada"), {Name: "mute"}}, Steps: []*object.Step{{Name: "late", First: 9, Contacts: []*object.Contact{person("bob")}}},
	})
	in.Kind, in.Status.DowntimeDepth = notify.Custom, 1
	if out := notify.Decide(in); out.By != notify.GateDowntime || len(out.Contacts) != 3 {
		t.Errorf("by %s, %+v", out.By, out.Contacts)
	}
	in.Forced = true
	wantTold(t, notify.Decide(in), "ada mute")
	in.Broadcast, in.Increment = true, true
	out := notify.Decide(in)
	wantTold(t, out, "ada bob mute")
	if out.Fields.Number != 1 || out.Fields.Notified != 0 || out.Fields.Last != 0 {
		t.Errorf("%+v", out.Fields)
	}
}

// What stands in the way says so in a sentence.
func TestReasonsAreSentences(t *testing.T) {
	in := critical(&object.Notification{Contacts: []*object.Contact{person("ada")}})
	in.Status.Extra = &event.Extra{AckAuthor: "maria", Downtimes: []event.Downtime{{Started: noon - 60e3}, {Started: noon - 120e3}, {}}}
	for _, tt := range []struct {
		name string
		do   func()
		by   notify.Gate
		why  string
	}{
		{"an interval", func() { in.Fields.Next = noon + 1 }, notify.GateInterval, "the interval ends at 2001-09-09 12:00:00 UTC"},
		{"a host that is down", func() { in.Host.State = object.Down }, notify.GateHost, "the host is DOWN"},
		{"an interval of 0", func() { in.Fields.Next, in.Fields.Last = notify.Never, noon-1000 }, notify.GateRepeat, "the interval is 0, and the problem was told at 2001-09-09 11:59:59 UTC"},
		{"a downtime", func() { in.Status.DowntimeDepth = 2 }, notify.GateDowntime, "the service is in a downtime since 2001-09-09 11:58:00 UTC"},
		{"a dependency", func() { in.Failed = "db!sql" }, notify.GateDependency, "the service depends on db!sql, which has failed"},
		{"an acknowledgement", func() { in.Status.Ack = object.AckSticky }, notify.GateAcknowledged, "the problem is acknowledged by maria"},
		{"a soft state", func() { in.Status.Type, in.Status.Attempt, in.Status.MaxAttempts = object.Soft, 2, 3 }, notify.GateHard, "the state is soft: attempt 2 of 3"},
		{"an operator", func() { in.Status.Off = object.SwitchNotifications }, notify.GateSwitch, "notifications are switched off for the service by an operator"},
	} {
		tt.do()
		if out := notify.Decide(in); out.By != tt.by || out.Why() != tt.why || len(out.Contacts) != 1 || out.Contacts[0].By != tt.by {
			t.Errorf("%s: by %s: %q; %+v", tt.name, out.By, out.Why(), out.Contacts)
		}
	}
	if out := notify.Decide(&notify.Input{Object: &object.Object{Rule: &object.Rule{}}, Status: in.Status, Settings: in.Settings, Kind: notify.Custom, Forced: true}); out.By != notify.GateContacts {
		t.Errorf("an object that nobody hears of: %+v", out)
	}
}

func TestAPolicyHasAnIntervalOfItsOwn(t *testing.T) {
	for _, tt := range []struct {
		name     string
		interval time.Duration
		step     time.Duration // of a step that holds
		next     object.Time
	}{
		{"without one the object's counts", 0, -1, noon.Add(2 * time.Hour)},
		{"its own goes before the object's", 30 * time.Minute, -1, noon.Add(30 * time.Minute)},
		{"below zero the problem is told once", -1, -1, notify.Never},
		{"a step goes before both", -1, 10 * time.Minute, noon.Add(10 * time.Minute)},
		{"a step may tell once", 30 * time.Minute, 0, notify.Never},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := notify.Decide(critical(&object.Notification{
				Interval: tt.interval, Contacts: []*object.Contact{person("ada")},
				Steps: []*object.Step{{Name: "all", Interval: tt.step, Adds: true}},
			}))
			if out.Fields.Next != tt.next {
				t.Errorf("told again at %d, want %d", out.Fields.Next, tt.next)
			}
		})
	}
}

// morning is closed until eight on the day of noon's tests.
type morning struct{}

func (morning) Name() string   { return "morning" }
func (morning) String() string { return "morning" }
func (morning) Window(at object.Time) (bool, object.Time) {
	opens := noon + 2*3600e3
	if at < opens {
		return false, opens
	}
	return true, 0
}

func TestWhosePeriodOpensLaterIsToldThen(t *testing.T) {
	bob := person("bob")
	bob.Notify.Services.Period = morning{}
	for _, interval := range []time.Duration{-1, 6 * time.Hour} {
		in := critical(&object.Notification{Name: "p", Timed: true, Contacts: []*object.Contact{person("ada"), bob}, Interval: interval})
		out := notify.Decide(in)
		wantTold(t, out, "ada")
		in.Fields = out.Fields
		if at, _ := notify.Next(in); at != noon+2*3600e3 {
			t.Errorf("with interval %s the next is told at %d", interval, at)
		}
		before := in.Fields
		out = again(in, out, 2*time.Hour)
		wantTold(t, out, "bob")
		if f := out.Fields; f.Number != before.Number || f.Next != before.Next || f.Last != before.Last {
			t.Errorf("with interval %s the others' count and time move: %+v, before %+v", interval, f, before)
		}
		wantTold(t, again(in, out, time.Minute), "")
	}
}

// Whoever asks when a contact can be told reads whose period it is that opens.
func TestWhatIsWaitedForIsNamed(t *testing.T) {
	bob := person("bob")
	bob.Notify.Services.Period = morning{}
	in := critical(&object.Notification{Name: "p", Timed: true, Contacts: []*object.Contact{person("ada"), bob}, Interval: -1})
	in.Fields = notify.Decide(in).Fields
	out := notify.Decide(in)
	want := "the notification period of bob opens, who was not told yet"
	for _, g := range out.Gates {
		if g.Gate == notify.GateRepeat && (g.Then != want || g.Until != noon+2*3600e3) {
			t.Errorf("at %d %q, want %q", g.Until, g.Then, want)
		}
	}
	if out.By != notify.GateRepeat {
		t.Errorf("blocked by %s", out.By)
	}
}

func TestWithCheckResultsAnIntervalHoldsForAll(t *testing.T) {
	bob := person("bob")
	bob.Notify.Services.Period = morning{}
	in := critical(&object.Notification{Contacts: []*object.Contact{person("ada"), bob}})
	in.Object.Rule.NoteInterval = 6 * time.Hour
	out := notify.Decide(in)
	wantTold(t, out, "ada")
	wantTold(t, again(in, out, 3*time.Hour), "")
}
