package spawn

import "golang.org/x/sys/unix"

// isZombie tells whether a child has ended, without reaping it.
func isZombie(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}
