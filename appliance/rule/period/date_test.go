package period

import (
	"testing"
	"time"
)

// Every day of two centuries is the one that package time has.
func TestDaysAreThoseOfPackageTime(t *testing.T) {
	d := civil(days(1899, 12, 31))
	for at := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2101; at = at.AddDate(0, 0, 1) {
		number := int(floor(at.Unix(), day))
		want := date{number: number, year: at.Year(), month: int(at.Month()), day: at.Day(), weekday: int(at.Weekday())}
		if d = d.next(); d != want {
			t.Fatalf("the next day is %+v, want %+v", d, want)
		}
		if got := civil(number); got != want {
			t.Fatalf("day %d is %+v, want %+v", number, got, want)
		}
		if got := days(want.year, want.month, want.day); got != number {
			t.Fatalf("%s has the number %d, want %d", at.Format(time.DateOnly), got, number)
		}
		if want.day == 17 {
			month := at.AddDate(0, 1, -16)
			if got, first := d.nextMonth(), civil(int(floor(month.Unix(), day))); got != first {
				t.Fatalf("the month behind %+v begins at %+v, want %+v", d, got, first)
			}
		}
	}
}

func TestDaysOfAMonth(t *testing.T) {
	for _, c := range []struct {
		name           string
		year, month, n int
		day            int // 0 = the month has none
	}{
		{"the first", 2026, 2, 1, 1},
		{"the last", 2026, 2, -1, 28},
		{"the last of a leap year", 2028, 2, -1, 29},
		{"the first, from the end", 2026, 6, -30, 1},
		{"one before the first", 2026, 6, -31, 0},
		{"one behind the last", 2026, 6, 31, 0},
		{"the 29th of February in 2100", 2100, 2, 29, 0},
		{"the 29th of February in 2000", 2000, 2, 29, 29},
	} {
		t.Run(c.name, func(t *testing.T) {
			number, ok := dayOfMonth(c.year, c.month, c.n)
			if ok != (c.day > 0) || ok && number != days(c.year, c.month, c.day) {
				t.Errorf("got %+v, %v", civil(number), ok)
			}
		})
	}
}

// The n-th weekday of a month is found by counting.
func TestWeekdaysOfAMonth(t *testing.T) {
	for year := 2024; year <= 2031; year++ {
		for month := 1; month <= 12; month++ {
			for weekday := range 7 {
				var all []int
				for d := 1; d <= daysIn(year, month); d++ {
					if number := days(year, month, d); weekdayOf(number) == weekday {
						all = append(all, number)
					}
				}
				for n := -6; n <= 6; n++ {
					at := n - 1
					if n < 0 {
						at = len(all) + n
					}
					got, ok := weekdayOfMonth(year, month, weekday, n)
					if want := n != 0 && at >= 0 && at < len(all); n != 0 && (ok != want || ok && got != all[at]) {
						t.Fatalf("%d-%d, weekday %d, %d: got %+v, %v", year, month, weekday, n, civil(got), ok)
					}
				}
			}
		}
	}
}

// A month is passed only if no day of it is covered.
func TestMonthsThatArePassedHaveNothing(t *testing.T) {
	for _, text := range []string{
		"2026-12-30 - 2027-01-02", "2026-11-05", "2026-11-30 / 40", "february 29", "december 30 - january 2", "march 5 - 8",
		"march 8 - 5", "monday -1 may", "monday 1 may - monday 2 may", "friday -1 november - monday 1 february", "day 31", "monday 5", "day 30 - 2",
	} {
		d := dayReader{text: text, shown: text}
		if err := d.read(); err != nil {
			t.Fatal(err)
		}
		for at := civil(days(2026, 1, 1)); at.year < 2031; at = at.next() {
			if d.line.covers(at) && !d.line.mayCover(at.year, at.month) {
				t.Fatalf("%q covers %+v, and its month is passed", text, at)
			}
		}
	}
}

func TestSpansOfADay(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []span
	}{
		{"one", "09:00-17:00", []span{{32400, 61200}}},
		{"digits may be missing", "9:0-17:5", []span{{32400, 61500}}},
		{"they are sorted", "13:00-14:00,08:00-09:00", []span{{28800, 32400}, {46800, 50400}}},
		{"those that touch are one", "08:00-09:00,09:00-10:00", []span{{28800, 36000}}},
		{"those that overlap are one", "08:00-12:00,09:00-10:00,11:00-13:00", []span{{28800, 46800}}},
		{"empty ones are none", "00:00-00:00", nil},
		{"all of the day", "00:00-24:00", []span{wholeDay}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := clocks(c.text, true)
			if err != nil || len(got) != len(c.want) {
				t.Fatalf("got %v, %v, want %v", got, err, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("got %v, want %v", got, c.want)
				}
			}
		})
	}
}
