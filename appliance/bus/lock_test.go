package bus

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process that was killed while it started a plugin leaves its lock with the
// child for a moment: the next start waits for it instead of refusing.
func TestTheLockOfAKilledProcessIsWaitedFor(t *testing.T) {
	folder := t.TempDir()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	holdLock(t, folder, gone.Process.Pid, 300*time.Millisecond)
	f, err := lockData(folder)
	if err != nil {
		t.Fatalf("lock of a dead process: %v", err)
	}
	f.Close()
}

// A child between fork and exec has the descriptor of the lock as its own; a
// duplicate stands for it.
func TestTheFolderIsFreeAtOnceWhileAChildIsBeingStarted(t *testing.T) {
	folder := t.TempDir()
	f, err := lockData(folder)
	if err != nil {
		t.Fatal(err)
	}
	child, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(child) })
	if err := unlockData(f); err != nil {
		t.Fatal(err)
	}
	again, err := lockData(folder)
	if err != nil {
		t.Fatalf("locked again after it was given back: %v", err)
	}
	if err := unlockData(again); err != nil {
		t.Error(err)
	}
}

func TestALivingHolderIsNamedAtOnce(t *testing.T) {
	folder := t.TempDir()
	holdLock(t, folder, os.Getpid(), time.Minute)
	began := time.Now()
	_, err := lockData(folder)
	if err == nil || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Fatalf("lock of a living process: %v, want an error that names it", err)
	}
	if d := time.Since(began); d > lockPatience/2 {
		t.Errorf("the refusal took %s", d)
	}
}

// holdLock takes the lock on a descriptor of its own, with pid as the holder, and
// lets go after a while or with the test.
func holdLock(t *testing.T, folder string, pid int, hold time.Duration) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strconv.Itoa(pid) + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(hold, func() { f.Close() })
	t.Cleanup(func() { timer.Stop(); f.Close() })
}
