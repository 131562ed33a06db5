package web

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// units of lengths by how people write them; constant.
var units = []struct {
	names string // in lower case, with a space around each
	one   time.Duration
}{
	{" w week weeks ", 7 * 24 * time.Hour},
	{" d day days ", 24 * time.Hour},
	{" h hr hrs hour hours ", time.Hour},
	{" m min mins minute minutes ", time.Minute},
	{" s sec secs second seconds ", time.Second},
}

// length reads a length as people write it: 2h, 1h 30, 2 hours, 1w2d. A number
// alone is minutes. 0 = nothing was written, or it is wrong.
func (d *draft) length(name string) time.Duration {
	text := strings.TrimSpace(d.values.Get(name))
	if text == "" {
		return 0
	}
	n, ok := readLength(text)
	switch {
	case !ok:
		d.wrong[name] = fmt.Sprintf("%q is no length; write it as in 45m, 2h, 1h30m, 3d or 1w.", short(text))
	case n <= 0:
		d.wrong[name] = "Write a length above 0, as in 2h."
	case n > farthest:
		d.wrong[name] = fmt.Sprintf("%q is more than 20 years. Write a shorter length.", short(text))
	default:
		return n
	}
	return 0
}

// readLength reads numbers with units. A length that no clock counts is farther
// than anything.
func readLength(text string) (time.Duration, bool) {
	rest := strings.ToLower(strings.TrimSpace(text))
	if rest == "0" {
		return 0, true
	}
	sum, last := 0.0, time.Duration(0)
	for rest != "" {
		end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' })
		if end < 0 {
			end = len(rest)
		}
		number, err := strconv.ParseFloat(rest[:end], 64)
		if err != nil {
			return 0, false
		}
		rest = strings.TrimLeft(rest[end:], " ")
		end = strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) })
		if end < 0 {
			end = len(rest)
		}
		unit, ok := unitOf(rest[:end], last)
		if !ok {
			return 0, false
		}
		rest, last = strings.TrimLeft(rest[end:], " "), unit
		sum += number * float64(unit)
	}
	if sum > float64(farthest) {
		return farthest + 1, true
	}
	return time.Duration(sum), true
}

// unitOf returns a unit by its name; none is minutes where it stands alone or
// behind hours.
func unitOf(name string, last time.Duration) (time.Duration, bool) {
	if name == "" {
		return time.Minute, last == 0 || last == time.Hour
	}
	for _, u := range units {
		if strings.Contains(u.names, " "+name+" ") {
			return u.one, last == 0 || u.one < last
		}
	}
	return 0, false
}

// asDuration writes a length with units as settings have it, and leaves any other
// text as it is.
func asDuration(text string) string {
	if _, err := time.ParseDuration(text); err == nil || !strings.ContainsFunc(text, unicode.IsLetter) {
		return text
	}
	n, ok := readLength(text)
	if !ok {
		return text
	}
	text = n.String()
	for _, none := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, none) {
			text = text[:len(text)-2]
		}
	}
	return text
}
