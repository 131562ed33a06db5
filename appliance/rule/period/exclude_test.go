package period_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
)

// drawWeek makes a period of a few spans in a random zone.
func drawWeek(zones []*time.Location) *rapid.Generator[*period.Period] {
	return rapid.Custom(func(t *rapid.T) *period.Period {
		days := []string{"monday", "tuesday", "sunday", "saturday-monday", "monday-friday", "day 1 - 7", "day 29 - 3 / 2", "sunday -1", "march -1", "october 20 - 31"}
		var lines []string
		for range rapid.IntRange(1, 3).Draw(t, "lines") {
			from := rapid.IntRange(0, 95).Draw(t, "from")
			to := rapid.IntRange(from+1, 96).Draw(t, "to")
			lines = append(lines, fmt.Sprintf("%s %s-%s", rapid.SampledFrom(days).Draw(t, "days"), clockText(from*15), clockText(to*15)))
		}
		p, err := period.Parse("p", rapid.SampledFrom(zones).Draw(t, "zone"), lines, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	})
}

// A period less others is what is in the one and in none of the others, whatever
// their zones, and the next change is the first that a walk meets.
func TestExclusionsAreTheDifference(t *testing.T) {
	zones := []*time.Location{time.UTC, load(t, "Europe/Berlin"), load(t, "America/New_York"), load(t, "Australia/Lord_Howe"), load(t, "Asia/Kathmandu")}
	rapid.Check(t, func(t *rapid.T) {
		base := drawWeek(zones).Draw(t, "base")
		others := rapid.SliceOfN(drawWeek(zones), 1, 3).Draw(t, "others")
		p := base.Without(others...)
		nested := rapid.Bool().Draw(t, "nested")
		if nested {
			p = base.Without(others[0].Without(others[1:]...))
		}
		at := object.At(time.Date(2026, 10, 20, 0, 0, 0, 0, time.UTC)).Add(time.Duration(rapid.IntRange(0, 240).Draw(t, "hours")) * time.Hour)
		want := func(at object.Time) bool {
			if !nested {
				for _, o := range others {
					if o.Contains(at) {
						return false
					}
				}
				return base.Contains(at)
			}
			out := others[0].Contains(at)
			for _, o := range others[1:] {
				out = out && !o.Contains(at)
			}
			return base.Contains(at) && !out
		}
		in, until := p.Window(at)
		if in != want(at) || p.Contains(at) != in {
			t.Fatalf("%s at %s: inside is %v", p, at.Std(), in)
		}
		// Spans and zones are multiples of a quarter of an hour.
		const step = 15 * time.Minute
		for next := at.Add(step); next < at.Add(12*24*time.Hour); next = next.Add(step) {
			if (until == 0 || next < until) && want(next) != in {
				t.Fatalf("%s at %s: %v until %s, but not at %s", p, at.Std(), in, until.Std(), next.Std())
			}
			if next == until && want(next) == in {
				t.Fatalf("%s at %s: nothing changes at %s", p, at.Std(), until.Std())
			}
		}
	})
}

// Windows are the stretches between the changes, in order.
func TestWindowsFollowEachOther(t *testing.T) {
	zones := []*time.Location{load(t, "Europe/London"), load(t, "America/St_Johns")}
	rapid.Check(t, func(t *rapid.T) {
		p := drawWeek(zones).Draw(t, "period")
		at := object.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).Add(time.Duration(rapid.IntRange(0, 8760).Draw(t, "hours")) * time.Hour)
		last := at
		for i, w := range period.Windows(p, at, 5) {
			if w.End <= last || i > 0 && w.Start <= last {
				t.Fatalf("%s from %s: window %d is %s to %s", p, at.Std(), i, w.Start.Std(), w.End.Std())
			}
			middle := w.Start + (w.End-w.Start)/2
			if !p.Contains(w.Start) || !p.Contains(middle) || !p.Contains(w.End-1) || p.Contains(w.End) || p.Contains(w.Start-1) {
				t.Fatalf("%s from %s: window %d, %s to %s, is none", p, at.Std(), i, w.Start.Std(), w.End.Std())
			}
			if w.Start < at && i > 0 {
				t.Fatalf("%s from %s: window %d began at %s", p, at.Std(), i, w.Start.Std())
			}
			last = w.End
		}
	})
}
