package notify

import "jaque.sh/jaque/appliance/core/object"

// Ahead tells whether the interval of a problem, from when somebody was last told until the
// next repetition, was begun by a clock that was ahead by more than it is long: it does not
// count then. A repetition that an operator has put off does, whenever it is.
func Ahead(last, next, now object.Time) bool {
	return last != 0 && next > last && last.Ahead(now, next.Sub(last))
}
