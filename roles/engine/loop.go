package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/schedule"
)

// entry is what the loop keeps per configured object. Keys are indexes into
// loopState.entries; a removed object leaves a free entry behind.
type entry struct {
	obj     *object.Object // nil = free
	due     object.Time    // of the execution that runs or waits
	skipped object.Time    // when a due check was last not run, because something forbade it
	ticked  object.Time    // due time of the last Tick
	late    bool           // in line for time to pass
	began   object.Time    // when the runner got it; 0 = nothing runs, or it waits for a place
	again   object.Time    // what runs began too early: check again, with a result from then on; 0 = no
	running bool           // handed to the runner, or waiting for a place
}

// loopState is owned by the loop goroutine alone.
type loopState struct {
	entries []entry
	keys    map[object.ID]int32
	free    []int32
	queue   schedule.Queue
	pending map[int32]*pending
	places  int     // checks handed to the runner
	line    []int32 // keys that are due and wait for a place, oldest first
	late    []int32 // keys for which time is to pass once the log has answered more, oldest first
	moreDue bool    // the queue was not emptied of what is due

	settings  object.Settings            // as configured, and as operators set against that
	periods   map[string]object.Period   // of the running generation
	known     map[string]*object.Contact // of the running generation, by name
	numbers   projection.Numbers         // the highest given by decisions of this engine
	orders    []*order                   // taken from the inbox and not looked at
	programs  programs
	chores    chores
	sendings  sendings
	unmatched map[unmatched]object.Time // until when they would have lasted
	ruleDue   map[string]object.Time    // when a downtime rule is looked at next
	ruleNext  object.Time               // the least of ruleDue; 0 = not known

	live    bool // replayed and registered
	stopped bool // no new checks
	skew    skew
	mail    mail
}

func (e *Engine) run(ctx context.Context, ready func()) error {
	e.state = loopState{keys: map[object.ID]int32{}, pending: map[int32]*pending{}, ruleDue: map[string]object.Time{}, unmatched: map[unmatched]object.Time{}, sendings: sendings{}}
	e.index(e.proj.Set())
	if err := e.restore(ctx); err != nil {
		return err
	}
	// The follower outlives ctx so that a stop can read its last appends back.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go e.snapshots(work)
	follower := make(chan error, 1)
	go func() {
		tail := func(events []event.Event) error { return e.onTail(work, events) }
		follower <- e.opt.Journal.Follow(work, e.proj.Position(), tail, e.inbox.markCaughtUp)
	}()
	err := e.loop(ctx, work, follower, ready)
	e.running.Store(false)
	e.refuseAll()
	e.dropHandlers()
	close(e.ended)
	return err
}

// onTail hands a batch to the loop and waits until it is folded, because the
// journal uses the batch again. Once the loop has ended nobody folds.
func (e *Engine) onTail(work context.Context, events []event.Event) error {
	b := &tailBatch{events: events, done: make(chan struct{})}
	select {
	case e.tail <- b:
		<-b.done
	case <-work.Done():
	}
	return nil
}

var errFollowerEnded = errors.New("the log follower ended by itself")

func (e *Engine) loop(ctx, work context.Context, follower chan error, ready func()) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	stopping := ctx.Done()
	var deadline <-chan time.Time
	for {
		if e.state.stopped && e.idle() {
			return e.finish(work)
		}
		select {
		case b := <-e.tail:
			e.foldBatch(b)
		case <-e.inbox.wake:
		case <-timer.C:
		case err := <-follower:
			if err == nil {
				err = errFollowerEnded
			}
			return fmt.Errorf("follow the log: %w", err)
		case <-stopping:
			stopping, deadline = nil, time.After(e.opt.Grace)
			e.state.stopped = true
			e.log.Info("engine stops, waiting for running checks", "running", e.state.places)
		case <-deadline:
			e.log.Warn("engine stops without waiting longer", "running", e.state.places,
				"appends", len(e.state.pending))
			return e.finish(work)
		}
		if err := e.readMail(work, ready); err != nil {
			return err
		}
		now := object.At(time.Now())
		e.dueRules(now)
		e.doChores(now)
		e.startDue(work)
		e.startHandlers(work)
		e.arm(timer)
	}
}

// idle tells whether nothing runs and nothing waits to be read back.
func (e *Engine) idle() bool {
	return e.state.places == 0 && len(e.state.pending) == 0 && e.state.programs.now == nil && e.handling.idle()
}

// foldBatch applies a batch of the log and settles what was waiting for it.
func (e *Engine) foldBatch(b *tailBatch) {
	defer close(b.done)
	for i := range b.events {
		ev := &b.events[i]
		before := e.proj.State(ev.Object)
		outcome := e.proj.Apply(ev)
		if !e.state.live {
			continue
		}
		if ev.Program != nil && ev.Object == "" {
			e.onProgramEvent(ev, outcome)
		}
		if key, ok := e.state.keys[ev.Object]; ok {
			e.settle(key, ev, outcome)
			if outcome == fold.Accepted {
				e.react(key, before, ev)
			}
		}
	}
}

