package delivery

import (
	"context"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/service"
)

// run sends until ctx ends, and then what is being sent has a little time.
func (d *Delivery) run(ctx context.Context, ready func()) error {
	open, unwatch := d.opt.Projection.WatchRequests(d.changed)
	defer unwatch()
	send, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	d.send = send
	for _, p := range open {
		d.enter(p, p.Failures > 0 || d.opt.Before(p))
	}
	d.publish(time.Now())
	ready()
	if len(open) > 0 {
		d.log.Info("notifications of before are open", "requests", len(open))
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		d.work()
		timer.Reset(d.pause())
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-d.inbox.wake:
		}
	}
	if !service.Hurried(ctx) { // else others deliver, and mark what was under way here
		d.stop(cut)
	}
	return nil
}

// work does all that can be done now.
func (d *Delivery) work() {
	d.listen()
	d.unhold()
	now := d.now()
	d.planner.Pass(object.At(now))
	d.writeAgain(now)
	d.dispatch(object.At(now))
	d.publish(now)
}

func (d *Delivery) listen() {
	for _, call := range d.inbox.take() {
		call()
	}
}

// longestPause bounds how long the planner's word is taken for when something is
// due, because the wall clock may jump.
const longestPause = time.Minute

// pause is how long nothing will be due, unless somebody comes.
func (d *Delivery) pause() time.Duration {
	now := time.Now()
	pause := longestPause
	if at := d.planner.Next(object.At(now)); at != 0 && d.running < d.opt.Workers {
		pause = min(pause, at.Std().Sub(now))
	}
	if pause <= 0 && d.opt.Halted() {
		pause = haltedPause
	}
	if !d.counted.IsZero() && len(d.requests) > 0 {
		pause = min(pause, countEvery)
	}
	if at := d.writes.at; !at.IsZero() {
		pause = min(pause, at.Sub(now))
	}
	return max(pause, 0)
}

// dispatch sends what is due, as far as there are places.
func (d *Delivery) dispatch(now object.Time) {
	for d.running < d.opt.Workers && !d.opt.Halted() {
		b, ok := d.planner.Take(now, d.world)
		if !ok {
			return
		}
		switch {
		case b.Expired:
			d.settle(b, sent{err: d.lastReason(b)})
		case !d.opt.Owner(b.Contact):
			// Whoever owns the contact now sends it.
			d.planner.Abandoned(b)
			for _, p := range b.Requests {
				d.disown(p.ID)
			}
		default:
			d.start(b)
		}
	}
}

// haltedPause is how soon is looked again whether this process may send.
const haltedPause = 200 * time.Millisecond

// start sends one message on a goroutine of its own.
func (d *Delivery) start(b *deliver.Batch) {
	d.running++
	again := b.Repeat || d.opt.Rivals()
	for _, p := range b.Requests {
		if r := d.requests[p.ID]; r != nil {
			r.place = sending
			if r.due == 0 {
				r.due = b.Due
			}
			again = again || d.again(r)
		}
	}
	m := d.message(b, again)
	go func() {
		s := d.deliver(d.send, b, m)
		d.inbox.put(func() {
			d.running--
			d.settle(b, s)
		})
	}()
}

// stop takes nothing new, lets what is being sent end, and waits until the log has
// the outcomes. What is cut off stays open: the next process marks it.
func (d *Delivery) stop(cut func()) {
	if d.running > 0 {
		d.log.Info("notifications stop, waiting for messages that are being sent", "messages", d.running)
	}
	d.writes.hurry(time.Now())
	if !d.opt.Halted() {
		d.until(d.opt.StopTimeout, func() bool { return d.running == 0 })
	}
	cut()
	d.listen()
	if !d.opt.Halted() {
		d.release(true) // what is still being sent is in doubt
	}
	d.until(writePatience, func() bool { return d.running == 0 && d.writes.open() == 0 })
	if d.running > 0 || d.writes.open() > 0 {
		d.log.Warn("notifications stopped before it was known what became of them; they may be sent again",
			"messages", d.running, "outcomes", d.writes.open())
	}
	d.publish(time.Now())
}

// until listens until something holds, at most for a time.
func (d *Delivery) until(most time.Duration, holds func() bool) {
	end := time.NewTimer(most)
	defer end.Stop()
	retry := time.NewTicker(writePause)
	defer retry.Stop()
	for d.listen(); !holds(); d.listen() {
		select {
		case <-end.C:
			return
		case <-retry.C:
			d.writeAgain(time.Now())
		case <-d.inbox.wake:
		}
	}
}
