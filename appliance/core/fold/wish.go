package fold

import (
	"strconv"

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
// of the object begin again.
func (d *decider) checkSoon() {
	if !checkable(d.env.Object) || intervalOf(d.env, &d.next) <= 0 {
		return
	}
	at := d.now
	if p := checkPeriodOf(d.env, &d.next); p != nil {
		if inside, opens := p.Window(at); !inside {
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
