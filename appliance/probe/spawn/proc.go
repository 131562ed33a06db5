package spawn

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// firstLook is how long a program may run before its pipes are looked at.
	// Most plugins are done earlier, what they print fits the pipe, and one
	// wake-up at their end is all they cost.
	firstLook = 30 * time.Millisecond
	// lastLook is the longest time between two looks at the pipes of a program
	// that prints nothing; one that fills them is looked at every busyLook.
	lastLook = 250 * time.Millisecond
	busyLook = time.Millisecond
	// pipeGrace is how long output is awaited from processes that outlive the
	// program that started them.
	pipeGrace = time.Second
	// reapGrace is how long a killed program may take to disappear before its
	// result is given without it (uninterruptible sleep on a dead disk).
	reapGrace = 2 * time.Second
)

// proc is one started program. All but stopped and exit belong to the goroutine
// that called Run.
type proc struct {
	pid      int
	pidfd    int // -1 where the kernel has none
	deadline time.Time
	out, err pipe
	scratch  *[Limit]byte
	result   Result

	stopped atomic.Bool // the program shall be killed, see interrupt
	exit    atomic.Pointer[os.File]
	ended   chan struct{} // without exit: closed when the program has ended
}

// start runs the program of a request.
func (s *Starter) start(p *proc, req *Request) syscall.Errno {
	o, e := sysPipe()
	if e != 0 {
		return e
	}
	r, e := sysPipe()
	if e != 0 {
		sysClose(int(o[0]))
		sysClose(int(o[1]))
		return e
	}
	p.out.fd, p.err.fd = int(o[0]), int(r[0])
	// The kernel kills the program when the thread that started it ends, which
	// Go's threads do only with the process.
	sys := syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if !s.opts.noPidfd {
		sys.PidFD = &p.pidfd
	}
	attr := syscall.ProcAttr{
		Dir: s.opts.Dir, Env: mergeEnv(s.opts.Env, req.Env),
		Files: []uintptr{uintptr(s.null), uintptr(o[1]), uintptr(r[1])},
		Sys:   &sys,
	}
	s.starting.Lock()
	pid, err := syscall.ForkExec(req.Path, req.Args, &attr)
	s.starting.Unlock()
	sysClose(int(o[1]))
	sysClose(int(r[1]))
	if err != nil {
		p.out.close()
		p.err.close()
		return errno(err)
	}
	p.pid = pid
	return 0
}

// errno keeps the number of a system call's error; every error of ForkExec is one.
func errno(err error) syscall.Errno {
	if n, ok := err.(syscall.Errno); ok {
		return n
	}
	return syscall.EINVAL
}

// see watches the program to its end, ends what is left of its group and fills
// in the result.
func (p *proc) see() {
	exited := p.untilExit()
	if exited {
		p.untilEOF()
	}
	// Before the program is reaped: the zombie keeps its number from being given
	// to somebody else.
	p.killGroup()
	if !exited {
		exited = p.untilGone()
		p.drain()
	}
	if exited {
		p.result.Status = reap(p.pid)
	} else {
		go reap(p.pid)
	}
	if f := p.exit.Load(); f != nil {
		_ = f.Close()
	}
	p.out.close()
	p.err.close()
	p.result.Out, p.result.OutCut = p.out.buf, p.out.cut
	p.result.Err, p.result.ErrCut = p.err.buf, p.err.cut
}

// untilExit waits for the program's end and keeps its pipes from filling up. It
// returns false, with the reason in the result, when the program is to be killed.
func (p *proc) untilExit() bool {
	pause := firstLook
	for {
		now := time.Now()
		switch {
		case p.stopped.Load():
			p.result.Killed = true
			return false
		case !now.Before(p.deadline):
			p.result.TimedOut = true
			return false
		}
		if p.awaitExit(earlier(now.Add(pause), p.deadline)) {
			return true
		}
		pause = min(2*pause, lastLook)
		if p.drain() {
			pause = busyLook
		}
	}
}

// untilEOF reads what the program left in its pipes. Processes it left behind
// keep them open; they get a short grace to write what they have.
func (p *proc) untilEOF() {
	end := earlier(time.Now().Add(pipeGrace), p.deadline)
	for pause := busyLook; ; pause = min(2*pause, firstLook) {
		p.drain()
		if p.out.fd < 0 && p.err.fd < 0 || !time.Now().Before(end) {
			return
		}
		if p.stopped.Load() {
			p.result.Killed = true
			return
		}
		time.Sleep(pause)
	}
}

// untilGone gives the kernel a moment to end the killed program.
func (p *proc) untilGone() bool {
	for end := time.Now().Add(reapGrace); time.Now().Before(end); {
		p.stopped.Store(false) // once is enough
		if p.awaitExit(end) {
			return true
		}
	}
	return false
}

// drain reads both pipes and tells whether there was anything.
func (p *proc) drain() bool {
	out := p.out.drain(p.scratch[:])
	return p.err.drain(p.scratch[:]) || out
}

// reap takes a program off the kernel's list, waiting for its end.
func reap(pid int) (status syscall.WaitStatus) {
	for {
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != syscall.EINTR {
			return status
		}
	}
}

// killGroup ends the program and every process it left in its group.
func (p *proc) killGroup() { sysKill(-p.pid) }

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
