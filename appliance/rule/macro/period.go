package macro

import (
	"strconv"

	"jaque.sh/jaque/appliance/core/object"
)

// periodFields is every macro about periods by name. The period is named behind
// the colon, an instant in seconds may follow; without one it is now.
var periodFields = map[string]func(object.Period, object.Time) string{
	"ISVALIDTIME": func(p object.Period, at object.Time) string { return flag(object.Inside(p, at)) },
	"NEXTVALIDTIME": func(p object.Period, at object.Time) string {
		inside, opens := p.Window(at)
		if inside {
			return epoch(at)
		}
		return epoch(opens) // 0 = never again
	},
}

// periods answers a macro about a period, "" if there is none of that name.
func (e *expander) periods(q query, get func(object.Period, object.Time) string) string {
	if e.src.Period == nil {
		return ""
	}
	p := e.src.Period(q.first)
	if p == nil {
		return ""
	}
	at := e.src.Now
	if q.second != "" {
		seconds, err := strconv.ParseInt(q.second, 10, 48)
		if err != nil {
			return ""
		}
		at = object.Time(seconds) * 1000
	}
	if q.name == "NEXTVALIDTIME" {
		// What is next lies ahead, whatever instant is asked for.
		at = max(at, e.src.Now)
	}
	return get(p, at)
}
