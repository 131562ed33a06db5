package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/membership"
)

// job is one command for one object, with the order it came from, if any.
type job struct {
	command fold.Command
	order   *order
}

// pending is the one outstanding decision of an object and the jobs in line
// behind it. It ends when the decision is read back from the log.
type pending struct {
	now      job
	decision fold.Decision
	expect   uint64 // compare-and-set base of the append
	tries    int
	refused  bool   // the append was refused or its outcome is unknown
	asked    bool   // refused: until is known
	until    uint64 // the last position of the object's decisions; decide again behind it
	compared uint64 // asked: with what the server compares the next append
	line     []job
}

// maxLine bounds the jobs in line for one object. Scheduled checks never line
// up; only submitted results and commands can.
const maxLine = 1000

func (e *Engine) member() membership.Member {
	return membership.Member{ID: e.opt.ID, Instance: e.opt.Instance}
}

// mayWrite is the guard of a write (handover protocol §4.1).
func (e *Engine) mayWrite(o *object.Object, st *fold.State) error {
	view := e.view.Load()
	if view.Owner(string(o.ID)) != e.opt.ID {
		e.metrics.notOwned.Inc()
		return fmt.Errorf("%s is owned by another engine: %w", o.ID, ErrRefused)
	}
	newest := max(st.Fence, st.Measure.Epoch)
	if newest <= view.Epoch {
		return nil
	}
	e.metrics.epochBehind.Inc()
	repaired, err := e.opt.Coordinator.Repair(context.Background(), newest)
	if err != nil {
		return fmt.Errorf("raise the epoch above %d: %w", newest, err)
	}
	e.log.Warn("the log holds a newer epoch, the view was raised", "epoch", repaired.Epoch, "seen", newest)
	e.view.Store(&repaired)
	return nil
}

// decide judges a job, now or once the object's outstanding decision is in.
func (e *Engine) decide(key int32, j job) {
	if p := e.state.pending[key]; p != nil {
		if len(p.line) >= maxLine {
			e.answer(j.order, ErrBusy)
			e.metrics.shed.Inc()
			return
		}
		p.line = append(p.line, j)
		return
	}
	e.proceed(key, &pending{now: j}, tailBase)
}

// tailBase says that an append's base is the last folded position.
const tailBase = ^uint64(0)

// proceed decides a job; if nothing then waits for the log, the object goes back
// to the schedule.
func (e *Engine) proceed(key int32, p *pending, base uint64) {
	if !e.attempt(key, p, base) {
		e.plan(key, object.At(time.Now()))
	}
}

// attempt decides p.now on the present state and appends what follows. It
// reports whether the object now waits for the log.
func (e *Engine) attempt(key int32, p *pending, base uint64) bool {
	o := e.state.entries[key].obj
	st := e.proj.State(o.ID)
	err := e.mayWrite(o, st)
	if err == nil {
		env := e.decisionEnv(key, e.decisionID(p.now))
		p.decision, err = fold.Decide(&env, st, p.now.command, object.At(time.Now()))
	}
	if err != nil {
		e.refuse(o, p.now, err)
		return e.next(key, p)
	}
	if !p.decision.HasLog && !p.decision.HasResult {
		e.answer(p.now.order, nil)
		return e.next(key, p)
	}
	e.reserve(&p.decision)
	e.state.pending[key] = p
	e.stuck.CompareAndSwap(0, int64(object.At(time.Now())))
	p.refused, p.expect = false, st.Sub
	if base != tailBase {
		p.expect = base
	}
	e.publish(key, p)
	return true
}

// decisionID is the command's id where there is one, so that a repeated command
// is recognised; a command decided again after a refusal is a new decision of
// the same command, and its refused append never landed.
func (e *Engine) decisionID(j job) string {
	if j.order != nil {
		return j.order.id
	}
	return e.newID()
}

