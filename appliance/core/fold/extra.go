package fold

import (
	"slices"
	"strconv"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// What one object may hold is bounded, because all of it stands in every decision
// about the object and has to fit into one message of the bus.
const (
	maxEntries = 1000      // comments, and downtimes
	maxText    = 4096      // bytes of one text
	maxExtra   = 512 << 10 // bytes of all texts together, about
)

// extra returns the decision's own copy of what few objects have, to be changed:
// the one before is never changed in place. Lists are still shared; whoever
// changes one makes a new one.
func (d *decider) extra() *event.Extra {
	own := event.Extra{}
	if d.next.Extra != nil {
		own = *d.next.Extra
	}
	d.next.Extra = &own
	return d.next.Extra
}

// tidy drops what is empty, so that an object without anything has no Extra and
// equal states are written with equal bytes, and counts the downtimes that run.
func (d *decider) tidy() {
	x := d.next.Extra
	if x == nil || x == d.base.Extra {
		return
	}
	if len(x.Comments) == 0 {
		x.Comments = nil
	}
	if len(x.Downtimes) == 0 {
		x.Downtimes = nil
	}
	if len(x.Settings) == 0 {
		x.Settings = nil
	}
	d.next.DowntimeDepth = 0
	for i := range x.Downtimes {
		if x.Downtimes[i].Started != 0 {
			d.next.DowntimeDepth++
		}
	}
	if empty(x) {
		d.next.Extra = nil
	}
}

func empty(x *event.Extra) bool {
	return len(x.Comments)+len(x.Downtimes)+len(x.Settings) == 0 && x.AckAuthor == "" && x.AckText == "" && x.AckTime == 0 &&
		x.CheckAt == 0 && !x.CheckForced && x.Modified == 0
}

// worded refuses a text that is missing, and what is too long.
func (d *decider) worded(what, author, text string) error {
	if text == "" {
		return refuse(d.env, BadCommand, "%s needs a text; write what it is about", what)
	}
	return d.short(what, author, text)
}

// short refuses texts that are too long to be kept.
func (d *decider) short(what string, texts ...string) error {
	for _, text := range texts {
		if len(text) > maxText {
			return refuse(d.env, BadCommand, "%s has a text or name of %d bytes; write at most %d", what, len(text), maxText)
		}
	}
	return nil
}

// fits refuses also what the object has no room for.
func (d *decider) fits(what, author, text string) error {
	if err := d.worded(what, author, text); err != nil || d.next.Extra == nil {
		return err
	}
	x := d.next.Extra
	size := len(author) + len(text)
	for i := range x.Comments {
		size += 150 + len(x.Comments[i].Author) + len(x.Comments[i].Text)
	}
	for i := range x.Downtimes {
		size += 200 + len(x.Downtimes[i].Author) + len(x.Downtimes[i].Text)
	}
	if len(x.Comments) >= maxEntries || len(x.Downtimes) >= maxEntries || size > maxExtra {
		return refuse(d.env, TooMany, "the %s has %d comments and %d downtimes already; remove some",
			d.env.Object.Kind(), len(x.Comments), len(x.Downtimes))
	}
	return nil
}

// name returns the identity of what a decision makes: it follows from the
// decision's own, so that a decision which is made twice makes one thing.
func (d *decider) name() string {
	d.made++
	return d.env.ID + "." + strconv.Itoa(d.made)
}

// note adds a fact to the decision's event.
func (d *decider) note(key, value string) {
	if d.facts == nil {
		d.facts = map[string]string{}
	}
	d.facts[key] = value
}

// orNow returns the instant that a command gives for itself, else the decision's.
func (d *decider) orNow(at object.Time) object.Time {
	if at <= 0 {
		return d.now
	}
	return at
}

// without returns a list without the elements that fit, and these. It copies
// only if there are any, because the list belongs to an earlier state.
func without[T any](all []T, fits func(*T) bool) (left, gone []T) {
	for i := range all {
		if fits(&all[i]) {
			gone = append(gone, all[i])
		}
	}
	if gone == nil {
		return all, nil
	}
	return slices.DeleteFunc(slices.Clone(all), func(v T) bool { return fits(&v) }), gone
}

// said makes the event of a decision in which nothing was measured.
func (d *decider) said(k event.Kind, author, text string) Decision {
	return d.saidWith(k, d.sameMeasure(), author, text)
}

func (d *decider) saidWith(k event.Kind, m *event.Measure, author, text string) Decision {
	d.tidy()
	var out Decision
	d.log(&out, k, m)
	out.Log.Author, out.Log.Text = author, text
	return out
}
