package external

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Times from here on are milliseconds: as seconds they would lie in the year 5138.
const (
	milliseconds = 100_000_000_000
	latest       = milliseconds * 1000
)

// readTime reads seconds since 1970, with a fraction or not, or milliseconds.
func readTime(s string) (object.Time, error) {
	s = strings.TrimSpace(s)
	whole, fraction, dot := strings.Cut(s, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || whole[0] == '+' || whole[0] == '-' || dot && !digits(fraction) {
		return 0, fmt.Errorf("%q is no time; write seconds since 1970 such as 1893456000", clip(s))
	}
	switch {
	case n >= latest:
		return 0, fmt.Errorf("%q is too large for a time; write seconds since 1970 such as 1893456000", clip(s))
	case n >= milliseconds:
		return object.Time(n), nil
	}
	ms := 0
	if dot {
		ms, _ = strconv.Atoi((fraction + "000")[:3])
	}
	return object.Time(n*1000 + int64(ms)), nil
}

func digits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// readInt reads a whole number.
func readInt(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number; write one such as 1", clip(s))
	}
	return n, nil
}

// readCount reads a whole number from least up to most.
func readCount(s string, least, most int64) (int64, error) {
	n, err := readInt(s)
	if err == nil && (n < least || n > most) {
		err = fmt.Errorf("%d is out of range; write a number from %d to %d", n, least, most)
	}
	return n, err
}

// readBits reads a set of bits, decimal or as 0x….
func readBits(s string) (uint32, error) {
	base, t := 10, strings.TrimSpace(s)
	if rest, hex := strings.CutPrefix(strings.ToLower(t), "0x"); hex {
		base, t = 16, rest
	}
	n, err := strconv.ParseUint(t, base, 32)
	if err != nil || n > math.MaxInt32 {
		return 0, fmt.Errorf("%q is no set of attributes; write the sum of their bits, from 0 to %d", clip(s), math.MaxInt32)
	}
	return uint32(n), nil
}

// readUnits reads a number of minutes. Nagios cuts fractions off; one that would
// become 0, and so stop the checks, is refused.
func readUnits(s string) (int64, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	const most = 1 << 24 // 31 years
	if err != nil || !(f >= 0 && f <= most) || f > 0 && f < 1 {
		return 0, fmt.Errorf("%q is no number of minutes; write a whole one from 0 to %d", clip(s), most)
	}
	return int64(f), nil
}

// clip keeps error texts readable when an argument is a page of text.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
