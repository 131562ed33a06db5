package notify

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// passed tells whether a time is over since something happened. What lies ahead of the
// clock by more than that was written by a clock that was ahead, or the clock was set back:
// then it is over, or nobody were told until the clock has come to it.
func passed(since, now object.Time, wait time.Duration) bool {
	return now >= since.Add(wait) || since > now.Add(wait)
}

// Ahead tells whether the interval of a problem, from when somebody was last told until the
// next repetition, was begun by a clock that was ahead by more than it is long: it does not
// count then. A repetition that an operator has put off does, whenever it is.
func Ahead(last, next, now object.Time) bool {
	return last != 0 && next > last && last > now.Add(next.Sub(last))
}
