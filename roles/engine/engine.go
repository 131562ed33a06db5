package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/appliance/throttle"
)

// Errors that a caller branches on.
var (
	// ErrNotFound: no such object in the running config.
	ErrNotFound = errors.New("no such object")
	// ErrRefused: the command was understood and refused; the text says why.
	ErrRefused = errors.New("refused")
	// ErrBusy: too many commands wait; try again.
	ErrBusy = errors.New("too many commands are waiting, try again in a moment")
	// ErrUnconfirmed: the log has not confirmed the command in time. It may
	// still take effect.
	ErrUnconfirmed = errors.New("not confirmed by the log yet, it may still take effect")
	// ErrNotBegun: an action of a request that ended before it; nothing was done
	// about it.
	ErrNotBegun = errors.New("not begun")
	// ErrStopping: the engine is not running (any more).
	ErrStopping = errors.New("the engine is not running")
)

// Job is one check to execute.
type Job struct {
	Object  *object.Object
	Timeout time.Duration
	Due     object.Time // when it was due, for the latency
}

// Runner executes checks. It never fails: what goes wrong is a result.
type Runner interface {
	Run(ctx context.Context, j Job) fold.Result
}

// Coordinator is the membership store as the engine uses it.
type Coordinator interface {
	Register(ctx context.Context, m membership.Member, newestOnLog uint64) (membership.View, error)
	Repair(ctx context.Context, newestOnLog uint64) (membership.View, error)
	Leave(ctx context.Context, id string) error
	// StepOut is Leave for a while: Register comes back. After an error it is not known
	// whether the member is out.
	StepOut(ctx context.Context, id string) (membership.View, error)
	// Watch has fn called with every newer view until cancel; fn does not block.
	Watch(fn func(membership.View)) (cancel func())
}

// Options are what an engine needs. Every field without a default is required.
type Options struct {
	ID          string // engine id
	Instance    string // random id of this process run
	Journal     journal.Journal
	Projection  *projection.Projection
	Runner      Runner
	Coordinator Coordinator
	Logger      *slog.Logger
	Registerer  prometheus.Registerer

	// Serves says what this engine's process can own beside objects, as
	// membership.Serves writes it; "" = everything.
	Serves string
	// Delivery says on the log who delivers the notifications, see event.FactDelivery;
	// "" = nothing is said.
	Delivery string
	// Concurrency bounds the checks that run at once; default 512.
	Concurrency int
	// QueuedCommands bounds the commands that wait for decisions; default 10000.
	QueuedCommands int
	// SnapshotEvery and SnapshotEvents say when the folded state is saved:
	// after so long or so many events, whichever is first. Default 5 minutes
	// and 300,000.
	SnapshotEvery  time.Duration
	SnapshotEvents uint64
	// Halted tells that this process may not act as a member at present: its peers may
	// have taken over. Nothing is started or decided meanwhile. nil = never.
	Halted func() bool
	// Forward reaches the engines that own the objects of other commands; nil =
	// nothing is forwarded.
	Forward Forwarder
	// Handlers runs event handlers; nil = none run.
	Handlers HandlerRunner
	// HandlersAtOnce bounds the objects' own handlers that run at once, and a
	// quarter of it those of one definition and each of the program's two.
	// QueuedHandlers bounds those that wait, half of it those of one definition.
	// Default 32 and 1000.
	HandlersAtOnce, QueuedHandlers int
	// HandlerTimeout is how long a handler may run, HandlerWait how long it may
	// wait. Default 30 s and 5 minutes.
	HandlerTimeout, HandlerWait time.Duration
	// MakeUp is how far back an engine that starts beside others makes up for checks
	// that their owners before did not run: longer than it takes to notice that one has
	// died. Default 30 s.
	MakeUp time.Duration
	// Confirm is how long a command waits for the log; default 15 s.
	Confirm time.Duration
	// Grace is how long a stop waits for running checks; default 5 s.
	Grace time.Duration
}

func (o *Options) fill() error {
	switch {
	case o.ID == "" || o.Instance == "":
		return errors.New("engine: an id and an instance are required")
	case o.Journal == nil || o.Projection == nil || o.Runner == nil || o.Coordinator == nil:
		return errors.New("engine: journal, projection, runner and coordinator are required")
	case o.Logger == nil || o.Registerer == nil:
		return errors.New("engine: logger and registerer are required")
	}
	o.Concurrency = orDefault(o.Concurrency, 512)
	o.QueuedCommands = orDefault(o.QueuedCommands, 10_000)
	o.SnapshotEvery = orDefault(o.SnapshotEvery, 5*time.Minute)
	o.SnapshotEvents = orDefault(o.SnapshotEvents, 300_000)
	o.HandlersAtOnce = orDefault(o.HandlersAtOnce, handlersAtOnce)
	o.QueuedHandlers = orDefault(o.QueuedHandlers, handlersQueued)
	o.HandlerTimeout = orDefault(o.HandlerTimeout, handlerTimeout)
	o.HandlerWait = orDefault(o.HandlerWait, handlerWait)
	o.MakeUp = orDefault(o.MakeUp, 30*time.Second)
	o.Confirm = orDefault(o.Confirm, 15*time.Second)
	o.Grace = orDefault(o.Grace, 5*time.Second)
	return nil
}