// next goes on with the jobs in line behind p; it reports whether one of them
// waits for the log.
func (e *Engine) next(key int32, p *pending) bool {
	delete(e.state.pending, key)
	if len(p.line) == 0 || e.state.entries[key].obj == nil {
		for _, j := range p.line {
			e.answer(j.order, fmt.Errorf("the object left the config: %w", ErrNotFound))
		}
		return false
	}
	return e.attempt(key, &pending{now: p.line[0], line: p.line[1:]}, tailBase)
}

func (e *Engine) refuse(o *object.Object, j job, err error) {
	e.metrics.refuse(err)
	e.answer(j.order, fmt.Errorf("%w: %w", err, ErrRefused))
	if j.order != nil && j.order.of == nil {
		return
	}
	e.log.Error("a decision was refused and is dropped", "object", string(o.ID), "command", fmt.Sprintf("%T", j.command), "err", err)
}

// publish sends the decision, or the measurement if there is no decision.
func (e *Engine) publish(key int32, p *pending) {
	p.tries++
	if !p.decision.HasLog {
		e.record(key, p)
		return
	}
	id := p.decision.Log.ID
	e.opt.Journal.Append(&p.decision.Log, p.expect, func(seq uint64, err error) {
		e.inbox.append(appended{key: key, id: id, seq: seq, err: err})
	})
}

// record puts the measurement on the results stream. Without a decision the
// object waits until it is read back.
func (e *Engine) record(key int32, p *pending) {
	id := p.decision.Result.ID
	err := e.opt.Journal.Record(context.Background(), &p.decision.Result, func(seq uint64, err error) {
		if err != nil {
			e.inbox.append(appended{key: key, id: id, err: err})
		}
	})
	if err != nil {
		e.inbox.append(appended{key: key, id: id, err: err})
	}
}

// onAppended takes the outcome of an append. Success changes nothing yet: the
// decision takes effect when it is read back.
func (e *Engine) onAppended(ctx context.Context, a *appended) {
	if a.key == programKey {
		e.onProgramAppended(ctx, a)
		return
	}
	p := e.state.pending[a.key]
	if p == nil || p.id() != a.id {
		if a.err != nil { // the measurement beside a decision that is in already
			e.metrics.lostMeasurements.Inc()
		}
		return
	}
	switch {
	case a.err == nil, errors.Is(a.err, journal.ErrClosed):
		return
	case errors.Is(a.err, journal.ErrConflict):
		e.metrics.conflicts.Inc()
		p.refused = true
		e.askLast(ctx, a.key, p, backoff(p.tries))
	default:
		e.metrics.appendErrors.Inc()
		if p.tries == 1 {
			e.log.Warn("an append failed and is tried again", "object", string(e.state.entries[a.key].id()), "err", a.err)
		}
		e.later(ctx, a.key, p)
	}
}

func (p *pending) id() string {
	if p.decision.HasLog {
		return p.decision.Log.ID
	}
	return p.decision.Result.ID
}

func (n *entry) id() object.ID {
	if n.obj == nil {
		return ""
	}
	return n.obj.ID
}

// backoff is the pause before another try: none before the first repetition,
// then doubling from 100 ms to 5 s.
func backoff(tries int) time.Duration {
	if tries <= 1 {
		return 0
	}
	return min(50*time.Millisecond<<min(tries-1, 7), 5*time.Second)
}

// later repeats the identical message after a pause that grows to 5 s.
func (e *Engine) later(ctx context.Context, key int32, p *pending) {
	time.AfterFunc(backoff(p.tries+1), func() {
		if ctx.Err() == nil {
			e.inbox.retry(key)
		}
	})
}

// redecide continues a decision whose append failed: the identical message
// again, unless it turned up on the log meanwhile.
func (e *Engine) redecide(key int32) {
	if key == programKey {
		if e.state.programs.now != nil {
			e.publishProgram()
		}
		return
	}
	if p := e.state.pending[key]; p != nil {
		e.publish(key, p)
	}
}