// readMail handles everything other goroutines have told the loop.
func (e *Engine) readMail(work context.Context, ready func()) error {
	m := &e.state.mail
	e.inbox.take(m)
	if m.caughtUp && !e.state.live {
		if err := e.goLive(work); err != nil {
			return err
		}
		ready()
	}
	for i := range m.appends {
		e.onAppended(work, &m.appends[i])
	}
	for i := range m.lasts {
		e.onLast(work, &m.lasts[i])
	}
	for i := range m.results {
		e.onFinished(&m.results[i])
		m.results[i] = finished{}
	}
	for _, key := range m.retries {
		e.redecide(key)
	}
	e.state.orders = append(e.state.orders, m.orders...)
	e.takeOrders()
	for _, r := range m.reloads {
		e.onReload(r)
	}
	return nil
}

// arm sets the timer to the next due time, at most a second ahead, so that a
// jump of the wall clock is noticed soon.
func (e *Engine) arm(timer *time.Timer) {
	wait := time.Second
	if due, ok := e.state.queue.Next(); ok && e.state.live && !e.state.stopped {
		wait = min(wait, time.Until(due.Std()))
	}
	if next := e.state.ruleNext; next != 0 {
		wait = min(wait, time.Until(next.Std()))
	}
	if e.busy() {
		wait = 0
	}
	timer.Reset(max(wait, 0))
}

// goLive registers the member and schedules every object.
func (e *Engine) goLive(ctx context.Context) error {
	view, err := e.opt.Coordinator.Register(ctx, e.member(), e.proj.Epoch())
	if err != nil {
		return fmt.Errorf("register engine %q: %w", e.opt.ID, err)
	}
	e.view.Store(&view)
	e.refresh()
	e.state.live = true
	joined := map[string]string{"engine": e.opt.ID}
	if e.opt.Delivery != "" {
		joined[event.FactDelivery] = e.opt.Delivery
	}
	e.announce(event.EngineJoined, "membership", joined)
	set := e.proj.Set()
	e.announce(event.ConfigLoaded, "config", map[string]string{
		"generation": set.Generation, "objects": strconv.Itoa(len(set.Objects)), "start": "true",
	})
	// Reading the log took a while; what was due meanwhile is not made up for.
	e.started = object.At(time.Now())
	e.planAll(e.started)
	e.reconcileAll()
	e.state.sendings.begin(e.proj.OpenRequests())
	e.addChore(&review{})
	e.running.Store(true)
	e.log.Info("engine is live", "objects", len(e.state.keys), "epoch", view.Epoch,
		"log", e.proj.Position().Log, "results", e.proj.Position().Results)
	return nil
}

// How long a stop waits for each of its last writes; the short one once the log or the
// membership has not answered.
const (
	leavePatience    = 3 * time.Second
	snapshotPatience = 12 * time.Second
	brokenPatience   = 500 * time.Millisecond
)

// finish leaves the membership and saves the folded state, in a time that is bounded
// also where the server is gone. Both can be missed: others wait for the heartbeat to
// expire, and the next start reads more of the log.
func (e *Engine) finish(ctx context.Context) error {
	e.running.Store(false)
	if !e.state.live {
		return nil
	}
	var errs []error
	var missed []string
	broken := len(e.state.pending) > 0
	for _, last := range []struct {
		what string
		most time.Duration
		do   func(context.Context) error
	}{
		{"the leave of the membership", leavePatience, func(ctx context.Context) error { return e.opt.Coordinator.Leave(ctx, e.opt.ID) }},
		{"the snapshot", snapshotPatience, e.saveSnapshot},
	} {
		if broken {
			last.most = brokenPatience
		}
		one, cancel := context.WithTimeout(ctx, last.most)
		switch err := last.do(one); {
		case err != nil && one.Err() != nil:
			broken, missed = true, append(missed, last.what)
		case err != nil:
			errs = append(errs, err)
		}
		cancel()
	}
	if len(missed) > 0 {
		e.log.Warn("the engine stops while the server does not answer", "not_written", strings.Join(missed, ", "), "appends", len(e.state.pending))
	}
	return errors.Join(errs...)
}

// refuseAll answers the orders that nobody will decide any more.
func (e *Engine) refuseAll() {
	var m mail
	e.inbox.take(&m)
	for _, o := range append(e.state.orders, m.orders...) {
		e.answer(o, ErrStopping)
	}
	for _, r := range m.reloads {
		r.done <- ErrStopping
	}
	e.answer(e.state.programs.now, ErrUnconfirmed)
	for _, o := range e.state.programs.line {
		e.answer(o, ErrStopping)
	}
	for _, p := range e.state.pending {
		for _, q := range p.line {
			e.answer(q.order, ErrStopping)
		}
		e.answer(p.now.order, ErrUnconfirmed) // its append is under way
	}
}
