package engine

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// takeRan takes the outcomes of handlers and puts them on the log.
func (e *Engine) takeRan() {
	h := e.handling
	e.inbox.mu.Lock()
	ended := h.ended
	h.ended = nil
	e.inbox.mu.Unlock()
	for i := range ended {
		h.exit(ended[i].of)
		e.onRan(&ended[i])
	}
	h.running.Store(int64(len(h.runs)))
}

// The outcomes of handlers, as metric labels and in events.
const (
	handlerOK       = "ok"
	handlerFailed   = "failed" // it ended with another exit code than 0, or by a signal
	handlerTimedOut = "timeout"
	handlerNotRun   = "not_run"
	handlerDropped  = "dropped" // it waited and was given up, or the engine ended
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
func (r *reaction) text(res *HandlerResult) string {
	words := []string{r.job.Handler.Name}
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

// onRan counts an outcome and appends it.
func (e *Engine) onRan(r *ran) {
	outcome := r.result.outcome()
	e.handling.took.Observe(r.result.Took.Seconds())
	if outcome != handlerOK {
		e.log.Warn("an event handler failed", "object", string(r.of.job.Object.ID), "outcome", outcome, "text", r.of.text(&r.result))
	}
	e.tellHandler(r.of, outcome, &r.result, nil)
}

// warnDrops is how often the log says that handlers were dropped; each is an event
// of its own.
const warnDrops = object.Time(10_000)

// drop gives up a handler.
func (e *Engine) drop(r *reaction, why string) {
	e.dropThen(r, why, nil)
	h, now := e.handling, object.At(time.Now())
	if h.quiet++; h.warned != 0 && now < h.warned+warnDrops {
		return
	}
	e.log.Warn("event handlers were dropped", "handlers", h.quiet, "object", string(r.job.Object.ID), "why", why, "waiting", len(h.line))
	h.warned, h.quiet = now, 0
}

func (e *Engine) dropThen(r *reaction, why string, done func(error)) {
	r.over = true
	e.handling.dropped.Inc()
	e.tellHandler(r, handlerDropped, &HandlerResult{Exit: -1, Problem: "dropped: " + why}, done)
}

// tellHandler counts what became of a handler and appends it. Nothing of the state
// waits for the event: it is for people. done may be nil.
func (e *Engine) tellHandler(r *reaction, outcome string, res *HandlerResult, done func(error)) {
	e.handling.total.WithLabelValues(outcome).Inc()
	scope := "object"
	if r.global {
		scope = "program"
	}
	ev := &event.Event{
		Version: event.Version, ID: e.newID(), Kind: event.HandlerRan, Object: r.job.Object.ID, Epoch: e.View().Epoch,
		Writer: e.opt.ID, Instance: e.opt.Instance, Time: object.At(time.Now()), Text: r.text(res),
		Facts: map[string]string{
			"handler": r.job.Handler.Name, "scope": scope, "outcome": outcome, "exit": strconv.Itoa(res.Exit),
			"took": res.Took.Round(time.Millisecond).String(), "for": r.about, "event": r.event,
		},
	}
	if outcome == handlerDropped {
		ev.Facts["reason"] = strings.TrimPrefix(res.Problem, "dropped: ")
	}
	e.opt.Journal.Append(ev, 0, func(_ uint64, err error) {
		if err != nil && !errors.Is(err, journal.ErrClosed) {
			e.log.Warn("the outcome of an event handler could not be appended", "object", string(ev.Object), "err", err)
		}
		if done != nil {
			done(err)
		}
	})
}

// dropPatience bounds how long a stop waits until the log has what it dropped.
const dropPatience = 3 * time.Second

// dropHandlers puts on the log what a stop leaves undone: a handler that waited
// does not run after the next start, because what it was to react to may be over.
func (e *Engine) dropHandlers() {
	e.takeRan()
	h := e.handling
	if h.idle() {
		return
	}
	all := sync.WaitGroup{}
	drop := func(r *reaction, why string) {
		all.Add(1)
		once := sync.OnceFunc(all.Done) // whatever a journal does
		e.dropThen(r, why, func(error) { once() })
	}
	for _, r := range h.line {
		drop(r, "the engine ended while it waited")
	}
	for _, r := range h.runs {
		drop(r, "the engine ended while it ran")
	}
	e.log.Warn("the engine ended before event handlers were done", "waiting", len(h.line), "running", len(h.runs))
	known := make(chan struct{})
	go func() { all.Wait(); close(known) }()
	select {
	case <-known:
	case <-time.After(dropPatience):
		e.log.Warn("the log has not confirmed every event handler that was dropped", "waited", dropPatience)
	}
}
