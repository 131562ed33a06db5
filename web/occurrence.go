package web

import (
	"errors"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
	"jaque.sh/jaque/web/wire"
)

const (
	foreseen   = 10  // times of a recurring downtime that a preview shows
	mostRanges = 100 // of a recurring downtime
)

// calendar reads the ranges of a recurring downtime in their zone. An error is a
// fault.
func calendar(ranges []string, zone string) (*period.Period, error) {
	at, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, badField("timezone", "no time zone is called %q; write an IANA name, as in Europe/Berlin or UTC", short(zone))
	}
	p, err := period.Recurring(ranges, at)
	if err != nil {
		text := err.Error()
		var all period.Problems
		if errors.As(err, &all) && len(all) > 0 {
			text = all[0].Text
		}
		return nil, badField("ranges", "%s", short(text))
	}
	return p, nil
}

// upcoming returns the next times of a recurring downtime, at most n, as the
// engine will begin them. An error is a fault.
func upcoming(r *event.DowntimeRule, now object.Time, n int) ([]period.Window, *period.Period, error) {
	p, err := calendar(r.Ranges, r.Zone)
	if err != nil {
		return nil, nil, err
	}
	var times []period.Window
	// One more, because a window may be open already before the rule begins.
	for _, w := range period.Windows(p, max(now, r.Start), n+1) {
		if w.Start == 0 || w.End == 0 || w.Start < r.Start {
			continue
		}
		if len(times) == n || (r.End != 0 && w.Start >= r.End) {
			break
		}
		times = append(times, w)
	}
	return times, p, nil
}

// occurrences returns the next times of a recurring downtime in UTC and on the
// clock of its zone.
func (s *site) occurrences(r *event.DowntimeRule) ([]wire.Occurrence, error) {
	times, p, err := upcoming(r, object.At(s.Now()), foreseen)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(r.Zone)
	if err != nil {
		return nil, err
	}
	local := func(t object.Time) string { return t.Std().In(zone).Format(time.RFC3339) }
	out := make([]wire.Occurrence, len(times))
	for i, w := range times {
		out[i] = wire.Occurrence{
			Start: wire.Time(w.Start), End: wire.Time(w.End), LocalStart: local(w.Start), LocalEnd: local(w.End),
			Length: int64(w.End-w.Start) / 1000, DST: p.Odd(w),
		}
	}
	return out, nil
}

// comesAgain refuses a recurring downtime that has no time ahead.
func comesAgain(r *event.DowntimeRule, now object.Time) error {
	times, _, err := upcoming(r, now, 1)
	if err != nil {
		return err
	}
	if len(times) == 0 && r.End != 0 {
		return badField("ranges", "%s has no time that begins between start and end; write another range or a later end", short(strings.Join(r.Ranges, "; ")))
	}
	if len(times) == 0 {
		return badField("ranges", "%s never begins again; write a range that comes and ends", short(strings.Join(r.Ranges, "; ")))
	}
	return nil
}
