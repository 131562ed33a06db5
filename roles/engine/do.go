package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/operate"
)

// MaxActions is how many actions one Do takes.
const MaxActions = 100_000

// Do carries out actions and returns what became of each once the log has
// confirmed it: nil if it is on the log or there was nothing to change, else an
// error that wraps one of this package's, or the context's.
//
// Actions of one object are done in their order. An action that says Wait, or is
// about the whole program, begins when those before it are done, and those behind
// the latter see its effect. Do returns when the downtimes that a new rule makes for
// the objects of the moment are on the log too, or after a few seconds; what is not
// made by then follows. A context that ends stops the waiting, not what is
// under way. The error is that of the whole, when nothing was begun.
func (e *Engine) Do(ctx context.Context, actions []operate.Action) (operate.Report, error) {
	return e.doAs(ctx, e.newID(), 0, actions)
}

// DoAs is Do under an id of the caller's, which nobody else must use: it is the id of
// the events of a single action; with several, each event's has a point and the
// number of its action behind it, from 0 in base 36.
func (e *Engine) DoAs(ctx context.Context, id string, actions []operate.Action) (operate.Report, error) {
	return e.doAs(ctx, id, 0, actions)
}

// doAs is DoAs for actions that have had so many hops.
func (e *Engine) doAs(ctx context.Context, id string, hop int, actions []operate.Action) (operate.Report, error) {
	switch {
	case !e.accepts.Load():
		return operate.Report{}, ErrStopping
	case ctx.Err() != nil:
		return operate.Report{}, ctx.Err()
	case len(actions) > MaxActions:
		return operate.Report{}, fmt.Errorf("%d actions at once, %d is the most: %w", len(actions), MaxActions, ErrRefused)
	}
	b := newBatch(id, e.opt.Confirm, actions)
	b.hop = hop
	for i := range actions {
		if err := e.step(ctx, b, i, &actions[i]); err != nil {
			b.settleAll(i, fmt.Errorf("%w: %w", ErrNotBegun, err))
			break
		}
	}
	if err := b.wait(ctx, e.ended, b.idle); err != nil {
		b.settleAll(0, err)
	}
	e.awaitMade(ctx, b)
	return b.report(), nil
}

// step sends one action. An error says why neither it nor those behind it can be
// begun.
func (e *Engine) step(ctx context.Context, b *batch, i int, a *operate.Action) error {
	if (a.Command == nil) == (a.Program == nil) {
		b.settle(i, fmt.Errorf("an action needs a command for an object or one for the program: %w", ErrRefused))
		return nil
	}
	ready := b.roomFor(a.Object)
	if a.Program != nil || a.Wait {
		ready = b.idle
	}
	if err := b.wait(ctx, e.ended, ready); err != nil {
		return err
	}
	if err := e.takePlace(ctx); err != nil {
		return err
	}
	id := b.id
	if len(b.results) > 1 {
		id += "." + strconv.FormatInt(int64(i), 36)
	}
	b.send(i)
	o := &order{id: id, object: a.Object, command: spread(a.Command, len(b.results)), program: a.Program, batch: b, index: i, hop: b.hop}
	if _, ok := a.Program.(program.PutRule); ok {
		o.made = newMade()
		b.made = append(b.made, o.made)
	}
	e.inbox.order(o)
	if a.Program == nil {
		return nil
	}
	if err := b.wait(ctx, e.ended, b.idle); err != nil {
		return err
	}
	if errors.Is(b.failed(i), ErrUnconfirmed) {
		return errUnseen
	}
	return nil
}

// fewActions is up to how many actions the checks that they begin run at once.
const fewActions = 10

// spread lets the checks that many actions begin together start one by one.
func spread(c fold.Command, actions int) fold.Command {
	if actions <= fewActions {
		return c
	}
	switch c := c.(type) {
	case fold.Switch:
		c.Spread = true
		return c
	case fold.Tune:
		c.Spread = true
		return c
	}
	return c
}

// errUnseen ends a batch behind an action about the program that the log does not
// confirm: what follows is meant to see its effect.
var errUnseen = errors.New("the log has not confirmed the command before it")