// askLast reads the last position of the object's subject after a refusal. It
// says how far the tail must be before the job is decided again; the refusal
// alone never proves that the append did not land.
func (e *Engine) askLast(ctx context.Context, key int32, p *pending, after time.Duration) {
	id, object := p.id(), e.state.entries[key].id()
	time.AfterFunc(after, func() {
		seq, compared, err := e.opt.Journal.LastOf(ctx, object)
		e.inbox.last(lastKnown{key: key, id: id, seq: seq, compared: compared, err: err})
	})
}

func (e *Engine) onLast(ctx context.Context, l *lastKnown) {
	p := e.state.pending[l.key]
	if p == nil || p.id() != l.id || !p.refused || e.state.entries[l.key].obj == nil {
		return
	}
	if l.err != nil {
		e.askLast(ctx, l.key, p, time.Second)
		return
	}
	p.asked, p.until, p.compared = true, l.seq, l.compared
	e.again(l.key, p)
}

// again decides a refused job anew once the tail has reached the position that
// refused it. Where retention has emptied the object's subject since, the server
// compares with an older position or 0, and with a newer one where something that is no
// event stands behind the last decision: that is the base then.
func (e *Engine) again(key int32, p *pending) {
	st := e.proj.State(e.state.entries[key].obj.ID)
	if st.Sub < p.until {
		return
	}
	base := tailBase
	if p.until < st.Sub || p.compared > p.until {
		base = p.compared
	}
	delete(e.state.pending, key)
	e.proceed(key, &pending{now: p.now, line: p.line, tries: p.tries}, base)
}

// settle looks at an event of the log that the projection has just folded: is
// it the one an object waits for?
func (e *Engine) settle(key int32, ev *event.Event, outcome fold.Outcome) {
	ent := &e.state.entries[key]
	p := e.state.pending[key]
	switch {
	case ent.obj == nil:
	case p == nil:
		if outcome == fold.Accepted {
			e.plan(key, object.At(time.Now()))
		}
	case ev.ID == p.id() && outcome == fold.Accepted:
		e.done(key, p)
	case ev.ID == p.id() && ev.Stream == event.Log:
		// Another writer was first: decide again on what holds now.
		p.refused, p.until, p.compared = true, ev.Seq, ev.Seq
		e.again(key, p)
	case p.refused && p.asked:
		e.again(key, p)
	}
}

// done ends a decision that is in: who asked is answered, the host's flap
// history gets its sample, and the object goes on with the next job or waits
// for its time.
func (e *Engine) done(key int32, p *pending) {
	e.metrics.decided.Inc()
	e.unstick()
	if p.decision.HasLog && p.decision.HasResult {
		e.record(key, p)
	}
	e.answer(p.now.order, nil)
	if _, isTick := p.now.command.(fold.Tick); isTick {
		e.state.entries[key].ticked = 0 // it had an effect
	}
	o := e.state.entries[key].obj
	if e.next(key, p) {
		return
	}
	e.plan(key, object.At(time.Now()))
	if _, isResult := p.now.command.(fold.Result); isResult && o.Host != nil {
		e.sampleHost(o.Host)
	}
}

// unstick takes note that the log answers, whatever still waits for it.
func (e *Engine) unstick() {
	e.stuck.Store(0)
	if len(e.state.pending) > 1 || e.state.programs.now != nil {
		e.stuck.Store(int64(object.At(time.Now())))
	}
}

// sampleHost lets a service's result count in the flap history of its host, as
// Nagios does. A history without any change in it cannot change by a sample of
// the same state, so most hosts cost nothing here.
func (e *Engine) sampleHost(host *object.Object) {
	st := e.proj.State(host.ID)
	if fold.Steady(st) {
		return
	}
	if key, ok := e.state.keys[host.ID]; ok && e.state.pending[key] == nil {
		e.decide(key, job{command: fold.SampleHost{}})
	}
}
