package fold

import (
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// reschedule takes note of when somebody wants the next check. Of two wishes a
// forced one goes first, else the earlier one; the loser is forgotten.
func (d *decider) reschedule(c Reschedule) (Decision, error) {
	if !checkable(d.env.Object) {
		return Decision{}, refuse(d.env, BadCommand, "the %s has no check of its own; submit a result instead", d.env.Object.Kind())
	}
	at := d.orNow(c.At)
	if c.Strict && !c.Forced {
		if err := d.permitted(max(at, d.now)); err != nil {
			return Decision{}, err
		}
	}
	if !d.wants(at, c.Forced) {
		return Decision{}, nil
	}
	m := d.nextMeasure()
	m.NextCheck = at
	d.note("at", stampText(at))
	if c.Forced {
		d.note("forced", "true")
	}
	return d.saidWith(event.CheckScheduled, m, c.Author, ""), nil
}

// permitted refuses a check that something would forbid at a time: its switches,
// its period, or for one that is to run now what it depends on.
func (d *decider) permitted(at object.Time) error {
	kind := d.env.Object.Kind()
	switch why, master := Blocked(d.env, d.old, at); {
	case why == BlockSwitch:
		return refuse(d.env, Forbidden, "active checks of the %s are off, for it or for the whole program; switch them on, or force the check", kind)
	case why == BlockPeriod:
		period := checkPeriodOf(d.env, &d.next)
		opens := "never again"
		if _, until := period.Window(at); until != 0 {
			opens = "at " + stampText(until)
		}
		return refuse(d.env, Forbidden, "the check period %q is closed at %s and opens %s; give a time in it, or force the check", period.Name(), stampText(at), opens)
	case why == BlockDependency && at <= d.now:
		return refuse(d.env, Forbidden, "the %s depends on %s, which has failed; force the check to run it all the same", kind, master)
	}
	return nil
}

// wants puts a wish for a check in the place of a lesser one.
func (d *decider) wants(at object.Time, forced bool) bool {
	if x := d.next.Extra; x != nil && x.CheckAt != 0 {
		// One that had to be skipped is gone.
		stands := x.CheckForced || d.env.Skipped < x.CheckAt
		if stands && (x.CheckForced && !forced || x.CheckForced == forced && at >= x.CheckAt) {
			return false
		}
	}
	x := d.extra()
	x.CheckAt, x.CheckForced = at, forced
	return true
}

// checkSoon asks for a check now, or when the check period opens, because checks
// of the object begin again. With spread it is at the object's own place within a
// minute, or within the interval if that is shorter.
func (d *decider) checkSoon(spread bool) {
	if !checkable(d.env.Object) || intervalOf(d.env, &d.next) <= 0 {
		return
	}
	at := d.now
	if spread {
		at = at.Add(Phase(d.env.Object.ID, min(intervalOf(d.env, &d.next), time.Minute)))
	}
	if p := checkPeriodOf(d.env, &d.next); p != nil {
		switch inside, opens := p.Window(at); {
		case inside:
		case spread:
			at = shift(d.env, &d.next, at)
		default:
			at = opens
		}
	}
	if at != 0 {
		d.wants(at, false)
	}
}

// plan returns the newest measure with the plan that follows from the status,
// which needs a number of its own.
func (d *decider) plan() *event.Measure {
	m := d.nextMeasure()
	m.NextCheck = nextActive(d.env, &d.next, m.LastCheck)
	if x := d.next.Extra; x != nil && x.CheckAt != 0 && m.NextCheck != 0 && m.NextCheck < d.now {
		// What was missed while nothing ran is made up for by the wish.
		m.NextCheck = x.CheckAt
	}
	return m
}

// delayNotification says when people may next be told.
func (d *decider) delayNotification(c DelayNotification) (Decision, error) {
	if c.Until < 0 {
		return Decision{}, refuse(d.env, BadCommand, "no time %d; write milliseconds since 1970", c.Until)
	}
	if d.next.NextNotification = c.Until; d.next == d.base {
		return Decision{}, nil
	}
	d.note("setting", "next_notification")
	d.note("to", stampText(c.Until))
	return d.said(event.SettingChanged, c.Author, ""), nil
}

// setNotificationNumber sets the counter of the present problem.
func (d *decider) setNotificationNumber(c SetNotificationNumber) (Decision, error) {
	if c.Number < 0 {
		return Decision{}, refuse(d.env, BadCommand, "no number %d of notifications; use 0 or more", c.Number)
	}
	if d.next.NotificationNumber = c.Number; d.next == d.base {
		return Decision{}, nil
	}
	d.note("setting", "notification_number")
	d.note("to", strconv.Itoa(int(c.Number)))
	return d.said(event.SettingChanged, c.Author, ""), nil
}

// notify takes note that somebody wants people to be told something. Whom it
// reaches is decided where notifications are.
func (d *decider) notify(c Notify) (Decision, error) {
	if err := d.worded("a notification", c.Author, c.Text); err != nil {
		return Decision{}, err
	}
	for _, fact := range []struct {
		name string
		is   bool
	}{{"broadcast", c.Broadcast}, {"forced", c.Forced}, {"increment", c.Increment}} {
		if fact.is {
			d.note(fact.name, "true")
		}
	}
	return d.said(event.NotificationRequested, c.Author, c.Text), nil
}
