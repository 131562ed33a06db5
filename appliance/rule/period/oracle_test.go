package period_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
)

// form is one line with the days that it is about, found the slow way: by
// asking each day of the calendar in turn.
type form struct {
	rank int // the smaller goes first
	text string
	days map[int]bool
}

// The years that days are asked for.
const firstYear, lastYear = 2023, 2029

// each calls f for every day of these years.
func each(f func(d time.Time)) {
	for d := time.Date(firstYear, 1, 1, 12, 0, 0, 0, time.UTC); d.Year() <= lastYear; d = d.AddDate(0, 0, 1) {
		f(d)
	}
}

// key names a day.
func key(d time.Time) int { return d.Year()*1000 + d.YearDay() }

// is tells whether a day is the n-th of its month, below 0 from the end, of all
// days or of one weekday.
func is(d time.Time, n int, weekday bool) bool {
	step := 1
	if weekday {
		step = 7
	}
	length := time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	before, behind := (d.Day()-1)/step+1, (length-d.Day())/step+1
	return before == n || behind == -n
}

// between collects every so many days from each start to the first end that
// comes then.
func between(starts, ends func(d time.Time) bool, every int) map[int]bool {
	found := map[int]bool{}
	each(func(d time.Time) {
		if !starts(d) {
			return
		}
		for e, i := d, 0; ; e, i = e.AddDate(0, 0, 1), i+1 {
			if i%every == 0 {
				found[key(e)] = true
			}
			if ends(e) || i > 800 {
				return
			}
		}
	})
	return found
}

// drawForm makes a line of a random class whose ends every month has.
func drawForm(t *rapid.T) form {
	months := []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	every := rapid.SampledFrom([]int{1, 1, 2, 3, 7}).Draw(t, "every")
	skip := ""
	if every > 1 {
		skip = fmt.Sprintf(" / %d", every)
	}
	dayNumber := rapid.SampledFrom([]int{1, 2, 5, 14, 27, 28, -1, -2, -28})
	ordinal := rapid.SampledFrom([]int{1, 2, 4, -1, -2, -4})
	m1, m2 := rapid.IntRange(1, 12).Draw(t, "month"), rapid.IntRange(1, 12).Draw(t, "month")
	w1, w2 := time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday")), time.Weekday(rapid.IntRange(0, 6).Draw(t, "weekday"))
	d1, d2, o1, o2 := dayNumber.Draw(t, "day"), dayNumber.Draw(t, "day"), ordinal.Draw(t, "ordinal"), ordinal.Draw(t, "ordinal")
	n1, n2 := strings.ToLower(w1.String()), strings.ToLower(w2.String())
	onDay := func(m, n int) func(time.Time) bool {
		return func(d time.Time) bool { return (m == 0 || int(d.Month()) == m) && is(d, n, false) }
	}
	onWeekday := func(m int, w time.Weekday, n int) func(time.Time) bool {
		return func(d time.Time) bool { return (m == 0 || int(d.Month()) == m) && d.Weekday() == w && is(d, n, true) }
	}
	switch rank := rapid.IntRange(0, 5).Draw(t, "class"); rank {
	case 0:
		a := time.Date(2024, time.Month(m1), 10, 12, 0, 0, 0, time.UTC)
		b := a.AddDate(0, 0, rapid.IntRange(0, 500).Draw(t, "length"))
		return form{rank, a.Format(time.DateOnly) + " - " + b.Format(time.DateOnly) + skip, between(a.Equal, b.Equal, every)}
	case 1:
		return form{rank, fmt.Sprintf("%s %d - %s %d%s", months[m1-1], d1, months[m2-1], d2, skip), between(onDay(m1, d1), onDay(m2, d2), every)}
	case 2:
		return form{rank, fmt.Sprintf("day %d - %d%s", d1, d2, skip), between(onDay(0, d1), onDay(0, d2), every)}
	case 3:
		return form{
			rank, fmt.Sprintf("%s %d %s - %s %d %s%s", n1, o1, months[m1-1], n2, o2, months[m2-1], skip),
			between(onWeekday(m1, w1, o1), onWeekday(m2, w2, o2), every),
		}
	case 4:
		return form{rank, fmt.Sprintf("%s %d - %s %d%s", n1, o1, n2, o2, skip), between(onWeekday(0, w1, o1), onWeekday(0, w2, o2), every)}
	default:
		return form{rank, n1, between(func(d time.Time) bool { return d.Weekday() == w1 }, func(time.Time) bool { return true }, 1)}
	}
}

// The days of random lines are those that a walk over the calendar finds, and
// the next change is the first that the walk meets.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		forms := rapid.SliceOfN(rapid.Custom(drawForm), 1, 4).Draw(t, "forms")
		var lines []string
		empty := map[int]bool{}
		for i, f := range forms {
			if empty[i] = rapid.IntRange(0, 3).Draw(t, "empty") == 0; empty[i] {
				lines = append(lines, f.text+" 00:00-00:00")
			} else {
				lines = append(lines, f.text+" 00:00-24:00")
			}
		}
		p, err := period.ParseNagios("p", nil, lines)
		if err != nil {
			t.Fatal(err)
		}
		// What the period said last: what is, and until when.
		was, change := p.Window(object.At(time.Date(firstYear+2, 1, 1, 12, 0, 0, 0, time.UTC)))
		each(func(d time.Time) {
			if d.Year() < firstYear+2 || d.Year() > lastYear-1 {
				return
			}
			at := object.At(d)
			if change != 0 && at >= change {
				before := was
				if was, change = p.Window(at); was == before {
					t.Fatalf("%q on %s: nothing changed on the day that was said", lines, d.Format(time.DateOnly))
				}
			}
			if in := inside(forms, empty, key(d)); was != in || p.Contains(at) != in {
				t.Fatalf("%q on %s: the calendar says %v", lines, d.Format(time.DateOnly), in)
			}
		})
	})
}

// inside finds the line that counts on a day.
func inside(forms []form, empty map[int]bool, day int) bool {
	best := -1
	for i, f := range forms {
		if f.days[day] && (best < 0 || f.rank <= forms[best].rank) {
			best = i
		}
	}
	return best >= 0 && !empty[best]
}
