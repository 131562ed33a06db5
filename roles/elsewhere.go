package roles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/service"
)

// elsewhere looks at the notifications that processes of their own deliver: whether
// one of them runs, and whether what the log asks for goes out.
type elsewhere struct {
	open  func() []*deliver.Pending
	count func(context.Context) (int, error) // live notifiers
	live  atomic.Int64                       // by the last count; unknownLive = it failed
	seen  atomic.Int64                       // when one was last known to live, in Unix milliseconds
	known atomic.Int64                       // when they were last counted, in Unix milliseconds
	log   *slog.Logger
	told  time.Time // when the log was told that none runs; zero = some do. It belongs to run.
}

const unknownLive = -1

// How often notifiers are counted, and how long it is no trouble that there is none:
// one of them may be starting again.
const (
	countNotifiers  = 5 * time.Second
	withoutNotifier = 15 * time.Second
)

// deliverElsewhere leaves the delivery to notifiers.
func (a *appliance) deliverElsewhere(ctx context.Context) error {
	if a.bus == nil {
		return errors.New("-notify-delivery notifier: no other process can follow -eventlog memory; leave -eventlog out, or deliver here with -notify-delivery local")
	}
	if a.bus.Embedded() && a.s.NATS.Listen == "" {
		a.p.Logger.Warn("odd command line", "warning", "with -notify-delivery notifier and without -nats-listen no notifier can reach this process; name an address with -nats-listen")
	}
	b, err := a.link(ctx, "notifiers-server", a.meeting())
	if err != nil {
		return err
	}
	x := newElsewhere(a.proj, a.p.Logger, func(ctx context.Context) (int, error) {
		return coordination.Live(ctx, b.Conn(), b.Names().Members, coordination.Notifiers)
	})
	registerDelivery(a.reg, x.metrics())
	a.troubles = append(a.troubles, x.trouble)
	a.add(service.Service{Name: "notifiers", Needs: []string{"canary"}, Run: x.run})
	return nil
}

// meeting is where processes of other roles than the engine's are members, and hear
// what others announce: the server that -coordination names, else that of the log.
func (a *appliance) meeting() string {
	if external(a.s.Coordination) {
		return a.s.Coordination
	}
	return a.s.EventLog
}

func newElsewhere(p *projection.Projection, log *slog.Logger, count func(context.Context) (int, error)) *elsewhere {
	x := &elsewhere{open: p.OpenRequests, count: count, log: log}
	x.live.Store(unknownLive)
	x.seen.Store(time.Now().UnixMilli())
	x.known.Store(time.Now().UnixMilli())
	return x
}

// run counts the notifiers until ctx ends.
func (x *elsewhere) run(ctx context.Context, ready func()) error {
	tick := time.NewTicker(countNotifiers)
	defer tick.Stop()
	x.look(ctx)
	ready()
	for {
		select {
		case <-tick.C:
			x.look(ctx)
			x.tell()
		case <-ctx.Done():
			return nil
		}
	}
}

func (x *elsewhere) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, countNotifiers)
	defer cancel()
	n, err := x.count(ctx)
	if err != nil {
		x.live.Store(unknownLive)
		return
	}
	x.live.Store(int64(n))
	x.known.Store(time.Now().UnixMilli())
	if n > 0 {
		x.seen.Store(time.Now().UnixMilli())
	}
}

// none tells whether nobody delivers, and not only for a moment.
func (x *elsewhere) none(now time.Time) bool {
	return x.live.Load() == 0 && now.Sub(time.UnixMilli(x.seen.Load())) >= withoutNotifier
}

// unknown tells whether it cannot be found out if anybody delivers, and not only for a
// moment.
func (x *elsewhere) unknown(now time.Time) bool {
	return x.live.Load() == unknownLive && now.Sub(time.UnixMilli(x.known.Load())) >= withoutNotifier
}

// tell says in the log when it begins that no notifier runs, and when that is over.
func (x *elsewhere) tell() {
	now := time.Now()
	switch none := x.none(now); {
	case none && x.told.IsZero():
		x.told = now
		x.log.Warn("no notifier runs, so that nobody is told of anything; start one with -target notifier", "open", len(x.open()))
	case x.live.Load() > 0 && !x.told.IsZero():
		x.log.Info("a notifier runs again", "notifiers", x.live.Load(), "without", now.Sub(x.told).Round(time.Second), "open", len(x.open()))
		x.told = time.Time{}
	}
}

