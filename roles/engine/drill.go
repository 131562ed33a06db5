package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// A drill moves the objects of this engine to the others and back while its process goes
// on: it steps out of the membership, and joins it again after a bounded time, whoever
// asked for it is still there or not. Out of it the engine owns nothing: it folds, serves
// and forwards, and begins no check.

// Errors of a drill.
var (
	// ErrAlone: there is no other engine.
	ErrAlone = errors.New("there is no other engine that could take over")
	// ErrDrill: an engine is out of the membership for a drill already.
	ErrDrill = errors.New("a drill is under way already")
)

// errRemoved ends a drill of an engine whose member is removed.
var errRemoved = errors.New("the member is removed from the cluster, so the drill ended early")

// errStopped ends a drill in the middle of which its engine is stopped.
var errStopped = fmt.Errorf("%w any more, it was stopped during the drill: its objects are the others' until it is back; look at its log", ErrStopping)

// WhyDrill stands in the facts of engine.left and engine.joined that belong to a drill.
const WhyDrill = "drill"

// factRemoval stands in the facts of engine.left if the member is removed from the cluster
// next: nobody waits for the end of that drill.
const factRemoval = "removal"

// Bounds of a drill.
const (
	LeastHold = 5 * time.Second
	MostHold  = 10 * time.Minute
	// leaveWithin is how long checks that run are waited for before their objects go to
	// the others: what is due meanwhile is late by that.
	leaveWithin = time.Second
	// drillMargin is the part of the time out that is left for what falls due at its end.
	drillMargin = 6
	// drillMarginLeast is that part of a short drill: a check that is a little late takes
	// its time too.
	drillMarginLeast = 2 * time.Second
)

// drillPhase is where a drill stands.
type drillPhase uint8

const (
	drains  drillPhase = iota // begins no check, and waits for those that run
	leaving                   // the membership is told
	outside
	returning // the membership is told
	back      // waits for the first checks
)

// drill is what the loop knows of one.
type drill struct {
	hold    time.Duration
	by      string
	phase   drillPhase
	limit   time.Time           // when the phase ends in any case
	members []membership.Member // when it stepped out
	asked   chan error          // who waits until the engine is out; capacity 1
	also    []chan error        // who waits for the same, each of capacity 1
	// removal: the member is removed from the cluster next. The engine stays out for all of
	// the time, whoever else is out, as long as anybody is in.
	removal bool
}

// steppedOut is what became of the leave.
type steppedOut struct {
	view membership.View
	err  error
}

// Drill has the others take over the objects of this engine, and returns when they may:
// nil, ErrAlone, ErrDrill, ErrStopping or what the membership said. The engine comes back
// by itself when those objects have been checked that fall due, hold at the latest. by is
// who asked, for the log.
func (e *Engine) Drill(ctx context.Context, hold time.Duration, by string) error {
	if hold < LeastHold || hold > MostHold {
		return fmt.Errorf("a drill of %s: %w; write %s to %s", hold, ErrRefused, LeastHold, MostHold)
	}
	if !e.running.Load() {
		return ErrStopping
	}
	return e.askOut(ctx, &drill{hold: hold, by: by, asked: make(chan error, 1)})
}

// StepAside has the others take over before this engine's member is removed from the
// cluster, and returns when they may. It is no matter whether another engine is out, and
// one that is out for a drill stays out. Was it not removed after hold, it comes back.
func (e *Engine) StepAside(ctx context.Context, hold time.Duration, by string) error {
	if !e.running.Load() {
		return ErrStopping
	}
	return e.askOut(ctx, &drill{hold: hold, by: by, asked: make(chan error, 1), removal: true})
}

