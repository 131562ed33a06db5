package roles

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/web"
)

// delivering is what sends notifications in this process, with the config that it
// works by.
type delivering struct {
	*delivery.Delivery
	channels *channels
	config   atomic.Pointer[config.Config]
}

// makeCanary makes what follows the rounds of the canary.
func (a *appliance) makeCanary(context.Context) error {
	a.canary = newCanaryWatch(a.proj, a.journal, a.reg, a.p.Logger)
	a.canary.ttl = a.s.HeartbeatTTL
	unwatch := a.store.Watch(func(v membership.View) { a.canary.adopt(a.s.EngineID, v) })
	a.undo = append(a.undo, func() error { unwatch(); return nil })
	return nil
}

// makeDelivery makes what sends notifications. It begins when the engine has caught
// up with the log, so that it knows which requests are open, and stops before the
// engine does.
func (a *appliance) makeDelivery(ctx context.Context) error {
	a.add(service.Service{Name: "canary", Needs: []string{"engine"}, Run: a.canary.run})
	if a.s.Notify.Delivery == deliveredByNotifier {
		return a.deliverElsewhere(ctx)
	}
	c := newContacts(a)
	o := c.options()
	o.Held, o.Epoch, o.Writer = a.canary.order.held, func() uint64 { return a.engine.View().Epoch }, a.s.EngineID
	x, err := a.newDelivering(o)
	if err != nil {
		return err
	}
	c.roster.change = x.Kick
	a.engines.watch(c.roster.renew)
	unwatch := a.store.Watch(c.adopt)
	a.undo = append(a.undo, func() error { unwatch(); return nil })
	registerDelivery(a.reg, deliveryMetrics{notifiers: func() float64 { return float64(c.roster.members()) }})
	a.delivery, a.contacts = x, c
	a.troubles = append(a.troubles, x.Trouble)
	a.add(service.Service{Name: "contacts", Needs: []string{"engine", "engines"}, Run: c.run})
	a.add(x.Service("canary", "contacts"))
	return nil
}

// newDelivering makes what sends; o says for whom and under which name.
func (a *appliance) newDelivering(o delivery.Options) (x *delivering, err error) {
	x = &delivering{channels: newChannels(a.s, a.runner, a.proj, a.p.Logger)}
	x.use(a.config)
	o.Projection, o.Journal, o.Resolve, o.Limits = a.proj, a.journal, x.channels.Resolve, x.limits
	o.Zone, o.URL = time.Local, func() string { return x.config.Load().Delivery.URL }
	o.Instance, o.Version = a.instance, a.p.Version
	o.Workers, o.Queue, o.Registerer, o.Logger = a.s.Notify.Workers, a.s.Notify.Queue, a.reg, a.p.Logger
	x.Delivery, err = delivery.New(o)
	return x, err
}

// use switches to another generation of the config.
func (x *delivering) use(c *config.Config) {
	x.config.Store(c)
	x.channels.use(c)
}

// reloaded lets the delivery go on by another generation.
func (x *delivering) reloaded(c *config.Config) {
	x.use(c)
	x.Kick()
}

// limits are those of the config.
func (x *delivering) limits() deliver.Limits {
	c := x.config.Load().Delivery
	l := deliver.Limits{Deadline: c.Deadline, Rates: make(map[string]deliver.Rate, len(c.Rates))}
	for name, r := range c.Rates {
		l.Rates[name] = deliver.Rate{Messages: r.Messages, Per: r.Per}
	}
	return l
}

// forWeb tells the dashboard how delivery goes.
func (x *delivering) forWeb() web.Delivery {
	s := x.State()
	out := web.Delivery{Open: s.Open, Due: s.Due, InFlight: s.InFlight, Oldest: s.Oldest}
	for _, c := range s.Channels {
		out.Channels = append(out.Channels, web.ChannelState{
			Name: c.Name, Sent: c.Sent, Failing: c.Failing, Reason: c.Reason, Open: c.Open,
		})
	}
	return out
}

// errPing refuses to ask the address outside for anything but a complete round.
var errPing = errors.New("contact " + strconv.Quote(config.CanaryContact) + " is the address outside that hears of complete rounds of the canary alone: " +
	"a test would tell it that all is well; give the canary a contact and test that one")

// try sends a marked message for the dashboard and the API.
func (x *delivering) try(ctx context.Context, contact, name string) ([]web.TestOutcome, error) {
	if c := x.config.Load(); contact == config.CanaryContact && c.Delivery.Canary.URL.Reveal() != "" {
		return nil, errPing
	}
	outcomes, err := x.Test(ctx, contact, name)
	all := make([]web.TestOutcome, len(outcomes))
	for i, o := range outcomes {
		all[i] = web.TestOutcome{Channel: o.Channel, Err: o.Err, Took: o.Took}
	}
	return all, err
}
