package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
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
	log   *slog.Logger
	parts []*part
}

// New checks the services: names are unique, every need exists, nothing needs
// itself on any way round. It starts nothing.
func New(logger *slog.Logger, services []Service) (*Group, error) {
	g := &Group{log: logger}
	byName := make(map[string]*part, len(services))
	for _, s := range services {
		if s.Name == "" || s.Run == nil {
			return nil, fmt.Errorf("services: %q lacks a name or a Run function", s.Name)
		}
		if byName[s.Name] != nil {
			return nil, fmt.Errorf("services: the name %q stands twice", s.Name)
		}
		p := newPart(s)
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

// Run is New and Group.Run in one.
func Run(ctx context.Context, logger *slog.Logger, services []Service) error {
	g, err := New(logger, services)
	if err != nil {
		return err
	}
	return g.Run(ctx)
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
	ended := make(chan *part, len(g.parts))
	var all sync.WaitGroup
	for _, p := range g.parts {
		all.Go(func() { p.live(ctx, stopping, g.log, ended) })
	}

	var first *part
	select {
	case <-ctx.Done():
		g.log.Info("stopping", "reason", context.Cause(ctx).Error())
	case first = <-ended:
		g.log.Error("service ended by itself, stopping the process",
			"service", first.Name, "err", first.err)
	}
	stop()
	all.Wait()
	return g.result(first)
}

// result joins what went wrong; the culprit comes first and is named in the
// last line of the log.
func (g *Group) result(first *part) error {
	var errs []error
	if first != nil {
		errs = append(errs, &Error{first.Name, first.err})
	}
	for _, p := range g.parts {
		if p != first && p.err != nil {
			errs = append(errs, &Error{p.Name, p.err})
			g.log.Warn("service did not stop cleanly", "service", p.Name, "err", p.err)
		}
	}
	if first != nil {
		g.log.Error("process stopped because a service ended", "service", first.Name, "err", first.err)
	}
	return errors.Join(errs...)
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
