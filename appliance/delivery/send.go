package delivery

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/rule/message"
)

// sent is what became of one attempt to send a message.
type sent struct {
	err    error // nil = it was taken
	repeat bool  // the message said that it may be a repetition
	took   time.Duration
	final  bool          // trying again is of no use
	after  time.Duration // the other side wants to be left alone for
	unsure bool          // it may have arrived all the same
	cut    bool          // a stop has cut it off
	noWay  bool          // there was no channel to send it over
}

// grace is how long a channel has to return after the end of its time.
const grace = 5 * time.Second

// deliver makes one attempt. It returns soon after its time is over, also if the
// channel does not.
func (d *Delivery) deliver(ctx context.Context, b *deliver.Batch, m *message.Message) sent {
	way, err := d.opt.Resolve(b.Contact, b.Channel)
	if err != nil {
		s := judge(err)
		s.unsure, s.repeat, s.noWay = false, m.Repeat, true
		return s
	}
	began := time.Now()
	s := judge(d.sendWithin(ctx, way, m, d.timeFor(b, began)))
	s.repeat, s.took = m.Repeat, time.Since(began)
	s.cut = s.err != nil && ctx.Err() != nil
	return s
}

// shortest is the least time that an attempt has.
const shortest = time.Second

// timeFor is how long an attempt may take: it does not hold up the next round of a
// heartbeat.
func (d *Delivery) timeFor(b *deliver.Batch, now time.Time) time.Duration {
	if b.Until == 0 {
		return d.opt.SendTimeout
	}
	return min(d.opt.SendTimeout, max(shortest, b.Until.Std().Sub(now)))
}

// sendWithin gives a channel its time. One that does not return keeps its
// goroutine, not its place.
func (d *Delivery) sendWithin(ctx context.Context, way channel.Channel, m *message.Message, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	returned := make(chan error, 1)
	go func() { returned <- d.sendGuarded(ctx, way, m) }()
	select {
	case err := <-returned:
		return timedOut(ctx, err, within)
	case <-ctx.Done():
	}
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case err := <-returned:
		return timedOut(ctx, err, within)
	case <-patience.C:
		d.log.Error("a channel does not return after its time is over", "contact", m.Contact.Name, "channel", m.Channel)
		return timedOut(ctx, ctx.Err(), within)
	}
}

// timedOut puts the end of the time in words where the channel has not.
func timedOut(ctx context.Context, err error, within time.Duration) error {
	if e := (*channel.Error)(nil); errors.As(err, &e) {
		return err
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer within %s: %w", within, context.DeadlineExceeded)
	}
	return err
}

// sendGuarded turns a panic of a channel into an error.
func (d *Delivery) sendGuarded(ctx context.Context, way channel.Channel, m *message.Message) (err error) {
	defer func() {
		if v := recover(); v != nil {
			d.log.Error("a channel panicked", "contact", m.Contact.Name, "channel", m.Channel,
				"panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("the channel panicked: %v", v)
		}
	}()
	return way.Send(ctx, m)
}

// judge reads what the error of a channel says.
func judge(err error) sent {
	s := sent{err: err}
	var e *channel.Error
	if errors.As(err, &e) {
		s.final, s.after = e.Permanent, e.RetryAfter
	}
	s.unsure = err != nil && !s.final && mayHaveArrived(err)
	return s
}

// mayHaveArrived tells whether an error leaves open if the other side has taken the
// message. A channel says so; one that has panicked or not returned in time could not.
func mayHaveArrived(err error) bool {
	var e *channel.Error
	if errors.As(err, &e) {
		return e.MayHaveArrived
	}
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || strings.HasPrefix(err.Error(), "the channel panicked")
}
