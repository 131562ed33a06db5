package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
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
	handlerWait    = 5 * time.Minute
)

// A part of the places is the most that one definition may take, and a part of the
// line the most in which it may wait: one that hangs leaves room for the others.
const (
	placesPart = 4
	linePart   = 2
)

// globalFirst is how long an object's own handler lets the program's for the same
// event go first; one that hangs does not hold it up for longer.
const globalFirst = object.Time(2000)

// handlerLook is how often the line is looked at while no place becomes free.
const handlerLook = object.Time(1000)

// handling is what the loop knows of event handlers. It belongs to the loop's
// goroutine, but for what says otherwise.
type handling struct {
	line []*reaction // wait for a place or for an earlier one of their object; oldest first
	runs map[turn]*reaction
	own  int            // of those that run: handlers of objects
	used map[string]int // places by definition
	wait map[string]int // in line, by definition

	changed bool        // a place became free, or somebody came
	next    object.Time // when the line is looked at in any case
	warned  object.Time // when drops were last logged
	quiet   int         // drops since then

	ended []ran // guarded by the inbox's lock

	total            *prometheus.CounterVec
	took             prometheus.Histogram
	dropped          prometheus.Counter
	waiting, running atomic.Int64 // for the metrics; any goroutine may read them
}

// turn names the handlers that run one after the other: those of one object, and
// apart from them those of the program for it.
type turn struct {
	object object.ID
	global bool
}

// reaction is one handler that runs for one event.
type reaction struct {
	job    HandlerJob
	global bool   // it is the handler of the whole program
	key    string // of its definition
	event  string // id of the event
	about  string // the condition that it reports
	since  object.Time
	after  *reaction // the program's for the same event; nil = there is none
	over   bool      // it ended or was dropped
}

func (r *reaction) turn() turn { return turn{r.job.Object.ID, r.global} }

// ran is the outcome of one handler.
type ran struct {
	of     *reaction
	result HandlerResult
}

func newHandling(reg prometheus.Registerer) *handling {
	h := &handling{
		runs: map[turn]*reaction{}, used: map[string]int{}, wait: map[string]int{},
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "jaque_engine_handlers_total", Help: "Event handlers, by what became of them.",
		}, []string{"outcome"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "jaque_engine_handler_seconds", Help: "How long event handlers ran.",
			Buckets: []float64{.01, .05, .1, .5, 1, 5, 10, 30, 60},
		}),
		dropped: counter("jaque_engine_handlers_dropped_total",
			"Event handlers that did not run or not to their end: too many waited, they waited too long, the state changed meanwhile, or the engine ended."),
	}
	for _, outcome := range []string{handlerOK, handlerFailed, handlerTimedOut, handlerNotRun, handlerDropped} {
		h.total.WithLabelValues(outcome)
	}
	gauge := func(name, help string, v *atomic.Int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(v.Load()) })
	}
	reg.MustRegister(h.total, h.took, h.dropped,
		gauge("jaque_engine_waiting_handlers", "Event handlers that wait for a place.", &h.waiting),
		gauge("jaque_engine_running_handlers", "Event handlers that run.", &h.running))
	return h
}

// idle tells whether no handler runs or waits.
func (h *handling) idle() bool { return len(h.runs) == 0 && len(h.line) == 0 }

// handle puts the handlers for an event in line: the program's first, then the
// object's own. Only who wrote an event runs its handlers, and only while it
// follows the log, so that they run once.
func (e *Engine) handle(key int32, ev *event.Event) {
	o := e.state.entries[key].obj
	if ev.Stream != event.Log || ev.Writer != e.opt.ID || ev.Instance != e.opt.Instance ||
		e.opt.Handlers == nil || !fold.Handles(ev, o.Rule) {
		return
	}
	reactions := e.reactions(o, ev)
	if reactions == nil {
		return
	}
	env := e.env(key)
	if !env.Settings.On.Has(object.ProgramEventHandlers) || !fold.Enabled(o, ev.Status, object.SwitchEventHandler) ||
		!object.Inside(fold.HandlerPeriod(&env, ev.Status), object.At(time.Now())) {
		return
	}
	h := e.handling
	for _, r := range reactions {
		if len(h.line) >= e.opt.QueuedHandlers || h.wait[r.key] >= max(1, e.opt.QueuedHandlers/linePart) {
			e.drop(r, "too many handlers wait")
			continue
		}
		h.line = append(h.line, r)
		h.wait[r.key]++
		h.changed = true
	}
	h.waiting.Store(int64(len(h.line)))
}

