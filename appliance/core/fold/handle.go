package fold

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Handles tells whether event handlers run for an event of the log: for every
// soft problem, for a problem that gets hard or changes while it is, for every
// recovery, and for every hard problem of a volatile service.
func Handles(e *event.Event, rule *object.Rule) bool {
	st := e.Status
	if e.Kind != event.CheckResult || st == nil {
		return false
	}
	if st.State == object.OK {
		return e.Was != nil && e.Was.State != object.OK
	}
	if st.Type == object.Soft || e.Transition {
		return true
	}
	return rule.Volatile && e.Object.Kind() == object.Service
}
