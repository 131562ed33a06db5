package period_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
)

// daysOf returns the days from 2026 to 2028 at whose noon a period is inside, as
// text.
func daysOf(p object.Period, from, to string) string {
	var found []string
	first, err := time.Parse(time.DateOnly, from)
	last, err2 := time.Parse(time.DateOnly, to)
	if err != nil || err2 != nil {
		return "the test names no days"
	}
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		if object.Inside(p, object.At(d.Add(12*time.Hour))) {
			found = append(found, d.Format("01-02"))
		}
	}
	return strings.Join(found, " ")
}

func TestDayForms(t *testing.T) {
	for _, c := range []struct{ name, lines, from, to, want string }{
		{"a calendar date", "2026-12-25", "2026-12-01", "2027-12-31", "12-25"},
		{"a calendar date may be short", "2026-3-5", "2026-03-01", "2026-03-31", "03-05"},
		{"calendar dates over New Year", "2026-12-30 - 2027-01-02", "2026-12-01", "2027-01-31", "12-30 12-31 01-01 01-02"},
		{"a calendar date with a skip has no end", "2026-01-30 / 3", "2026-01-01", "2026-02-06", "01-30 02-02 02-05"},
		{"a calendar range with a skip has one", "2026-06-01 - 2026-06-10 / 4", "2026-05-01", "2026-07-01", "06-01 06-05 06-09"},
		{"blanks mean nothing around signs", "2026-06-01-2026-06-02/1", "2026-05-01", "2026-07-01", "06-01 06-02"},
		{"a month date", "february 10", "2026-01-01", "2027-12-31", "02-10 02-10"},
		{"the last day of a month", "february -1", "2027-01-01", "2028-12-31", "02-28 02-29"},
		{"a day that only leap years have", "february 29", "2026-01-01", "2028-12-31", "02-29"},
		{"a month date range within a month", "july 10 - 12", "2026-01-01", "2026-12-31", "07-10 07-11 07-12"},
		{"a month date range over months", "july 30 - august 1", "2026-01-01", "2026-12-31", "07-30 07-31 08-01"},
		{"a month date range over New Year", "december 30 - january 2", "2026-06-01", "2027-06-01", "12-30 12-31 01-01 01-02"},
		{"a skip counts from the start", "december 30 - january 5 / 3", "2026-06-01", "2027-06-01", "12-30 01-02 01-05"},
		{"an end beyond the month is its last day", "february 27 - 31", "2026-01-01", "2026-12-31", "02-27 02-28"},
		{"a day of every month", "day 31", "2026-01-01", "2026-06-30", "01-31 03-31 05-31"},
		{"a day from the end", "day -2", "2026-01-01", "2026-03-31", "01-30 02-27 03-30"},
		{"a day range", "day 1 - day 2", "2026-01-01", "2026-02-28", "01-01 01-02 02-01 02-02"},
		{"a day range without the second word", "day 1-2", "2026-01-01", "2026-02-28", "01-01 01-02 02-01 02-02"},
		{"a day range over the end of the month", "day 30 - 2", "2026-01-01", "2026-04-03", "01-01 01-02 01-30 01-31 02-01 02-02 03-30 03-31 04-01 04-02"},
		{"days from the end", "day -2 - -1", "2026-01-01", "2026-02-28", "01-30 01-31 02-27 02-28"},
		{"a day range with a skip", "day 1 - 9 / 4", "2026-01-01", "2026-01-31", "01-01 01-05 01-09"},
		{"a range whose start a month has not", "day 31 - 31", "2026-01-01", "2026-05-01", "01-31 03-31"},
		{"a weekday of a month", "monday 3 may", "2026-01-01", "2027-12-31", "05-18 05-17"},
		{"the last weekday of a month", "thursday -1 november", "2026-01-01", "2026-12-31", "11-26"},
		{"a fifth weekday is not in every year", "monday 5 may", "2026-01-01", "2028-12-31", "05-31 05-29"},
		{"weekdays over months", "thursday -1 april - friday 1 may", "2026-01-01", "2026-12-31", "04-30 05-01"},
		{"weekdays over New Year", "thursday -1 december - friday 1 january", "2026-06-01", "2027-06-01", "12-31 01-01"},
		{"a weekday that the end has not is its last day", "friday -1 may - monday 5 may", "2026-01-01", "2026-12-31", "05-29 05-30 05-31"},
		{"a weekday of every month", "monday 3", "2026-01-01", "2026-03-31", "01-19 02-16 03-16"},
		{"the last weekday of every month", "friday -1", "2026-01-01", "2026-03-31", "01-30 02-27 03-27"},
		{"weekdays from one to another", "monday 2 - tuesday 2", "2026-01-01", "2026-02-28", "01-12 01-13 02-09 02-10"},
		{"weekdays with one word and a skip", "monday 1 - 3 / 7", "2026-01-01", "2026-01-31", "01-05 01-12 01-19"},
		{"a weekday", "monday", "2026-01-01", "2026-01-20", "01-05 01-12 01-19"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := period.ParseNagios("p", nil, []string{c.lines + " 11:00-13:00"})
			if err != nil {
				t.Fatal(err)
			}
			if got := daysOf(p, c.from, c.to); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestWhichLineCounts(t *testing.T) {
	const in, out = " 11:00-13:00", " 00:00-00:00"
	// Monday, June 15, 2026 is the third Monday of its month, one line of each
	// class is about it, in their order.
	classes := []string{"2026-06-15", "june 15", "day 15", "monday 3 june", "monday 3", "monday"}
	noon := object.At(time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC))
	for i := range classes[1:] {
		for _, lines := range [][]string{{classes[i] + in, classes[i+1] + out}, {classes[i+1] + out, classes[i] + in}} {
			p, err := period.ParseNagios("p", nil, lines)
			if err != nil || !object.Inside(p, noon) {
				t.Errorf("%v: the second class counts before the first; %v", lines, err)
			}
		}
	}
	for _, class := range classes {
		lines := []string{class + out, class + in}
		if p, err := period.ParseNagios("p", nil, lines); err != nil || !object.Inside(p, noon) {
			t.Errorf("%v: the earlier line counts; %v", lines, err)
		}
		slices.Reverse(lines)
		if p, err := period.ParseNagios("p", nil, lines); err != nil || object.Inside(p, noon) {
			t.Errorf("%v: the earlier line counts; %v", lines, err)
		}
	}
}

func TestOwnTexts(t *testing.T) {
	for _, c := range []struct{ name, ranges, except, want string }{
		{"a range of weekdays", "monday-wednesday 11:00-13:00", "", "06-01 06-02 06-03 06-08 06-09 06-10"},
		{"a range over the end of the week", "saturday - monday 11:00-13:00", "", "06-01 06-06 06-07 06-08"},
		{"times alone are every day", "11:00-13:00", "", "06-01 06-02 06-03 06-04 06-05 06-06 06-07 06-08 06-09 06-10"},
		{"capitals", "Monday 11:00-13:00", "", "06-01 06-08"},
		{"weekdays count together", "monday 00:00-01:00|monday 12:00-13:00", "", "06-01 06-08"},
		{"blanks around commas and signs", "tuesday 08:00 - 10:00, 12:00-14:00", "", "06-02 06-09"},
		{"any form of Nagios", "day 3 - 4 12:00-24:00", "", "06-03 06-04"},
		{"an exception goes before everything", "2026-06-01 - 2026-06-03 11:00-13:00", "2026-06-02", "06-01 06-03"},
		{"an exception comes every year", "monday 11:00-13:00", "june 1", "06-08"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var except []string
			if c.except != "" {
				except = strings.Split(c.except, "|")
			}
			p, err := period.Parse("p", nil, strings.Split(c.ranges, "|"), except, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := daysOf(p, "2026-06-01", "2026-06-10"); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"a capital", "Monday 09:00-17:00", `"Monday" is not a day; did you mean "monday"?`},
		{"a short name", "mon 09:00-17:00", `"mon" is not a day; did you mean "monday"?`},
		{"a slip", "febuary 10 09:00-17:00", `"febuary" is not a day; did you mean "february"?`},
		{"a word of another language", "lundi 09:00-17:00", `"lundi" is not a day; write`},
		{"no times", "monday", `"monday" does not end with times of day`},
		{"hour 25", "monday 00:00-25:00", `"00:00-25:00" is no span of times; write`},
		{"past the end of the day", "monday 00:00-24:01", `is no span of times`},
		{"minute 60", "monday 00:60-02:00", `is no span of times`},
		{"seconds", "monday 00:00:00-02:00", `is no span of times`},
		{"half a span", "monday 09:00", `"09:00" is no span of times`},
		{"a blank behind a comma", "monday 08:00-10:00, 12:00-14:00", `"" is no span of times; write for example 09:00-17:00,18:00-24:00 without blanks`},
		{"over midnight", "monday 22:00-06:00", `"22:00-06:00" ends before it starts; write two spans, the first ending at 24:00`},
		{"a day with a skip", "day 15 / 2 00:00-24:00", `cannot be read; write for example`},
		{"a weekday with a skip", "monday / 2 00:00-24:00", `cannot be read`},
		{"a range of plain weekdays", "monday - friday 00:00-24:00", `cannot be read`},
		{"a skip of nothing", "day 1 - 15 / 0 00:00-24:00", `the skip "/ 0" of "day 1 - 15 / 0 00:00-24:00" is below 1`},
		{"day 0", "day 0 00:00-24:00", `0 in "day 0 00:00-24:00" is no day; write 1 for the first or -1 for the last`},
		{"weekday 0", "monday 0 may 00:00-24:00", `is no weekday; write 1`},
		{"a day that the calendar has not", "2026-02-30 00:00-24:00", `"2026-02-30" is not a day of the calendar; write "2026-12-25"`},
		{"a range that runs backwards", "2026-02-03 - 2026-02-01 00:00-24:00", `2026-02-01 is before 2026-02-03; write the earlier day first`},
		{"ends of different kinds", "day 1 - may 3 00:00-24:00", `cannot be read`},
		{"a wrong word in a range", "may 1 - jun 3 00:00-24:00", `"jun" is not a day; did you mean "june"?`},
		{"a weekday of no month", "monday 1 mai 00:00-24:00", `"mai" is not a day; did you mean "may"?`},
		{"a huge number", "day 12345678 00:00-24:00", `"12345678" is too large a number`},
		{"signs of no meaning", "day ! 3 00:00-24:00", `cannot be read`},
		{"nothing", " ", `"" is not a span of time`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := period.ParseNagios("p", nil, []string{"monday 00:00-01:00", c.line})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want one with %s", err, c.want)
			}
			if bad := err.(period.Problems); len(bad) != 1 || bad[0].Index != 1 || bad[0].Except {
				t.Errorf("%+v", bad)
			}
		})
	}
}

func TestEveryProblemIsReported(t *testing.T) {
	_, err := period.Parse("p", nil, []string{"monday 09:00-09:00", "moday 01:00-02:00"}, []string{"monday", "2026-13-01"}, nil)
	want := `"09:00-09:00" ends before it starts; write two spans, the first ending at 24:00` + "\n" +
		`"moday" is not a day; did you mean "monday"?` + "\n" +
		`"monday" is not a day; write "2026-12-25"` + "\n" + `"2026-13-01" is not a day; write "2026-12-25"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if _, err := period.Recurring(nil, nil); err == nil {
		t.Error("something recurs without a span")
	}
}
