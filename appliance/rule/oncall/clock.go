package oncall

import (
	"math"
	"time"
)

// daySeconds is the length of a day without a change of clocks.
const daySeconds = 24 * 60 * 60

// farthest is more than any clock on earth was ever away from UTC, in seconds.
const farthest = 16 * 60 * 60

// offset returns how far the clock of a zone is from UTC, in seconds.
func offset(zone *time.Location, at int64) int64 {
	_, seconds := time.Unix(at, 0).In(zone).Zone()
	return int64(seconds)
}

// reach returns the first instant at which the clock of a zone shows a time or a
// later one; shown is counted from 1970 by that clock.
func reach(zone *time.Location, shown int64) int64 {
	// Between two changes of the clocks the time shown is the instant moved by a
	// fixed offset, so it goes from one such stretch to the next.
	for at := shown - farthest; ; {
		t := time.Unix(at, 0).In(zone)
		_, ahead := t.Zone()
		_, bound := t.ZoneBounds()
		end := bound.Unix()
		switch {
		case bound.IsZero():
			end = math.MaxInt64
		// On the last day of a leap year behind the end of its table, Go names a change
		// that is past.
		case end <= at:
			end = at + daySeconds
		}
		if found := max(at, shown-int64(ahead)); found < end {
			return found
		}
		at = end
	}
}

// skipped tells whether the clock of a zone never shows a time, and then how far
// the clocks go instead: from exclusive of what they skip, to exclusive.
func skipped(zone *time.Location, shown int64) (from, to int64, skips bool) {
	at := reach(zone, shown)
	to = at + offset(zone, at)
	if to == shown {
		return 0, 0, false
	}
	return at + offset(zone, at-1), to, true
}
