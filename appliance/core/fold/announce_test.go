package fold_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// policies draws what an object may say about whom to tell, nil among it.
func policies() *rapid.Generator[*object.Notification] {
	reach := func(p object.Period) object.Reach { return object.Reach{Options: object.NoteAll, Period: p} }
	ann := &object.Contact{Name: "ann", Notify: &object.ContactNotification{Hosts: reach(nil), Services: reach(nil), Channels: []string{"email"}}}
	bob := &object.Contact{Name: "bob", Notify: &object.ContactNotification{Hosts: reach(hourly{}), Services: reach(hourly{}), Channels: []string{"chat"}}}
	return rapid.Custom(func(t *rapid.T) *object.Notification {
		if rapid.Bool().Draw(t, "nobody") {
			return nil
		}
		n := &object.Notification{
			Name: "p", Contacts: []*object.Contact{ann, bob}, Options: object.NoteAll, FromFirst: true,
			FirstDelay: rapid.SampledFrom([]time.Duration{0, 0, 90 * time.Second}).Draw(t, "delay"),
			ToTold:     rapid.Bool().Draw(t, "to told"), Timed: rapid.Bool().Draw(t, "timed"),
		}
		if rapid.Bool().Draw(t, "steps") {
			n.Steps = []*object.Step{{Name: "later", Contacts: []*object.Contact{bob}, After: 2 * time.Minute, Interval: -1, Options: object.NoteAll, Adds: true}}
		}
		if rapid.Bool().Draw(t, "only critical") {
			n.States = 1 << object.Critical
			n.Else = &object.Notification{Name: "q", Contacts: n.Contacts[:1], Options: object.NoteAll, Timed: n.Timed, ToTold: n.ToTold, Period: hourly{}}
		}
		return n
	})
}

// told is a service with one contact, told by time.
func told(change func(*object.Notification)) *fold.Env {
	settings := object.DefaultSettings()
	rule := &object.Rule{Interval: time.Minute, Retry: time.Minute, Attempts: 1, NoteInterval: time.Hour, Passive: true, Active: true, Check: object.Check{Kind: object.CheckDummy}}
	host := &object.Object{ID: "h", Name: "h", Rule: rule}
	ann := &object.Contact{Name: "ann", Notify: &object.ContactNotification{
		Services: object.Reach{Options: object.NoteAll}, Channels: []string{"email", "telegram"},
	}}
	n := &object.Notification{Name: "web", Contacts: []*object.Contact{ann}, Options: object.NoteAll, Timed: true, ToTold: true, FromFirst: true}
	change(n)
	up := fold.New(host)
	return &fold.Env{
		Object: &object.Object{ID: "h!s", Name: "s", Host: host, Rule: rule, Notify: n}, Settings: &settings, Host: &up,
		Known: map[string]*object.Contact{"ann": ann}, Epoch: 1, Writer: "a", Instance: "1", ID: "d1", Started: 1e12,
	}
}

// judge decides and folds one command.
func judge(t *testing.T, env *fold.Env, s *fold.State, seq *uint64, c fold.Command, now object.Time) fold.Decision {
	t.Helper()
	d, err := fold.Decide(env, s, c, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*event.Event{&d.Log, &d.Result} {
		if e == &d.Log && !d.HasLog || e == &d.Result && !d.HasResult {
			continue
		}
		*seq++
		e.Seq = *seq
		if next, outcome := fold.Apply(*s, e); outcome == fold.Accepted {
			*s = next
		}
	}
	return d
}

func TestTheRequestIsPartOfTheTransition(t *testing.T) {
	env := told(func(*object.Notification) {})
	s, seq := fold.New(env.Object), uint64(0)
	d := judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12, Output: "down"}, 1e12)
	if !d.HasLog || !d.Log.Transition || !d.Log.Has(event.NotificationIntended) || d.Log.Has(event.NotificationSuppressed) {
		t.Fatalf("the transition is %+v", d.Log)
	}
	var ids []string
	for _, r := range d.Log.Requests() {
		ids = append(ids, r.ID)
	}
	want := []string{"h!s/1000000000000/1/PROBLEM/d1/ann/email", "h!s/1000000000000/1/PROBLEM/d1/ann/telegram"}
	if !slices.Equal(ids, want) {
		t.Errorf("requests %q, want %q", ids, want)
	}
	if st := s.Status; st.NotificationNumber != 1 || st.Told != "ann\n" || st.Hard != 1e12 || st.NextNotification != 1e12+3600e3 {
		t.Errorf("remembered %+v", st)
	}
}