// reactions collects the handlers for an event, nil if there are none.
func (e *Engine) reactions(o *object.Object, ev *event.Event) (all []*reaction) {
	set := e.proj.Set()
	global, globalKey := set.ServiceHandler, "all services"
	if o.Kind() == object.Host {
		global, globalKey = set.HostHandler, "all hosts"
	}
	if global == nil && o.Rule.Handler == nil {
		return nil
	}
	st := *e.proj.State(o.ID)
	if w := ev.Was; w != nil && st.Status.State == object.OK && w.Type == object.Soft && o.Kind() == object.Service {
		// A soft recovery is stored as hard, but handlers are told what it is.
		st.Status.Type, st.Status.Attempt = object.Soft, w.Attempt+1
	}
	add := func(handler *object.Handler, global bool, key string) {
		all = append(all, &reaction{
			job:    HandlerJob{Object: o, Handler: handler, State: &st, Timeout: e.opt.HandlerTimeout},
			global: global, key: key, event: ev.ID, about: condition(o, &st.Status), since: object.At(time.Now()),
		})
	}
	if global != nil {
		add(global, true, globalKey)
	}
	if own := o.Rule.Handler; own != nil {
		add(own, false, definition(own))
	}
	if len(all) == 2 {
		all[1].after = all[0]
	}
	return all
}

// definition tells definitions of handlers apart: by name where there is one, else
// by what they start.
func definition(h *object.Handler) string {
	if h.Name != "" {
		return "name " + h.Name
	}
	return "line " + h.Shell + strings.Join(h.Plugin, "\x00")
}

// condition is an object's condition as Nagios writes it: "CRITICAL;SOFT;2".
func condition(o *object.Object, st *event.Status) string {
	return st.State.Name(o.Kind()) + ";" + strings.ToUpper(st.Type.String()) + ";" + strconv.Itoa(int(st.Attempt))
}

// startHandlers starts what waits, as far as there are places, and drops what has
// become pointless. Handlers of one object run in the order of its events.
func (e *Engine) startHandlers(ctx context.Context) {
	h := e.handling
	e.takeRan()
	now := object.At(time.Now())
	if len(h.line) == 0 || !h.changed && now < h.next {
		return
	}
	h.changed, h.next = false, now+handlerLook
	waits := h.line[:0]
	ahead := map[turn]bool{}
	for _, r := range h.line {
		if why := e.outdated(r, now); why != "" {
			h.leave(r)
			e.drop(r, why)
			continue
		}
		if t := r.turn(); h.runs[t] != nil || ahead[t] || !e.placeFor(r, now) {
			ahead[t] = true
			waits = append(waits, r)
			continue
		}
		h.leave(r)
		h.enter(r)
		go func() {
			res := e.opt.Handlers.Handle(ctx, r.job)
			e.inbox.put(func() { h.ended = append(h.ended, ran{r, res}) })
		}()
	}
	clear(h.line[len(waits):])
	h.line = waits
	h.waiting.Store(int64(len(h.line)))
	h.running.Store(int64(len(h.runs)))
}

// outdated says why a handler that waits is not to run any more, "" if it is.
func (e *Engine) outdated(r *reaction, now object.Time) string {
	o := r.job.Object
	if e.proj.Set().Get(o.ID) == nil {
		return "the object left the config"
	}
	if waited := now.Sub(r.since); waited > e.opt.HandlerWait {
		return fmt.Sprintf("it waited longer than %s for a place", e.opt.HandlerWait)
	}
	if st := e.proj.State(o.ID).Status.State; st != r.job.State.Status.State {
		return "the state changed to " + st.Name(o.Kind()) + " while it waited"
	}
	return ""
}

// placeFor tells whether a handler may start. The program's two handlers have
// places of their own.
func (e *Engine) placeFor(r *reaction, now object.Time) bool {
	h := e.handling
	if r.after != nil && !r.after.over && now >= r.since && now < r.since+globalFirst {
		return false
	}
	return h.used[r.key] < max(1, e.opt.HandlersAtOnce/placesPart) && (r.global || h.own < e.opt.HandlersAtOnce)
}

// enter takes a place for a handler, exit gives it back.
func (h *handling) enter(r *reaction) {
	h.runs[r.turn()] = r
	h.used[r.key]++
	if !r.global {
		h.own++
	}
}

func (h *handling) exit(r *reaction) {
	r.over = true
	delete(h.runs, r.turn())
	less(h.used, r.key)
	if !r.global {
		h.own--
	}
	h.changed = true
}

// leave takes note that a handler does not wait any more.
func (h *handling) leave(r *reaction) { less(h.wait, r.key) }

func less(counts map[string]int, key string) {
	if counts[key]--; counts[key] <= 0 {
		delete(counts, key)
	}
}
