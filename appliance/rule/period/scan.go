package period

import (
	"fmt"
	"strings"
)

// scan splits the days of a line into tokens. A "-" behind a word or another
// "-" and in front of a digit belongs to the number: "day -3 - -1".
func (d *dayReader) scan() error {
	rest := strings.TrimLeft(d.text, " \t")
	for rest != "" {
		size := 1
		switch c := rest[0]; {
		case c == '/':
			d.tokens = append(d.tokens, token{kind: '/'})
		case letter(c):
			size = run(rest, letter)
			d.tokens = append(d.tokens, token{kind: 'w', text: rest[:size]})
		case digit(c) && dateLength(rest) > 0:
			size = dateLength(rest)
			t, err := calendar(rest[:size])
			if err != nil {
				return err
			}
			d.tokens = append(d.tokens, t)
		case digit(c), c == '-' && len(rest) > 1 && digit(rest[1]) && d.signed():
			n, length, err := integer(rest)
			if err != nil {
				return err
			}
			size = length
			d.tokens = append(d.tokens, token{kind: 'n', n: n})
		case c == '-':
			d.tokens = append(d.tokens, token{kind: '-'})
		default:
			return d.unreadable()
		}
		rest = strings.TrimLeft(rest[size:], " \t")
	}
	return nil
}

// signed tells whether a "-" that comes now can be a sign.
func (d *dayReader) signed() bool {
	if len(d.tokens) == 0 {
		return false
	}
	k := d.tokens[len(d.tokens)-1].kind
	return k == 'w' || k == '-' || k == '/'
}

// letter takes bytes outside ASCII for letters, so that a word with one is shown
// as a whole.
func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 }

func digit(c byte) bool { return c >= '0' && c <= '9' }

// run returns how many bytes in front are of a kind.
func run(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

// dateLength returns the length of a text such as "2026-12-25" in front, 0 if
// there is none.
func dateLength(s string) int {
	y := run(s, digit)
	if y != 4 || len(s) <= y+1 || s[y] != '-' {
		return 0
	}
	m := run(s[y+1:], digit)
	if m < 1 || m > 2 || len(s) <= y+m+2 || s[y+1+m] != '-' {
		return 0
	}
	d := run(s[y+m+2:], digit)
	if d < 1 || d > 2 {
		return 0
	}
	return y + m + d + 2
}

// calendar reads a text that dateLength has found.
func calendar(text string) (token, error) {
	part := strings.Split(text, "-")
	y, m, d := number(part[0]), number(part[1]), number(part[2])
	if m < 1 || m > 12 || d < 1 || d > daysIn(y, m) || y < 1900 {
		return token{}, fmt.Errorf(`%q is not a day of the calendar; write "2026-12-25"`, text)
	}
	return token{kind: 'd', text: text, n: days(y, m, d)}, nil
}

// integer reads a number in front, its sign included.
func integer(s string) (n, length int, err error) {
	sign, start := 1, 0
	if s[0] == '-' {
		sign, start = -1, 1
	}
	length = start + run(s[start:], digit)
	// Nothing that a line counts has more digits; more would not fit.
	if length-start > 6 {
		return 0, 0, fmt.Errorf("%q is too large a number; write at most 6 digits", s[:length])
	}
	return sign * number(s[start:length]), length, nil
}
