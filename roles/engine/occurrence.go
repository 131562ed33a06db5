package engine

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
)

// occurrence returns the time of a rule that runs at an instant, else the next; an
// end of 0 says that there is none any more. It fails if the rule's ranges or its
// zone cannot be read.
func occurrence(r *event.DowntimeRule, now object.Time) (start, end object.Time, err error) {
	if len(r.Ranges) == 0 {
		if r.End <= now {
			return 0, 0, nil
		}
		return r.Start, r.End, nil
	}
	zone, err := time.LoadLocation(r.Zone) // without a name it is UTC
	if err != nil {
		return 0, 0, fmt.Errorf("time zone %q: %w", r.Zone, err)
	}
	p, err := period.Recurring(r.Ranges, zone)
	if err != nil {
		return 0, 0, err
	}
	// A window that was open before the rule may begin is not one of its times,
	// unless it is open all the time.
	for from := max(now, r.Start); ; {
		windows := period.Windows(p, from, 1)
		if len(windows) == 0 {
			return 0, 0, nil
		}
		w := windows[0]
		if w.Start == 0 || w.End == 0 {
			return endless(r, w, now)
		}
		switch {
		case r.End != 0 && w.Start >= r.End:
			return 0, 0, nil
		case w.Start >= r.Start:
			return w.Start, w.End, nil
		}
		from = w.End
	}
}

// endless returns the one time of a rule whose ranges leave no gap, for a year or
// for ever: it lasts as long as the rule does.
func endless(r *event.DowntimeRule, w period.Window, now object.Time) (start, end object.Time, err error) {
	end = w.End
	if end == 0 || r.End != 0 && r.End < end {
		end = r.End
	}
	switch {
	case end == 0:
		return 0, 0, fmt.Errorf("its ranges %q leave no gap and it has no end", r.Ranges)
	case end <= now:
		return 0, 0, nil
	}
	return max(w.Start, r.Start, min(r.Entry, end-1)), end, nil
}

// over tells whether a rule makes no more downtimes for good, and so can go. One
// whose times cannot be computed stays until somebody cancels it.
func over(r *event.DowntimeRule, now object.Time) bool {
	_, end, err := occurrence(r, now)
	return err == nil && end == 0
}
