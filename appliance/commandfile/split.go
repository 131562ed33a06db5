package commandfile

import "bytes"

// splitter cuts a stream into lines. It holds one unfinished line, never more
// than max bytes, whatever is written.
type splitter struct {
	max      int
	rest     []byte // of a line whose end has not come yet
	joined   []byte // the line that began in rest, valid until the next feed
	skipping bool   // inside a line that is too long
	lines    [][]byte
}

// excerpt is how much of a refused line is shown.
const excerpt = 120

// feed takes the next bytes and returns the lines that end in them, without line
// feeds; they are valid until the next feed and as long as the chunk is. Each
// line above the bound is handed to long by its beginning, once.
func (s *splitter) feed(chunk []byte, long func(head []byte)) [][]byte {
	s.lines = s.lines[:0]
	for {
		piece, more, ended := bytes.Cut(chunk, []byte{'\n'})
		s.piece(piece, ended, long)
		if !ended {
			return s.lines
		}
		chunk = more
	}
}

// piece takes a part of one line, up to its end or to the end of the chunk.
func (s *splitter) piece(p []byte, ended bool, long func([]byte)) {
	switch {
	case s.skipping:
		s.skipping = !ended
	case len(s.rest)+len(p) > s.max:
		head := append(s.rest, p[:min(len(p), excerpt)]...)
		long(head[:min(len(head), excerpt)])
		s.rest, s.skipping = s.rest[:0], !ended
	case !ended:
		s.rest = append(s.rest, p...)
	case len(s.rest) > 0:
		s.joined = append(append(s.joined[:0], s.rest...), p...)
		s.rest = s.rest[:0]
		s.lines = append(s.lines, s.joined)
	default:
		s.lines = append(s.lines, p)
	}
}

// end returns what there is of an unfinished line and forgets it; nil if there is
// none, or if it was refused already because of its length.
func (s *splitter) end() []byte {
	s.skipping = false
	if len(s.rest) == 0 {
		return nil
	}
	s.joined = append(s.joined[:0], s.rest...)
	s.rest = s.rest[:0]
	return s.joined
}

// sound leaves only the lines that can be commands: blanks and carriage returns
// around them go, empty ones too, and one with a NUL byte is refused, because
// what stands behind it would be hidden from many a reader.
func sound(lines [][]byte, refuse func(Reason, []byte, error)) [][]byte {
	kept := lines[:0]
	for _, l := range lines {
		l = bytes.Trim(l, " \t\r")
		switch {
		case len(l) == 0:
		case bytes.IndexByte(l, 0) >= 0:
			refuse(NUL, l, errNUL)
		default:
			kept = append(kept, l)
		}
	}
	return kept
}
