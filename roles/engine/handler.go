package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// HandlerJob is one event handler to run.
type HandlerJob struct {
	Object  *object.Object
	Handler *object.Handler
	State   *fold.State // of the object, as the handler's macros tell it; not to be changed
	Timeout time.Duration
}

// HandlerResult is what became of an event handler.
type HandlerResult struct {
	Exit     int // exit code; -1 if it did not end by itself
	TimedOut bool
	NotRun   bool   // it was not started, or the engine stopped meanwhile
	Problem  string // why it was not started or was killed; "" = it ended by itself
	Output   string // one line
	Took     time.Duration
}

// HandlerRunner runs event handlers. It never fails: what goes wrong is a result.
type HandlerRunner interface {
	Handle(ctx context.Context, j HandlerJob) HandlerResult
}

// Bounds of event handlers where the options say nothing.
const (
	handlersAtOnce = 32
	handlersQueued = 1000
	handlerTimeout = 30 * time.Second
)

// handling is what the loop knows of event handlers. It belongs to the loop's
// goroutine, but for what says otherwise.
type handling struct {
	line   []*reaction // wait for a place or for an earlier one of their object; oldest first
	busy   map[object.ID]bool
	places int

	ended []ran // guarded by the inbox's lock

	total            *prometheus.CounterVec
	took             prometheus.Histogram
	dropped          prometheus.Counter
	waiting, running atomic.Int64 // for the metrics; any goroutine may read them
}

// reaction is the handlers that run for one event, one after the other.
type reaction struct {
	jobs   []HandlerJob
	global bool   // the first job is the handler of the whole program
	event  string // id of the event
	about  string // the condition that it reports
}

// ran is the outcome of one handler.
type ran struct {
	of     *reaction
	job    int
	result HandlerResult
	last   bool
}

func newHandling(reg prometheus.Registerer) *handling {
	h := &handling{
		busy: map[object.ID]bool{},
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jaque_engine_handlers_total", Help: "Event handlers that ran, by outcome.",
		}, []string{"outcome"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "jaque_engine_handler_seconds", Help: "How long event handlers ran.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60},
		}),
		dropped: counter("jaque_engine_handlers_dropped_total", "Event handlers that did not run because too many waited, or because the engine ended."),
	}
	for _, outcome := range []string{handlerOK, handlerFailed, handlerTimedOut, handlerNotRun} {
		h.total.WithLabelValues(outcome)
	}
	gauge := func(name, help string, v *atomic.Int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(v.Load()) })
	}
	reg.MustRegister(h.total, h.took, h.dropped,
		gauge("jaque_engine_waiting_handlers", "Events whose handlers wait for a place.", &h.waiting),
		gauge("jaque_engine_running_handlers", "Events whose handlers run.", &h.running))
	return h
}

// idle tells whether no handler runs or waits.
func (h *handling) idle() bool { return h.places == 0 && len(h.line) == 0 }

// handle puts the handlers for an event in line: the program's first, then the
// object's own. Only who wrote an event runs its handlers, and only while it
// follows the log, so that they run once.
func (e *Engine) handle(key int32, ev *event.Event) {
	o := e.state.entries[key].obj
	if ev.Stream != event.Log || ev.Writer != e.opt.ID || ev.Instance != e.opt.Instance ||
		e.opt.Handlers == nil || !fold.Handles(ev, o.Rule) {
		return
	}
	r := e.reaction(o, ev)
	if r == nil {
		return
	}
	env := e.env(key)
	if !env.Settings.On.Has(object.ProgramEventHandlers) || !fold.Enabled(o, ev.Status, object.SwitchEventHandler) ||
		!object.Inside(fold.HandlerPeriod(&env, ev.Status), object.At(time.Now())) {
		return
	}
	h := e.handling
	if len(h.line) >= e.opt.QueuedHandlers {
		h.dropped.Add(float64(len(r.jobs)))
		e.log.Warn("too many event handlers wait, one does not run", "object", string(o.ID), "waiting", len(h.line))
		return
	}
	h.line = append(h.line, r)
	h.waiting.Store(int64(len(h.line)))
}

// reaction collects the handlers for an event, nil if there are none.
func (e *Engine) reaction(o *object.Object, ev *event.Event) *reaction {
	set := e.proj.Set()
	global := set.ServiceHandler
	if o.Kind() == object.Host {
		global = set.HostHandler
	}
	if global == nil && o.Rule.Handler == nil {
		return nil
	}
	st := *e.proj.State(o.ID)
	if w := ev.Was; w != nil && st.Status.State == object.OK && w.Type == object.Soft && o.Kind() == object.Service {
		// A soft recovery is stored as hard, but handlers are told what it is.
		st.Status.Type, st.Status.Attempt = object.Soft, w.Attempt+1
	}
	r := &reaction{global: global != nil, event: ev.ID, about: condition(o, &st.Status)}
	for _, handler := range []*object.Handler{global, o.Rule.Handler} {
		if handler != nil {
			r.jobs = append(r.jobs, HandlerJob{Object: o, Handler: handler, State: &st, Timeout: e.opt.HandlerTimeout})
		}
	}
	return r
}

