package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// failuresTold bounds how many failures of one request the log gets: the first and
// those with another reason than the one before.
const failuresTold = 5

// settle acts on what became of one attempt to send a message.
func (d *Delivery) settle(b *deliver.Batch, s sent) {
	now := d.now()
	d.count(b, s)
	d.listenFor(b, s)
	switch {
	case s.cut:
		// The process ends. It may have arrived; the next one knows that.
	case b.Expired:
		d.planner.Abandoned(b)
		reason := "not delivered in time: " + s.reason()
		if heartbeat(b) {
			reason = "the next round takes its place"
		}
		d.finish(b, event.NotificationAbandoned, s, reason)
	case s.err == nil:
		d.planner.Done(b, object.At(now))
		d.finish(b, event.NotificationDelivered, s, "")
	case s.final:
		d.planner.Abandoned(b)
		d.finish(b, event.NotificationAbandoned, s, s.reason())
	default:
		again := d.planner.Failed(b, object.At(now), s.after)
		d.failed(b, s, again)
	}
}

// finish puts the final outcome of every request of a message on the log.
func (d *Delivery) finish(b *deliver.Batch, k event.Kind, s sent, reason string) {
	if k == event.NotificationAbandoned && !heartbeat(b) {
		d.log.Warn("notifications were given up", "contact", b.Contact, "channel", b.Channel,
			"requests", len(b.Requests), "reason", reason)
	}
	for _, p := range b.Requests {
		if r := d.requests[p.ID]; r != nil {
			r.place = settled
		}
		d.metrics.outcomes.WithLabelValues(kindOf(b.Channel), strings.TrimPrefix(string(k), "notification.")).Inc()
		d.write(d.outcome(b, p, k, s, reason))
	}
}

// failed notes that a message will be tried again.
func (d *Delivery) failed(b *deliver.Batch, s sent, again object.Time) {
	reason := s.reason()
	d.log.Log(context.Background(), d.level(b, reason), "a message could not be sent", "contact", b.Contact, "channel", b.Channel,
		"requests", len(b.Requests), "attempt", b.Attempt, "reason", reason, "again", again.Std())
	for _, p := range b.Requests {
		r := d.requests[p.ID]
		if r == nil {
			continue
		}
		r.place = planned
		news := r.reason != reason && r.told < failuresTold
		r.unsure = r.unsure || s.unsure
		r.noWay, r.marked = s.noWay, s.repeat
		d.mark(r, reason)
		d.attempts.set(p.ID, b.Attempt)
		d.metrics.outcomes.WithLabelValues(kindOf(b.Channel), "failed").Inc()
		if news {
			r.told++
			d.write(d.outcome(b, p, event.NotificationFailed, s, reason))
		}
	}
}

// level is how loud the log says that a message could not be sent: what it has said of
// all its requests before, or says of a heartbeat elsewhere, is a detail.
func (d *Delivery) level(b *deliver.Batch, reason string) slog.Level {
	if heartbeat(b) {
		return slog.LevelDebug
	}
	for _, p := range b.Requests {
		if r := d.requests[p.ID]; r != nil && r.reason != reason {
			return slog.LevelWarn
		}
	}
	return slog.LevelDebug
}

// lastReason is why a message that is out of time was not delivered before.
func (d *Delivery) lastReason(b *deliver.Batch) error {
	for _, p := range b.Requests {
		if r := d.requests[p.ID]; r != nil && r.reason != "" {
			return errors.New(r.reason)
		}
	}
	return errors.New("nothing could be sent meanwhile")
}

// reasonMost bounds what of an error stands on the log.
const reasonMost = 300

// reason is the error in one line.
func (s sent) reason() string {
	text := strings.Join(strings.Fields(s.err.Error()), " ")
	if len(text) > reasonMost {
		text = strings.ToValidUTF8(text[:reasonMost], "") + "…"
	}
	return text
}

// outcome is the event for one request of a message. Its ID makes a second append
// of the same one recognisable.
func (d *Delivery) outcome(b *deliver.Batch, p *deliver.Pending, k event.Kind, s sent, reason string) *event.Event {
	id := "outcome/" + strings.TrimPrefix(string(k), "notification.") + "/" + p.ID
	if k == event.NotificationFailed {
		id += "/" + d.opt.Instance + "/" + strconv.Itoa(b.Attempt)
	}
	e := &event.Event{
		Version: event.Version, ID: id, Kind: k, Object: p.Event.Object, Epoch: d.opt.Epoch(),
		Writer: d.opt.Writer, Instance: d.opt.Instance, Time: object.At(time.Now()),
		Facts: map[string]string{
			event.FactRequest: p.ID, event.FactContact: b.Contact, event.FactChannel: b.Channel, event.FactKind: p.Note.Kind,
			event.FactMessage: b.ID, event.FactWith: strconv.Itoa(len(b.Requests)), event.FactAttempts: strconv.Itoa(b.Attempt),
		},
	}
	if b.Group != "" {
		e.Facts[event.FactGroup] = b.Group
	}
	if s.repeat {
		e.Facts[event.FactRepeat] = "true"
	}
	if k == event.NotificationAbandoned && d.lost(b, p, s) {
		e.Facts[event.FactLost] = "true"
	}
	if reason != "" {
		e.Facts[event.FactReason] = reason
	}
	e.Text = sentence(b, p, k, s, reason)
	return e
}

// lost tells whether nothing of a request that is given up can have arrived: every
// attempt, here and in the processes before, has ended with a refusal or with nothing
// handed over.
func (d *Delivery) lost(b *deliver.Batch, p *deliver.Pending, s sent) bool {
	r := d.requests[p.ID]
	return r != nil && !r.unsure && !r.before && !b.Repeat && !s.repeat && !s.unsure
}

// sentence tells people what became of a request.
func sentence(b *deliver.Batch, p *deliver.Pending, k event.Kind, s sent, reason string) string {
	what := fmt.Sprintf("%s to %s over %s", p.Note.Kind, b.Contact, b.Channel)
	switch n := len(b.Requests); {
	case n == 2:
		what += " with 1 other in one message"
	case n > 2:
		what += fmt.Sprintf(" with %d others in one message", n-1)
	}
	switch {
	case k == event.NotificationFailed:
		return what + " failed and is tried again: " + reason
	case k == event.NotificationAbandoned:
		return what + " was given up: " + reason
	case s.repeat:
		return what + " was delivered, marked as a possible repetition"
	}
	return what + " was delivered"
}
