package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"jaque.sh/jaque/appliance/journal"
)

// sink is the file of Events, or standard output.
type sink struct {
	path string
	file *os.File // nil with standard output
	std  io.Writer
	torn bool // the last write ended inside a line
}

// open opens the file and finds the positions of the last events in it. What a
// crash left of a line is cut off.
func (x *Events) open() (*sink, journal.Position, error) {
	if x.opt.Path == "-" {
		return &sink{std: x.opt.Stdout}, journal.Position{}, nil
	}
	s := &sink{path: x.opt.Path}
	f, err := openAppend(x.opt.Path)
	if err != nil {
		return nil, journal.Position{}, fmt.Errorf("open the file of -events-out: %w", err)
	}
	s.file = f
	last, err := lastPositions(f)
	if err != nil {
		return nil, last, errors.Join(fmt.Errorf("read the end of %s: %w", x.opt.Path, err), f.Close())
	}
	return s, last, nil
}

// openAppend opens for reading too where that is possible, which a pipe is not.
func openAppend(path string) (*os.File, error) {
	mode := os.O_RDWR
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		mode = os.O_WRONLY
	}
	return os.OpenFile(path, mode|os.O_APPEND|os.O_CREATE, 0o640)
}

// write writes what it can and returns how much that was.
func (s *sink) write(p []byte) (int, error) {
	if s.file == nil {
		return s.std.Write(p)
	}
	if !s.torn {
		if err := s.follow(); err != nil {
			return 0, err
		}
	}
	n, err := s.file.Write(p)
	s.torn = err != nil && n > 0 && p[n-1] != '\n' || err != nil && n == 0 && s.torn
	return n, err
}

// follow opens the path again if the file there is another one now: it was
// rotated away.
func (s *sink) follow() error {
	there, err := os.Stat(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if mine, err := s.file.Stat(); err == nil && os.SameFile(mine, there) {
			return nil
		}
	}
	f, err := openAppend(s.path)
	if err != nil {
		return err
	}
	old := s.file
	s.file = f
	return old.Close()
}

func (s *sink) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// tailSize is how much of a file is searched for the last events.
const tailSize = 1 << 20

// lastPositions returns the newest position of each stream in the last lines.
func lastPositions(f *os.File) (journal.Position, error) {
	var at journal.Position
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return at, err
	}
	begin := max(0, info.Size()-tailSize)
	data := make([]byte, info.Size()-begin)
	if _, err := f.ReadAt(data, begin); err != nil && !errors.Is(err, io.EOF) {
		return at, err
	}
	whole := bytes.LastIndexByte(data, '\n') + 1
	if whole < len(data) {
		if whole == 0 && begin > 0 {
			return at, fmt.Errorf("its last %d bytes hold no line feed; it is no file of events", tailSize)
		}
		if err := f.Truncate(begin + int64(whole)); err != nil {
			return at, err
		}
	}
	for _, line := range bytes.Split(data[:whole], []byte("\n")) {
		var e struct {
			Stream string
			Seq    uint64
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if e.Stream == "results" {
			at.Results = max(at.Results, e.Seq)
		} else {
			at.Log = max(at.Log, e.Seq)
		}
	}
	return at, nil
}
