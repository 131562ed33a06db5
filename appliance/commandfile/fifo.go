package commandfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// errGone says that every writer has closed the pipe and nothing is left in it.
var errGone = errors.New("all writers are gone")

// fifo is the reading side of a named pipe.
type fifo struct {
	path string
	made bool // by this process, which then removes it
	// anchor is a read end that is never read. It keeps the pipe, with what is in
	// it, while read is exchanged, and holds the lock against a second reader.
	anchor *os.File

	mu      sync.Mutex // guards read against interrupt
	read    *os.File
	stopped bool

	met   bool         // a writer has been seen since read was opened
	wakes atomic.Int64 // attempts to read, for tests
}

// openFIFO makes the pipe, or takes the one that is there, and opens it.
func openFIFO(path string) (*fifo, error) {
	f := &fifo{path: path}
	if err := f.attach(); err != nil {
		return nil, err
	}
	return f, nil
}

// attach makes and opens what stands at the path now.
func (f *fifo) attach() error {
	made, err := makeFIFO(f.path)
	if err != nil {
		return err
	}
	anchor, err := openEnd(f.path)
	if err != nil {
		return err
	}
	if err := flock(anchor, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("lock the command file %s: another process reads it; stop that one or name another path with -command-file: %w", f.path, err), anchor.Close())
	}
	read, err := openEnd(f.path)
	if err != nil {
		return errors.Join(err, anchor.Close())
	}
	f.close()
	f.made, f.anchor = made, anchor
	f.exchange(read)
	return nil
}

// flock takes or gives back the lock; taking fails if another open file of the pipe
// holds it.
func flock(anchor *os.File, how int) error {
	raw, err := anchor.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), how) })
	return errors.Join(err, failed)
}

// makeFIFO makes a pipe unless there is one. The mode is 0660 whatever the
// process's mask says: the group writes commands.
func makeFIFO(path string) (made bool, err error) {
	err = syscall.Mkfifo(path, 0o660)
	switch {
	case err == nil:
		if err := os.Chmod(path, 0o660); err != nil {
			return true, fmt.Errorf("set the mode of the command file: %w", err)
		}
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("make the command file %s: its folder does not exist; create the folder or name another path with -command-file", path)
	case !errors.Is(err, fs.ErrExist):
		return false, fmt.Errorf("make the command file %s: %w; name a path that can be written with -command-file", path, err)
	}
	return false, nil
}

// openEnd opens a read end that never blocks and is polled by the runtime.
func openEnd(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Type() != fs.ModeNamedPipe {
		return nil, fmt.Errorf("open the command file: %s is %s, no named pipe; move it away, or name another path with -command-file", path, kindOf(info.Mode()))
	}
	end, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open the command file: %w; it must be readable for this process", err)
	}
	if info, err = end.Stat(); err == nil && info.Mode().Type() != fs.ModeNamedPipe {
		err = fmt.Errorf("%s was exchanged for something else meanwhile", path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the command file: %w", err), end.Close())
	}
	return end, nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "a regular file"
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// next reads what is there and sleeps while nothing is. It returns errGone when
// the writers are gone; renew before the next call. interrupt and pause end the
// sleep with os.ErrDeadlineExceeded.
func (f *fifo) next(buf []byte) (n int, err error) {
	raw, err := f.read.SyscallConn()
	if err != nil {
		return 0, err
	}
	asked := false
	var failed error
	err = raw.Read(func(fd uintptr) bool {
		f.wakes.Add(1)
		n, failed = readNow(int(fd), buf)
		if failed == syscall.EAGAIN {
			f.met = true // without a writer it had said the end
			return false
		}
		// On a fresh end nobody has come yet: sleep, the end of the first writer
		// wakes it. An end that had writers would report their end for ever.
		sleep := n == 0 && failed == nil && !f.met && !asked
		asked = true
		return !sleep
	})
	switch {
	case err != nil:
		return 0, err
	case failed != nil:
		return 0, fmt.Errorf("read the command file: %w", failed)
	case n == 0:
		return 0, errGone
	}
	f.met = true
	return n, nil
}

// now reads what is there without sleeping; 0 = nothing is, or the writers are gone.
func (f *fifo) now(buf []byte) (n int, err error) {
	raw, err := f.read.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { n, failed = readNow(int(fd), buf) }); err != nil {
		return 0, err
	}
	if failed != nil && failed != syscall.EAGAIN {
		return 0, fmt.Errorf("read the command file: %w", failed)
	}
	return max(n, 0), nil
}

// drain reads everything that is there.
func (f *fifo) drain() (all []byte, err error) {
	buf := make([]byte, MaxLine)
	for {
		n, err := f.now(buf)
		if err != nil || n == 0 {
			return all, err
		}
		all = append(all, buf[:n]...)
	}
}

func readNow(fd int, buf []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, buf)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// renew opens a fresh read end and closes the old one after that, so that the
// pipe always has a reader. A fresh one reports no end before a writer has come.
func (f *fifo) renew() error {
	fresh, err := openEnd(f.path)
	if err == nil && !f.same(fresh) {
		err = errors.Join(errors.New("another pipe stands at the path"), fresh.Close())
	}
	if err != nil {
		return err
	}
	f.exchange(fresh)
	return nil
}

func (f *fifo) exchange(fresh *os.File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read != nil {
		_ = f.read.Close()
	}
	f.read, f.met = fresh, false
	if f.stopped {
		_ = f.read.SetReadDeadline(time.Unix(1, 0))
	}
}

// same tells whether a file is the pipe that is being read.
func (f *fifo) same(other *os.File) bool {
	a, err := f.anchor.Stat()
	b, otherErr := other.Stat()
	return err == nil && otherErr == nil && os.SameFile(a, b)
}

// inPlace tells whether the pipe still stands at its path.
func (f *fifo) inPlace() bool {
	there, err := os.Stat(f.path)
	own, ownErr := f.anchor.Stat()
	return err == nil && ownErr == nil && os.SameFile(there, own)
}

// pause lets the next sleep end after a time.
func (f *fifo) pause(after time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.stopped {
		_ = f.read.SetReadDeadline(time.Now().Add(after))
	}
}

// interrupt ends the sleep of next, now and ever after. Any goroutine may call it.
func (f *fifo) interrupt() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	if f.read != nil {
		_ = f.read.SetReadDeadline(time.Unix(1, 0))
	}
}

// remove takes the pipe from its path if this process made it and it is still
// the one that stands there.
func (f *fifo) remove() error {
	if !f.made || f.anchor == nil || !f.inPlace() {
		return nil
	}
	f.made = false
	return os.Remove(f.path)
}

// close closes both ends. The lock is given back first: a child that is just being
// started shares the open file for a moment longer.
func (f *fifo) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.anchor != nil {
		_ = flock(f.anchor, syscall.LOCK_UN)
	}
	for _, end := range []*os.File{f.read, f.anchor} {
		if end != nil {
			_ = end.Close()
		}
	}
	f.read, f.anchor = nil, nil
}
