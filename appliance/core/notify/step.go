package notify

import "jaque.sh/jaque/appliance/core/object"

// findSteps finds the steps of the escalation that hold for this notification.
func (d *decision) findSteps() {
	for _, s := range d.note.Steps {
		if d.holds(s) {
			d.steps = append(d.steps, s)
		}
	}
}

// holds tells whether a step is for the number of this notification, the age of
// the problem, its state and the time. Of a recovery the number is that of the last
// problem.
func (d *decision) holds(s *object.Step) bool {
	n, now := d.number, d.in.Now
	if s.First > n || s.Last != 0 && s.Last < n {
		return false
	}
	if s.After > 0 || s.Until > 0 {
		since := d.in.Fields.Hard
		if since == 0 || now < since.Over(now, s.After) || s.Until > 0 && now >= since.Add(s.Until) {
			return false
		}
	}
	return s.Options.State(d.in.Status.State) && object.Inside(s.Period, now)
}

// begun returns a step that has begun by the age of the problem since somebody was
// last told, nil if none has. It does not wait for the interval.
func (d *decision) begun() *object.Step {
	if d.in.Fields.Number == 0 {
		return nil
	}
	for _, s := range d.steps {
		if d.fresh(s) {
			return s
		}
	}
	return nil
}

// fresh tells whether a step that holds has begun since somebody was last told.
func (d *decision) fresh(s *object.Step) bool {
	return s.After > 0 && d.in.Fields.Hard.Add(s.After) > d.in.Fields.Last
}

// otherPolicy returns when another policy may have its say, 0 for never.
func (d *decision) otherPolicy() (next object.Time) {
	for n := d.in.Object.Notify; n != nil; n = n.Else {
		next = sooner(next, changes(n.Period, d.in.Now), d.in.Now)
	}
	return next
}

// changes returns when a period opens or closes, 0 for never.
func changes(p object.Period, now object.Time) object.Time {
	if p == nil {
		return 0
	}
	_, until := p.Window(now)
	return until
}

// nextFresh returns when time alone may let somebody be told before the interval is
// over, 0 for never, and what happens then.
func (d *decision) nextFresh() (next object.Time, then string) {
	f, now := &d.in.Fields, d.in.Now
	earlier := func(at object.Time, what string) {
		if at = sooner(next, at, now); at != next {
			next, then = at, what
		}
	}
	for n := d.in.Object.Notify; n != nil; n = n.Else {
		for _, s := range n.Steps {
			if f.Hard == 0 || s.After <= 0 || !d.fresh(s) {
				continue
			}
			earlier(f.Hard.Add(s.After), "the step "+s.Name+" of the escalation begins")
			earlier(sooner(changes(s.Period, now), changes(n.Period, now), now), "the period of the step "+s.Name+" changes")
		}
	}
	for _, c := range d.untold() {
		if p := d.contactPeriod(c); !object.Inside(p, now) {
			earlier(changes(p, now), "the notification period of "+c.Name+" opens, who was not told yet")
		}
	}
	if c := d.awaited(); c != nil {
		earlier(d.nextStep(), "it may change who is told, and "+c.Name+" was not told yet")
	}
	return next, then
}

// nextStep returns when time alone may next change who is told: a step begins or
// ends by the age of the problem, a period of a step or of the policy opens or
// closes, somebody else is on call. 0 is never.
func (d *decision) nextStep() object.Time {
	next, now := d.otherPolicy(), d.in.Now
	earlier := func(at object.Time) { next = sooner(next, at, now) }
	turn := func(all []object.Rota) {
		for _, r := range all {
			_, _, until := r.OnCall(now)
			earlier(until)
		}
	}
	turn(d.note.Rotas)
	for _, s := range d.note.Steps {
		if since := d.in.Fields.Hard; since != 0 && s.After > 0 {
			earlier(since.Add(s.After))
		}
		if since := d.in.Fields.Hard; since != 0 && s.Until > 0 {
			earlier(since.Add(s.Until))
		}
		earlier(changes(s.Period, now))
		turn(s.Rotas)
	}
	return next
}
