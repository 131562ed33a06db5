package notify_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// A problem got hard, and perhaps was told, by a clock that was off by anything; whoever
// owns the object then has a clock that is right. People are told within the delay or the
// interval, or twice that where the clock was ahead by less.
func TestNobodyStaysUntoldForAClockThatWasOff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		theirs := noon.Add(time.Duration(rapid.IntRange(-400*86400, 400*86400).Draw(t, "off")) * time.Second)
		every, delay := time.Duration(rapid.IntRange(1, 180).Draw(t, "interval"))*time.Minute, time.Duration(rapid.IntRange(0, 60).Draw(t, "delay"))*time.Minute
		in := critical(&object.Notification{
			Timed: true, Contacts: []*object.Contact{person("ada")}, FirstDelay: delay, FromFirst: rapid.Bool().Draw(t, "from first"),
		})
		in.Object.Rule.NoteInterval = every
		in.Status.LastHardChange, in.Fields.Hard, in.Now = theirs, theirs, theirs
		most := 2 * delay
		if rapid.Bool().Draw(t, "told") {
			in.Now = theirs.Add(delay)
			out := notify.Decide(in)
			if !out.Send {
				t.Fatalf("it is not told in its time: %s", out.Why())
			}
			in.Fields, most = out.Fields, 2*every+delay
		}
		in.Now = noon
		at, kind := notify.Next(in)
		if at == 0 || at.Sub(noon) > most || kind != notify.Problem {
			t.Fatalf("it is told after %v, want within %v", at.Sub(noon), most)
		}
		in.Now = at
		if out := notify.Decide(in); !out.Send {
			t.Fatalf("it is not told when it was said to be: %s", out.Why())
		} else if again := out.Fields; again.Last != at || again.Next != at.Add(every) {
			t.Fatalf("then it is told again after %v, want %v", again.Next.Sub(at), every)
		}
	})
}

func TestAStepBeginsAfterAClockThatWasAhead(t *testing.T) {
	cases := []struct {
		name  string
		hard  time.Duration // of the problem, from now
		after time.Duration
		want  string
	}{
		{"its time has not come", -time.Minute, 10 * time.Minute, "ada"},
		{"its time is over", -10 * time.Minute, 10 * time.Minute, "boss"},
		{"the clock was a little ahead", 5 * time.Minute, 10 * time.Minute, "ada"},
		{"the clock was ahead by a day", 24 * time.Hour, 10 * time.Minute, "boss"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			in := critical(&object.Notification{
				Timed: true, Contacts: []*object.Contact{person("ada")},
				Steps: []*object.Step{{Name: "late", After: c.after, Contacts: []*object.Contact{person("boss")}}},
			})
			in.Fields.Hard = noon.Add(c.hard)
			wantTold(t, notify.Decide(in), c.want)
		})
	}
}

// An operator may put a repetition off for as long as he likes.
func TestAPutOffRepetitionIsNoClockThatWasAhead(t *testing.T) {
	for _, c := range []struct {
		last, next time.Duration
		want       bool
	}{
		{-time.Hour, 30 * 24 * time.Hour, false},
		{-time.Minute, time.Hour, false},
		{time.Minute, time.Hour, false},
		{24 * time.Hour, 25 * time.Hour, true},
		{24 * time.Hour, 72 * time.Hour, false},
	} {
		if got := notify.Ahead(noon.Add(c.last), noon.Add(c.next), noon); got != c.want {
			t.Errorf("told %v, again %v from now: ahead %v, want %v", c.last, c.next, got, c.want)
		}
	}
	if notify.Ahead(noon.Add(24*time.Hour), notify.Never, noon) || notify.Ahead(noon.Add(24*time.Hour), 0, noon) {
		t.Error("without an interval there is none that was begun")
	}
}

// A contact who could not be told with the others waits for two doors: his own period and
// that of the step which names him. Nothing happens to the object meanwhile, so that time
// alone has to find the instant, also without a repetition.
func TestWhoIsNamedByAStepThatIsNotYetOnIsToldOnceBothPeriodsAreOpen(t *testing.T) {
	at := func(hour int64) object.Time { return noon.Add(time.Duration(hour-12) * time.Hour) }
	for _, c := range []struct {
		name          string
		step, contact object.Period
		every         time.Duration
		want          object.Time
	}{
		{"both open together", hours{20, 22}, hours{20, 22}, 0, at(20)},
		{"the step opens first", hours{18, 22}, hours{20, 22}, 0, at(20)},
		{"the contact comes first", hours{20, 22}, hours{18, 22}, 0, at(20)},
		{"before the interval is over", hours{20, 22}, hours{20, 22}, 10 * time.Hour, at(20)},
		{"after the interval is over", hours{20, 22}, hours{20, 22}, time.Hour, at(13)},
		{"who could have been told with the others", hours{20, 22}, hours{0, 24}, 0, 0},
	} {
		dan := person("dan")
		dan.Notify.Services.Period = c.contact
		in := critical(&object.Notification{
			Timed: true, Options: object.NoteAll, Contacts: []*object.Contact{person("ada")},
			Steps: []*object.Step{{Name: "evening", Contacts: []*object.Contact{dan}, Options: object.NoteAll, Period: c.step}},
		})
		in.Object.Rule.NoteInterval = c.every
		in.Fields = notify.Fields{Number: 1, Notified: 1 << object.Critical, Last: noon, Next: notify.Never, Hard: noon, Told: []string{"ada"}}
		if c.every > 0 {
			in.Fields.Next = noon.Add(c.every)
		}
		if got, _ := notify.Next(in); got != c.want {
			t.Errorf("%s: next is %d, want %d", c.name, got, c.want)
		}
	}
}

// A step that has begun and can tell nobody does not make the others be forgotten whose
// period opens later.
func TestAStepThatTellsNobodyHidesNobody(t *testing.T) {
	dan := person("dan")
	dan.Notify.Services.Period = hours{20, 22}
	in := critical(&object.Notification{Timed: true, Steps: []*object.Step{
		{Name: "first", Contacts: []*object.Contact{dan}}, {Name: "nobody", After: 65 * time.Minute},
	}})
	in.Object.Rule.NoteInterval = 0
	in.Fields.Number, in.Fields.Notified, in.Fields.Last, in.Fields.Next = 1, 1<<object.Critical, noon, notify.Never
	if got, _ := notify.Next(in); got != noon.Add(8*time.Hour) {
		t.Errorf("next is %d, want %d", got, noon.Add(8*time.Hour))
	}
}
