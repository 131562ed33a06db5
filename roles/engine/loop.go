package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/rule/schedule"
	"jaque.sh/jaque/appliance/service"
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
	ours    bool           // it is planned, because this engine owns it
	heard   time.Duration  // when the newest result was got, since the base; 0 = not known
}

// loopState is owned by the loop goroutine alone.
type loopState struct {
	entries []entry
	keys    map[object.ID]int32
	free    []int32
	queue   schedule.Queue
	pending map[int32]*pending
	missing time.Time // when it was last looked for measurements that did not come back
	records []record  // measurements that were taken and did not come back yet, by position

	oldestLooked object.Time // when the oldest append was last looked for
	places       int         // checks handed to the runner
	line         []int32     // keys that are due and wait for a place, oldest first
	late         []int32     // keys for which time is to pass once the log has answered more, oldest first
	moreDue      bool        // the queue was not emptied of what is due

	settings   object.Settings            // as configured, and as operators set against that
	periods    map[string]object.Period   // of the running generation
	known      map[string]*object.Contact // of the running generation, by name
	numbers    projection.Numbers         // the highest given by decisions of this engine
	orders     []*order                   // taken from the inbox and not looked at
	programs   programs
	forwarding forwarding
	chores     chores
	sendings   sendings
	missed     map[object.ID]fold.Missed // notifications that reached nobody, and whose owner has not acted on that
	unmatched  map[unmatched]object.Time // until when they would have lasted
	ruleDue    map[string]object.Time    // when a downtime rule is looked at next
	ruleNext   object.Time               // the least of ruleDue; 0 = not known

	sharing sharing
	base    time.Time       // from which times are counted that no clock sets
	work    context.Context // ends with the engine, later than what told it to stop

	halt    bool // it was halted at the last look
	live    bool // replayed and registered
	stopped bool // no new checks
	skew    skew
	mail    mail
}

func (e *Engine) run(ctx context.Context, ready func()) error {
	e.state = loopState{keys: map[object.ID]int32{}, pending: map[int32]*pending{}, ruleDue: map[string]object.Time{}, unmatched: map[unmatched]object.Time{}, sendings: sendings{}, missed: map[object.ID]fold.Missed{}}
	e.state.base = time.Now()
	e.state.sharing.gone, e.state.sharing.left = map[string]membership.Member{}, map[string]bool{}
	e.state.sharing.drilled = map[string]time.Time{}
	e.index(e.proj.Set())
	if err := e.restore(ctx); err != nil {
		return err
	}
	// The follower outlives ctx so that a stop can read its last appends back.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	e.state.work = work
	defer e.opt.Coordinator.Watch(e.inbox.view)()
	go e.snapshots(work)
	follower := make(chan error, 1)
	go func() {
		tail := func(events []event.Event) error { return e.onTail(work, events) }
		follower <- e.opt.Journal.Follow(work, e.proj.Position(), tail, e.inbox.markCaughtUp)
	}()
	err := e.loop(ctx, work, follower, ready)
	e.running.Store(false)
	e.accepts.Store(false)
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
			if service.Hurried(ctx) { // others do its work: nothing more of it belongs on the log
				e.log.Warn("engine ends at once", "running", e.state.places, "appends", len(e.state.pending))
				return nil
			}
			stopping, deadline = nil, time.After(e.opt.Grace)
			e.state.stopped, e.state.sharing.leaveBy = true, time.Now().Add(leaveWithin)
			e.log.Info("engine stops, waiting for running checks", "running", e.state.places)
		case <-deadline:
			e.log.Warn("engine stops without waiting longer", "running", e.state.places,
				"appends", len(e.state.pending))
			return e.finish(work)
		}
		if err := e.leaveEarly(work); err != nil {
			e.log.Warn("the engine did not leave as it should", "err", err)
		}
		e.inbox.take(&e.state.mail)
		if err := e.readMembership(ctx, ready); err != nil { // first: it says whose the rest is
			return err
		}
		e.readMail(work)
		now := object.At(time.Now())
		e.dueRules(now)
		e.doChores(now)
		e.noteOldest(now)
		e.missMeasurements()
		e.lookAtHalt()
		e.startDue(work)
		e.startHandlers(work)
		e.startForwards(work)
		e.arm(timer)
	}
}

// idle tells whether nothing runs and nothing waits to be read back.
func (e *Engine) idle() bool {
	return e.state.places == 0 && !e.state.sharing.registering && len(e.state.pending) == 0 && e.state.programs.now == nil && len(e.state.forwarding.lines) == 0 && e.handling.idle()
}

// foldBatch applies a batch of the log and settles what was waiting for it.
func (e *Engine) foldBatch(b *tailBatch) {
	defer close(b.done)
	results := uint64(0)
	for i := range b.events {
		ev := &b.events[i]
		if ev.Stream == event.Results {
			results = ev.Seq
		}
		before := e.proj.State(ev.Object)
		outcome := e.proj.Apply(ev)
		if !e.state.live {
			continue
		}
		switch {
		case ev.Object != "":
		case ev.Program != nil:
			e.onProgramEvent(ev, outcome)
		default:
			e.hearMember(ev)
		}
		if key, ok := e.state.keys[ev.Object]; ok {
			e.settle(key, ev, outcome)
			if outcome == fold.Accepted {
				e.hear(key, before, ev)
				e.bookCheck(key, before, ev)
				e.react(key, before, ev)
			}
		}
	}
	e.passedRecords(results)
	e.lookAtBarrier()
}

