package probe

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// dummy answers what the config says. With several states it steps through
// them by the wall clock, so that every engine gives the same answer.
func dummy(req *Request, now time.Time) answer {
	c := req.Check.Dummy
	if c == nil {
		return unknown("the dummy check is empty; write for example dummy: {state: \"OK\"}")
	}
	state := c.State
	if n := len(c.States); n > 0 {
		period := time.Minute
		if c.Period != "" {
			d, err := time.ParseDuration(c.Period)
			if err != nil || d <= 0 {
				return unknown("period %q is not a duration; write for example \"30s\"", c.Period)
			}
			period = d
		}
		state = c.States[uint64(now.UnixNano()/int64(period))%uint64(n)]
	}
	kind := req.Object.Kind()
	if kind == object.Host && state != object.Up {
		state = object.Down // which of them is unreachable, the parents decide
	}
	text := c.Text
	if text == "" {
		text = "dummy check, " + state.Name(kind)
	}
	a := answer{state: state, judged: true, output: oneLine(text)}
	if state == object.OK {
		return a.as(fine)
	}
	return a.as(problem)
}
