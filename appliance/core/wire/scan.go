package wire

import "fmt"

// maxDepth bounds how deeply an unknown value may be nested.
const maxDepth = 64

// Scanner reads one JSON text from front to back. The first error sticks: after
// it every method returns a zero value and More returns false, so a reader
// looks at Err once, at the end.
//
//	s := wire.Scan(data)
//	for s.Begin('{'); s.More('}'); {
//		switch string(s.Key()) {
//		case "n":
//			n = s.Uint(64)
//		default:
//			s.Skip()
//		}
//	}
//	err := s.End()
type Scanner struct {
	data  []byte
	pos   int
	fresh bool // Begin was the last thing read
	skim  bool // String gives nothing back
	err   error
}

// SyntaxError says where a JSON text is not what it should be.
type SyntaxError struct {
	Offset int    // bytes from the start of the text
	Want   string // what was expected there
}

// Error names the place and what should stand there.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("at byte %d: expected %s", e.Offset, e.Want)
}

// Scan returns a scanner at the start of data, which must not change while it
// is used; strings that it returns are copies.
func Scan(data []byte) Scanner { return Scanner{data: data} }

// Skim has String check what it reads and return "" from here on: for a reader that
// wants to know only whether a part can be read, and must not pay for copies.
func (s *Scanner) Skim() { s.skim = true }

// Err returns the first error, a *SyntaxError, or nil.
func (s *Scanner) Err() error { return s.err }

// Fail records that something else was expected where the scanner stands.
func (s *Scanner) Fail(want string) {
	if s.err == nil {
		s.err = &SyntaxError{Offset: s.pos, Want: want}
		s.pos = len(s.data)
	}
}

// End checks that nothing but white space is left and returns the first error.
func (s *Scanner) End() error {
	if s.space(); s.pos < len(s.data) {
		s.Fail("the end")
	}
	return s.err
}

func (s *Scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is no white space, 0 at the end.
func (s *Scanner) peek() byte {
	if s.pos < len(s.data) && s.data[s.pos] > ' ' {
		return s.data[s.pos]
	}
	s.space()
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// Begin reads an opening bracket, '{' or '['.
func (s *Scanner) Begin(open byte) {
	if s.peek() != open {
		s.Fail(string(rune(open)))
		return
	}
	s.pos++
	s.fresh = true
}

// More tells whether another member follows and reads the comma in front of
// it, or else the closing bracket, '}' or ']'.
func (s *Scanner) More(end byte) bool {
	first := s.fresh
	s.fresh = false
	switch c := s.peek(); {
	case s.err != nil:
		return false
	case c == end:
		s.pos++
		return false
	case first:
		return true
	case c == ',':
		s.pos++
		return true
	}
	s.Fail(", or " + string(rune(end)))
	return false
}

// Key reads a member's key and its colon. The slice is good until the data changes.
func (s *Scanner) Key() []byte {
	key := s.raw()
	if s.peek() != ':' {
		s.Fail(":")
		return nil
	}
	s.pos++
	return key
}

// Bool reads true or false.
func (s *Scanner) Bool() bool {
	switch s.peek() {
	case 't':
		s.word("true")
		return s.err == nil
	case 'f':
		s.word("false")
		return false
	}
	s.Fail("true or false")
	return false
}

func (s *Scanner) word(w string) {
	if len(s.data)-s.pos < len(w) || string(s.data[s.pos:s.pos+len(w)]) != w {
		s.Fail(w)
		return
	}
	s.pos += len(w)
}

// Raw reads any value and returns its text; the bytes are good until the data changes.
func (s *Scanner) Raw() []byte {
	s.peek()
	start := s.pos
	if s.Skip(); s.err != nil {
		return nil
	}
	return s.data[start:s.pos]
}

// Skip reads any value and forgets it.
func (s *Scanner) Skip() { s.skip(0) }

func (s *Scanner) skip(depth int) {
	if depth > maxDepth {
		s.Fail("a value that is nested less deeply")
		return
	}
	switch c := s.peek(); c {
	case '{':
		for s.Begin('{'); s.More('}'); {
			s.Key()
			s.skip(depth + 1)
		}
	case '[':
		for s.Begin('['); s.More(']'); {
			s.skip(depth + 1)
		}
	case '"':
		s.raw()
	case 't', 'f':
		s.Bool()
	case 'n':
		s.word("null")
	default:
		s.skipNumber()
	}
}
