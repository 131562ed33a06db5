package spawn

import (
	"math"

	"golang.org/x/sys/unix"
)

// isZombie tells whether a child has ended, without reaping it.
func isZombie(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// closeOnExec keeps files that this process inherited from those it starts. Our
// own are opened that way; before Linux 5.11 inherited ones are passed on.
func closeOnExec() { _ = unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) }
