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
	zone := time.Local
	if r.Zone != "" {
		if zone, err = time.LoadLocation(r.Zone); err != nil {
			return 0, 0, fmt.Errorf("time zone %q: %w", r.Zone, err)
		}
	}
	p, err := period.Recurring(r.Ranges, zone)
	if err != nil {
		return 0, 0, err
	}
	// A window that was open before the rule may begin is not one of its times.
	for from := max(now, r.Start); ; {
		windows := period.Windows(p, from, 1)
		if len(windows) == 0 || windows[0].End == 0 {
			return 0, 0, nil
		}
		w := windows[0]
		switch {
		case r.End != 0 && w.Start >= r.End:
			return 0, 0, nil
		case w.Start >= r.Start && w.Start != 0:
			return w.Start, w.End, nil
		}
		from = w.End
	}
}

// over tells whether a rule makes no more downtimes for good, and so can go. One
// whose times cannot be computed stays until somebody cancels it.
func over(r *event.DowntimeRule, now object.Time) bool {
	_, end, err := occurrence(r, now)
	return err == nil && end == 0
}
