package threshold

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Range is a span of values, both ends included; an end may be infinite. A
// value outside raises an alert, with Inside a value within.
type Range struct {
	Start, End float64
	Inside     bool
}

// Alert tells whether a value raises an alert.
func (r Range) Alert(v float64) bool {
	within := v >= r.Start && v <= r.End
	return within == r.Inside
}

// String returns the range in the shortest form that Parse reads as the same.
func (r Range) String() string {
	var b strings.Builder
	if r.Inside {
		b.WriteByte('@')
	}
	switch {
	case math.IsInf(r.Start, -1):
		b.WriteString("~:")
	case r.Start != 0 || math.IsInf(r.End, 1):
		b.WriteString(format(r.Start))
		b.WriteByte(':')
	}
	if !math.IsInf(r.End, 1) {
		b.WriteString(format(r.End))
	}
	return b.String()
}

func format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var (
	errEmpty    = errors.New("it is empty; write a range such as 10, 10:, ~:10, 10:20 or @10:20")
	errInverted = errors.New("it starts above its end; write the smaller number first")
)

// Parse reads "[@][start:][end]". A missing start is 0, "~" minus infinity, a
// missing end plus infinity; no blanks are allowed.
func Parse(s string) (Range, error) {
	r, err := parse(s)
	if err != nil {
		return Range{}, fmt.Errorf("parse range %q: %w", s, err)
	}
	return r, nil
}

func parse(s string) (Range, error) {
	r := Range{End: math.Inf(1)}
	s, r.Inside = strings.CutPrefix(s, "@")
	start, end, colon := strings.Cut(s, ":")
	if !colon {
		start, end = "", s
	}
	if start == "" && end == "" {
		return r, errEmpty
	}
	var err error
	switch start {
	case "":
	case "~":
		r.Start = math.Inf(-1)
	default:
		if r.Start, err = Number(start); err != nil {
			return r, err
		}
	}
	if end != "" {
		if r.End, err = Number(end); err != nil {
			return r, err
		}
	}
	if r.Start > r.End {
		return r, errInverted
	}
	return r, nil
}

// Number reads a whole text as a decimal number with an optional fraction and
// exponent. Infinity, hexadecimal digits, underscores and a comma are no part
// of one.
func Number(s string) (float64, error) {
	n := NumberPrefix(s)
	if n == 0 || n < len(s) {
		return 0, fmt.Errorf("%q is no number; write digits with a dot, such as 0.5", s)
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("the number %q is too large", s)
	}
	return v, nil
}

// NumberPrefix returns the length of the number that a text starts with, 0 if
// there is none. An "e" belongs to it only if digits follow.
func NumberPrefix(s string) int {
	i := sign(s)
	whole := digits(s[i:])
	i += whole
	fraction := 0
	if i < len(s) && s[i] == '.' {
		fraction = digits(s[i+1:])
		if whole+fraction > 0 {
			i += 1 + fraction
		}
	}
	if whole+fraction == 0 {
		return 0
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		at := i + 1 + sign(s[i+1:])
		if n := digits(s[at:]); n > 0 {
			return at + n
		}
	}
	return i
}

// sign returns the length of the sign that a text starts with.
func sign(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}

// digits returns how many digits a text starts with.
func digits(s string) int {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return i
		}
	}
	return len(s)
}
