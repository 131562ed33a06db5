package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/handover"
	"jaque.sh/jaque/appliance/rule/membership"
)

// job is one command for one object, with the order it came from, if any.
type job struct {
	command fold.Command
	order   *order
	id      string // of its decisions; "" = none was made
}

// pending is the one outstanding decision of an object and the jobs in line
// behind it. It ends when the decision is read back from the log.
type pending struct {
	now      job
	decision fold.Decision
	write    handover.Write
	sent     time.Time   // the last try
	missed   bool        // its measurement was lost, as the stream has shown
	since    object.Time // when the job was first sent; 0 = it was not
	behind   bool        // nothing was decided: a newer view is needed
	line     []job
}

// maxLine bounds the jobs in line for one object. Scheduled checks never line
// up; only submitted results and commands can.
const maxLine = 1000

func (e *Engine) member() membership.Member {
	return membership.Member{ID: e.opt.ID, Instance: e.opt.Instance, Serves: e.opt.Serves}
}

// mayWrite asks the guard of a write (handover protocol §4.1). An engine that the log
// tells of a newer view than its own is behind for every object.
func (e *Engine) mayWrite(key int32, o *object.Object, st *fold.State) handover.Verdict {
	w := handover.Writer{ID: e.opt.ID, View: *e.view.Load(), Replayed: e.state.live}
	verdict := w.May(o.ID, st, e.state.pending[key] != nil)
	if verdict == handover.Granted && e.state.sharing.gap.marked > w.View.Epoch {
		return handover.Behind
	}
	return verdict
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
	e.proceed(key, &pending{now: j}, e.proj.State(e.state.entries[key].obj.ID).Sub)
}

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
	if e.halted() {
		e.hold(key, p)
		return true
	}
	o := e.state.entries[key].obj
	st := e.proj.State(o.ID)
	switch verdict := e.mayWrite(key, o, st); verdict {
	case handover.NotOwner:
		e.notOurs(p.now)
		return e.next(key, p)
	case handover.Behind:
		e.waitForView(key, p)
		return true
	}
	var err error
	env := e.decisionEnv(key, e.decisionID(p))
	if p.decision, err = fold.Decide(&env, st, p.now.command, object.At(time.Now())); err != nil {
		e.refuse(o, p.now, err)
		if _, isResult := p.now.command.(fold.Result); isResult && p.now.order == nil {
			// Nothing of it is kept, so that the check would be due again at once.
			e.state.entries[key].skipped = object.At(time.Now())
		}
		return e.next(key, p)
	}
	if !p.decision.HasLog && !p.decision.HasResult {
		e.answer(p.now.order, nil)
		return e.next(key, p)
	}
	e.reserve(&p.decision)
	e.state.pending[key] = p
	e.stuck.CompareAndSwap(0, int64(object.At(time.Now())))
	p.write = p.write.Begin(p.stream(), base)
	e.publish(key, p)
	return true
}

// decisionID is the command's id where there is one, so that a repeated command is
// recognised. A job that is decided again keeps its id: an earlier append of it that
// lands late is found on the log then, and the job is not done twice. One whose event
// stands on the log and is discarded is decided under another id, because the log takes
// each only once.
func (e *Engine) decisionID(p *pending) string {
	switch {
	case p.now.id != "":
	case p.now.order != nil:
		p.now.id = p.now.order.id
	default:
		p.now.id = e.newID()
	}
	if p.write.Discarded > 0 {
		return p.now.id + "~" + strconv.Itoa(p.write.Discarded)
	}
	return p.now.id
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
	return e.attempt(key, &pending{now: p.line[0], line: p.line[1:]}, e.proj.State(e.state.entries[key].obj.ID).Sub)
}

// notOurs drops a job about an object of another engine: that decides about it
// itself. What somebody asked for is passed on.
func (e *Engine) notOurs(j job) {
	if j.order == nil || j.order.batch == nil {
		e.metrics.lostDecisions.Inc()
		e.answer(j.order, nil)
		return
	}
	e.passOn(j.order)
}

func (e *Engine) refuse(o *object.Object, j job, err error) {
	e.metrics.refuse(err)
	e.answer(j.order, fmt.Errorf("%w: %w", err, ErrRefused))
	if j.order != nil && j.order.of == nil {
		return
	}
	command := fmt.Sprintf("%T", j.command)
	if left, ok := e.lines.Let(command); ok {
		e.log.Error("a decision was refused and is dropped", "object", string(o.ID), "command", command, "err", err, "left_out", left)
	}
}

