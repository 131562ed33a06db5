package fold

import (
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// turn lets what is remembered of an incident follow the change of the status.
// Nearly every result finds a state that is as it was, and costs nothing here.
func (d *decider) turn() {
	if d.next.State == d.base.State && d.next.Type == d.base.Type && (d.next.State == object.OK) == (d.next.Hard == 0) {
		return
	}
	f := notify.Turn(notify.FieldsOf(&d.next), &d.base, &d.next, d.now)
	f.Put(&d.next)
}

// announce decides about everything that an event makes worth telling and puts the
// decisions into it: a request is part of what causes it, so that nobody can die
// between the two.
func (d *decider) announce(e *event.Event) {
	if d.env.Object.Notify == nil {
		return
	}
	if !d.noted {
		for _, k := range d.attempts(e) {
			d.attempt(k, e)
		}
		if d.ticks && timed(d.env, &d.next) {
			// What time ends may have been all that kept people from being told.
			d.reminds()
		}
	}
	e.Notes = d.notes
	for i := range d.notes {
		k := event.NotificationSuppressed
		if d.notes[i].Send {
			k = event.NotificationIntended
		}
		if !e.Has(k) {
			e.Also = append(e.Also, k)
		}
	}
}

func (d *decider) attempts(e *event.Event) []notify.Kind {
	if d.env.Object.Notify.Heartbeat {
		if e.Kind == event.CheckResult && d.next.State == object.OK {
			return []notify.Kind{notify.Heartbeat}
		}
		return nil
	}
	return notify.Attempts(e, &d.base, &d.next)
}

// attempt decides about one kind of notification and takes what it does to the
// object's memory into the new status.
func (d *decider) attempt(k notify.Kind, e *event.Event) (told bool) {
	// Copies: a decision in which nobody is told of anything stays off the heap.
	after, before := d.next, d.base
	in := NoteInput(d.env, &State{Status: after, Measure: event.Measure{LastCheck: d.checked}}, d.now)
	in.Kind, in.Before = k, &before
	in.Flexible = d.startedFlexible
	if k == notify.Custom {
		in.Forced, in.Broadcast, in.Increment = e.Facts["forced"] != "", e.Facts["broadcast"] != "", e.Facts["increment"] != ""
	}
	out := notify.Decide(&in)
	out.Fields.Put(&d.next)
	note := out.Note(d.env.Object.Kind())
	if k == notify.Heartbeat {
		// The next round takes its place.
		note.Until = d.now.Add(max(d.env.Object.Rule.Interval, time.Second))
	}
	d.notes = append(d.notes, note)
	return out.Send
}

// NoteInput returns what a decision about telling people of an object in a state
// looks at, but for what makes it be made.
func NoteInput(env *Env, s *State, now object.Time) notify.Input {
	st := &s.Status
	in := notify.Input{
		Object: env.Object, Status: st, Fields: notify.FieldsOf(st), Settings: env.Settings,
		Contacts: env.Contacts, Known: env.Known, Periods: env.Periods, Failed: NotificationBlocked(env, now),
		Started: env.Started, Now: now,
	}
	if env.Host != nil {
		in.Host = &env.Host.Status
	}
	unproven(env, s, &in)
	return in
}

// unproven finds out whether a problem may be gone with what explained it. An object
// that jaque checks itself is waited for; of one that others report nobody knows when.
func unproven(env *Env, s *State, in *notify.Input) {
	st := &s.Status
	every := intervalOf(env, st)
	if st.State == object.OK || env.Object.Notify == nil || !env.Object.Notify.Timed || every <= 0 || !active(env, st) {
		return
	}
	wait := max(every, retryOf(env, st)) + env.Object.Rule.Timeout
	awaited := func(back object.Time) bool {
		return back > s.Measure.LastCheck && in.Now < back.Over(in.Now, wait)
	}
	if h := in.Host; h != nil && h.State == object.Up && awaited(h.LastChange) {
		in.HostBack = h.LastChange
	}
	if back := mastersBack(env, in.Now); awaited(back) {
		in.MasterBack = back
	}
	if back := max(in.HostBack, in.MasterBack); back != 0 {
		in.Proof = back.Add(wait)
	}
}

// repeats tells whether a result that changed nothing is told all the same: the
// interval is over, or a recovery that could not be told can be now. Those whose
// time is kept by a timer wait for it.
func (d *decider) repeats() bool {
	note := d.env.Object.Notify
	switch {
	case note == nil:
		return false
	case note.Heartbeat:
		return true
	case note.Timed:
		return false
	case d.next.State == object.OK && d.next.Notified == 0, d.next.State != object.OK && d.next.Type == object.Soft:
		return false
	case d.next.State == object.OK:
	case (d.next.NextNotification == notify.Never || d.next.NextNotification > d.now && !notify.Ahead(d.next.LastNotification, d.next.NextNotification, d.now)) && !slices.ContainsFunc(note.Steps, byAge):
		return false
	}
	d.noted = d.reminds()
	return d.noted
}

// byAge tells whether a step may begin before the interval is over.
func byAge(s *object.Step) bool { return s.After > 0 }

// reminds decides about the problem, or the recovery that people are owed, and
// forgets the decision if nobody is told.
func (d *decider) reminds() bool {
	k := notify.Problem
	switch {
	case d.env.Object.Notify.Heartbeat:
		return false
	case d.next.State == object.OK && d.next.Notified == 0:
		return false
	case d.next.State == object.OK:
		k = notify.Recovery
	}
	kept, notes := d.next, len(d.notes)
	if !d.attempt(k, nil) {
		d.next, d.notes = kept, d.notes[:notes]
		return false
	}
	return true
}

// remind tells of the problem, or of the recovery that is owed, if it is time.
func (d *decider) remind() (Decision, error) {
	if d.env.Object.Notify == nil || !d.reminds() {
		return Decision{}, nil
	}
	d.noted = true
	return d.said(event.NotificationIntended, "", ""), nil
}

// The pause after which people are told again of what reached nobody: doubled with
// each notification of the problem.
const (
	missedPause = 10 * time.Minute
	missedMost  = 6 * time.Hour
)

// missed has people told again, and forgets that those were told who got nothing.
func (d *decider) missed(c Missed) (Decision, error) {
	st := &d.next
	if d.env.Object.Notify == nil || st.State == object.OK || st.Problem != c.Problem || st.NotificationNumber != c.Number {
		return Decision{}, nil
	}
	forgot := d.forget(c.Lost)
	again := d.now.Add(min(missedPause<<min(max(c.Number-1, 0), 10), missedMost))
	// What is told again sooner anyway stays as it is.
	if timed(d.env, st) && (st.NextNotification == notify.Never || st.NextNotification > again) {
		st.NextNotification = again
		d.note("again", stampText(again))
	} else if !forgot {
		return Decision{}, nil
	}
	return d.said(event.NotificationMissed, "", ""), nil
}

// forget takes people out of those who know of the problem. Where nobody is left, no
// recovery is owed.
func (d *decider) forget(lost []string) bool {
	f := notify.FieldsOf(&d.next)
	all := len(f.Told)
	f.Told = slices.DeleteFunc(f.Told, func(name string) bool { return slices.Contains(lost, name) })
	if len(f.Told) == all {
		return false
	}
	if len(f.Told) == 0 {
		f.Notified = 0
	}
	f.Put(&d.next)
	return true
}

// timed tells whether time alone may make people be told. A volatile service that
// was told of is told again with its results: each is a problem of its own.
func timed(env *Env, st *event.Status) bool {
	note := env.Object.Notify
	switch {
	case note == nil || !note.Timed:
		return false
	case st.State == object.OK:
		return st.Notified != 0
	}
	return st.Type == object.Hard && (st.NotificationNumber == 0 || !env.Object.Rule.Volatile || env.Object.Kind() == object.Host)
}

// nextNote returns when people are told by time alone, 0 for never.
func nextNote(env *Env, s *State, now object.Time) object.Time {
	if !timed(env, &s.Status) {
		return 0
	}
	in := NoteInput(env, s, now)
	at, _ := notify.Next(&in)
	if at != 0 && at <= now {
		// Since when is not known. One and the same instant tells whoever lets time
		// pass that it had no effect.
		return overdue
	}
	return at
}
