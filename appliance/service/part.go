package service

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// part is a service with its place among the others.
type part struct {
	Service
	group *Group
	needs []*part
	users []*part // the services that need this one

	state     atomic.Int32
	readyOnce sync.Once
	ready     chan struct{} // closed when the service is ready
	done      chan struct{} // closed when it has stopped or was given up
	err       error         // written before done is closed
}

func newPart(s Service, g *Group) *part {
	return &part{Service: s, group: g, ready: make(chan struct{}), done: make(chan struct{})}
}

// live takes the service through its life. It returns when the service has
// stopped, was given up, or need not start any more.
func (p *part) live(ctx, stopping context.Context) {
	defer close(p.done)
	defer p.state.Store(int32(Stopped))
	if !p.awaitNeeds(stopping) {
		return
	}
	// The service outlives ctx: it ends only after everything that needs it.
	run, cancel := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), groupPart{}, p))
	defer cancel()
	log := p.group.log
	p.state.Store(int32(Starting))
	log.Debug("service starts", "service", p.Name)
	returned := make(chan error, 1)
	go p.guard(run, returned)

	select {
	case err := <-returned:
		p.err = endedBy(err)
	case <-p.usersGone(stopping):
		p.state.Store(int32(Stopping))
		cancel()
		p.err = p.awaitReturn(returned)
		log.Debug("service stopped", "service", p.Name)
	}
}

// awaitNeeds waits until all needs are ready; false = the process stops first.
func (p *part) awaitNeeds(stopping context.Context) bool {
	for _, need := range p.needs {
		select {
		case <-need.ready:
		case <-stopping.Done():
			return false
		}
	}
	return stopping.Err() == nil
}

// usersGone returns a channel that is closed when the process stops and nothing
// uses the service any more.
func (p *part) usersGone(stopping context.Context) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		p.mayStop(stopping)
	}()
	return gone
}

// awaitReturn waits for Run to return after its context ended.
func (p *part) awaitReturn(returned <-chan error) error {
	limit := p.StopTimeout
	if limit <= 0 {
		limit = DefaultStopTimeout
	}
	began := time.Now()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	hurried := p.group.hurried
	for {
		select {
		case err := <-returned:
			if errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		case <-hurried:
			hurried = nil
			timer.Reset(min(limit-time.Since(began), time.Until(p.group.haste.Load().end)))
		case <-timer.C:
			return p.giveUp(time.Since(began))
		}
	}
}

// guard calls Run and sends what it returned; a panic, or an end of its
// goroutine, becomes an error. The stack goes to the log; goroutines that Run
// starts are its own affair.
func (p *part) guard(ctx context.Context, returned chan<- error) {
	err := errors.New("it left its goroutine")
	defer func() {
		if v := recover(); v != nil {
			p.group.log.Error("service panicked", "service", p.Name, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", v)
		}
		// Here, and not where it is waited for: no goroutine has to be woken before
		// health is refused.
		returned <- Fail(ctx, err)
	}()
	err = p.Run(ctx, p.markReady)
}

// markReady may be called more than once; a service that stops stays unready.
func (p *part) markReady() {
	p.readyOnce.Do(func() {
		p.state.CompareAndSwap(int32(Starting), int32(Ready))
		close(p.ready)
	})
}

func endedBy(err error) error {
	if err == nil {
		return ErrEnded
	}
	return err
}

// findCycle returns an error that shows one circle of needs, nil if there is none.
func findCycle(parts []*part) error {
	const (
		unseen = iota
		open
		closed
	)
	mark := make(map[*part]int, len(parts))
	var path []string
	var visit func(p *part) error
	visit = func(p *part) error {
		path = append(path, p.Name)
		switch mark[p] {
		case open:
			return fmt.Errorf("services: needs go round in a circle: %s", strings.Join(circle(path), " → "))
		case unseen:
			mark[p] = open
			for _, need := range p.needs {
				if err := visit(need); err != nil {
					return err
				}
			}
			mark[p] = closed
		}
		path = path[:len(path)-1]
		return nil
	}
	for _, p := range parts {
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}

// circle cuts a path to the part that repeats its last name.
func circle(path []string) []string {
	last := path[len(path)-1]
	for i, name := range path {
		if name == last {
			return path[i:]
		}
	}
	return path
}