// trouble says in sentences what keeps notifications from going out.
func (x *elsewhere) trouble() []string {
	now, open := time.Now(), x.open()
	var all []string
	if x.unknown(now) {
		all = append(all, fmt.Sprintf("it is not known since %s whether a notifier runs: their members cannot be read; is the log server reachable?",
			clock(time.UnixMilli(x.known.Load()), now)))
	}
	if x.none(now) {
		text := "no notifier runs, so that nobody is told of anything; start one with -target notifier"
		if len(open) > 0 {
			text = fmt.Sprintf("%s since %s and no notifier runs; start one with -target notifier", waitFor(len(open)), clock(open[0].Time.Std(), now))
		}
		all = append(all, text)
	} else if late := slices.DeleteFunc(slices.Clone(open), func(p *deliver.Pending) bool { return !overdue(p, object.At(now)) }); len(late) > 0 {
		all = append(all, fmt.Sprintf("%s since %s and no notifier has tried to deliver: look at the logs of the notifiers",
			waitFor(len(late)), clock(late[0].Time.Std(), now)))
	}
	return append(all, channelsDown(open, now)...)
}

// untried is how long after its time a request may wait without any attempt: for the
// rate of its channel, or for a notifier that takes over.
const untried = 5 * time.Minute

// overdue tells whether a request should have been tried long ago.
func overdue(p *deliver.Pending, now object.Time) bool {
	return p.Failures == 0 && p.Time.Add(p.Note.Group.Wait+p.Note.Group.Interval+untried) < now
}

// channelsDown says which kinds of channels do not take what is open, as the log knows it.
func channelsDown(open []*deliver.Pending, now time.Time) []string {
	type kind struct {
		n        int
		since    time.Time
		last     *deliver.Pending
		contacts map[string]bool
	}
	kinds := map[string]*kind{}
	for _, p := range open { // oldest first
		if p.Reason == "" {
			continue
		}
		name, _, _ := strings.Cut(p.Channel, ":")
		k := kinds[name]
		if k == nil {
			k = &kind{since: p.Time.Std(), contacts: map[string]bool{}}
			kinds[name] = k
		}
		k.n, k.last, k.contacts[p.Contact] = k.n+1, p, true
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		k := kinds[name]
		whom := ""
		if len(k.contacts) > 1 {
			whom = fmt.Sprintf(" for %d contacts", len(k.contacts))
		}
		reason := k.last.Reason
		if by := k.last.By; by != "" && !strings.Contains(reason, "notifier "+by) {
			reason = "notifier " + by + ": " + reason
		}
		all = append(all, fmt.Sprintf("%s over %s%s since %s: %s", waitFor(k.n), name, whom, clock(k.since, now), reason))
	}
	return all
}

func waitFor(n int) string {
	if n == 1 {
		return "1 notification waits"
	}
	return fmt.Sprintf("%d notifications wait", n)
}

// clock is a time for people: the day only if it is another one.
func clock(t, now time.Time) string {
	if now.Sub(t) > 20*time.Hour {
		return t.Format("2006-01-02 15:04 MST")
	}
	return t.Format("15:04 MST")
}

// deliveryMetrics are asked for when somebody looks.
type deliveryMetrics struct {
	notifiers    func() float64
	open, oldest func() float64 // nil = package delivery has them
}

func (x *elsewhere) metrics() deliveryMetrics {
	return deliveryMetrics{
		notifiers: func() float64 { return float64(x.live.Load()) },
		open:      func() float64 { return float64(len(x.open())) },
		oldest: func() float64 {
			open := x.open()
			if len(open) == 0 {
				return 0
			}
			oldest := slices.MinFunc(open, func(a, b *deliver.Pending) int { return cmp.Compare(a.Time, b.Time) })
			return time.Since(oldest.Time.Std()).Seconds()
		},
	}
}

// registerDelivery adds the metrics that every engine has, whoever delivers.
func registerDelivery(reg prometheus.Registerer, m deliveryMetrics) {
	gauge := func(name, help string, of func() float64) {
		if of != nil {
			reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, of))
		}
	}
	gauge("jaque_notify_notifiers", "Live processes that deliver notifications: notifiers, or engines with -notify-delivery local; -1 = not known.", m.notifiers)
	gauge("jaque_notify_open", "Requests without an outcome.", m.open)
	gauge("jaque_notify_oldest_seconds", "Age of the oldest request without an outcome; 0 = there is none.", m.oldest)
}