// readMail handles everything other goroutines have told the loop.
func (e *Engine) readMail(work context.Context) {
	m := &e.state.mail
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
	for _, r := range m.retries {
		e.again(r)
	}
	for i := range m.forwards {
		e.onForwarded(&m.forwards[i])
	}
	e.state.orders = append(e.state.orders, m.orders...)
	e.takeOrders()
	for _, r := range m.reloads {
		e.onReload(r)
	}
}

// readMembership handles what was told of the membership, and begins when it has made
// this engine a member.
func (e *Engine) readMembership(ctx context.Context, ready func()) error {
	m, sh := &e.state.mail, &e.state.sharing
	if m.caughtUp {
		e.register(ctx)
	}
	for i := range m.registered {
		if err := e.onRegistered(&m.registered[i]); err != nil {
			return err
		}
	}
	if m.view.Epoch > 0 {
		if err := e.onView(m.view); err != nil {
			return err
		}
	}
	for i := range m.repaired {
		if err := e.onRepaired(&m.repaired[i]); err != nil {
			return err
		}
	}
	for i := range m.ended {
		e.onEnd(&m.ended[i])
	}
	if m.askStore {
		e.askStoreAgain()
	}
	for i := range m.steppedOut {
		e.onSteppedOut(ctx, &m.steppedOut[i])
	}
	for _, d := range m.drills {
		e.onDrill(d)
	}
	e.lookAtDrill(ctx)
	if slices.ContainsFunc(m.leaving, e.View().Has) {
		e.repair(0) // reads the store's view
	}
	if sh.member && sh.passed && !e.state.live && !e.state.stopped {
		e.goLive()
		ready()
	}
	return nil
}

// arm sets the timer to the next due time, at most a second ahead, so that a
// jump of the wall clock is noticed soon.
func (e *Engine) arm(timer *time.Timer) {
	wait := time.Second
	if due, ok := e.state.queue.Next(); ok && e.state.live && !e.state.stopped && !e.state.sharing.drill.holds() {
		wait = min(wait, time.Until(due.Std()))
	}
	if next := e.state.ruleNext; next != 0 {
		wait = min(wait, time.Until(next.Std()))
	}
	wait = min(wait, e.state.sharing.drill.wait())
	if e.state.stopped && !e.state.sharing.gaveUp {
		wait = min(wait, max(time.Until(e.state.sharing.leaveBy), haltLook))
	}
	if e.busy() {
		wait = 0
	}
	if e.state.halt {
		wait = max(wait, haltLook)
	}
	timer.Reset(max(wait, 0))
}

// goLive begins the work: every object of this engine is scheduled.
func (e *Engine) goLive() {
	view := e.View()
	e.refresh()
	e.state.live = true
	e.sayJoined("")
	// Reading the log took a while; what was due meanwhile is not made up for, but
	// among others for what they gave away.
	e.started = object.At(time.Now())
	if len(view.Members) > 1 {
		e.markEpoch(view)
		e.started = e.started.Add(-e.opt.MakeUp)
	}
	set := e.proj.Set()
	e.announce(event.ConfigLoaded, "config", map[string]string{
		"engine": e.opt.ID, "generation": set.Generation, "objects": strconv.Itoa(len(set.Objects)), "start": "true",
	})
	if len(view.Members) > 1 {
		e.addChore(&takeover{began: object.At(time.Now())})
	} else {
		e.planAll(e.started)
		e.reconcileAll()
	}
	e.state.sendings.begin(e.proj.OpenRequests())
	e.addChore(&review{})
	e.running.Store(true)
	e.log.Info("engine is live", "objects", len(e.state.keys), "owned", e.owned.Load(), "epoch", view.Epoch,
		"log", e.proj.Position().Log, "results", e.proj.Position().Results)
}

// How long a stop waits for each of its last writes; the short one once the log or the
// membership has not answered.
const (
	leavePatience    = 3 * time.Second
	snapshotPatience = 12 * time.Second
	brokenPatience   = 500 * time.Millisecond
)

// lastWrite is one of the things that a stop writes.
type lastWrite struct {
	what string
	most time.Duration
	do   func(context.Context) error
}

// leaving are the writes with which an engine leaves.
func (e *Engine) leaving() []lastWrite {
	return []lastWrite{
		{"that it leaves", leavePatience, e.sayLeave},
		{"the leave of the membership", leavePatience, func(ctx context.Context) error { return e.opt.Coordinator.Leave(ctx, e.opt.ID) }},
	}
}

// finish leaves the membership and saves the folded state, in a time that is bounded
// also where the server is gone. Both can be missed: others wait for the heartbeat to
// expire, and the next start reads more of the log.
func (e *Engine) finish(ctx context.Context) error {
	e.running.Store(false)
	e.accepts.Store(false)
	if !e.state.sharing.member {
		return nil
	}
	var last []lastWrite
	if !e.state.sharing.gaveUp {
		last = e.leaving()
	}
	last = append(last, lastWrite{"the snapshot", snapshotPatience, e.lastSnapshot})
	missed, err := e.lastWrites(ctx, len(e.state.pending) > 0, last...)
	if len(missed) > 0 {
		e.log.Warn("the engine stops while the server does not answer", "not_written", strings.Join(missed, ", "), "appends", len(e.state.pending))
	}
	return err
}

// lastWrites writes them one after the other; broken says that the server does not
// answer. It returns which were not answered.
func (e *Engine) lastWrites(ctx context.Context, broken bool, all ...lastWrite) (missed []string, err error) {
	var errs []error
	for _, last := range all {
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
	return missed, errors.Join(errs...)
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
	e.refuseForwards()
	for _, p := range e.state.pending {
		for _, q := range p.line {
			e.answer(q.order, ErrStopping)
		}
		e.answer(p.now.order, ErrUnconfirmed) // its append is under way
	}
}
