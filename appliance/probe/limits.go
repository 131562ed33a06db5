package probe

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/threshold"
)

// limits are the thresholds of one measured value.
type limits struct {
	warn, crit       string
	warning          threshold.Range
	critical         threshold.Range
	hasWarn, hasCrit bool
}

// parseLimits reads a pair of thresholds; "" is none. The error names the
// setting and what to write instead.
func parseLimits(what, warn, crit string) (l limits, err error) {
	l.warn, l.crit = warn, crit
	if l.hasWarn = warn != ""; l.hasWarn {
		if l.warning, err = threshold.Parse(warn); err != nil {
			return l, fmt.Errorf("warning threshold of %s: %w", what, err)
		}
	}
	if l.hasCrit = crit != ""; l.hasCrit {
		if l.critical, err = threshold.Parse(crit); err != nil {
			return l, fmt.Errorf("critical threshold of %s: %w", what, err)
		}
	}
	return l, nil
}

// judge returns the state that a value means.
func (l *limits) judge(v float64) object.State {
	switch {
	case l.hasCrit && l.critical.Alert(v):
		return object.Critical
	case l.hasWarn && l.warning.Alert(v):
		return object.Warning
	}
	return object.OK
}

// worse returns the more serious of two service states.
func worse(a, b object.State) object.State {
	rank := [...]int{object.OK: 0, object.Warning: 1, object.Critical: 3, object.Unknown: 2}
	if rank[b&3] > rank[a&3] {
		return b
	}
	return a
}
