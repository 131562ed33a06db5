package roles

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
)

// notifier takes part in the fleet of those who deliver.
type notifier struct {
	a      *appliance
	roster *roster
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
	n := &notifier{a: a, roster: &roster{me: membership.Member{ID: a.s.NotifierID, Instance: a.instance}}}
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
	x, err := a.newDelivering(delivery.Options{
		Held:  order.held,
		Owner: n.roster.owns, Shared: n.roster.isShared, Halted: func() bool { return !a.store.Alive() },
		Before: n.roster.mayHaveSent, Epoch: n.roster.epoch, Writer: a.s.NotifierID,
	})
	if err != nil {
		return err
	}
	// The engine may run by a newer config than this process.
	x.channels.notifier = a.s.NotifierID
	n.roster.change = x.Kick
	a.heard = append(a.heard, func(e *event.Event) { n.hear(e) })
	a.delivery = x
	a.troubles = append(a.troubles, n.roster.trouble, x.channels.trouble)
	a.add(service.Service{Name: "notifiers", Needs: a.names(), Run: n.run})
	a.add(x.Service("notifiers"))
	a.reloader = newReloader(a, nil)
	a.add(service.Service{Name: "reload", Needs: []string{"follower"}, Run: a.reloader.run})
	return nil
}

// hear is told of every event that the follower has folded.
func (n *notifier) hear(e *event.Event) {
	if !n.roster.hear(e) {
		return
	}
	for _, t := range n.roster.trouble() {
		n.a.p.Logger.Warn("nothing is delivered from here", "reason", t)
		return
	}
	n.a.p.Logger.Info("the engine leaves the delivery to notifiers", "engine", e.Writer)
}

// run is a member until ctx ends. It is ready when it may deliver.
func (n *notifier) run(ctx context.Context, ready func()) (err error) {
	newer := make(chan struct{}, 1)
	cancel := n.a.store.Watch(func(v membership.View) {
		n.roster.adopt(v)
		select {
		case newer <- struct{}{}:
		default:
		}
	})
	defer cancel()
	if err := n.recall(ctx); err != nil {
		return unlessOver(ctx, err)
	}
	defer func() { err = errors.Join(err, n.leave(ctx)) }()
	if err := n.join(ctx); err != nil {
		return unlessOver(ctx, service.Fail(ctx, err)) // leaving takes a while: it is told of before
	}
	if !n.settle(ctx) {
		return nil
	}
	ready()
	for {
		select {
		case <-newer:
			n.settle(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// unlessOver returns an error unless the end was asked for.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// recalled is how many engines of before are looked at.
const recalled = 100

// recall finds out what the engines of before have said of the delivery.
func (n *notifier) recall(ctx context.Context) error {
	events, err := n.a.journal.History(ctx, journal.Query{Kinds: []event.Kind{event.EngineJoined}, Limit: recalled})
	if err != nil {
		return fmt.Errorf("look for the newest engine: %w", err)
	}
	if len(events) > 0 {
		n.hear(&events[0])
	}
	n.roster.recall(events)
	return nil
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
		ok = err == nil && (len(events) == 0 || !n.roster.leftToNotifiers(events[0].Seq))
		return p, ok
	}
	if err != nil && ctx.Err() == nil {
		n.a.p.Logger.Warn("it is not known which notifiers there were, what is open is marked as a possible repetition", "err", err)
	}
	return p, err == nil
}

// join makes this process a member. Whoever was there before may still be sending to
// contacts that are this one's now: it gets a moment to hear of it and to end, and
// what comes in meanwhile is marked.
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
	if len(v.Members) == 1 {
		return nil
	}
	n.roster.share(time.Now().Add(n.a.s.HeartbeatTTL))
	select {
	case <-time.After(n.a.s.HeartbeatTTL / 3):
	case <-ctx.Done():
	}
	return ctx.Err()
}

// How often the log is asked for its end again, and the fold for its position.
const (
	askEndAgain = time.Second
	lookAtFold  = 10 * time.Millisecond
)

// settle puts the newest view in force once everything is folded that stood on the log
// when it was adopted: what its former owner has delivered is not delivered again. It
// is false when ctx has ended.
func (n *notifier) settle(ctx context.Context) bool {
	epoch := n.roster.epoch()
	end, err := n.a.journal.End(ctx)
	for err != nil {
		n.a.p.Logger.Warn("the end of the log is not known, trying again", "err", err)
		if !pause(ctx, askEndAgain) {
			return false
		}
		end, err = n.a.journal.End(ctx)
	}
	for n.a.proj.Position().Log < end.Log {
		if !pause(ctx, lookAtFold) {
			return false
		}
	}
	n.roster.enforce(epoch)
	return ctx.Err() == nil
}

// pause is false if ctx ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
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
