package spawn

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// watch prepares to be told of the program's end: by Go's own poller where the
// kernel has pidfds, else by a goroutine that blocks a thread.
func (p *proc) watch() {
	if p.pidfd >= 0 {
		_ = syscall.SetNonblock(p.pidfd, true)
		f := os.NewFile(uintptr(p.pidfd), "pidfd")
		if f.SetReadDeadline(time.Time{}) == nil {
			p.exit.Store(f)
			return
		}
		_ = f.Close()
	}
	p.ended = make(chan struct{})
	go func() {
		defer close(p.ended)
		for waitid(p.pid, 0) == unix.EINTR {
		}
	}()
}

// interrupt asks for the program to be killed. Any goroutine may call it.
func (p *proc) interrupt() {
	p.stopped.Store(true)
	if f := p.exit.Load(); f != nil {
		_ = f.SetReadDeadline(time.Unix(1, 0))
	}
}

// awaitExit waits for the program's end, which it leaves unreaped. It returns
// false at until, after interrupt, or earlier.
func (p *proc) awaitExit(until time.Time) bool {
	f := p.exit.Load()
	if f == nil {
		return p.awaitEnded(until)
	}
	_ = f.SetReadDeadline(until)
	if p.stopped.Load() { // its deadline may have been overwritten just now
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	return conn.Read(func(uintptr) bool { return isGone(p.pid) }) == nil
}

func (p *proc) awaitEnded(until time.Time) bool {
	const stride = 20 * time.Millisecond // nobody wakes us when stopped
	timer := time.NewTimer(min(stride, time.Until(until)))
	defer timer.Stop()
	select {
	case <-p.ended:
		return true
	case <-timer.C:
		return false
	}
}

// isGone tells whether a child has ended, without reaping it.
func isGone(pid int) bool {
	err := waitid(pid, unix.WNOHANG)
	return err == nil || err == unix.ECHILD
}

// waitid waits for the end of a child without reaping it. With WNOHANG it
// returns EAGAIN at once while the child runs.
func waitid(pid, flags int) error {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|flags, nil)
	if err == nil && info.Signo == 0 {
		return unix.EAGAIN
	}
	return err
}