func TestWhoIsNotToldHasAReasonOnTheLog(t *testing.T) {
	env := told(func(n *object.Notification) { n.FirstDelay = 10 * time.Minute })
	s, seq := fold.New(env.Object), uint64(0)
	d := judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12}, 1e12)
	n := d.Log.Notes
	if len(n) != 1 || n[0].Send || n[0].By != "delay" || n[0].Until != 1e12+600e3 || n[0].Blocking().Why == "" || !d.Log.Has(event.NotificationSuppressed) {
		t.Fatalf("notes %+v", n)
	}
	if p := n[0].People; len(p) != 1 || p[0].Told || p[0].Name != "ann" {
		t.Errorf("people %+v", p)
	}
	work, at := fold.Due(env, &s, 1e12+1)
	for work != fold.PassTime && at < 1e12+600e3 && at != 0 {
		work, at = fold.Due(env, &s, at)
		if work == fold.RunCheck {
			judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: at, Output: "still"}, at)
			_, at = fold.Due(env, &s, at+1)
		}
	}
	if next := fold.NextTick(env, &s, at); next != 1e12+600e3 && next != 1 {
		t.Fatalf("people are told at %d, want after the delay", next)
	}
	d = judge(t, env, &s, &seq, fold.Tick{}, 1e12+600e3)
	if !d.HasLog || d.Log.Kind != event.NotificationIntended || len(d.Log.Requests()) != 2 {
		t.Errorf("after the delay: %+v", d.Log)
	}
}

func TestTheEndOfADowntimeTellsOfTheProblemThatIsStillThere(t *testing.T) {
	env := told(func(*object.Notification) {})
	s, seq := fold.New(env.Object), uint64(0)
	judge(t, env, &s, &seq, fold.ScheduleDowntime{Downtime: event.Downtime{Start: 1e12, End: 1e12 + 60e3, Author: "jo", Text: "x"}}, 1e12)
	env.ID = "d2"
	judge(t, env, &s, &seq, fold.Tick{}, 1e12)
	env.ID = "d3"
	if d := judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12 + 1}, 1e12+1); d.Log.Notes[0].By != "downtime" {
		t.Fatalf("in the downtime: %+v", d.Log.Notes)
	}
	env.ID = "d4"
	d := judge(t, env, &s, &seq, fold.Tick{}, 1e12+60e3)
	var kinds []string
	for _, n := range d.Log.Notes {
		if n.Send {
			kinds = append(kinds, n.Kind)
		}
	}
	if got := strings.Join(kinds, " "); got != "DOWNTIMEEND PROBLEM" || d.Log.Kind != event.DowntimeEnded {
		t.Errorf("%s tells %q", d.Log.Kind, got)
	}
}

func TestACanaryTellsEveryRound(t *testing.T) {
	env := told(func(n *object.Notification) { n.Heartbeat, n.Timed = true, false })
	s, seq := fold.New(env.Object), uint64(0)
	for i := range 3 {
		now := object.Time(1e12 + i*60e3)
		env.ID = "r" + string(rune('0'+i))
		d := judge(t, env, &s, &seq, fold.Result{Start: now}, now)
		if r := d.Log.Requests(); !d.HasLog || len(r) != 2 || r[0].Note.Kind != string(notify.Heartbeat) {
			t.Fatalf("round %d asks for %+v", i, r)
		}
	}
	if d := judge(t, env, &s, &seq, fold.Result{Start: 1e12 + 240e3, State: object.Critical}, 1e12+240e3); len(d.Log.Requests()) != 0 {
		t.Errorf("a round whose check fails asks for %+v", d.Log.Requests())
	}
	_, err := fold.Decide(env, &s, fold.Result{Start: 1e12 + 270e3, Passive: true}, 1e12+270e3)
	if err == nil || !strings.Contains(err.Error(), "a submitted result proves nothing") {
		t.Errorf("a submitted result: %v", err)
	}
	env.Settings.On &^= object.ProgramNotifications
	if d := judge(t, env, &s, &seq, fold.Result{Start: 1e12 + 300e3}, 1e12+300e3); len(d.Log.Requests()) != 0 || d.Log.Notes[0].By != "program" {
		t.Errorf("with notifications off: %+v", d.Log.Notes)
	}
}

