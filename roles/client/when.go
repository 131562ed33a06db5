package client

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeForms is what may be written for a time, for errors.
const timeForms = `write 15:04, "tomorrow 06:00", "sunday 02:00", +30m, "2027-01-31 15:04" or 2027-01-31T15:04:00+01:00`

// readDuration reads a length of time: Go's form, with d for days and w for weeks
// before it, as in 1w2d3h30m.
func readDuration(s string) (time.Duration, error) {
	var sum time.Duration
	rest := s
	for _, unit := range []struct {
		letter string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		number, more, ok := strings.Cut(rest, unit.letter)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return 0, badDuration(s)
		}
		sum, rest = sum+time.Duration(n)*unit.length, more
	}
	if rest != "" || rest == s {
		d, err := time.ParseDuration(rest)
		if err != nil || d < 0 || strings.HasPrefix(rest, "+") {
			return 0, badDuration(s)
		}
		sum += d
	}
	if sum <= 0 {
		return 0, badDuration(s)
	}
	return sum, nil
}

func badDuration(s string) error {
	return fmt.Errorf("%q is no length of time; write 30m, 2h, 1h30m or 1d", s)
}

// ReadTime reads a point in time as operators write it. What names no day means the
// next such time after from, on the clock of from's zone. An error says what may be
// written.
func ReadTime(s string, from time.Time) (time.Time, error) { return readTime(s, from) }

func readTime(s string, from time.Time) (time.Time, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	if text == "now" {
		return from, nil
	}
	if more, ok := strings.CutPrefix(text, "+"); ok {
		d, err := readDuration(more)
		return from.Add(d), err
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, strings.ToUpper(text)); err == nil {
			return onClock(t.Year(), t.Month(), t.Day(), t, from.Location())
		}
	}
	day, clock, two := strings.Cut(text, " ")
	if !two {
		day, clock = "", text
	}
	t, err := time.Parse("15:04", strings.TrimSpace(clock))
	if err != nil {
		return from, fmt.Errorf("%q is no time; %s", s, timeForms)
	}
	return nextOn(s, day, t, from)
}

// nextOn finds a time of day on a day named in words.
func nextOn(s, day string, clock, from time.Time) (time.Time, error) {
	first, last := 0, 1 // days from today that fit
	switch day {
	case "":
	case "today":
		last = 0
	case "tomorrow":
		first = 1
	default:
		weekday, ok := readWeekday(day)
		if !ok {
			return from, fmt.Errorf("%q names no day; %s", s, timeForms)
		}
		first = (int(weekday) - int(from.Weekday()) + 7) % 7
		last = first + 7
	}
	step := max(last-first, 1)
	for d := first; d <= last; d += step {
		t, err := onClock(from.Year(), from.Month(), from.Day()+d, clock, from.Location())
		if err != nil || day == "today" || t.After(from) {
			return t, err
		}
	}
	return from, fmt.Errorf("%q is not to come any more; %s", s, timeForms)
}

func readWeekday(s string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		name := strings.ToLower(d.String())
		if len(s) >= 3 && strings.HasPrefix(name, s) {
			return d, true
		}
	}
	return 0, false
}

// onClock returns when the clocks of a zone show a time on a day. Of an hour that
// comes twice it is the first; one that is left out in spring is an error.
func onClock(year int, month time.Month, day int, clock time.Time, zone *time.Location) (time.Time, error) {
	wall := time.Date(year, month, day, clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
	// Whatever the offset is at that time, it is that of the day before or after.
	for _, near := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		_, offset := wall.Add(near).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if t.Hour() == wall.Hour() && t.Minute() == wall.Minute() && t.Day() == wall.Day() {
			return t, nil
		}
	}
	return wall, fmt.Errorf("the clocks of %s never show %s: they are put forward then; write a time before or after",
		zone, wall.Format("15:04 on 2006-01-02"))
}

// stamp is how a time is sent.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
