package roles

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/forward"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
)

// forwardStop bounds the wait for forwarded commands that are under way at a stop.
const forwardStop = 15 * time.Second

// openForwarding makes the way to the other engines, on the server on which they meet.
// An engine that can meet no other forwards nothing.
func (a *appliance) openForwarding(ctx context.Context) error {
	where := a.membershipOn()
	if where == "" {
		return nil
	}
	b, err := a.link(ctx, "coordination", where)
	if err != nil {
		return fmt.Errorf("connect for the commands of other engines: %w", err)
	}
	a.forwarding, err = forward.NewClient(b.Conn(), forward.ClientOptions{From: a.s.EngineID, Logger: a.p.Logger, Registerer: a.reg})
	if err != nil {
		return err
	}
	a.add(service.Service{Name: "forwarding", Needs: a.names(), Run: a.forwarding.Run})
	return nil
}

// forwarder is the way to the other engines as the engine uses it, nil if there is none.
func (a *appliance) forwarder() engine.Forwarder {
	if a.forwarding == nil {
		return nil
	}
	return forwarder{a.forwarding, a.proj}
}

// takeForwarded makes what takes the commands that other engines forward.
func (a *appliance) takeForwarded(ctx context.Context) error {
	where := a.membershipOn()
	if where == "" {
		return nil
	}
	b, err := a.link(ctx, "coordination", where)
	if err != nil {
		return fmt.Errorf("connect for the commands of other engines: %w", err)
	}
	s, err := forward.NewServer(b.Conn(), forward.ServerOptions{
		ID: a.s.EngineID, Engine: forwardTaker{a.engine, a.proj}, Over: a.over, Logger: a.p.Logger, Registerer: a.reg,
	})
	if err != nil {
		return err
	}
	a.add(service.Service{Name: "forwarded", Needs: a.names(), StopTimeout: forwardStop, Run: s.Run})
	return nil
}

// over tells whether this engine must take no commands of others any more: it has lost
// its membership, or the process is on its way out.
func (a *appliance) over() bool { return a.group.Err() != nil || !a.store.Alive() }

// forwarder sends the engine's commands to others and says in the engine's terms what
// became of them.
type forwarder struct {
	client *forward.Client
	proj   *projection.Projection
}

// Forward has another engine carry out a command; see engine.Forwarder. It returns when
// this engine has read what the command did, so that whoever asks it next sees that.
func (f forwarder) Forward(ctx context.Context, to string, c engine.Command) error {
	if c.Hop != forward.Hop {
		return fmt.Errorf("command %s would make hop %d: %w", c.ID, c.Hop, engine.ErrNotOwned)
	}
	at, err := f.client.Forward(ctx, to, forward.Command{ID: c.ID, Action: c.Action})
	var said *forward.Failure
	switch {
	case err == nil:
		f.follow(ctx, at)
		return nil
	case errors.As(err, &said):
		return saidBy(to, said)
	case errors.Is(err, forward.ErrUnreached):
		return &ownersError{fmt.Sprintf("engine %s, which owns %s, is not reached", to, c.Action.Object), []error{engine.ErrNotForwarded, err}}
	}
	return fmt.Errorf("engine %s, which owns %s: %w: %w", to, c.Action.Object, engine.ErrUnconfirmed, err)
}

// catchUp bounds how long a command that is done waits until this engine has read it: it
// is on the log in any case.
const catchUp = time.Second

// follow waits until a position is folded.
func (f forwarder) follow(ctx context.Context, at journal.Position) {
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	for pause := 100 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		if here := f.proj.Position(); here.Log >= at.Log && here.Results >= at.Results {
			return
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// codes are the engine's errors as they are told to another engine; the first that
// fits counts. Constant.
var codes = []struct {
	err  error
	code forward.Code
}{
	{engine.ErrNotOwned, forward.NotOwned},
	{engine.ErrNotForwarded, forward.NotBegun},
	{engine.ErrNotBegun, forward.NotBegun},
	{engine.ErrNotFound, forward.NotFound},
	{engine.ErrRefused, forward.Refused},
	{engine.ErrBusy, forward.Busy},
	{engine.ErrStopping, forward.Stopping},
	{engine.ErrUnconfirmed, forward.Unconfirmed},
	{context.Canceled, forward.Unconfirmed},
	{context.DeadlineExceeded, forward.Unconfirmed},
}

// saidBy returns what another engine said of a command as this one would say it itself.
func saidBy(id string, f *forward.Failure) error {
	if f.Code == forward.Stopping { // that is no word about this engine
		return &ownersError{fmt.Sprintf("engine %s, which owns it, stops", id), []error{engine.ErrNotForwarded}}
	}
	e := &ownersError{text: f.Text}
	if f.Refusal != nil {
		e.is = append(e.is, f.Refusal)
	}
	for _, c := range codes {
		if c.code == f.Code {
			if e.is = append(e.is, c.err); e.text == "" {
				e.text = c.err.Error()
			}
			break
		}
	}
	if e.text == "" {
		e.text = f.Error()
	}
	return e
}

// ownersError is an error of another engine, in its words, or about it.
type ownersError struct {
	text string
	is   []error
}

// Error returns the words of the other engine.
func (e *ownersError) Error() string { return e.text }

// Unwrap returns what the error is to a caller that branches on it.
func (e *ownersError) Unwrap() []error { return e.is }

// forwardTaker carries out what other engines forwarded.
type forwardTaker struct {
	engine *engine.Engine
	proj   *projection.Projection
}

// Take carries out a command and says what became of it; see forward.Engine.
func (t forwardTaker) Take(ctx context.Context, c forward.Command) (journal.Position, *forward.Failure) {
	err := t.engine.TakeForwarded(ctx, engine.Command{ID: c.ID, Hop: forward.Hop, Action: c.Action})
	return t.proj.Position(), failureOf(err)
}

// failureOf is the inverse of saidBy.
func failureOf(err error) *forward.Failure {
	if err == nil {
		return nil
	}
	f := &forward.Failure{Code: forward.Failed, Text: err.Error()}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			f.Code = c.code
			break
		}
	}
	if r := (*fold.Refusal)(nil); errors.As(err, &r) {
		f.Refusal = r
	}
	return f
}