// publish sends the decision, or the measurement if there is no decision.
func (e *Engine) publish(key int32, p *pending) {
	p.write, p.sent = p.write.Sent(), time.Now()
	if p.since == 0 {
		p.since = object.At(p.sent)
	}
	if !p.decision.HasLog {
		e.record(key, p)
		return
	}
	id := p.decision.Log.ID
	e.opt.Journal.Append(&p.decision.Log, p.write.Expect, func(seq uint64, err error) {
		e.inbox.append(appended{key: key, id: id, seq: seq, err: err})
	})
}

// record puts the measurement on the results stream. Without a decision the
// object waits until it is read back.
func (e *Engine) record(key int32, p *pending) {
	id, waits := p.decision.Result.ID, !p.decision.HasLog
	err := e.opt.Journal.Record(context.Background(), &p.decision.Result, func(seq uint64, err error) {
		if err != nil || waits {
			e.inbox.append(appended{key: key, id: id, seq: seq, err: err})
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
	var next handover.Next
	switch {
	case a.err == nil && p.stream() == event.Results:
		e.onRecorded(a, p)
	case a.err == nil:
		p.write, next = p.write.Acked(a.seq, e.proj.State(e.state.entries[a.key].obj.ID))
	case errors.Is(a.err, journal.ErrClosed):
		return
	case errors.Is(a.err, journal.ErrConflict):
		e.metrics.conflicts.Inc()
		p.write, next = p.write.Refused()
	default:
		e.metrics.appendErrors.Inc()
		if p.write.Tries == 1 {
			e.log.Warn("an append failed and is tried again", "object", string(e.state.entries[a.key].id()), "err", a.err)
		}
		p.write, next = p.write.Failed()
	}
	e.follow(ctx, a.key, p, next)
}

// follow does what is next about an outstanding append.
func (e *Engine) follow(ctx context.Context, key int32, p *pending, next handover.Next) {
	switch next.Do {
	case handover.Ask:
		e.askLast(ctx, key, p, next.After)
	case handover.Repeat:
		e.later(ctx, key, p, next.After)
	case handover.Decide:
		delete(e.state.pending, key)
		e.proceed(key, &pending{now: p.now, line: p.line, write: p.write, since: p.since}, next.Base)
	case handover.Done:
		e.done(key, p)
	}
}

func (p *pending) id() string {
	if p.decision.HasLog {
		return p.decision.Log.ID
	}
	return p.decision.Result.ID
}

// stream is where the event is that the object waits for.
func (p *pending) stream() event.Stream {
	if p.decision.HasLog {
		return event.Log
	}
	return event.Results
}

func (n *entry) id() object.ID {
	if n.obj == nil {
		return ""
	}
	return n.obj.ID
}

// later repeats the identical message after a pause.
func (e *Engine) later(ctx context.Context, key int32, p *pending, after time.Duration) {
	r := retry{key, p.id()}
	time.AfterFunc(after, func() {
		if ctx.Err() == nil {
			e.inbox.retry(r)
		}
	})
}

// again continues a decision whose append failed: the identical message again, unless
// it turned up on the log meanwhile.
func (e *Engine) again(r retry) {
	if r.key == programKey {
		if e.state.programs.now != nil {
			e.publishProgram()
		}
		return
	}
	if p := e.state.pending[r.key]; p != nil && p.id() == r.id {
		e.publish(r.key, p)
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
	if p == nil || p.id() != l.id || e.state.entries[l.key].obj == nil {
		return
	}
	var next handover.Next
	if l.err != nil {
		p.write, next = p.write.Unanswered()
	} else {
		p.write, next = p.write.Last(l.seq, l.compared, e.proj.State(e.state.entries[l.key].obj.ID))
	}
	e.follow(ctx, l.key, p, next)
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
	case p.behind: // nothing of it is on its way
	default:
		var next handover.Next
		p.write, next = p.write.Seen(ev.ID == p.id(), ev, outcome, e.proj.State(ent.obj.ID))
		e.follow(context.Background(), key, p, next) // a look at the log is never next
	}
}

// done ends a decision that is in: who asked is answered, and the object goes on
// with the next job or waits for its time.
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
	if !e.next(key, p) {
		e.plan(key, object.At(time.Now()))
	}
}

// unstick takes note that the log answers, whatever still waits for it.
func (e *Engine) unstick() {
	e.stuck.Store(0)
	if len(e.state.pending) > 1 || e.state.programs.now != nil {
		e.stuck.Store(int64(object.At(time.Now())))
	}
}