// askOut hands a drill to the loop and waits until the engine is out.
func (e *Engine) askOut(ctx context.Context, d *drill) error {
	e.inbox.put(func() { e.inbox.drills = append(e.inbox.drills, d) })
	select {
	case err := <-d.asked:
		return err
	case <-e.ended:
		return errStopped
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onDrill begins one unless something speaks against it.
func (e *Engine) onDrill(d *drill) {
	sh := &e.state.sharing
	if d.removal && e.prolong(d) {
		return
	}
	if err := e.noDrill(d); err != nil {
		d.asked <- err
		return
	}
	d.limit = time.Now().Add(leaveWithin)
	sh.drill = d
	e.book.begin(d.hold, d.by)
	e.log.Warn("a drill begins: this engine gives its objects to the others for a while", "hold", d.hold, "by", d.by, "owned", e.owned.Load(), "running", e.state.places)
}

// prolong makes the drill that is under way the one in front of a removal, if it is on its
// way out or out already. One whose engine is back is ended for it.
func (e *Engine) prolong(d *drill) bool {
	now := e.state.sharing.drill
	switch {
	case now == nil || now.phase == returning:
		return false
	case now.phase == back:
		e.endDrill(errRemoved)
		return false
	case now.phase == outside:
		now.limit = time.Now().Add(max(time.Until(now.limit), d.hold))
		d.asked <- nil
	default:
		now.hold, now.also = max(now.hold, d.hold), append(now.also, d.asked)
	}
	now.removal = true
	return true
}

// noDrill says why there can be none now.
func (e *Engine) noDrill(d *drill) error {
	sh := &e.state.sharing
	switch {
	case e.state.stopped || !e.state.live:
		return ErrStopping
	case sh.drill != nil:
		return ErrDrill
	case len(e.View().Members) < 2:
		return ErrAlone
	case d.removal:
		return nil
	}
	return e.otherDrill()
}

// otherDrill says which other engine is out for a drill.
func (e *Engine) otherDrill() error {
	for id, until := range e.state.sharing.drilled {
		if time.Now().Before(until) {
			return fmt.Errorf("engine %s: %w", id, ErrDrill)
		}
	}
	return nil
}

// holds tells whether no check is begun because the engine is on its way out.
func (d *drill) holds() bool { return d != nil && (d.phase == drains || d.phase == leaving) }

// away tells whether the membership need not list this engine although it goes on.
func (d *drill) away() bool {
	return d != nil && (d.phase == leaving || d.phase == outside || d.phase == returning)
}

// wait is how long nothing is to be done about a drill by the clock.
func (d *drill) wait() time.Duration {
	if d == nil {
		return time.Hour
	}
	return max(time.Until(d.limit), 10*time.Millisecond)
}

// lookAtDrill goes on with a drill as far as it can.
func (e *Engine) lookAtDrill(ctx context.Context) {
	d := e.state.sharing.drill
	if d == nil {
		return
	}
	if e.state.stopped {
		e.endDrill(errStopped)
		return
	}
	late := !time.Now().Before(d.limit)
	switch d.phase {
	case drains:
		if late || e.state.places == 0 && len(e.state.pending) == 0 {
			e.stepOut()
		}
	case outside:
		// Asked first: whoever is gone ends a drill that is done in the same moment, when the
		// last object was taken over from it, and the report shall say so.
		if d.removal && (late || len(e.View().Members) == 0) || !d.removal && (e.fewer(d) || late || e.book.done()) {
			e.comeBack(ctx)
		}
	case back:
		if late || e.book.done() {
			e.endDrill(nil)
		}
	}
}

// fewer tells whether one of the others is gone: the rest may need this one.
func (e *Engine) fewer(d *drill) bool {
	v := e.View()
	gone := slices.DeleteFunc(slices.Clone(d.members), func(m membership.Member) bool { return m == e.member() || v.Has(m) })
	if len(gone) > 0 {
		e.log.Warn("the drill ends early, another engine is gone", "engine", gone[0].ID)
		e.book.fail(fmt.Sprintf("engine %s went away meanwhile, so the drill ended early", gone[0].ID))
	}
	return len(gone) > 0
}

// noMore says why the engine does not step out after all: others may have done so since it
// was asked.
func (e *Engine) noMore(d *drill) error {
	switch {
	case !d.removal:
		return e.otherDrill()
	case len(e.View().Members) < 2:
		return ErrAlone
	}
	return nil
}

// stepOut says on the log that this engine leaves for a while, and leaves.
func (e *Engine) stepOut() {
	d := e.state.sharing.drill
	if err := e.noMore(d); err != nil {
		e.endDrill(err)
		return
	}
	d.phase, d.members = leaving, e.View().Members
	d.limit = time.Now().Add(2 * leavePatience)
	e.openBook()
	said := leftFacts(e.member(), WhyDrill)
	said["hold"], said["by"] = d.hold.String(), d.by
	if d.removal {
		said[factRemoval] = "true"
	}
	ctx := e.state.work
	go func() {
		r := steppedOut{err: e.say(ctx, event.EngineLeft, said)}
		if r.err == nil {
			one, cancel := context.WithTimeout(ctx, leavePatience)
			r.view, r.err = e.opt.Coordinator.StepOut(one, e.opt.ID)
			cancel()
		}
		e.inbox.put(func() { e.inbox.steppedOut = append(e.inbox.steppedOut, r) })
	}()
}

// say puts an event of the membership on the log and waits for that.
func (e *Engine) say(ctx context.Context, kind event.Kind, facts map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, leavePatience)
	defer cancel()
	done := make(chan error, 1)
	ev := &event.Event{Kind: kind, Facts: facts}
	e.fillSystem(ev, "membership")
	e.opt.Journal.Append(ev, 0, func(_ uint64, err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// onSteppedOut takes what became of the leave. Where that is not known, joining again
// settles it.
func (e *Engine) onSteppedOut(ctx context.Context, r *steppedOut) {
	d := e.state.sharing.drill
	if d == nil || d.phase != leaving {
		return
	}
	d.phase, d.limit = outside, time.Now().Add(d.hold)
	if r.err != nil {
		e.log.Warn("this engine did not step out for the drill, it joins again", "err", r.err)
		e.book.fail(r.err.Error())
		d.tell(r.err)
		e.comeBack(ctx)
		return
	}
	if r.view.Epoch > e.View().Epoch {
		e.adopt(r.view)
	}
	e.book.out()
	e.log.Warn("this engine is out of the membership for a drill", "epoch", e.View().Epoch, "hold", d.hold)
	d.tell(nil)
}

// tell answers who asked for the drill.
func (d *drill) tell(err error) {
	for _, asked := range append(d.also, d.asked) {
		select {
		case asked <- err:
		default: // it was answered
		}
	}
}

// comeBack joins the membership again.
func (e *Engine) comeBack(ctx context.Context) {
	sh := &e.state.sharing
	sh.drill.phase, sh.registering = returning, true
	newest := e.proj.Epoch()
	go func() {
		v, err := e.opt.Coordinator.Register(ctx, e.member(), newest)
		e.inbox.registered(registered{v, err})
	}()
}

// backIn takes note that the view lists this engine again.
func (e *Engine) backIn(d *drill) {
	d.phase, d.limit = back, time.Now().Add(d.hold)
	e.state.sharing.returned = object.At(time.Now())
	if over := e.book.back(); over > leavePatience {
		e.log.Warn("this engine was out for longer than the drill was to take: joining again took that long", "over", over)
	}
}

// onBack takes what became of joining again.
func (e *Engine) onBack(r *registered) error {
	switch {
	case e.state.stopped:
		return nil
	case r.err != nil:
		e.endDrill(r.err)
		return fmt.Errorf("join again after a drill as engine %q: %w", e.opt.ID, r.err)
	}
	if r.view.Epoch > e.View().Epoch {
		e.adopt(r.view)
	}
	e.sayJoined(WhyDrill)
	e.markEpoch(e.View())
	return nil
}

// endDrill ends it. Whoever asks later learns what became of it.
func (e *Engine) endDrill(err error) {
	sh := &e.state.sharing
	d := sh.drill
	if sh.drill = nil; err != nil {
		e.book.fail(err.Error())
		d.tell(err)
	}
	e.closeBook()
	if d.phase == drains && err != nil {
		e.log.Info("the drill does not begin", "err", err)
		return
	}
	e.log.Info("the drill is over", "owned", e.owned.Load(), "epoch", e.View().Epoch)
}

// hearDrill follows which other engines are out.
func (e *Engine) hearDrill(ev *event.Event) {
	id := ev.Facts["engine"]
	if id == e.opt.ID || id == "" {
		return
	}
	if ev.Kind == event.EngineLeft && ev.Facts["why"] == WhyDrill && ev.Facts[factRemoval] == "" {
		hold, _ := time.ParseDuration(ev.Facts["hold"]) // what cannot be read is short
		e.state.sharing.drilled[id] = ev.Time.Std().Add(hold + leavePatience)
		return
	}
	delete(e.state.sharing.drilled, id)
}
