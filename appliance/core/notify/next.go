package notify

import "jaque.sh/jaque/appliance/core/object"

// maxLook bounds how many instants Next looks at.
const maxLook = 24

// Next returns when time alone makes an attempt worth it: the first delay is over,
// the interval, a step of the escalation begins, a period opens. 0 is never, as
// long as nothing happens to the object; an instant that is not after in.Now is
// now. What to attempt then is the kind; "" if it is not known so far ahead, and only
// to be asked again then. Objects that are not told by time have no such instant: they
// are told with their check results.
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
		d := decide(&look)
		if d.out.Send {
			return look.Now, look.Kind
		}
		until := sooner(d.mayChange(), d.out.Until, look.Now)
		if until == 0 {
			return 0, ""
		}
		look.Now = until
	}
	return look.Now, ""
}

// mayChange returns when time alone changes what the gate that blocks looks at,
// beside what it says itself; 0 = not by time.
func (d *decision) mayChange() object.Time {
	switch d.out.By {
	case GatePolicy, GateOption, GateDelay:
		return d.otherPolicy()
	case GateRepeat, GateInterval:
		at, _ := d.nextFresh()
		return at
	case GateContacts:
		at, _ := d.nextFresh() // a step has begun that tells nobody, and others wait for their period
		return sooner(d.nextStep(), at, d.in.Now)
	}
	return 0
}

// sooner returns the earlier of two instants after now, 0 if neither is.
func sooner(a, b, now object.Time) object.Time {
	switch {
	case a <= now && b <= now:
		return 0
	case a <= now:
		return b
	case b <= now:
		return a
	}
	return min(a, b)
}
