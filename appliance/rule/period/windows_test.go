package period_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
)

// show writes windows by the clock of a zone, with what is odd of them.
func show(p *period.Period, windows []period.Window) string {
	var lines []string
	for _, w := range windows {
		line := w.Start.Std().In(p.Zone()).Format("2006-01-02 15:04 -07") + " " + w.End.Std().Sub(w.Start.Std()).String()
		if odd := p.Odd(w); odd != "" {
			line += ": " + odd
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestWindowsOverChangesOfClocks(t *testing.T) {
	for _, c := range []struct{ name, zone, ranges, from, want string }{
		{
			"a span over the hour that is skipped", "Europe/Berlin", "sunday 01:00-04:00", "2027-03-27",
			`2027-03-28 01:00 +01 2h0m0s: this night is one hour shorter: the window lasts 2h instead of 3h
2027-04-04 01:00 +02 3h0m0s`,
		},
		{
			"a span that begins in it", "Europe/Berlin", "sunday 02:30-04:00", "2027-03-27",
			`2027-03-28 03:00 +02 1h0m0s: this night is one hour shorter: the window lasts 1h instead of 1h30m
2027-04-04 02:30 +02 1h30m0s`,
		},
		{
			"a span that ends in it", "Europe/Berlin", "sunday 01:30-02:20", "2027-03-27",
			`2027-03-28 01:30 +01 30m0s: this night is one hour shorter: the window lasts 30m instead of 50m
2027-04-04 01:30 +02 50m0s`,
		},
		{"a span within it does not take place", "Europe/Berlin", "sunday 02:15-02:45", "2027-03-27", "2027-04-04 02:15 +02 30m0s: the window before, on 2027-03-28, does not take place: the clocks skip 02:00 to 03:00\n2027-04-11 02:15 +02 30m0s"},
		{
			"another on the same day says so itself", "Europe/Berlin", "sunday 02:15-02:45|sunday 04:00-05:00", "2027-03-27",
			"2027-03-28 04:00 +02 1h0m0s: the window before, on 2027-03-28, does not take place: the clocks skip 02:00 to 03:00\n2027-04-04 02:15 +02 30m0s",
		},
		{
			"a span over the hour that comes twice", "Europe/Berlin", "sunday 02:00-04:00", "2027-10-30",
			`2027-10-31 02:00 +02 3h0m0s: this night is one hour longer: the window lasts 3h instead of 2h
2027-11-07 02:00 +01 2h0m0s`,
		},
		{
			"a span that ends in it opens twice", "Europe/London", "sunday 00:00-01:20", "2026-10-24",
			`2026-10-25 00:00 +01 1h20m0s
2026-10-25 01:00 +00 20m0s: the clocks go back one hour this night: the window opens a second time, for 20m`,
		},
		{
			"a span within it comes twice", "Europe/London", "sunday 01:10-01:20", "2026-10-24",
			`2026-10-25 01:10 +01 10m0s
2026-10-25 01:10 +00 10m0s: the clocks go back one hour this night: the window opens a second time, for 10m`,
		},
		{
			"days that join", "Europe/Berlin", "saturday 22:00-24:00|sunday 00:00-06:00", "2027-03-27",
			`2027-03-27 22:00 +01 7h0m0s: this night is one hour shorter: the window lasts 7h instead of 8h
2027-04-03 22:00 +02 8h0m0s`,
		},
		{
			"half an hour", "Australia/Lord_Howe", "sunday 01:00-03:00", "2026-10-03",
			`2026-10-04 01:00 +10 1h30m0s: this night is 30m shorter: the window lasts 1h30m instead of 2h
2026-10-11 01:00 +11 2h0m0s`,
		},
		{
			"a day that a country left out", "Pacific/Apia", "thursday-saturday 08:00-09:00", "2011-12-29",
			"2011-12-29 08:00 -10 1h0m0s\n2011-12-31 08:00 +14 1h0m0s",
		},
		{"an ordinary night", "Europe/Berlin", "00:00-06:00", "2027-03-29", "2027-03-29 00:00 +02 6h0m0s\n2027-03-30 00:00 +02 6h0m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := made(t, c.zone, strings.Split(c.ranges, "|")...)
			from, err := time.ParseInLocation(time.DateOnly, c.from, p.Zone())
			if err != nil {
				t.Fatal(err)
			}
			if got := show(p, period.Windows(p, object.At(from), 2)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestAnOpenWindowHasItsTrueStart(t *testing.T) {
	p := made(t, "UTC", "monday-friday 00:00-24:00")
	at := time.Date(2026, 6, 5, 23, 0, 0, 0, time.UTC)
	want := []period.Window{{Start: object.At(time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)), End: object.At(time.Date(2026, 6, 6, 0, 0, 0, 0, time.UTC))}}
	if got := period.Windows(p, object.At(at), 1); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := period.Windows(made(t, "UTC", "00:00-24:00"), object.At(at), 3); !reflect.DeepEqual(got, []period.Window{{}}) {
		t.Errorf("always: %v", got)
	}
	if got := period.Windows(made(t, "UTC", "2026-06-05 10:00-11:00"), object.At(at), 3); len(got) != 0 {
		t.Errorf("over: %v", got)
	}
	if got := period.Windows(p, object.At(at), 0); len(got) != 0 {
		t.Errorf("none asked for: %v", got)
	}
}

func TestNeverAgain(t *testing.T) {
	at := object.At(time.Date(2026, 6, 1, 10, 30, 0, 0, time.UTC))
	all := made(t, "UTC", "00:00-24:00")
	for _, c := range []struct {
		name   string
		p      *period.Period
		inside bool
		until  string
	}{
		{"always", all, true, ""},
		{"never", made(t, "UTC"), false, ""},
		{"a day that is past", made(t, "UTC", "2026-05-01 00:00-24:00"), false, ""},
		{"a day that no month has", made(t, "Europe/Berlin", "february 30 00:00-24:00"), false, ""},
		{"an hour that never is", made(t, "Europe/Berlin", "sunday -1 march 02:10-02:50"), false, ""},
		{"a day far away", made(t, "UTC", "2037-05-01 00:00-24:00"), false, "2037-05-01 00:00"},
		{"a weekday that comes after many years", made(t, "UTC", "monday 5 february 00:00-24:00"), false, "2044-02-29 00:00"},
		{"always but one day far away", made(t, "UTC", "00:00-24:00", "2036-05-01 00:00-00:00"), true, "2036-05-01 00:00"},
		{"a day in a zone with changes", made(t, "Europe/Berlin", "2030-07-01 00:00-24:00"), false, "2030-06-30 22:00"},
		{"all of it is excluded", made(t, "UTC", "monday 00:00-24:00").Without(all), false, ""},
		{"every window is excluded", made(t, "UTC", "monday 09:00-10:00").Without(made(t, "UTC", "08:00-10:00")), false, ""},
		{"all but a day of next year", made(t, "UTC", "monday 09:00-10:00").Without(made(t, "UTC", "monday 00:00-24:00", "2027-06-07 00:00-09:30")), false, "2027-06-07 09:30"},
		{"an exclusion within a day far away", made(t, "UTC", "2034-01-01 09:00-17:00").Without(made(t, "UTC", "2034-01-01 09:00-13:00")), false, "2034-01-01 13:00"},
		{"zones that differ for some weeks", made(t, "Europe/Berlin", "15:00-16:00").Without(made(t, "America/New_York", "09:00-10:00")), false, "2026-10-25 14:00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inside, until := c.p.Window(at)
			got := ""
			if until != 0 {
				got = until.Std().Format("2006-01-02 15:04")
			}
			if inside != c.inside || got != c.until || c.p.Contains(at) != inside {
				t.Errorf("got %v until %q, want %v until %q", inside, got, c.inside, c.until)
			}
		})
	}
}

func TestMillisecondsAreWithinTheirSecond(t *testing.T) {
	p := made(t, "UTC", "09:00-17:00")
	end := object.At(time.Date(2026, 6, 1, 17, 0, 0, 0, time.UTC))
	if in, until := p.Window(end - 1); !in || until != end {
		t.Errorf("a millisecond before the end: %v %d", in, until)
	}
	if in, until := p.Window(end); in || until != end.Add(16*time.Hour) {
		t.Errorf("at the end: %v %d", in, until)
	}
	// Before 1970 instants are below 0.
	if in, until := p.Window(-1); in || until != object.Time(9*3600*1000) {
		t.Errorf("before 1970: %v %d", in, until)
	}
}

func TestTextsTellPeriodsApart(t *testing.T) {
	a, b := made(t, "UTC", "monday 09:00-10:00"), made(t, "Europe/Berlin", "monday 09:00-10:00")
	texts := map[string]bool{}
	for _, p := range []*period.Period{a, b, a.Without(b), a.Without(a), made(t, "UTC", "monday 09:00-11:00")} {
		texts[p.String()] = true
	}
	if len(texts) != 5 || a.String() != "p [UTC] monday 09:00-10:00" || a.Without() != a || a.Name() != "p" {
		t.Errorf("%v", texts)
	}
}

func TestOrder(t *testing.T) {
	for _, c := range []struct {
		name        string
		excludes    map[string][]string
		order, loop string
	}{
		{"excluded first", map[string][]string{"a": {"b", "gone"}, "b": {"c"}}, "c b a", ""},
		{"one that two exclude", map[string][]string{"a": {"c"}, "b": {"c"}}, "c a b", ""},
		{"itself", map[string][]string{"b": {"b"}}, "a b c", "b b"},
		{"a way round", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"b"}}, "c b a", "b c b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			order, loop := period.Order([]string{"a", "b", "c"}, func(n string) []string { return c.excludes[n] })
			if strings.Join(order, " ") != c.order || strings.Join(loop, " ") != c.loop {
				t.Errorf("got %v, %v", order, loop)
			}
		})
	}
}
