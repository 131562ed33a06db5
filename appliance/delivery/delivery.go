package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/service"
)

// Projection is what delivery reads of the folded log.
type Projection interface {
	Set() *object.Set
	World() *deliver.World
	// WatchRequests returns the open requests and calls fn with every change of
	// them from then on, in order.
	WatchRequests(fn func(added []*deliver.Pending, ended []string)) (open []*deliver.Pending, cancel func())
}

// Journal takes the outcomes.
type Journal interface {
	Append(e *event.Event, expect uint64, done journal.Done)
}

// Options says what a delivery works with. Everything that has no default must be
// given.
type Options struct {
	Projection Projection
	Journal    Journal
	// Owner tells whether this process delivers to a contact; nil = to everybody.
	// Whoever changes the answer calls Kick.
	Owner func(contact string) bool
	// Shared tells whether another process may have sent a request to a contact of this
	// one that comes in, or may still do so: it is marked as a possible repetition if it
	// goes out at once. nil = never.
	Shared func(*deliver.Pending) bool
	// Rivals tells whether another process may still begin with messages to contacts of
	// this one: whatever goes out meanwhile is marked. nil = never.
	Rivals func() bool
	// Begun tells, of a request that came while there were rivals, whether one of them
	// may have begun with it since; due is when it was to go out. nil = never.
	Begun func(p *deliver.Pending, due object.Time) bool
	// Doubted tells whether another process has said of a request that it may have been
	// sent. nil = never.
	Doubted func(id string) bool
	// Before tells whether a process before this one may have sent what is open when
	// this one begins; what was tried then, as the log knows, may have been anyhow.
	// nil = always.
	Before func(*deliver.Pending) bool
	// Busy tells until when another process that lives may still be sending a request
	// that this one has taken over from it: nothing that was due is sent before, unless
	// the log tells first what became of it. The zero time = nobody is. It is asked of
	// what is open when this process begins or becomes its owner; nil = nobody ever is.
	Busy func(*deliver.Pending) time.Time
	// Former tells whether an owner before may have sent a request that this process
	// takes over while it runs; nil = always.
	Former func(*deliver.Pending) bool
	// Release returns what is to be said on the log once this process has begun with
	// nothing more for contacts that others have now, nil = nothing. left says that it
	// stops. It is asked after each look at the owners. nil = there is never anything.
	Release func(left bool) *deliver.Release
	// Halted tells that this process may not send now, as its peers are about to take
	// over. What is due waits and is looked at again soon; a stop then cuts off what is
	// being sent. nil = never.
	Halted func() bool
	// Held tells whether a request may go out. It is asked when the request comes and
	// then, at least once a minute and after each change of the requests, until it
	// lets go; nil = each may.
	Held func(*deliver.Pending) Hold
	// Resolve returns the way to a contact as the config has it now. Its errors are
	// judged as those of a channel: that there is no way any more is permanent.
	Resolve func(contact, name string) (channel.Channel, error)
	// Limits are asked for at the start and after a Kick; nil = the defaults.
	Limits func() deliver.Limits
	URL    func() string // of the dashboard; nil = not known
	Epoch  func() uint64 // of the view that outcomes are written under; nil = 0

	// Zone is the one in which messages tell times; nil = UTC.
	Zone *time.Location

	Writer, Instance string // of the outcomes
	Version          string // of jaque, for messages

	// Workers is how many messages are sent at once; 0 = 8. One of them is to a
	// contact over a channel, half of them over a kind of channel. Ways on which the
	// newest attempt failed have half of them as well, one over each kind, so that a
	// server that hangs holds up others once. With a single one it holds up everybody.
	Workers     int
	Queue       int           // due requests that wait for a place without being told of as too many; 0 = 1000
	SendTimeout time.Duration // of one message; 0 = SendTimeout
	StopTimeout time.Duration // how long a stop lets messages be sent; 0 = 5 s

	Registerer prometheus.Registerer // nil = none
	Logger     *slog.Logger
}

// SendTimeout is how long sending one message may take if nothing else is said, and
// SendMost is when it is over for certain and its outcome on the way to the log.
const (
	SendTimeout = 30 * time.Second
	SendMost    = SendTimeout + grace + time.Second
)