// What a decision about telling people leaves in the status is what the notes say,
// and nothing that was not told is remembered as told.
func TestNotesAndStatusAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run(t, func(env *fold.Env, before *fold.State, _ fold.Command, d *fold.Decision, after *fold.State, now object.Time) {
			if d.HasLog && (env.Object.Notify == nil) != (d.Log.Notes == nil) && env.Object.Notify == nil {
				t.Fatalf("nobody is to be told, but %+v", d.Log.Notes)
			}
			problems := 0
			for i := range d.Log.Notes {
				n := &d.Log.Notes[i]
				if n.Send == (n.By != "") || n.Send != slices.ContainsFunc(n.People, func(p event.Person) bool { return p.Told }) {
					t.Fatalf("the note contradicts itself: %+v", n)
				}
				if n.Send && n.Kind == string(notify.Problem) {
					problems++
					if after.Status.NotificationNumber != n.Number || after.Status.LastNotification != now {
						t.Fatalf("%+v is remembered as %+v", n, after.Status)
					}
				}
			}
			if problems > 1 {
				t.Fatalf("one event tells %d times of the problem", problems)
			}
			if problems == 0 && after.Status.NotificationNumber > before.Status.NotificationNumber && !d.Log.Has(event.SettingChanged) && !d.Log.Has(event.NotificationRequested) {
				t.Fatalf("the counter went from %d to %d without anybody being told", before.Status.NotificationNumber, after.Status.NotificationNumber)
			}
			if (after.Status.Hard != 0) != (after.Status.State != object.OK && after.Status.Type == object.Hard) && d.HasResult {
				t.Fatalf("hard since %d: %+v", after.Status.Hard, after.Status)
			}
		})
	})
}

func TestWhatReachedNobodyIsToldAgain(t *testing.T) {
	env := told(func(n *object.Notification) { n.Interval = -1 })
	s, seq := fold.New(env.Object), uint64(0)
	judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12}, 1e12)
	env.ID = "d2"
	if d := judge(t, env, &s, &seq, fold.Missed{Problem: s.Status.Problem, Number: 2}, 1e12+1); d.HasLog {
		t.Errorf("another notification was missed, and still %+v", d.Log)
	}
	d := judge(t, env, &s, &seq, fold.Missed{Problem: s.Status.Problem, Number: 1}, 1e12+1)
	if !d.HasLog || d.Log.Kind != event.NotificationMissed || len(d.Log.Notes) != 0 || s.Status.NextNotification != 1e12+1+600e3 {
		t.Fatalf("%+v", d.Log)
	}
	if next := fold.NextTick(env, &s, 1e12+2); next != 1e12+1+600e3 {
		t.Fatalf("people are told again at %d", next)
	}
	env.ID = "d3"
	if d := judge(t, env, &s, &seq, fold.Tick{}, 1e12+1+600e3); len(d.Log.Requests()) != 2 || d.Log.Notes[0].Number != 2 {
		t.Errorf("told again: %+v", d.Log.Notes)
	}
	if s.Status.NextNotification != notify.Never {
		t.Errorf("once told, the problem is told again at %d", s.Status.NextNotification)
	}
}