// condition is an object's condition as Nagios writes it: "CRITICAL;SOFT;2".
func condition(o *object.Object, st *event.Status) string {
	return st.State.Name(o.Kind()) + ";" + strings.ToUpper(st.Type.String()) + ";" + strconv.Itoa(int(st.Attempt))
}

// startHandlers starts what waits, as far as there are places. Handlers of one
// object run in the order of its events.
func (e *Engine) startHandlers(ctx context.Context) {
	h := e.handling
	e.takeRan()
	if len(h.line) == 0 || h.places >= e.opt.HandlersAtOnce {
		return
	}
	waits := h.line[:0]
	ahead := map[object.ID]bool{}
	for _, r := range h.line {
		id := r.jobs[0].Object.ID
		if h.busy[id] || ahead[id] || h.places >= e.opt.HandlersAtOnce {
			ahead[id] = true
			waits = append(waits, r)
			continue
		}
		h.busy[id] = true
		h.places++
		go e.runHandlers(ctx, r)
	}
	clear(h.line[len(waits):])
	h.line = waits
	h.waiting.Store(int64(len(h.line)))
	h.running.Store(int64(h.places))
}

// runHandlers runs the handlers of one event and tells the loop what became of each.
func (e *Engine) runHandlers(ctx context.Context, r *reaction) {
	for i, job := range r.jobs {
		res := e.opt.Handlers.Handle(ctx, job)
		last := i == len(r.jobs)-1
		e.inbox.put(func() { e.handling.ended = append(e.handling.ended, ran{r, i, res, last}) })
	}
}

// takeRan takes the outcomes of handlers and puts them on the log.
func (e *Engine) takeRan() {
	h := e.handling
	e.inbox.mu.Lock()
	ended := h.ended
	h.ended = nil
	e.inbox.mu.Unlock()
	for i := range ended {
		r := &ended[i]
		if r.last {
			delete(h.busy, r.of.jobs[0].Object.ID)
			h.places--
		}
		e.onRan(r)
	}
	h.running.Store(int64(h.places))
}

// The outcomes of handlers, as metric labels and in events.
const (
	handlerOK       = "ok"
	handlerFailed   = "failed" // it ended with another exit code than 0, or by a signal
	handlerTimedOut = "timeout"
	handlerNotRun   = "not_run"
)

func (r *HandlerResult) outcome() string {
	switch {
	case r.TimedOut:
		return handlerTimedOut
	case r.NotRun:
		return handlerNotRun
	case r.Problem != "" || r.Exit != 0:
		return handlerFailed
	}
	return handlerOK
}

// text says in one line which handler did what.
func (r *ran) text() string {
	res := &r.result
	words := []string{r.of.jobs[r.job].Handler.Name}
	if words[0] == "" {
		words[0] = "event handler"
	}
	switch {
	case res.Problem != "":
		words = append(words, res.Problem)
	case res.Exit != 0:
		words = append(words, "exit code "+strconv.Itoa(res.Exit))
	}
	if res.Output != "" {
		words = append(words, res.Output)
	}
	return strings.Join(words, ": ")
}

// onRan counts an outcome and appends it. Nothing waits for the event: it is for
// people.
func (e *Engine) onRan(r *ran) {
	outcome, job := r.result.outcome(), &r.of.jobs[r.job]
	e.handling.total.WithLabelValues(outcome).Inc()
	e.handling.took.Observe(r.result.Took.Seconds())
	text := r.text()
	if outcome != handlerOK {
		e.log.Warn("an event handler failed", "object", string(job.Object.ID), "outcome", outcome, "text", text)
	}
	scope := "object"
	if r.of.global && r.job == 0 {
		scope = "program"
	}
	ev := &event.Event{
		Version: event.Version, ID: e.newID(), Kind: event.HandlerRan, Object: job.Object.ID, Epoch: e.View().Epoch,
		Writer: e.opt.ID, Instance: e.opt.Instance, Time: object.At(time.Now()), Text: text,
		Facts: map[string]string{
			"handler": job.Handler.Name, "scope": scope, "outcome": outcome, "exit": strconv.Itoa(r.result.Exit),
			"took": r.result.Took.Round(time.Millisecond).String(), "for": r.of.about, "event": r.of.event,
		},
	}
	e.opt.Journal.Append(ev, 0, func(_ uint64, err error) {
		if err != nil && !errors.Is(err, journal.ErrClosed) {
			e.log.Warn("the outcome of an event handler could not be appended", "object", string(ev.Object), "err", err)
		}
	})
}

// dropHandlers counts what a stop leaves undone.
func (e *Engine) dropHandlers() {
	e.takeRan()
	n := e.handling.places
	for _, r := range e.handling.line {
		n += len(r.jobs)
	}
	if n > 0 {
		e.handling.dropped.Add(float64(n))
		e.log.Warn("the engine ended before event handlers were done", "handlers", n)
	}
}
