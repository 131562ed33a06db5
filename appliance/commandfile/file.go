package commandfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// MaxFile is how many bytes a file of commands may have.
const MaxFile = 64 << 20

// ReadFile hands the lines of a regular file to the handler; the last one needs no
// line feed. A context that ends is left to the handler, which keeps the lines then;
// what it returns is not looked at. It fails before the first line if the path is no regular file or the
// file is larger than MaxFile.
func ReadFile(ctx context.Context, path string, t *Tally, handle Handler) (err error) {
	// Without the flag, opening a pipe would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("open the file of commands: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("open the file of commands: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("open the file of commands: %s is no regular file; write the commands into one", path)
	case info.Size() > MaxFile:
		return fmt.Errorf("open the file of commands: %s has %d bytes; split it into files of at most %d", path, info.Size(), MaxFile)
	}
	return eachLine(ctx, io.LimitReader(f, MaxFile), t, handle)
}

// eachLine hands on the lines of a reader.
func eachLine(ctx context.Context, r io.Reader, t *Tally, handle Handler) error {
	s, buf := splitter{max: MaxLine}, make([]byte, MaxLine)
	// Whoever may name a file need not be allowed to read it: its lines stay out
	// of the log.
	refuse := func(why Reason, _ []byte, err error) { t.Refuse(why, nil, err) }
	long := func([]byte) { refuse(TooLong, nil, errTooLong) }
	pass := func(lines [][]byte) {
		if lines = sound(lines, refuse); len(lines) > 0 {
			_ = handle(ctx, lines)
		}
	}
	for {
		n, err := r.Read(buf)
		pass(s.feed(buf[:n], long))
		switch {
		case err == io.EOF:
			if last := s.end(); last != nil {
				pass([][]byte{last})
			}
			return nil
		case err != nil:
			return fmt.Errorf("read the file of commands: %w", err)
		}
	}
}
