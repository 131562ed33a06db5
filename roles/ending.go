package roles

import (
	"errors"

	"jaque.sh/jaque/appliance/bus"
)

// causeOfEnd leaves of what a process ends with the reason alone, where the rest only
// follows from it: a member that was removed from its cluster has nothing to write to any
// more, and every part says so. The log has those lines.
func causeOfEnd(err error) error {
	var all interface{ Unwrap() []error }
	if !errors.Is(err, bus.ErrRemoved) || !errors.As(err, &all) {
		return err
	}
	for _, one := range all.Unwrap() {
		if errors.Is(one, bus.ErrRemoved) {
			return one
		}
	}
	return err
}
