package spawn

import (
	"math"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pipe is the reading end of a program's output.
type pipe struct {
	fd  int // -1 at its end
	buf []byte
	cut bool
}

// drain reads what is there without waiting and tells whether there was
// anything. What exceeds Limit is dropped. It stops after a bounded amount, so
// that a program that writes without pause cannot hold the caller.
func (p *pipe) drain(scratch []byte) (some bool) {
	const rounds = 8
	for range rounds {
		if p.fd < 0 {
			return some
		}
		n, e := sysRead(p.fd, scratch)
		switch {
		case e == syscall.EINTR:
			continue
		case e == syscall.EAGAIN:
			return some
		case e != 0 || n == 0:
			p.close()
			return some
		}
		some = true
		keep := min(n, Limit-len(p.buf))
		p.buf = append(p.buf, scratch[:keep]...)
		p.cut = p.cut || keep < n
	}
	return some
}

func (p *pipe) close() {
	if p.fd >= 0 {
		sysClose(p.fd)
		p.fd = -1
	}
}

// The system calls below return at once, so Go's scheduler is not told of them.

func sysRead(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), e
}

func sysClose(fd int) { _, _, _ = syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0) }

// sysPipe makes a pipe whose reading end is non-blocking; the writing end, which
// the program gets, is not.
func sysPipe() (ends [2]int32, e syscall.Errno) {
	_, _, e = syscall.RawSyscall(syscall.SYS_PIPE2, uintptr(unsafe.Pointer(&ends)), syscall.O_CLOEXEC, 0)
	if e == 0 {
		_, _, _ = syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(ends[0]), syscall.F_SETFL, syscall.O_NONBLOCK)
	}
	return ends, e
}

func sysKill(pid int) {
	_, _, _ = syscall.RawSyscall(syscall.SYS_KILL, uintptr(pid), uintptr(syscall.SIGKILL), 0)
}

// closeOnExec keeps files that this process inherited from those it starts. Our
// own are opened that way; before Linux 5.11 inherited ones are passed on.
func closeOnExec() { _ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) }
