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
		if since == 0 || now < since.Add(s.After) || s.Until > 0 && now >= since.Add(s.Until) {
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

// nextStep returns when the next step begins by the age of the problem, 0 if none
// does.
func (d *decision) nextStep() object.Time {
	var next object.Time
	if d.in.Fields.Hard == 0 {
		return 0
	}
	for _, s := range d.note.Steps {
		if s.After <= 0 {
			continue
		}
		if at := d.in.Fields.Hard.Add(s.After); at > d.in.Now && (next == 0 || at < next) {
			next = at
		}
	}
	return next
}
