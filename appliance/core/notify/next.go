package notify

import "jaque.sh/jaque/appliance/core/object"

// maxLook bounds how many openings of periods Next looks at.
const maxLook = 64

// Next returns when time alone makes an attempt worth it: the first delay is over,
// the interval, a step of the escalation begins, a period opens. 0 is never, as
// long as nothing happens to the object; an instant that is not after in.Now is
// now. What to attempt then is the kind. Objects that are not told by time have no
// such instant: they are told with their check results.
func Next(in *Input) (at object.Time, kind Kind) {
	if in.Object.Notify == nil || !in.Object.Notify.Timed {
		return 0, ""
	}
	look := *in
	look.Forced, look.Broadcast, look.Increment, look.Before = false, false, false, nil
	switch {
	case in.Status.State != object.OK:
		look.Kind = Problem
	case in.Fields.Notified != 0:
		look.Kind = Recovery
	default:
		return 0, ""
	}
	for range maxLook {
		out := Decide(&look)
		if out.Send {
			return look.Now, look.Kind
		}
		if out.Until <= look.Now {
			return 0, ""
		}
		look.Now = out.Until
	}
	return 0, ""
}