// Whoever for certain got nothing does not hear of the end either.
func TestWhoGotNothingOfAProblemIsNotToldOfItsEnd(t *testing.T) {
	tests := []struct {
		name  string
		lost  func(told []string) []string
		hears int // of the recovery
	}{
		{"it may have arrived", func([]string) []string { return nil }, 2},
		{"one of two got nothing", func(all []string) []string { return all[:1] }, 1},
		{"nobody got anything", func(all []string) []string { return all }, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := told(func(n *object.Notification) {
				bob := *n.Contacts[0]
				bob.Name = "bob"
				n.Interval, n.Contacts = -1, append(n.Contacts, &bob)
			})
			env.Known["bob"] = env.Object.Notify.Contacts[1]
			s, seq := fold.New(env.Object), uint64(0)
			judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12}, 1e12)
			all := notify.FieldsOf(&s.Status).Told
			if len(all) != 2 {
				t.Fatalf("%q are told", all)
			}
			env.ID = "d2"
			judge(t, env, &s, &seq, fold.Missed{Problem: s.Status.Problem, Number: 1, Lost: tt.lost(all)}, 1e12+1)
			if f := notify.FieldsOf(&s.Status); len(f.Told) != tt.hears || (f.Notified != 0) != (tt.hears > 0) || s.Status.NextNotification != 1e12+1+600e3 {
				t.Errorf("then it is known: %+v", f)
			}
			env.ID = "d3"
			d := judge(t, env, &s, &seq, fold.Result{Start: 1e12 + 60e3}, 1e12+60e3)
			if n := len(d.Log.Requests()); n != 2*tt.hears {
				t.Errorf("%d hear of the recovery: %+v", n, d.Log.Notes)
			}
			if s.Status.NotificationNumber != 0 || s.Status.Notified != 0 {
				t.Errorf("after the end: %+v", s.Status)
			}
		})
	}
}

func TestAProblemThatAHostsRecoveryMayHaveEndedWaitsForItsCheck(t *testing.T) {
	env := told(func(*object.Notification) {})
	s, seq := fold.New(env.Object), uint64(0)
	env.Host.Status.State, env.Host.Status.Type = object.Down, object.Hard
	if d := judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12}, 1e12); d.Log.Notes[0].By != "host" {
		t.Fatalf("behind a host that is down: %+v", d.Log.Notes)
	}
	env.Host.Status.State, env.Host.Status.LastChange = object.Up, 1e12+30e3
	if next := fold.NextTick(env, &s, 1e12+30e3); next != 1e12+30e3+60e3 {
		t.Errorf("the check is awaited until %d", next)
	}
	in := fold.NoteInput(env, &s, 1e12+30e3)
	in.Kind = notify.Problem
	if out := notify.Decide(&in); out.By != notify.GateHost || out.Until != 1e12+90e3 {
		t.Errorf("blocked by %s until %d", out.By, out.Until)
	}
	t.Run("the check finds it gone", func(t *testing.T) {
		s, seq := s, seq
		if d := judge(t, env, &s, &seq, fold.Result{Start: 1e12 + 40e3}, 1e12+40e3); len(d.Log.Requests()) != 0 {
			t.Errorf("nobody was told of the problem, but of its end: %+v", d.Log.Notes)
		}
	})
	t.Run("the check finds it still there", func(t *testing.T) {
		s, seq := s, seq
		if d := judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12 + 40e3}, 1e12+40e3); len(d.Log.Requests()) != 2 {
			t.Errorf("proven, and not told: %+v", d.Log.Notes)
		}
	})
	t.Run("no check comes", func(t *testing.T) {
		s, seq := s, seq
		if d := judge(t, env, &s, &seq, fold.Tick{}, 1e12+90e3); len(d.Log.Requests()) != 2 {
			t.Errorf("waited for, and not told: %+v", d.Log.Notes)
		}
	})
}

func TestWhoseResultsOthersSubmitIsNotWaitedFor(t *testing.T) {
	env := told(func(*object.Notification) {})
	env.Object.Rule.Active = false
	s, seq := fold.New(env.Object), uint64(0)
	env.Host.Status.State, env.Host.Status.Type = object.Down, object.Hard
	judge(t, env, &s, &seq, fold.Result{State: object.Critical, Start: 1e12, Passive: true}, 1e12)
	env.Host.Status.State, env.Host.Status.LastChange = object.Up, 1e12+30e3
	if d := judge(t, env, &s, &seq, fold.Tick{}, 1e12+30e3); len(d.Log.Requests()) != 2 {
		t.Errorf("not told: %+v", d.Log.Notes)
	}
}
