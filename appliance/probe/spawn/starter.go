package spawn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"
)

// Limit is how many bytes of standard output, and of standard error, are kept.
const Limit = 64 << 10

// Request is one program to start.
type Request struct {
	Path    string   // absolute path of the program
	Args    []string // argv, with the program's name first
	Env     []string // KEY=value pairs on top of the starter's environment
	Timeout time.Duration
}

// Result is what became of one program.
type Result struct {
	Errno    syscall.Errno // why it could not be started; 0 = it was
	Status   syscall.WaitStatus
	TimedOut bool // killed because its time was over
	Killed   bool // killed because the caller's context ended
	OutCut   bool // standard output was longer than Limit
	ErrCut   bool // standard error was longer than Limit
	Out, Err []byte
	Start    time.Time
	Took     time.Duration
}

// Options of a Starter.
type Options struct {
	// Env is the whole environment of started programs, before a request's own.
	Env []string
	// Dir is the working directory of started programs; "" = "/".
	Dir string

	noPidfd bool // behave as on a kernel without pidfd
}

// Starter starts programs and waits for them. Its methods may be called from
// any goroutine.
type Starter struct {
	opts    Options
	null    int
	scratch sync.Pool

	// starting lets one start happen at a time: until the child executes its
	// program, the start holds one of Go's processors.
	starting sync.Mutex

	mu      sync.Mutex
	closed  bool
	running map[*proc]struct{}
	done    sync.WaitGroup // one for each call of Run under way
}

// ErrClosed says that the starter is closed: the program was not started, or
// was killed.
var ErrClosed = errors.New("the starter of programs is closed")

// New prepares to start programs. Close ends it.
func New(o Options) (*Starter, error) {
	if o.Dir == "" {
		o.Dir = "/"
	}
	closeOnExec()
	null, err := syscall.Open("/dev/null", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open /dev/null: %w", err)
	}
	s := &Starter{opts: o, null: null, running: map[*proc]struct{}{}}
	s.scratch.New = func() any { return new([Limit]byte) }
	return s, nil
}

// Close kills every program that still runs and waits until they are gone.
// Their Run returns ErrClosed.
func (s *Starter) Close() {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	for p := range s.running {
		p.interrupt()
	}
	s.mu.Unlock()
	s.done.Wait()
	if first {
		_ = syscall.Close(s.null)
	}
}

// Run starts a program and returns when it has ended, was killed at its
// timeout, or was killed because ctx ended (Result.Killed). The only error is
// ErrClosed.
func (s *Starter) Run(ctx context.Context, req *Request) (Result, error) {
	p := &proc{pidfd: -1, out: pipe{fd: -1}, err: pipe{fd: -1}}
	if !s.enter(p) {
		return Result{}, ErrClosed
	}
	defer s.done.Done()
	p.result.Start = time.Now()
	p.deadline = p.result.Start.Add(req.Timeout)
	if n := s.start(p, req); n != 0 {
		s.leave(p)
		return Result{Errno: n, Start: p.result.Start, Took: time.Since(p.result.Start)}, nil
	}
	p.watch()
	stop := context.AfterFunc(ctx, p.interrupt)
	p.scratch = s.scratch.Get().(*[Limit]byte)
	p.see()
	s.scratch.Put(p.scratch)
	stop()
	closed := s.leave(p)
	p.result.Took = time.Since(p.result.Start)
	if closed && p.result.Killed && ctx.Err() == nil {
		return Result{}, ErrClosed
	}
	return p.result, nil
}

// enter registers a program that is about to start; false after Close.
func (s *Starter) enter(p *proc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.done.Add(1)
	s.running[p] = struct{}{}
	return true
}

// leave forgets a program and tells whether Close was called meanwhile.
func (s *Starter) leave(p *proc) (closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, p)
	return s.closed
}
