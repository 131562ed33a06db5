package spawn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a Pool.
type Options struct {
	// Processes is the number of spawner processes, best one for every two
	// cores. 0 runs one loop inside this process. More than 0 needs a program whose main calls Main first.
	Processes int
	// Exe is the program to run as spawner; "" = this one.
	Exe string
	// Env is the whole environment of started programs, before a request's own.
	Env []string
	// Dir is the working directory of started programs; "" = "/".
	Dir string
	Log *slog.Logger
	// Died is called after a spawner process was lost; nil = nobody asks.
	Died func()

	grace time.Duration // see answerGrace; tests shorten it
}

// Pool starts programs and waits for them. Its methods may be called from any
// goroutine.
type Pool struct {
	opts    Options
	members []*member
	turn    atomic.Uint32
	closed  atomic.Bool
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// Errors that Run returns.
var (
	// ErrDied says that the spawner process went away with the program.
	ErrDied = errors.New("the spawner process died")
	// ErrSilent says that the spawner process was killed because it did not
	// answer in time.
	ErrSilent = errors.New("the spawner process does not answer")
	// ErrClosed says that the pool is closed.
	ErrClosed = errors.New("the pool of spawners is closed")
)

// answerGrace is how long after a program's timeout a spawner must have
// answered. The loop itself needs at most pipeGrace + reapGrace.
const answerGrace = 5 * time.Second

// New starts the spawners. Close ends them and everything they run.
func New(o Options) (*Pool, error) {
	if o.Dir == "" {
		o.Dir = "/"
	}
	if o.grace == 0 {
		o.grace = answerGrace
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Exe == "" && o.Processes > 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program to run it as spawner: %w", err)
		}
		o.Exe = exe
	}
	closeOnExec()
	ctx, stop := context.WithCancel(context.Background())
	p := &Pool{opts: o, stop: stop}
	for range max(1, o.Processes) {
		m := &member{pool: p, calls: map[uint64]*call{}}
		if err := m.connect(); err != nil {
			p.Close()
			return nil, fmt.Errorf("start a spawner: %w", err)
		}
		p.members = append(p.members, m)
		p.done.Go(func() { m.run(ctx) })
	}
	return p, nil
}

// Close kills every program that still runs, ends the spawners and waits.
func (p *Pool) Close() {
	p.closed.Store(true)
	p.stop()
	for _, m := range p.members {
		m.hangUp()
	}
	p.done.Wait()
}

// gone is why a program's result is lost: a spawner's death is no news once the
// pool is closed.
func (p *Pool) gone() error {
	if p.closed.Load() {
		return ErrClosed
	}
	return ErrDied
}

// PIDs returns the process ids of the spawner processes that run now.
func (p *Pool) PIDs() []int {
	var pids []int
	for _, m := range p.members {
		m.mu.Lock()
		if m.cmd != nil && m.conn != nil {
			pids = append(pids, m.cmd.Process.Pid)
		}
		m.mu.Unlock()
	}
	return pids
}

// Run starts a program and returns when it has ended, was killed at its
// timeout, or was killed because ctx ended (Result.Killed). An error means that
// nothing is known about the program: ErrDied, ErrSilent, ErrClosed.
func (p *Pool) Run(ctx context.Context, req *Request) (Result, error) {
	m := p.pick()
	id, c, err := m.begin(req)
	if err != nil {
		return Result{}, err
	}
	late := time.NewTimer(req.Timeout + p.opts.grace)
	defer late.Stop()
	done := ctx.Done()
	for {
		select {
		case <-c.done:
			return c.result, c.err
		case <-done:
			done = nil
			m.send(func(b []byte) []byte { return appendSignal(b, frameKill, id) })
			late.Reset(p.opts.grace)
		case <-late.C:
			m.abandon()
			<-c.done
			return c.result, ErrSilent
		}
	}
}

// pick takes the member with the fewest programs, starting at another one each
// time so that equals share.
func (p *Pool) pick() *member {
	n := uint32(len(p.members))
	first := p.turn.Add(1)
	best := p.members[first%n]
	for i := uint32(1); i < n; i++ {
		if m := p.members[(first+i)%n]; m.weight() < best.weight() {
			best = m
		}
	}
	return best
}
