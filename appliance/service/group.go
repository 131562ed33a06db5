package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
)

// ErrEnded is the error of a service that returned nil although nothing told it
// to stop.
var ErrEnded = errors.New("it ended by itself")

// Error says which service ended the process, or did not stop as it should.
type Error struct {
	Service string
	Err     error
}

// Error names the service first.
func (e *Error) Error() string { return fmt.Sprintf("service %s: %v", e.Service, e.Err) }

// Unwrap returns the service's own error.
func (e *Error) Unwrap() error { return e.Err }

// Group is the set of services of one process. It runs once.
type Group struct {
	log    *slog.Logger
	parts  []*part
	failed atomic.Pointer[Error] // of the first service that ended by itself
	ended  chan struct{}         // closed when failed is set

	haste   atomic.Pointer[haste] // nil while there is time
	hurried chan struct{}         // closed when haste is set
}

// New checks the services: names are unique, every need exists, nothing needs
// itself on any way round. It starts nothing.
func New(logger *slog.Logger, services []Service) (*Group, error) {
	g := &Group{log: logger, ended: make(chan struct{}), hurried: make(chan struct{})}
	byName := make(map[string]*part, len(services))
	for _, s := range services {
		if s.Name == "" || s.Run == nil {
			return nil, fmt.Errorf("services: %q lacks a name or a Run function", s.Name)
		}
		if byName[s.Name] != nil {
			return nil, fmt.Errorf("services: the name %q stands twice", s.Name)
		}
		p := newPart(s, g)
		byName[s.Name] = p
		g.parts = append(g.parts, p)
	}
	for _, p := range g.parts {
		for _, name := range p.Needs {
			need := byName[name]
			if need == nil {
				return nil, fmt.Errorf("services: %q needs %q, which does not exist", p.Name, name)
			}
			p.needs = append(p.needs, need)
			need.users = append(need.users, p)
		}
	}
	return g, findCycle(g.parts)
}

// Run starts the services, each as soon as what it needs is ready, and blocks
// until all have stopped. They stop when ctx ends or when one of them returns
// by itself; each is told to stop once everything that needs it has returned.
//
// The result is nil after a clean stop. Otherwise it joins one *Error for the
// service that ended the process, first, and one for each that failed to stop.
func (g *Group) Run(ctx context.Context) error {
	stopping, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	for _, p := range g.parts {
		all.Go(func() { p.live(ctx, stopping) })
	}

	var first *Error // nil if the stop was asked for
	select {
	case <-ctx.Done():
		g.log.Info("stopping", "reason", context.Cause(ctx).Error())
	case <-g.ended:
		first = g.failed.Load()
		g.log.Error("service ended by itself, stopping the process",
			"service", first.Service, "err", first.Err)
	}
	stop()
	all.Wait()
	return g.result(first)
}

// result joins what went wrong; the culprit comes first and is named in the
// last line of the log.
func (g *Group) result(first *Error) error {
	errs := make([]error, 1) // the culprit's
	for _, p := range g.parts {
		if p.err == nil {
			continue
		}
		if first != nil && p.Name == first.Service {
			switch cut := (*unstopped)(nil); {
			case errors.Is(p.err, first.Err):
				first = &Error{p.Name, p.err} // with what happened while it tidied up
			case errors.As(p.err, &cut):
				first = &Error{p.Name, errors.Join(first.Err, p.err)}
			}
			continue
		}
		errs = append(errs, &Error{p.Name, p.err})
		g.log.Warn("service did not stop cleanly", "service", p.Name, "err", p.err)
	}
	if first != nil {
		errs[0] = first
		g.log.Error("process stopped because a service ended", "service", first.Service, "err", first.Err)
	}
	return errors.Join(errs...)
}

// Err returns which service ended by itself, as an *Error, nil while none has. It
// says so from that moment on, before anything is stopped: health is asked of it,
// so that a process that lost a part never calls itself healthy.
func (g *Group) Err() error {
	if first := g.failed.Load(); first != nil {
		return first
	}
	return nil
}

// fail takes in that a service ended by itself; only the first one counts.
func (g *Group) fail(e *Error) {
	if g.failed.CompareAndSwap(nil, e) {
		close(g.ended)
	}
}

// groupPart is the key under which a service's context knows its part.
type groupPart struct{}

// Fail tells the group of the service whose context this is that the service ends by
// itself, before it tidies up and returns: whatever that takes, health is refused
// already and the process stops. Without a group it does nothing. It returns err.
func Fail(ctx context.Context, err error) error {
	if p, ok := ctx.Value(groupPart{}).(*part); ok && ctx.Err() == nil {
		p.group.fail(&Error{p.Name, endedBy(err)})
	}
	return err
}

// Status returns the state of every service, in the order they were given.
func (g *Group) Status() []Status {
	all := make([]Status, len(g.parts))
	for i, p := range g.parts {
		all[i] = Status{p.Name, State(p.state.Load())}
	}
	return all
}

// NotReady returns the names of the services that are not ready, in the order
// they were given. It is empty when the process is ready.
func (g *Group) NotReady() []string {
	var names []string
	for _, s := range g.Status() {
		if s.State != Ready {
			names = append(names, s.Name)
		}
	}
	return names
}
