package target

import (
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// result is a check result as the log holds it.
func result(id object.ID, at time.Time, perfdata string) *event.Event {
	return &event.Event{
		Kind: event.CheckResult, Object: id, Time: object.At(at), ID: fmt.Sprint("r", at.UnixMilli()),
		Measure: &event.Measure{LastCheck: object.At(at), Perfdata: perfdata},
	}
}
