package fold

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// acknowledge takes note of a problem, soft ones too. What an earlier
// acknowledgement said stays among the comments until the acknowledgement ends,
// as in Nagios.
func (d *decider) acknowledge(c Acknowledge) (Decision, error) {
	kind := d.env.Object.Kind()
	switch {
	case c.Kind != object.AckNormal && c.Kind != object.AckSticky:
		return Decision{}, refuse(d.env, BadCommand, "no kind %d of acknowledgement; use 1 (normal) or 2 (sticky)", c.Kind)
	case d.base.State == object.OK:
		return Decision{}, refuse(d.env, NoProblem, "the %s is %s; only a problem can be acknowledged", kind, d.base.State.Name(kind))
	case c.Expires != 0 && c.Expires <= d.now:
		return Decision{}, refuse(d.env, BadCommand, "the acknowledgement would have expired at %s; give a time to come", stampText(c.Expires))
	}
	if err := d.fits("an acknowledgement", c.Author, c.Text); err != nil {
		return Decision{}, err
	}
	at := d.orNow(c.Entry)
	d.next.Ack, d.next.AckExpires = c.Kind, c.Expires
	x := d.extra()
	x.AckAuthor, x.AckText, x.AckTime = c.Author, c.Text, at
	d.comment(event.Comment{
		Kind: event.CommentAcknowledgement, Author: c.Author, Text: c.Text, Time: at, Persistent: c.Persistent,
	})
	d.note("kind", map[object.AckKind]string{object.AckNormal: "normal", object.AckSticky: "sticky"}[c.Kind])
	if c.Notify {
		d.note("notify", "true")
	}
	return d.said(event.AckSet, c.Author, c.Text), nil
}

// removeAcknowledgement takes it back, with the comments that were not to stay.
func (d *decider) removeAcknowledgement(c RemoveAcknowledgement) (Decision, error) {
	if d.base.Ack == object.AckNone {
		return Decision{}, nil
	}
	d.dropAck()
	return d.said(event.AckCleared, c.Author, ""), nil
}