func (o Options) withDefaults() Options {
	if o.Owner == nil {
		o.Owner = func(string) bool { return true }
	}
	never := func() bool { return false }
	if o.Shared == nil {
		o.Shared = func(*deliver.Pending) bool { return false }
	}
	if o.Rivals == nil {
		o.Rivals = never
	}
	if o.Before == nil {
		o.Before = func(*deliver.Pending) bool { return true }
	}
	if o.Begun == nil {
		o.Begun = func(*deliver.Pending, object.Time) bool { return false }
	}
	if o.Doubted == nil {
		o.Doubted = func(string) bool { return false }
	}
	if o.Former == nil {
		o.Former = func(*deliver.Pending) bool { return true }
	}
	if o.Release == nil {
		o.Release = func(bool) *deliver.Release { return nil }
	}
	if o.Busy == nil {
		o.Busy = func(*deliver.Pending) time.Time { return time.Time{} }
	}
	if o.Halted == nil {
		o.Halted = never
	}
	if o.Held == nil {
		o.Held = func(*deliver.Pending) Hold { return Go }
	}
	if o.Limits == nil {
		o.Limits = func() deliver.Limits { return deliver.Limits{} }
	}
	if o.URL == nil {
		o.URL = func() string { return "" }
	}
	if o.Epoch == nil {
		o.Epoch = func() uint64 { return 0 }
	}
	if o.Registerer == nil {
		o.Registerer = prometheus.NewRegistry()
	}
	if o.Workers <= 0 {
		o.Workers = 8
	}
	if o.Queue <= 0 {
		o.Queue = 1000
	}
	if o.SendTimeout <= 0 {
		o.SendTimeout = SendTimeout
	}
	if o.StopTimeout <= 0 {
		o.StopTimeout = 5 * time.Second
	}
	return o
}

// Delivery sends what is due. Create it with New; any goroutine may call its
// methods.
type Delivery struct {
	opt     Options
	log     *slog.Logger
	metrics *metrics
	inbox   inbox

	// What follows belongs to the goroutine of run.
	planner  *deliver.Planner
	world    *deliver.World
	requests map[string]*request // every open one
	held     map[string]bool     // what Held keeps back, and whether somebody may have sent it
	running  int                 // messages that are being sent
	writes   writes
	said     int // releases of this process
	steps    clock
	counted  time.Time                // when the planner's requests were last counted
	channels map[string]*ChannelState // by kind
	silent   map[beat]bool            // heartbeats that do not get through
	send     context.Context          // of what is being sent; ends when a stop has waited long enough

	state    atomic.Pointer[State]
	attempts attempts
	trying   sync.Mutex // one test at a time
}

// New returns a delivery that does nothing until its service runs.
func New(o Options) (*Delivery, error) {
	if o.Projection == nil || o.Journal == nil || o.Resolve == nil || o.Logger == nil {
		return nil, errors.New("delivery: a projection, a journal, channels and a logger are needed")
	}
	o = o.withDefaults()
	d := &Delivery{
		opt: o, log: o.Logger, inbox: newInbox(), world: o.Projection.World(),
		requests: map[string]*request{}, held: map[string]bool{}, channels: map[string]*ChannelState{}, silent: map[beat]bool{},
	}
	d.planner = deliver.NewPlanner(d.limits())
	d.state.Store(&State{})
	d.metrics = newMetrics(o.Registerer, d)
	return d, nil
}

// limits are those of the config, with places kept for everybody.
func (d *Delivery) limits() deliver.Limits {
	l := d.opt.Limits()
	half := max(1, d.opt.Workers/2)
	l.Queue, l.PerWay, l.PerKind, l.Failing = d.opt.Workers, 1, half, half
	return l
}

// Service returns the part of the process that sends. The log must have been
// replayed before it starts: needs are the services after which it is.
func (d *Delivery) Service(needs ...string) service.Service {
	return service.Service{Name: "notifications", Needs: needs, StopTimeout: d.opt.StopTimeout + 2*writePatience, Run: d.run}
}

// Kick has limits, owners and channels looked at again: after a reload and when the
// owner of contacts has changed.
func (d *Delivery) Kick() { d.inbox.put(d.review) }
