package oncall

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/rule/near"
)

// maxEvery is the longest interval between hand-overs, in days: a year of weeks.
const maxEvery = 366

// weekdayNames are read-only.
var weekdayNames = [7]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}

// clock reads "09:00" as seconds of the day.
func clock(text string) (int64, error) {
	if text == "" {
		return 0, errors.New(`there is no time of the hand-over; write for example "09:00"`)
	}
	h, m, _ := strings.Cut(text, ":")
	hour, okHour := digits(h, 1)
	minute, okMinute := digits(m, 2)
	switch {
	case !okHour || !okMinute || hour > 24 || minute > 59:
		return 0, fmt.Errorf(`the hand-over %q is not a time of day; write hours and minutes such as "09:00"`, text)
	case hour == 24:
		return 0, fmt.Errorf(`the hand-over %q is on the next day; write "00:00"`, text)
	}
	return int64(hour*3600 + minute*60), nil
}

// digits reads a number of two digits, or of as few as least.
func digits(text string, least int) (int, bool) {
	if len(text) < least || len(text) > 2 || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// every reads "3 days" as a number and whether that counts weeks.
func every(text string) (n int, weeks bool, err error) {
	unit := strings.TrimLeft(text, "0123456789")
	count := strings.TrimSuffix(text, unit)
	n = 1
	if count != "" {
		n, err = strconv.Atoi(count)
	}
	switch unit = strings.TrimSpace(unit); {
	case unit == "day" || unit == "days" || unit == "d" && count != "":
	case unit == "week" || unit == "weeks" || unit == "w" && count != "":
		weeks = true
	case strings.HasPrefix(unit, "h"):
		return 0, false, fmt.Errorf(`hand-overs every %q are not possible, only whole days and weeks; write a layer for each part of the day, with a period in "only"`, text)
	default:
		return 0, false, fmt.Errorf(`%q is no interval of hand-overs; write for example "3 days" or "2 weeks"`, text)
	}
	most := maxEvery
	if weeks {
		most /= 7
	}
	if err != nil || n < 1 || n > most {
		return 0, false, fmt.Errorf("hand-overs every %q are not possible; write a number from 1 to %d", text, most)
	}
	return n, weeks, nil
}

// weekday reads the name of a day, 0 is Sunday.
func weekday(text string) (int64, error) {
	low := strings.ToLower(strings.TrimSpace(text))
	best, at := 3, ""
	for i, name := range weekdayNames {
		if low == name {
			return int64(i), nil
		}
		// Short names are a habit from elsewhere.
		if len(low) >= 2 && strings.HasPrefix(name, low) {
			best, at = 0, name
		}
		if n := near.Distance(low, name, best); n < best {
			best, at = n, name
		}
	}
	if at != "" {
		return 0, fmt.Errorf("the hand-over day %q is not a weekday; did you mean %q?", text, at)
	}
	return 0, fmt.Errorf(`the hand-over day %q is not a weekday; write for example "monday"`, text)
}

// dayOf reads "2026-01-05" as the number of the day since 1970.
func dayOf(text string) (int64, error) {
	t, err := time.Parse(time.DateOnly, text)
	switch {
	case text == "":
		return 0, errors.New(`there is no start; write the day of the first turn, for example "2026-01-05"`)
	case err != nil && len(text) > len(time.DateOnly):
		return 0, fmt.Errorf(`the start %q is not a day; write the day alone, for example "2026-01-05": the time is that of the hand-over`, text)
	case err != nil:
		return 0, fmt.Errorf(`the start %q is not a day of the calendar; write year, month and day such as "2026-01-05"`, text)
	case t.Year() < earliest:
		return 0, fmt.Errorf("the start %q is too early; write a day from %d on", text, earliest)
	}
	return t.Unix() / daySeconds, nil
}

// earliest is the first year of a start or an override, so that no instant is
// 0, which stands for never.
const earliest = 1971

// moment reads "2026-12-24 18:00" by the clock of a zone, or a time with an
// offset, as seconds.
func moment(text string, zone *time.Location) (int64, error) {
	if text == "" {
		return 0, errors.New(`it is missing; write day and time, for example "2026-12-24 18:00"`)
	}
	local := false
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		local = true
		t, err = time.Parse("2006-01-02 15:04", text)
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf(`%q is not a time; write day and time such as "2026-12-24 18:00"`, text)
	case t.Year() < earliest:
		return 0, fmt.Errorf("%q is too early; write a year from %d on", text, earliest)
	case !local:
		return t.Unix(), nil
	}
	if why, next := missing(t.Unix(), zone); why != "" {
		return 0, fmt.Errorf("%s; write %q or a time before the change", why, next)
	}
	return reach(zone, t.Unix()), nil
}

// missing says that the clock of a zone never shows a time, and which one it
// shows next; "" if it does.
func missing(shown int64, zone *time.Location) (why, next string) {
	from, to, skips := skipped(zone, shown)
	if !skips {
		return "", ""
	}
	next = minuteOf(to)
	return fmt.Sprintf("%s does not exist in %s: the clocks go from %s to %s", minuteOf(shown), zone, minuteOf(from), next), next
}

// minuteOf writes a time that is counted from 1970 by the clock on the wall.
func minuteOf(shown int64) string { return time.Unix(shown, 0).UTC().Format("2006-01-02 15:04") }
