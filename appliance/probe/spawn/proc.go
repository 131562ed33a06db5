package spawn

import (
	"syscall"
	"time"
)

// phase is where a started program stands.
type phase uint8

const (
	running phase = iota
	exited        // the program is gone (still a zombie), its pipes are not at their end
	doomed        // killed, waiting for the kernel to let it go
)

// proc is one started program. It lives in a slot of the loop and is reused.
type proc struct {
	id    uint64
	slot  int32
	gen   int32
	pid   int
	pidfd int // -1 where the kernel has none
	out   pipe
	err   pipe
	phase phase

	watched  bool // its pipes are in the epoll set
	began    time.Time
	deadline time.Time // running: when to kill; exited, doomed: when to stop waiting
	result   Result
}

// pipe is the reading end of a program's output.
type pipe struct {
	fd  int // -1 at its end
	buf []byte
	cut bool
}

// drain reads what is there without waiting. What exceeds Limit is dropped. It
// stops after a bounded amount, so that a program that writes without pause
// cannot hold the loop; the loop comes back for the rest.
func (p *pipe) drain(scratch []byte) {
	const rounds = 8
	for range rounds {
		if p.fd < 0 {
			return
		}
		n, e := sysRead(p.fd, scratch)
		switch {
		case e == syscall.EINTR:
			continue
		case e == syscall.EAGAIN:
			return
		case e != 0 || n == 0:
			p.close()
			return
		}
		keep := min(n, Limit-len(p.buf))
		p.buf = append(p.buf, scratch[:keep]...)
		p.cut = p.cut || keep < n
	}
}

func (p *pipe) close() {
	if p.fd >= 0 {
		sysClose(p.fd)
		p.fd = -1
	}
}

// start runs the program of a request.
func (l *loop) start(p *proc, req *Request, now time.Time) syscall.Errno {
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
	p.out = pipe{fd: int(o[0]), buf: p.out.buf[:0]}
	p.err = pipe{fd: int(r[0]), buf: p.err.buf[:0]}
	p.pidfd = -1
	sys := syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if !l.noPidfd {
		sys.PidFD = &p.pidfd
	}
	pid, err := syscall.ForkExec(req.Path, req.Args, &syscall.ProcAttr{
		Dir: l.dir, Env: mergeEnv(l.env, req.Env),
		Files: []uintptr{uintptr(l.null), uintptr(o[1]), uintptr(r[1])},
		Sys:   &sys,
	})
	sysClose(int(o[1]))
	sysClose(int(r[1]))
	if err != nil {
		p.out.close()
		p.err.close()
		return errno(err)
	}
	p.pid, p.phase, p.watched = pid, running, false
	p.began, p.deadline = now, now.Add(req.Timeout)
	return 0
}

// errno keeps the number of a system call's error; every error of ForkExec is one.
func errno(err error) syscall.Errno {
	if n, ok := err.(syscall.Errno); ok {
		return n
	}
	return syscall.EINVAL
}

// mergeEnv puts extra on top of base; a name in extra replaces the one in base.
func mergeEnv(base, extra []string) []string {
	if len(extra) == 0 {
		return base
	}
	names := make(map[string]bool, len(extra))
	for _, kv := range extra {
		names[envName(kv)] = true
	}
	merged := make([]string, 0, len(base)+len(extra))
	for _, kv := range base {
		if !names[envName(kv)] {
			merged = append(merged, kv)
		}
	}
	return append(merged, extra...)
}

func envName(kv string) string {
	for i := range len(kv) {
		if kv[i] == '=' {
			return kv[:i]
		}
	}
	return kv
}

// killGroup ends the program and every process it left in its group. It must
// run before the program is reaped: the zombie keeps the number from being
// given to somebody else.
func (p *proc) killGroup() { sysKill(-p.pid) }
