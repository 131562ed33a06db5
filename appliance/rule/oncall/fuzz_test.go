package oncall_test

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/oncall"
)

// What parses answers, and turns end later than they are asked for. What does
// not parse says why.
func FuzzParse(f *testing.F) {
	f.Add("2026-01-05", "09:00", "monday", "", "2026-01-07 09:00", "2026-01-08T09:00:00+01:00", int64(1767690000))
	f.Add("2026-03-28", "02:30", "", "1 day", "2026-03-29 01:59", "2026-03-29 03:00", int64(1774746000))
	f.Add("2024-02-29", "0:00", "tuesday,friday", "2 weeks", "2026-10-25 02:30", "2026-10-25 02:31", int64(1792890000))
	f.Add("9998-12-31", "23:59", "", "52w", "9998-12-31 23:59", "9999-12-31 23:59", int64(253402300799))
	f.Add("2026-01-05", "24:00", "mon\n", "12 hours", "2026-03-29\n02:30", "", int64(0))
	berlin := load(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, start, handover, days, every, from, to string, at int64) {
		layer := oncall.LayerSpec{Name: "main", Contacts: []string{"alice", "bob"}, Start: start, Handover: handover, Every: every}
		if days != "" {
			layer.Days = strings.Split(days, ",")
		}
		s, err := oncall.Parse(oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{layer}, Overrides: []oncall.OverrideSpec{{From: from, To: to, Contact: "carol"}}})
		if err != nil {
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if len(line) < 20 {
					t.Fatalf("a refusal without words: %q", line)
				}
			}
			return
		}
		when := object.Time(at % (1 << 38) * 1000)
		for range 4 {
			turn := s.OnCall(when)
			if turn.Until <= when || s.OnCall(turn.Until-1) != turn || s.OnCall(turn.Until) == turn {
				t.Fatalf("at %d: %+v", when, turn)
			}
			when = turn.Until
		}
	})
}

// nightsAndWeeks is an ordinary schedule of two layers and an override.
func nightsAndWeeks(t testing.TB) *oncall.Schedule {
	berlin := load(t, "Europe/Berlin")
	nights := weekly("nights", "nora", "niels")
	nights.Only = during(t, berlin, "00:00-06:00", "22:00-24:00")
	return made(t, oncall.Spec{
		Zone: berlin, Layers: []oncall.LayerSpec{weekly("main", "alice", "bob", "carol"), nights},
		Overrides: []oncall.OverrideSpec{{From: "2026-12-24 12:00", To: "2026-12-27 12:00", Contact: "dave"}},
	})
}

func TestAnswersDoNotAllocate(t *testing.T) {
	s := nightsAndWeeks(t)
	now := at(t, "2026-06-05 18:00")
	if n := testing.AllocsPerRun(100, func() { s.OnCall(now) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestThousandsOfYearsLaterHandoversAreStillAtNine(t *testing.T) {
	berlin := load(t, "Europe/Berlin")
	s := made(t, oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{weekly("main", "alice", "bob")}})
	until := s.OnCall(object.At(time.Date(9000, 7, 1, 12, 0, 0, 0, time.UTC))).Until.Std().In(berlin)
	if until.Weekday() != time.Monday || until.Format("15:04") != "09:00" {
		t.Errorf("a hand-over at %s", until)
	}
}

func BenchmarkOnCall(b *testing.B) {
	s := nightsAndWeeks(b)
	for _, c := range []struct{ name, at string }{{"tomorrow", "2026-01-06 18:00"}, {"in a generation", "2056-01-06 18:00"}, {"in a millennium", "3026-01-06 18:00"}} {
		b.Run(c.name, func(b *testing.B) {
			now := at(b, c.at)
			b.ReportAllocs()
			for b.Loop() {
				s.OnCall(now)
			}
		})
	}
}
