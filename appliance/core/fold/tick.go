package fold

import (
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// overdue is the instant of what is due although nobody knows since when.
const overdue object.Time = 1

// nextTick returns the next instant at which Tick changes something, 0 for
// never. It costs nothing for the many objects that have nothing which time
// could change.
func nextTick(env *Env, s *State) object.Time {
	x := s.Status.Extra
	if x == nil {
		return 0
	}
	var next object.Time
	sooner := func(at object.Time) {
		if at != 0 && (next == 0 || at < next) {
			next = at
		}
	}
	if s.Status.Ack != object.AckNone {
		sooner(s.Status.AckExpires)
	}
	for i := range x.Comments {
		if lost(env, &x.Comments[i]) {
			return overdue
		}
		sooner(x.Comments[i].Expires)
	}
	for i := range x.Downtimes {
		sooner(nextOf(env, x.Downtimes, &x.Downtimes[i]))
	}
	for i := range x.Settings {
		if outdated(env, &x.Settings[i]) {
			return overdue
		}
	}
	return next
}

// nextOf returns when a downtime starts, ends or is given up; 0 = not by time.
func nextOf(env *Env, all []event.Downtime, w *event.Downtime) object.Time {
	until := w.Until()
	if w.Trigger != "" {
		t := triggerOf(env, all, w.Trigger)
		switch {
		case !t.Known:
			return overdue
		case w.Started == 0 && t.Started != 0:
			return min(t.Started, until)
		}
		return until
	}
	switch {
	case w.Started != 0:
		return until
	case w.Flexible():
		// A problem at the last instant still starts it.
		return until + 1
	}
	return w.Start
}

// triggerOf tells about a downtime that starts another one: one of the same
// object, else of any. Where nobody can be asked the trigger is taken to wait.
func triggerOf(env *Env, all []event.Downtime, id string) Trigger {
	for i := range all {
		if all[i].ID == id {
			return Trigger{Known: true, Started: all[i].Started}
		}
	}
	if env.Trigger == nil {
		return Trigger{Known: true}
	}
	return env.Trigger(id)
}

// tick lets time pass for everything that the object has. People are told where
// nothing else happens: what happens may be a reason to say more, or nothing.
func (d *decider) tick() (Decision, error) {
	d.ticks = true
	if out := d.pass(); out.HasLog || !timed(d.env, &d.next) {
		return out, nil
	}
	return d.remind()
}

// pass lets time pass for acknowledgement, comments, settings and downtimes.
func (d *decider) pass() Decision {
	if d.next.Extra == nil {
		return Decision{}
	}
	acked := d.next.Extra.AckText
	if d.next.Ack != object.AckNone && d.next.AckExpires != 0 && d.next.AckExpires <= d.now {
		d.note("expired", "true")
		d.dropAck()
	}
	gone := d.expireComments()
	d.dropSettings()
	others := len(d.also)
	p := d.passage()
	p.pass()
	author, text := d.tell(p)
	// The event is called what matters most to people, and has its text.
	switch {
	case len(d.also) > others:
		return d.said(d.also[others], author, text)
	case d.ackCleared:
		return d.said(event.AckCleared, "", acked)
	case len(d.also) > 0 && d.also[0] == event.CommentRemoved:
		return d.said(event.CommentRemoved, "", gone[0].Text)
	case len(d.also) > 0:
		return d.said(d.also[0], "", "")
	}
	return Decision{}
}

// passage is what time does to the downtimes of an object within one decision.
type passage struct {
	env *Env
	now object.Time
	all []event.Downtime // the decision's own
	// What became of downtimes: unused are those that were given up because they
	// never started.
	started, ended, cancelled, unused []event.Downtime
}

func (d *decider) passage() *passage {
	p := &passage{env: d.env, now: d.now}
	if d.next.Extra != nil {
		p.all = slices.Clone(d.next.Extra.Downtimes)
	}
	return p
}

func (p *passage) start(w *event.Downtime) {
	w.Started = p.now
	p.started = append(p.started, *w)
}

// pass starts, ends and gives up what is due. What one downtime triggers follows
// at once, so it looks again until nothing moves.
func (p *passage) pass() {
	for moved := true; moved; {
		moved = false
		for i := 0; i < len(p.all); i++ {
			w := &p.all[i]
			to := p.fate(w)
			switch {
			case to == &p.started:
				p.start(w)
			case to != nil:
				*to = append(*to, *w)
				p.all = slices.Delete(p.all, i, i+1)
				i--
			}
			moved = moved || to != nil
		}
	}
}

// fate returns where a downtime belongs now; nil = it stays as it is.
func (p *passage) fate(w *event.Downtime) *[]event.Downtime {
	now := p.now
	waits, until := w.Started == 0, w.Until()
	if w.Trigger != "" {
		t := p.trigger(w.Trigger)
		switch {
		case !t.Known && (waits || has(p.cancelled, w.Trigger)):
			return &p.cancelled
		case !t.Known:
			return &p.ended
		case waits && t.Started != 0 && t.Started <= now:
			return &p.started
		}
	}
	switch {
	case !waits && until != 0 && until <= now:
		return &p.ended
	case !waits:
		return nil
	case w.Flexible() && until < now, !w.Flexible() && until <= now:
		return &p.unused
	case w.Trigger == "" && !w.Flexible() && w.Start <= now:
		return &p.started
	}
	return nil
}

// trigger tells about a downtime that starts another one. One that went in this
// very decision is still there for everybody else.
func (p *passage) trigger(id string) Trigger {
	if has(p.ended, id) || has(p.cancelled, id) || has(p.unused, id) {
		return Trigger{}
	}
	return triggerOf(p.env, p.all, id)
}

func has(all []event.Downtime, id string) bool {
	return slices.ContainsFunc(all, func(w event.Downtime) bool { return w.ID == id })
}

// tell takes what happened into the decision and returns who planned the first
// downtime of it and why.
func (d *decider) tell(p *passage) (author, text string) {
	for _, what := range []struct {
		fact string
		kind event.Kind
		all  []event.Downtime
	}{
		{"ended", event.DowntimeEnded, p.ended},
		{"cancelled", event.DowntimeCancelled, p.cancelled},
		{"unused", event.DowntimeEnded, p.unused},
		{"started", event.DowntimeStarted, p.started},
	} {
		if len(what.all) == 0 {
			continue
		}
		if author == "" && text == "" {
			author, text = what.all[0].Author, what.all[0].Text
		}
		d.note(what.fact, list(what.all, func(w *event.Downtime) string { return w.ID }))
		if !slices.Contains(d.also, what.kind) {
			d.also = append(d.also, what.kind)
		}
	}
	if p.started != nil || p.ended != nil || p.cancelled != nil || p.unused != nil {
		d.extra().Downtimes = p.all
	}
	return author, text
}
