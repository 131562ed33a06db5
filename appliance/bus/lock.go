package bus

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockData makes the data folder and takes it for this process alone. The lock
// ends with the process, however it ends; the file itself stays.
func lockData(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder %s: %w; choose a folder this user may write with -data", folder, err)
	}
	path := filepath.Join(folder, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open data folder %s: %w; choose a folder this user may write with -data", folder, err)
	}
	err = flock(f)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder := ""
		if pid := readHolder(f); pid != 0 {
			holder = fmt.Sprintf(" (process %d)", pid)
		}
		f.Close()
		return nil, fmt.Errorf("data folder %s is in use by another process%s; stop that one or choose another folder with -data", folder, holder)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock data folder %s: %w", folder, err)
	}
	if err := writeHolder(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("write to data folder %s: %w; make room or choose another folder with -data", folder, err)
	}
	return f, nil
}

// unlockData gives the data folder back. Closing alone would not do: a child that
// is just being started shares the open file until it executes its program.
func unlockData(f *os.File) error {
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_UN); err != nil {
		return errors.Join(fmt.Errorf("unlock data folder %s: %w", filepath.Dir(f.Name()), err), f.Close())
	}
	return f.Close()
}

// writeHolder notes the process id, for the error another process prints.
func writeHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readHolder returns the process id in the lock file, 0 if there is none.
func readHolder(f *os.File) int {
	buf := make([]byte, 32)
	n, _ := f.ReadAt(buf, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}

// lockPatience is how long the lock of a process that is gone is waited for.
const lockPatience = 3 * time.Second

// flock takes the lock. A process that was killed while it started a plugin
// leaves the lock with that child until the child executes its program, so a
// restart right after the kill waits a moment; a living holder is told at once.
func flock(f *os.File) error {
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Since(began) > lockPatience {
			return err
		}
		if pid := readHolder(f); pid == 0 || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return err
		}
	}
}
