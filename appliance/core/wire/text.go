package wire

import (
	"unicode/utf16"
	"unicode/utf8"
)

// String reads a string. What is no valid UTF-8 becomes U+FFFD.
func (s *Scanner) String() string {
	text := s.raw()
	if s.skim {
		return ""
	}
	return string(text)
}

// Text reads a string; the bytes are good until the data changes.
func (s *Scanner) Text() []byte { return s.raw() }

// raw reads a string and returns its bytes: a part of the data where nothing
// was escaped, else a copy.
func (s *Scanner) raw() []byte {
	if s.peek() != '"' {
		s.Fail("a string")
		return nil
	}
	start := s.pos + 1
	i := plainUntil(s.data, start)
	if i < len(s.data) && s.data[i] == '"' {
		s.pos = i + 1
		return s.data[start:i]
	}
	return s.slow(start, i)
}

// slow reads on at i in a string that began at start and holds escapes or text
// that is not ASCII.
func (s *Scanner) slow(start, i int) []byte {
	var out []byte // nil as long as the data itself will do
	from := start
	for ; i < len(s.data); i = plainUntil(s.data, i) {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			if out == nil {
				return s.data[start:i]
			}
			return append(out, s.data[from:i]...)
		case c == '\\':
			s.pos = i
			out = s.unescape(append(out, s.data[from:i]...))
			i, from = s.pos, s.pos
		case c < 0x20:
			s.pos = i
			s.Fail("an escape instead of a control character")
			return nil
		default:
			r, n := utf8.DecodeRune(s.data[i:])
			if r == utf8.RuneError && n == 1 {
				out = append(append(out, s.data[from:i]...), "\uFFFD"...)
				from = i + 1
			}
			i += n
		}
	}
	s.pos = len(s.data)
	s.Fail(`"`)
	return nil
}

// unescape reads one escape sequence and appends what it stands for.
func (s *Scanner) unescape(out []byte) []byte {
	if s.pos+1 >= len(s.data) {
		s.Fail("an escape sequence")
		return out
	}
	c := s.data[s.pos+1]
	s.pos += 2
	switch c {
	case '"', '\\', '/':
		return append(out, c)
	case 'n':
		return append(out, '\n')
	case 't':
		return append(out, '\t')
	case 'r':
		return append(out, '\r')
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'u':
		return s.unicode(out)
	}
	s.pos -= 2
	s.Fail("an escape sequence")
	return out
}

// unicode reads the four digits behind \u, and the second half of a surrogate
// pair; half a pair becomes U+FFFD.
func (s *Scanner) unicode(out []byte) []byte {
	r := s.hex4()
	if utf16.IsSurrogate(r) && s.pos+1 < len(s.data) && s.data[s.pos] == '\\' && s.data[s.pos+1] == 'u' {
		back := s.pos
		s.pos += 2
		if both := utf16.DecodeRune(r, s.hex4()); both != utf8.RuneError {
			return utf8.AppendRune(out, both)
		}
		if s.err == nil {
			s.pos = back
		}
	}
	return utf8.AppendRune(out, r)
}

func (s *Scanner) hex4() rune {
	if len(s.data)-s.pos < 4 {
		s.Fail("four hexadecimal digits")
		return 0
	}
	var r rune
	for _, c := range s.data[s.pos : s.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			s.Fail("four hexadecimal digits")
			return 0
		}
	}
	s.pos += 4
	return r
}
