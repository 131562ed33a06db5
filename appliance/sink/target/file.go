package target

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/sink/encode"
)

// lines is a file of JSON lines. A batch is on the disk when it counts as taken.
type lines struct {
	path  string
	limit int64 // bytes; 0 = it is never rotated here
	keep  int   // older files: PATH.1 is the newest
	file  *os.File
	size  int64
	buf   []byte
}

func newFile(u *Setup, s *settings) (sink.Target, error) {
	t := &lines{path: u.file(s.need("path", "events.jsonl")), keep: s.whole("keep", 5, 1, 1000)}
	if s.text("max_size", "100MB") != "0" {
		t.limit = s.size("max_size", "100MB")
	}
	return t, nil
}

// Write appends one batch. Of one that fails no part stays, unless the machine does.
func (t *lines) Write(_ context.Context, b *sink.Batch) (int, error) {
	t.buf = t.buf[:0]
	for i := range b.Samples {
		t.buf = append(encode.Sample(t.buf, &b.Samples[i]), '\n')
	}
	for i := range b.Events {
		t.buf = append(append(t.buf, b.Events[i].JSON...), '\n')
	}
	if err := t.open(len(t.buf)); err != nil {
		return 0, err
	}
	n, err := t.file.Write(t.buf)
	if err == nil {
		err = t.file.Sync()
	}
	if err != nil {
		return n, errors.Join(err, t.file.Truncate(t.size)) // both name the file and what was done
	}
	t.size += int64(n)
	return n, nil
}

// open makes the file ready for n bytes: the one at the path now, rotated if it
// would grow too large.
func (t *lines) open(n int) error {
	if t.file != nil && t.moved() {
		if err := t.Close(); err != nil {
			return err
		}
	}
	if t.file == nil {
		if err := t.reopen(); err != nil {
			return err
		}
	}
	if t.limit == 0 || t.size == 0 || t.size+int64(n) <= t.limit {
		return nil
	}
	if err := t.rotate(); err != nil {
		return fmt.Errorf("rotate %s: %w", t.path, err)
	}
	return t.reopen()
}

// moved tells whether another file, or none, is at the path: somebody rotates it.
func (t *lines) moved() bool {
	there, err := os.Stat(t.path)
	mine, own := t.file.Stat()
	return err != nil || own != nil || !os.SameFile(there, mine)
}

// reopen opens the file at the path and cuts off what a crash left of a line.
func (t *lines) reopen() error {
	f, err := os.OpenFile(t.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o640)
	if err != nil {
		return err // it names the file and what was to be done
	}
	size, err := whole(f)
	if err != nil {
		return errors.Join(fmt.Errorf("look at the end of %s: %w", t.path, err), f.Close())
	}
	t.file, t.size = f, size
	return nil
}

// whole returns the size of a file of lines after it has cut off an unfinished one.
func whole(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0, err
	}
	const step = 64 << 10
	size := info.Size()
	for end := size; end > 0; end -= step {
		begin := max(0, end-step)
		data := make([]byte, end-begin)
		if _, err := f.ReadAt(data, begin); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if at := bytes.LastIndexByte(data, '\n'); at >= 0 {
			if cut := begin + int64(at) + 1; cut < size {
				return cut, f.Truncate(cut)
			}
			return size, nil
		}
	}
	if size > 0 {
		return 0, f.Truncate(0)
	}
	return 0, nil
}

// rotate moves every file one number up; the oldest goes.
func (t *lines) rotate() error {
	if err := t.Close(); err != nil {
		return err
	}
	for n := t.keep; n > 0; n-- {
		from := t.path
		if n > 1 {
			from += "." + strconv.Itoa(n-1)
		}
		if err := os.Rename(from, t.path+"."+strconv.Itoa(n)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (t *lines) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
