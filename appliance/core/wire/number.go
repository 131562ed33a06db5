package wire

import "math"

// Uint reads an unsigned integer of at most so many bits.
func (s *Scanner) Uint(bits int) uint64 {
	if s.peek() == '-' {
		s.Fail("a number that is not negative")
		return 0
	}
	v := s.digits()
	if bits < 64 && v>>bits != 0 {
		s.Fail("a smaller number")
		return 0
	}
	return v
}

// Int reads a signed integer of at most so many bits, 32 or 64.
func (s *Scanner) Int(bits int) int64 {
	negative := s.peek() == '-'
	if negative {
		s.pos++
	}
	v := s.digits()
	limit := uint64(math.MaxInt64) >> (64 - bits)
	if negative {
		limit++
	}
	if v > limit {
		s.Fail("a number nearer to 0")
		return 0
	}
	if negative {
		return -int64(v)
	}
	return int64(v)
}

// digits reads an integer without sign and refuses fractions and exponents.
func (s *Scanner) digits() uint64 {
	data, start := s.data, s.pos
	i := start
	var v uint64
	for i < len(data) && data[i]-'0' <= 9 {
		v = v*10 + uint64(data[i]-'0')
		i++
	}
	n := i - start
	// Only twenty digits can be too many for 64 bits: then 10 or more wraps
	// around to less than the smallest number of twenty digits.
	if n > 20 || n == 20 && (data[start] != '1' || v < 1e19) {
		s.Fail("a smaller number")
		return 0
	}
	s.pos = i
	if n == 0 || n > 1 && data[start] == '0' || s.at('.') || s.at('e') || s.at('E') {
		s.pos = start
		s.Fail("an integer")
		return 0
	}
	return v
}

func (s *Scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

// skipNumber reads a number of any form that JSON allows.
func (s *Scanner) skipNumber() {
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else {
		s.skipDigits("a value")
	}
	if s.at('.') {
		s.pos++
		s.skipDigits("a digit")
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		s.skipDigits("a digit")
	}
}

func (s *Scanner) skipDigits(want string) {
	start := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	if s.pos == start {
		s.Fail(want)
	}
}
