package spawn

import (
	"syscall"
	"unsafe"
)

// The system calls of the loop that return at once, made without telling Go's
// scheduler; see rawWait. Every file here is non-blocking.

func sysRead(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall(syscall.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	return int(n), e
}

func sysWrite(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
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

// sysWait reaps a child that has ended; pid is 0 while it has not.
func sysWait(child int, status *syscall.WaitStatus) (pid int, e syscall.Errno) {
	got, _, e := syscall.RawSyscall6(syscall.SYS_WAIT4, uintptr(child), uintptr(unsafe.Pointer(status)), syscall.WNOHANG, 0, 0, 0)
	return int(got), e
}

func sysEpollCtl(epfd, op, fd int, ev *syscall.EpollEvent) error {
	_, _, e := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(epfd), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(ev)), 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// deafToChildren gives SIGCHLD its default meaning back: the kernel then does
// not even wake us for it. Ends of programs are seen through their pidfd. Only
// a process that is nothing but a spawner may do this.
func deafToChildren() {
	var byDefault [4]uint64
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGCHLD), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
}
