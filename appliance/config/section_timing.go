package config

import (
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// timing is what a host, a service rule and a service of one host may say about
// their checks. A nil pointer means "as below".
type timing struct {
	interval, retry, timeout *time.Duration
	freshness, renotify      *time.Duration
	attempts                 *int
	volatile, active         *bool
	passive, flapDetection   *bool
	flapLow, flapHigh        *float64
	flapIgnore               *object.StateMask
	initial                  *object.State
	notes, notesURL, action  *string
	duty
}

// timing reads the fields of #Timing for one kind of object.
func (s *section) timing(k object.Kind) timing {
	var t timing
	optional(s, "interval", &t.interval, func() time.Duration { return s.duration("interval", 0, false) })
	optional(s, "retry", &t.retry, func() time.Duration { return s.duration("retry", 0, false) })
	optional(s, "timeout", &t.timeout, func() time.Duration { return s.duration("timeout", 0, false) })
	optional(s, "freshness", &t.freshness, func() time.Duration { return s.duration("freshness", 0, true) })
	optional(s, "notification_interval", &t.renotify, func() time.Duration { return s.pause("notification_interval", 0, true, time.Second) })
	optional(s, "attempts", &t.attempts, func() int { return s.whole("attempts", 1, 1, 1000) })
	optional(s, "volatile", &t.volatile, func() bool { return s.flag("volatile", false) })
	optional(s, "active", &t.active, func() bool { return s.flag("active", true) })
	optional(s, "passive", &t.passive, func() bool { return s.flag("passive", true) })
	optional(s, "flap_detection", &t.flapDetection, func() bool { return s.flag("flap_detection", true) })
	optional(s, "flap_low", &t.flapLow, func() float64 { return s.percent("flap_low", 0) })
	optional(s, "flap_high", &t.flapHigh, func() float64 { return s.percent("flap_high", 0) })
	optional(s, "flap_ignore", &t.flapIgnore, func() object.StateMask { return s.stateMask("flap_ignore", k) })
	optional(s, "initial", &t.initial, func() object.State { return s.stateField("initial", k) })
	optional(s, "notes", &t.notes, func() string { return s.prose("notes") })
	optional(s, "notes_url", &t.notesURL, func() string { return s.prose("notes_url") })
	optional(s, "action_url", &t.action, func() string { return s.prose("action_url") })
	// Only thresholds of the same level are compared: across levels the order
	// may be restored by another one.
	s.flapOrder("flap_low", "flap_high", t.flapLow, t.flapHigh)
	s.duties(&t)
	return t
}

// optional sets *to when the field is there, and lets the section know the
// field in any case.
func optional[T any](s *section, name string, to **T, read func() T) {
	if !s.has(name) {
		s.asked = append(s.asked, name)
		return
	}
	v := read()
	*to = &v
}

// stateMask reads a list of states as a set.
func (s *section) stateMask(name string, k object.Kind) object.StateMask {
	var mask object.StateMask
	s.list(name, func(at *path, n *node) {
		if st, ok := s.d.state(at, n, k); ok {
			mask |= 1 << st
		}
	})
	return mask
}

// stateField reads one state; 0 if it is absent or wrong.
func (s *section) stateField(name string, k object.Kind) object.State {
	n := s.take(name)
	if n == nil {
		return 0
	}
	st, _ := s.d.state(s.at.field(name), n, k)
	return st
}

// flapOrder refuses a lower threshold that is not below the upper one.
func (s *section) flapOrder(lowName, highName string, low, high *float64) {
	if low != nil && high != nil && *low >= *high {
		s.d.bad(s.at.field(lowName), s.n.get(lowName).pos, "%v is not below %s (%v); write a smaller number", *low, highName, *high)
	}
}

// over returns t with everything that u says put over it.
func (t timing) over(u timing) timing {
	put(&t.interval, u.interval)
	put(&t.retry, u.retry)
	put(&t.timeout, u.timeout)
	put(&t.freshness, u.freshness)
	put(&t.renotify, u.renotify)
	put(&t.attempts, u.attempts)
	put(&t.volatile, u.volatile)
	put(&t.active, u.active)
	put(&t.passive, u.passive)
	put(&t.flapDetection, u.flapDetection)
	put(&t.flapLow, u.flapLow)
	put(&t.flapHigh, u.flapHigh)
	put(&t.flapIgnore, u.flapIgnore)
	put(&t.initial, u.initial)
	put(&t.notes, u.notes)
	put(&t.notesURL, u.notesURL)
	put(&t.action, u.action)
	t.duty.put(u.duty)
	return t
}

// put sets *to unless v says nothing.
func put[T any](to **T, v *T) {
	if v != nil {
		*to = v
	}
}

// or returns what a pointer points to, or a value for nil.
func or[T any](p *T, absent T) T {
	if p == nil {
		return absent
	}
	return *p
}

// ruleOf makes the shared part of an object from its check and what is said about
// it, the more general first.
func (l *loader) ruleOf(name string, c *check, labels map[string]string, said ...timing) *object.Rule {
	t, paced := l.base, false
	for _, u := range said {
		t, paced = t.over(u), paced || u.interval != nil
	}
	r := &object.Rule{
		Name: name, Check: c.check, Labels: labels,
		Interval: or(t.interval, time.Minute), Retry: or(t.retry, 15*time.Second),
		Timeout: or(t.timeout, 30*time.Second), Attempts: or(t.attempts, 3),
		Volatile: or(t.volatile, false), Initial: or(t.initial, 0),
		Active: or(t.active, true), Passive: or(t.passive, true),
		Freshness:     or(t.freshness, c.freshness),
		FlapDetection: or(t.flapDetection, true),
		FlapLow:       or(t.flapLow, 0), FlapHigh: or(t.flapHigh, 0), FlapIgnore: or(t.flapIgnore, 0),
		Notes: or(t.notes, ""), NotesURL: or(t.notesURL, ""), ActionURL: or(t.action, ""),
		NoteInterval: or(t.renotify, 0),
		CheckPeriod:  l.compiled[or(t.checkPeriod, "")], HandlerPeriod: l.compiled[or(t.handlerPeriod, "")],
		NotePeriod: l.compiled[or(t.notePeriod, "")], Handler: t.handler, Off: t.off(),
	}
	// A passive check brings its freshness with it; it is closer to the check
	// than any timing and so goes before it.
	if c.freshness > 0 {
		r.Freshness = c.freshness
	}
	// Who says how often a submitted result comes expects it; a default says it of
	// everything.
	passive := r.Check.Kind == object.CheckPassive
	r.FreshAuto = r.Freshness == 0 && or(t.checkFreshness, passive && paced && t.freshness == nil && !c.fresh)
	// Nothing can be executed, so nothing may be planned: an interval left here
	// would have the scheduler wait for a result that never comes. Only freshness
	// looks at the interval of a passive check.
	if passive || r.Check.Kind == object.CheckNone {
		r.Active = false
		if !passive || !r.FreshAuto || !paced {
			r.Interval = 0
		}
	}
	return r
}
