package roles

import (
	"errors"
	"fmt"
	"time"
)

// simulatedTime reads a time; what names no zone is on the clock of now's.
func simulatedTime(s string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return onClock(t, now.Location())
		}
	}
	clock, err := time.Parse("15:04", s)
	if err != nil {
		return now, errors.New("write 03:00 for the next three o'clock, 2026-12-24T03:00 or 2026-12-24T03:00:00+01:00")
	}
	for day := range 2 {
		wall := time.Date(now.Year(), now.Month(), now.Day()+day, clock.Hour(), clock.Minute(), 0, 0, time.UTC)
		if at, err := onClock(wall, now.Location()); err != nil || !at.Before(now) {
			return at, err
		}
	}
	return now, errors.New("no such time comes today or tomorrow; write the day too")
}

// onClock returns when the clocks of a zone show a time, as the operators' commands
// read it: of an hour that comes twice it is the first, one that is left out in spring
// is an error.
func onClock(wall time.Time, zone *time.Location) (time.Time, error) {
	// Whatever the offset is then, it is that of the day before or of the day after.
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
