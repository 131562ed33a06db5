package roles

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/service"
)

// notifier takes part in the fleet of those who deliver.
type notifier struct {
	sharing
	before func(context.Context) (coordination.Past, error)
}

// openNotifiers opens the store in which notifiers announce themselves.
func (a *appliance) openNotifiers(ctx context.Context) error {
	return a.openStore(ctx, coordination.Notifiers, a.meeting())
}

// makeNotifier makes what delivers to the contacts that this process owns. It joins
// once it has caught up with the log and leaves after its last message.
func (a *appliance) makeNotifier(ctx context.Context) (err error) {
	if err := a.makeRunner(a.config.PluginPath); err != nil {
		return err
	}
	n := &notifier{sharing: newSharing(a, a.s.NotifierID)}
	n.roster.rests = a.engines.local
	b, err := a.link(ctx, "coordination", a.meeting())
	if err != nil {
		return err
	}
	n.before = func(ctx context.Context) (coordination.Past, error) {
		ctx, cancel := context.WithTimeout(ctx, askPast)
		defer cancel()
		return coordination.Before(ctx, b.Conn(), b.Names().Members, coordination.Notifiers)
	}
	order := newPingOrder()
	a.proj.OnSettled(order.settled)
	o := n.options()
	o.Held, o.Before, o.Epoch, o.Writer = order.held, n.mayHaveSent, n.roster.epoch, a.s.NotifierID
	x, err := a.newDelivering(o)
	if err != nil {
		return err
	}
	// The engine may run by a newer config than this process.
	x.channels.notifier = a.s.NotifierID
	n.roster.change = x.Kick
	a.heard = append(a.heard, a.engines.hear)
	a.engines.watch(n.renew)
	a.delivery = x
	a.troubles = append(a.troubles, a.engines.deliver, x.channels.trouble)
	a.add(service.Service{Name: "notifiers", Needs: a.names(), Run: n.run})
	a.add(x.Service("notifiers"))
	a.reloader = newReloader(a, nil)
	a.add(service.Service{Name: "reload", Needs: []string{"follower"}, Run: a.reloader.run})
	return nil
}

// renew looks again at who delivers, and says when that is another one.
func (n *notifier) renew() {
	was := n.roster.rest()
	n.roster.renew()
	if n.roster.rest() == was {
		return
	}
	for _, t := range n.a.engines.deliver() {
		n.a.p.Logger.Warn("nothing is delivered from here", "reason", t)
		return
	}
	n.a.p.Logger.Info("the engines leave the delivery to notifiers")
}

// run is a member until ctx ends. It is ready when it may deliver.
func (n *notifier) run(ctx context.Context, ready func()) (err error) {
	defer n.a.store.Watch(n.adopt)()
	if err := n.a.engines.recall(ctx, n.a.journal); err != nil {
		return unlessOver(ctx, err)
	}
	defer func() { err = errors.Join(err, n.leave(ctx)) }()
	if err := n.join(ctx); err != nil {
		return unlessOver(ctx, service.Fail(ctx, err)) // leaving takes a while: it is told of before
	}
	n.follow(ctx, ready)
	return nil
}

// unlessOver returns an error unless the end was asked for.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// mayHaveSent tells whether somebody else may have sent a request that was open when
// this process joined: an engine that delivers by itself, or another notifier.
func (n *notifier) mayHaveSent(p *deliver.Pending) bool {
	return !n.leftToNotifiers(p.Seq) || n.roster.mayHaveSent(p)
}

// leftToNotifiers tells whether no engine has delivered since a position of the log.
func (n *notifier) leftToNotifiers(seq uint64) bool {
	left := n.a.engines.left()
	return left != 0 && seq >= left
}

// askPast bounds the look at the members of before.
const askPast = 5 * time.Second

// past is what is known of the members of before. Not to know it costs no more than
// messages that are marked in vain.
func (n *notifier) past(ctx context.Context) (p coordination.Past, ok bool) {
	p, err := n.before(ctx)
	if err == nil && p.View.Epoch == 0 {
		// A record that was lost: the log knows who delivered under it.
		var events []event.Event
		events, err = n.a.journal.History(ctx, journal.Query{
			Kinds: []event.Kind{event.NotificationDelivered, event.NotificationFailed, event.NotificationAbandoned}, Limit: 1,
		})
		ok = err == nil && (len(events) == 0 || !n.leftToNotifiers(events[0].Seq))
		return p, ok
	}
	if err != nil && ctx.Err() == nil {
		n.a.p.Logger.Warn("it is not known which notifiers there were, what is open is marked as a possible repetition", "err", err)
	}
	return p, err == nil
}

// join makes this process a member. Whoever was there before may still be sending to
// contacts that are this one's now.
func (n *notifier) join(ctx context.Context) error {
	began := time.Now()
	past, known := n.past(ctx)
	v, err := n.a.store.Register(ctx, n.roster.me, 0)
	if err != nil {
		return fmt.Errorf("join %s as %q: %w", coordination.Notifiers, n.roster.me.ID, err)
	}
	if since, ok := past.Empty(v, began); known && ok {
		n.roster.alone(since, n.a.s.HeartbeatTTL)
	}
	if len(v.Members) > 1 {
		n.wait(ctx, true)
	}
	return ctx.Err()
}

// leavePatience bounds a polite leave; without it the peers wait for the TTL.
const leavePatience = 5 * time.Second

func (n *notifier) leave(ctx context.Context) error {
	if !n.a.store.Alive() {
		return nil // the peers know
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavePatience)
	defer cancel()
	err := n.a.store.Leave(ctx, n.roster.me.ID)
	if errors.Is(err, context.DeadlineExceeded) {
		n.a.p.Logger.Warn("the other notifiers were not told of the end, they take over later", "err", err)
		return nil
	}
	return err
}