func orDefault[T int | time.Duration | uint64](v, d T) T {
	if v <= 0 {
		return d
	}
	return v
}

// Engine is the check loop of one process. Create it with New.
type Engine struct {
	opt     Options
	log     *slog.Logger
	proj    *projection.Projection
	metrics *metrics
	inbox   inbox
	tail    chan *tailBatch
	nextID  uint64
	started object.Time
	look    func(object.ID) *fold.State
	trigger func(string) fold.Trigger

	// Owned by the loop goroutine.
	state    loopState
	handling *handling
	demands  *prometheus.CounterVec
	lines    throttle.Lines
	added    map[object.ID]object.Time // when a reload added what was not there at the start

	reloading sync.Mutex // held through one reload; guards the loop's keys against prepare

	view    atomic.Pointer[membership.View]
	places  chan struct{}              // one token per command that waits for its decision
	ended   chan struct{}              // closed when the loop has ended
	stuck   atomic.Int64               // object.Time since which decisions wait and none came back; 0 = none waits
	unsaid  atomic.Int64               // object.Time since which the log does not take an event of the system; 0 = it does
	oldest  atomic.Pointer[unanswered] // nil = nothing waits
	running atomic.Bool
	accepts atomic.Bool  // commands, which wait until the engine is live
	owned   atomic.Int64 // objects that are planned here
	// behindSince is since when decisions wait for a newer view; 0 = none waits.
	behindSince atomic.Int64
	recent      latencies
	announces   announcer
	book        book
}

// New checks the options and returns an engine that has not started.
func New(o Options) (*Engine, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	e := &Engine{
		opt: o, log: o.Logger, proj: o.Projection,
		tail: make(chan *tailBatch), places: make(chan struct{}, o.QueuedCommands), ended: make(chan struct{}),
	}
	e.announces.e = e
	e.look, e.trigger = e.proj.Look, e.proj.Trigger
	e.inbox.wake = make(chan struct{}, 1)
	e.view.Store(&membership.View{})
	e.metrics = newMetrics(o.Registerer, e)
	e.handling, e.demands = newHandling(o.Registerer), newDemands(o.Registerer)
	e.added = map[object.ID]object.Time{}
	return e, nil
}

// Service returns the engine as a part of a process. It is ready once the log
// is replayed, the member registered and every object scheduled.
func (e *Engine) Service(needs ...string) service.Service {
	return service.Service{Name: "engine", Needs: needs, Run: e.run}
}

// View returns the membership view the engine acts on.
func (e *Engine) View() membership.View { return *e.view.Load() }

// ID returns the engine's id.
func (e *Engine) ID() string { return e.opt.ID }

// Latency is how late the last checks started, in seconds.
type Latency struct{ P50, P95, P99, Max float64 }

// Latency returns the lateness of the last 1024 checks; zero before the first.
func (e *Engine) Latency() Latency { return e.recent.percentiles() }

// patience is how long an append may wait before it is called trouble.
const patience = 10 * time.Second

// Trouble says in sentences what keeps the engine from its work; none while all
// is well.
func (e *Engine) Trouble() []string {
	var all []string
	one := e.hanging()
	if one != "" {
		all = append(all, one)
	}
	for _, t := range []struct {
		since *atomic.Int64
		text  string
	}{
		{&e.stuck, "the log has confirmed nothing for %s; results and commands wait (is the disk full?)"},
		{&e.unsaid, "the log has not taken for %s what this engine says of itself; nobody is told by it until it has (has the stream a leader?)"},
		{&e.behindSince, "the log has been ahead of the membership for %s; results and commands wait (is the coordination store reachable?)"},
	} {
		since := object.Time(t.since.Load())
		if since == 0 || t.since == &e.stuck && one != "" {
			continue
		}
		if d := object.At(time.Now()).Sub(since); d > patience {
			all = append(all, fmt.Sprintf(t.text, d.Truncate(time.Second)))
		}
	}
	return all
}

// newID returns an id for one decision or command, unique over all processes.
func (e *Engine) newID() string {
	n := atomic.AddUint64(&e.nextID, 1)
	return e.opt.Instance + "-" + strconv.FormatUint(n, 36)
}

// Reload switches to the objects of another config generation, which differ from
// the running one's by change. Unchanged objects keep their state and their place
// in the schedule.
func (e *Engine) Reload(ctx context.Context, set *object.Set, change Change) error {
	if !e.running.Load() {
		return ErrStopping
	}
	e.reloading.Lock()
	r := &reload{set: set, change: change, done: make(chan error, 1)}
	e.prepare(r)
	e.inbox.reload(r)
	answer := make(chan error, 1)
	go func() {
		// The loop may still take it after the caller has given up.
		defer e.reloading.Unlock()
		answer <- <-r.done
	}()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the reload: %w", ctx.Err())
	}
}

// Change is what differs between two generations.
type Change struct {
	Added, Removed, Changed []object.ID
}
