package fold

import (
	"fmt"
	"slices"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// scheduleDowntime adds a downtime, which starts in the same decision if its time
// has come already.
func (d *decider) scheduleDowntime(w event.Downtime) (Decision, error) {
	if x := d.next.Extra; w.ID != "" && x != nil && has(x.Downtimes, w.ID) {
		return Decision{}, nil
	}
	if err := d.sensible(&w); err != nil {
		return Decision{}, err
	}
	w.Started, w.Entry = 0, d.orNow(w.Entry)
	if w.ID == "" {
		w.ID = d.name()
	}
	if w.Number == 0 {
		w.Number = d.env.Downtime
	}
	if w.Comment == 0 {
		w.Comment = d.env.Comment
	}
	if w.Flexible() && d.base.State != object.OK && d.opens(&w) {
		// The problem that it waits for is there.
		w.Started = d.now
	}
	x := d.extra()
	x.Downtimes = append(slices.Clip(x.Downtimes), w)
	d.note("scheduled", w.ID)
	p := d.passage()
	if w.Started != 0 {
		p.started = append(p.started, w)
	}
	p.pass()
	d.tell(p)
	return d.said(event.DowntimeScheduled, w.Author, w.Text), nil
}

// sensible refuses a downtime that could never run.
func (d *decider) sensible(w *event.Downtime) error {
	switch {
	case w.Start >= w.End:
		return refuse(d.env, BadCommand, "the downtime ends at %s, which is not after its start at %s; give a later end", stampText(w.End), stampText(w.Start))
	case w.End <= d.now:
		return refuse(d.env, BadCommand, "the downtime is over since %s; give an end to come", stampText(w.End))
	case w.Duration < 0:
		return refuse(d.env, BadCommand, "a flexible downtime cannot last %s; give a positive duration", object.Time(w.Duration).Sub(0))
	case w.Trigger != "" && !d.knows(w.Trigger):
		return refuse(d.env, BadCommand, "no downtime %q that could start this one; give the id of one that is scheduled or runs", w.Trigger)
	}
	if err := d.short("a downtime", w.ID, w.Trigger, w.Rule); err != nil {
		return err
	}
	return d.fits("a downtime", w.Author, w.Text)
}

// knows tells whether a downtime that starts others exists.
func (d *decider) knows(id string) bool {
	own := event.Extra{}
	if d.next.Extra != nil {
		own = *d.next.Extra
	}
	if d.env.Trigger == nil {
		return has(own.Downtimes, id)
	}
	return triggerOf(d.env, own.Downtimes, id).Known
}

// opens tells whether a problem that begins now falls into the downtime's window.
func (d *decider) opens(w *event.Downtime) bool { return w.Start <= d.now && d.now <= w.End }

// startFlexible starts the flexible downtimes whose window a problem falls into
// that begins, changes its state or gets hard with the present result.
func (d *decider) startFlexible() {
	x := d.next.Extra
	if x == nil || len(x.Downtimes) == 0 || d.next.State == object.OK {
		return
	}
	b := &d.base
	if b.Checked && b.State == d.next.State && (b.Type == d.next.Type || d.next.Type == object.Soft) {
		return
	}
	p := d.passage()
	for i := range p.all {
		if w := &p.all[i]; w.Started == 0 && w.Flexible() && d.opens(w) {
			p.start(w)
		}
	}
	if p.started == nil {
		return
	}
	d.startedFlexible = true
	p.pass()
	d.tell(p)
}

// cancelDowntimes ends the downtimes that fit everything which is set.
func (d *decider) cancelDowntimes(c CancelDowntimes) (Decision, error) {
	if c.ID == "" && c.Number == 0 && c.Rule == "" && c.Trigger == "" && c.Start == 0 && c.Text == "" && !c.All {
		return Decision{}, refuse(d.env, BadCommand, "nothing says which downtimes; give an id, a number, a start, a text or all")
	}
	p := d.passage()
	for i := range p.all {
		if c.fits(&p.all[i]) {
			p.cancelled = append(p.cancelled, p.all[i])
		}
	}
	if p.cancelled == nil {
		if c.ID != "" || c.Number != 0 {
			return Decision{}, refuse(d.env, BadCommand, "the %s has no downtime %s", d.env.Object.Kind(), which(c.ID, c.Number))
		}
		return Decision{}, nil
	}
	text := p.cancelled[0].Text
	p.all, _ = without(p.all, c.fits)
	p.pass()
	d.tell(p)
	return d.said(event.DowntimeCancelled, c.Author, text), nil
}

// fits tells whether a downtime is meant. Starts are compared by the second:
// interfaces show no more of them.
func (c *CancelDowntimes) fits(w *event.Downtime) bool {
	return (c.ID == "" || w.ID == c.ID) && (c.Number == 0 || w.Number == c.Number) && (c.Rule == "" || w.Rule == c.Rule) &&
		(c.Trigger == "" || w.Trigger == c.Trigger) &&
		(c.Start == 0 || w.Start/1000 == c.Start/1000) && (c.Text == "" || w.Text == c.Text)
}

// which names a comment or a downtime as the command did.
func which(id string, number uint64) string {
	if id != "" {
		return fmt.Sprintf("%q", id)
	}
	return fmt.Sprintf("number %d", number)
}
