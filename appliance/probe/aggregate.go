package probe

import (
	"fmt"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// namedMembers is how many members a text names before it only counts.
const namedMembers = 5

// aggregate judges how many members are not fine. A member without a state yet
// is left out; without thresholds one bad member warns, all of them are critical.
func aggregate(c *object.AggregateCheck, states func(object.ID) (object.State, bool)) answer {
	if c == nil || len(c.Members) == 0 {
		return unknown("the aggregate has no members; name hosts or host!service in its members")
	}
	if states == nil {
		return unknown("no states are known here; an aggregate runs in an engine, take its zone away")
	}
	l, err := parseLimits("the aggregate", c.Warn, c.Crit)
	if err != nil {
		return unknown("%v", err)
	}
	var bad []string
	known := 0
	for _, id := range c.Members {
		s, ok := states(id)
		if !ok {
			continue
		}
		known++
		if s != object.OK {
			bad = append(bad, string(id)+" is "+s.Name(id.Kind()))
		}
	}
	if known == 0 {
		return unknown("none of the %d members has a state yet", len(c.Members)).as(problem)
	}
	state := l.judge(float64(len(bad)))
	if !l.hasWarn && !l.hasCrit && len(bad) > 0 {
		state = object.Warning
		if len(bad) == known {
			state = object.Critical
		}
	}
	return aggregateText(c, &l, state, known, bad)
}

func aggregateText(c *object.AggregateCheck, l *limits, state object.State, known int, bad []string) answer {
	text := fmt.Sprintf("%d of %d members are fine", known-len(bad), len(c.Members))
	if pending := len(c.Members) - known; pending > 0 {
		text += fmt.Sprintf(", %d not checked yet", pending)
	}
	if n := min(len(bad), namedMembers); n > 0 {
		text += ": " + strings.Join(bad[:n], ", ")
		if more := len(bad) - n; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
	}
	a := say(state, "%s", text)
	a.perfdata = perf("bad", strconv.Itoa(len(bad)), "", l.warn, l.crit) + ";" + strconv.Itoa(len(c.Members))
	if len(bad) > namedMembers {
		a.long = strings.Join(bad, "\n")
	}
	return a
}