// takePlace takes one of the places for waiting commands; answer gives it back.
func (e *Engine) takePlace(ctx context.Context) error {
	select {
	case e.places <- struct{}{}:
		return nil
	default:
	}
	limit := time.NewTimer(e.opt.Confirm)
	defer limit.Stop()
	select {
	case e.places <- struct{}{}:
		return nil
	case <-limit.C:
		return ErrBusy
	case <-ctx.Done():
		return ctx.Err()
	case <-e.ended:
		return ErrStopping
	}
}

// answer tells whoever asked what became of an order; each is answered once.
func (e *Engine) answer(o *order, err error) {
	if o != nil {
		o.of.less()
	}
	if o == nil || o.batch == nil {
		return
	}
	if err != nil {
		o.made.end()
	}
	<-e.places
	e.metrics.commands.WithLabelValues(outcomeOf(err)).Inc()
	o.batch.settle(o.index, err)
}

// outcomeOf names the outcome of a command as a metric label.
func outcomeOf(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, ErrNotFound):
		return "not_found"
	case errors.Is(err, ErrRefused):
		return "refused"
	case errors.Is(err, ErrBusy):
		return "busy"
	}
	return "failed"
}

// takeOrders looks at the first orders that wait. The others wait here, not in the
// lines of their objects, where they would hold up checks.
func (e *Engine) takeOrders() {
	s, began := &e.state, time.Now()
	if !s.live && !s.stopped {
		return
	}
	for i := 0; i < ordersPerTurn && len(s.orders) > 0; i++ {
		if len(s.pending) >= maxUnderWay && !s.stopped || i%16 == 15 && time.Since(began) > turnTime {
			return
		}
		o := s.orders[0]
		s.orders[0], s.orders = nil, s.orders[1:]
		e.onOrder(o)
	}
}

// onOrder handles a command of a person.
func (e *Engine) onOrder(o *order) {
	key, ok := e.state.keys[o.object]
	switch {
	case e.state.stopped:
		e.answer(o, ErrStopping)
	case o.program != nil:
		e.onProgramOrder(o)
	case !ok:
		e.answer(o, fmt.Errorf("%s: %w", o.object, ErrNotFound))
	default:
		e.onObjectOrder(key, o)
	}
}

func (e *Engine) onObjectOrder(key int32, o *order) {
	if r, ok := o.command.(fold.Result); ok {
		o.command = bounded(r) // before it goes anywhere: a message holds less than the API takes
	}
	switch {
	case e.state.forwarding.holds(o.object):
		e.lineUp(o)
		return
	case !e.owns(o.object):
		e.passOn(o)
		return
	}
	now := object.At(time.Now())
	switch c := o.command.(type) {
	case fold.Reschedule:
		if c.Forced && c.At <= now {
			e.checkNow(key, o, now)
			return
		}
	case fold.Result:
		// Whoever submits a result cannot make it one that jaque got itself.
		c.Passive, c.Expired = true, false
		if c.Start == 0 {
			c.Start = now
		}
		o.command = c
	}
	e.decide(key, job{command: o.command, order: o})
}

// mostOutput is how many bytes of a submitted result are kept, as of a plugin's.
const mostOutput = 64 << 10

// bounded cuts what a submitted result says.
func bounded(r fold.Result) fold.Result {
	r.Output = cutText(r.Output, mostOutput)
	r.Long = cutText(r.Long, max(mostOutput-len(r.Output), 0))
	if len(r.Perfdata) > mostOutput { // half a value would be another one
		whole := r.Perfdata[:mostOutput]
		r.Perfdata = whole[:max(strings.LastIndexByte(whole, ' '), 0)]
		r.Long = strings.TrimPrefix(r.Long+"\n(performance data cut at 64 KiB)", "\n")
	}
	return r
}

// cutText cuts a text to a number of bytes and marks that.
func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// checkNow runs the check of an object at once, whatever its switches say. The
// regular schedule goes on from its result.
func (e *Engine) checkNow(key int32, o *order, now object.Time) {
	ent := &e.state.entries[key]
	switch kind := ent.obj.Rule.Check.Kind; {
	case kind == object.CheckNone || kind == object.CheckPassive:
		e.answer(o, fmt.Errorf("%s has no check that could be run, its kind is %q: %w; submit a result instead", o.object, kind, ErrRefused))
		return
	case !ent.running: // one that runs started a moment ago and answers the wish
		e.enqueue(key, now)
	}
	e.answer(o, nil)
}
