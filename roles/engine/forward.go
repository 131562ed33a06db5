package engine

import (
	"context"
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// Errors of commands for objects of other engines.
var (
	// ErrNotOwned: the object belongs to another engine than the command was
	// forwarded to, or to none. Nothing was done about it.
	ErrNotOwned = errors.New("the engine that owns the object was not found after one hop")
	// ErrNotForwarded: the engine that owns the object was not reached. Nothing was
	// done about it.
	ErrNotForwarded = errors.New("the engine that owns the object was not reached")
)

// Command is an action on its way to the engine that owns its object.
type Command struct {
	ID     string // becomes the id of the decision
	Hop    int    // 1 = it was forwarded, and is not forwarded again
	Action operate.Action
}

// Forwarder reaches the other engines.
type Forwarder interface {
	// Forward has the engine with an id carry out a command and returns what became
	// of it: nil once it is on the log, else an error that wraps one of this
	// package's. It is ErrNotForwarded only if the other engine cannot have taken
	// it, and ErrUnconfirmed where that is not known. It may block until ctx ends
	// and is called by many goroutines, for one object by one at a time.
	Forward(ctx context.Context, to string, c Command) error
}

// TakeForwarded carries out a command that another engine forwarded and returns what
// became of it, as Do does for one action. It is never forwarded again: if the object
// is not this engine's it is dropped and counted, and the error is ErrNotOwned.
func (e *Engine) TakeForwarded(ctx context.Context, c Command) error {
	if c.Action.Command == nil || c.ID == "" {
		return fmt.Errorf("a forwarded command needs an id and a command for an object: %w", ErrRefused)
	}
	report, err := e.doAs(ctx, c.ID, 1, []operate.Action{c.Action})
	if err != nil {
		return err
	}
	return report.Results[0].Err
}

// mostForwards bounds the commands that wait for the answers of other engines at once.
const mostForwards = 1024

// forwarding is the commands for objects of other engines. Those of one object go one
// after the other, so that their order is kept.
type forwarding struct {
	lines  map[object.ID][]*order // the first of each is in flight, or its object ready
	ready  []object.ID            // objects of which the first may go
	flying int
}

// forwarded is what became of the first command in an object's line.
type forwarded struct {
	object object.ID
	err    error
}

// passOn forwards a command whose object is not this engine's, unless it has had its
// hop or there is nobody to forward it to.
func (e *Engine) passOn(o *order) {
	owner := e.view.Load().Owner(string(o.object))
	if o.hop > 0 || owner == "" || owner == e.opt.ID || e.opt.Forward == nil {
		e.metrics.notOwned.Inc()
		e.answer(o, fmt.Errorf("%s: %w", o.object, ErrNotOwned))
		return
	}
	e.lineUp(o)
}

// lineUp puts a command behind those of its object that are being forwarded.
func (e *Engine) lineUp(o *order) {
	f := &e.state.forwarding
	line, waits := f.lines[o.object]
	if len(line) >= maxLine {
		e.metrics.shed.Inc()
		e.answer(o, ErrBusy)
		return
	}
	if f.lines == nil {
		f.lines = map[object.ID][]*order{}
	}
	f.lines[o.object] = append(line, o)
	if !waits {
		f.ready = append(f.ready, o.object)
	}
}

// holds tells whether commands of an object are being forwarded.
func (f *forwarding) holds(id object.ID) bool { return len(f.lines[id]) > 0 }

// startForwards sends what may go.
func (e *Engine) startForwards(ctx context.Context) {
	f := &e.state.forwarding
	for f.flying < mostForwards && len(f.ready) > 0 {
		id := f.ready[0]
		f.ready = f.ready[1:]
		to := e.view.Load().Owner(string(id))
		if to == "" || to == e.opt.ID || e.state.stopped {
			e.takeBack(id)
			continue
		}
		f.flying++
		o := f.lines[id][0]
		go e.sendForward(ctx, to, Command{ID: o.id, Hop: 1, Action: operate.Action{Object: o.object, Command: o.command}})
	}
}

func (e *Engine) sendForward(ctx context.Context, to string, c Command) {
	ctx, cancel := context.WithTimeout(ctx, e.opt.Confirm)
	defer cancel()
	e.inbox.forwarded(forwarded{object: c.Action.Object, err: e.opt.Forward.Forward(ctx, to, c)})
}

// takeBack decides the commands of an object here that was to be another's.
func (e *Engine) takeBack(id object.ID) {
	line := e.state.forwarding.lines[id]
	delete(e.state.forwarding.lines, id)
	for _, o := range line {
		e.onOrder(o)
	}
}

// onForwarded takes what became of a command at another engine.
func (e *Engine) onForwarded(r *forwarded) {
	f := &e.state.forwarding
	f.flying--
	o := f.lines[r.object][0]
	if rest := f.lines[r.object][1:]; len(rest) > 0 {
		f.lines[r.object] = rest
		f.ready = append(f.ready, r.object)
	} else {
		delete(f.lines, r.object)
	}
	outcome := "sent"
	if errors.Is(r.err, ErrNotForwarded) {
		outcome = "error"
	}
	e.metrics.forwarded.WithLabelValues(outcome).Inc()
	if errors.Is(r.err, context.DeadlineExceeded) && !errors.Is(r.err, ErrNotForwarded) {
		r.err = fmt.Errorf("%w: %w", ErrUnconfirmed, r.err)
	}
	e.answer(o, r.err)
}

// refuseForwards answers what nobody will forward any more, and what is in flight.
func (e *Engine) refuseForwards() {
	f := &e.state.forwarding
	ready := make(map[object.ID]bool, len(f.ready))
	for _, id := range f.ready {
		ready[id] = true
	}
	for id, line := range f.lines {
		for i, o := range line {
			err := ErrStopping
			if i == 0 && !ready[id] {
				err = ErrUnconfirmed
			}
			e.answer(o, err)
		}
	}
}
