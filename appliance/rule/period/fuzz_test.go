package period_test

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
)

// What parses answers: changes come later and are changes, and the search ends.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"monday-friday 09:00-17:00", "2026-12-24 - 2027-01-02 / 3 00:00-24:00", "day -3 - -1 00:20-03:50,22:00-24:00",
		"thursday -1 november - friday 2 may / 5 01:00-02:30", "february 29 00:00-24:00\nmonday 00:00-00:00", "00:00-24:00\nday 1-15 / 2 12:34-12:35",
	} {
		f.Add(seed, int64(1774746000))
	}
	berlin := load(f, "Europe/Berlin")
	f.Fuzz(func(t *testing.T, text string, at int64) {
		lines := strings.Split(text, "\n")
		// Beyond these years nobody asks, and Go's own days stop being exact.
		at = at % (1 << 33)
		p, err := period.Parse("p", berlin, lines, nil, nil)
		if strict, refused := period.ParseNagios("p", berlin, lines); refused == nil && err != nil && !strings.Contains(err.Error(), "before it starts") {
			t.Fatalf("Nagios takes %q, jaque says %v", strict, err)
		}
		if err != nil {
			if err.Error() == "" {
				t.Fatal("a refusal without words")
			}
			return
		}
		in, until := p.Window(object.Time(at * 1000))
		if until == 0 {
			return
		}
		if next, _ := p.Window(until); until <= object.Time(at*1000) || next == in || p.Contains(until-1) != in {
			t.Fatalf("%q at %d: %v until %d", text, at, in, until)
		}
	})
}

func TestOrdinaryPeriodsAnswerWithoutAllocating(t *testing.T) {
	office := made(t, "Europe/Berlin", "monday-friday 09:00-17:00")
	at := object.At(time.Date(2026, 6, 5, 18, 0, 0, 0, time.UTC))
	dated := made(t, "Europe/Berlin", "monday-friday 09:00-17:00", "december 24 - 26 00:00-00:00").Without(made(t, "Europe/Berlin", "friday 12:00-13:00"))
	for _, p := range []object.Period{office, dated} {
		if n := testing.AllocsPerRun(100, func() { p.Window(at) }); n != 0 {
			t.Errorf("%s: %v allocations", p, n)
		}
	}
}

func BenchmarkWindow(b *testing.B) {
	at := object.At(time.Date(2026, 6, 5, 18, 0, 0, 0, time.UTC))
	for _, c := range []struct {
		name   string
		ranges []string
	}{
		{"always", []string{"00:00-24:00"}},
		{"week", []string{"monday-friday 09:00-17:00"}},
		{"holidays", []string{"monday-friday 09:00-17:00", "december 24 - 26 00:00-00:00", "day 1 00:00-00:00"}},
		{"yearly", []string{"february 29 00:00-24:00"}},
		{"past", []string{"2026-01-01 00:00-24:00"}},
		{"impossible", []string{"february 30 00:00-24:00"}},
	} {
		p := made(b, "Europe/Berlin", c.ranges...)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Window(at)
			}
		})
	}
}
