package commandfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// filler fills the pipe. Commands have no NUL bytes, so it can be told from them.
const filler = "\x00"

// seal takes what is in the pipe and closes the read ends, so that nothing that
// was written is lost: a writer either had its bytes taken or gets an error. For
// that the pipe is filled, which holds every writer, and copied; then the ends are
// closed, and those who wait to write get the error.
func (f *fifo) seal() (rest []byte, err error) {
	defer f.close()
	in, out, err := f.copy()
	if err != nil { // taken without holding the writers
		rest, readErr := f.drain()
		return rest, errors.Join(err, readErr)
	}
	f.close()
	if err := out.Close(); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	rest, err = io.ReadAll(in)
	return bytes.ReplaceAll(rest, []byte(filler), nil), errors.Join(err, in.Close())
}

// copy fills the pipe and returns another one with the same in it.
func (f *fifo) copy() (in, out *os.File, err error) {
	raw, err := f.anchor.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	if in, out, err = os.Pipe(); err != nil {
		return nil, nil, err
	}
	target, err := out.SyscallConn()
	if err != nil {
		return nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	var failed error
	err = raw.Control(func(from uintptr) {
		err := target.Control(func(to uintptr) { failed = fillAndCopy(int(from), int(to)) })
		failed = errors.Join(failed, err)
	})
	if err = errors.Join(err, failed); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("hold the writers of the command file: %w", err), in.Close(), out.Close())
	}
	return in, out, nil
}

func fillAndCopy(from, to int) error {
	size, err := unix.FcntlInt(uintptr(from), unix.F_GETPIPE_SZ, 0)
	if err != nil {
		return err
	}
	if _, err := unix.FcntlInt(uintptr(to), unix.F_SETPIPE_SZ, size); err != nil {
		return err
	}
	// Not by its path: another pipe may stand there by now.
	w, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", from), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(w) }()
	for _, piece := range [][]byte{bytes.Repeat([]byte(filler), 4096), []byte(filler)} {
		for err = nil; err == nil || err == unix.EINTR; {
			_, err = unix.Write(w, piece)
		}
		if err != unix.EAGAIN {
			return err
		}
	}
	held, err := unix.IoctlGetInt(from, unix.TIOCINQ) // that is FIONREAD
	if err != nil {
		return err
	}
	n, err := unix.Tee(from, to, size, unix.SPLICE_F_NONBLOCK)
	if err == nil && int(n) != held {
		err = fmt.Errorf("%d of %d bytes were copied", n, held)
	}
	return err
}
