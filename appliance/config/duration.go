package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// units are the units of a duration, largest first.
var units = [...]struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"ms", time.Millisecond},
	{"m", time.Minute},
	{"s", time.Second},
}

// longest bounds a duration, so that adding it to a time cannot overflow.
const longest = 10 * 366 * 24 * time.Hour

// parseDuration reads "30s", "1h30m", "26h", "1d" from a value. The second
// result says what is wrong, "" if nothing is.
func parseDuration(n *node) (time.Duration, string) {
	if n.kind != kindText {
		return 0, fmt.Sprintf(`%s is not a duration; write %s`, n.show(), durationHint(n.text))
	}
	rest, total := n.text, 0.0
	for rest != "" && rest != "0" {
		digits := strings.TrimLeft(rest, "0123456789.")
		value, err := strconv.ParseFloat(rest[:len(rest)-len(digits)], 64)
		size, after := unitOf(digits)
		if err != nil || size == 0 {
			return 0, fmt.Sprintf(`%s is not a duration; write %s`, n.show(), durationHint(n.text))
		}
		total += value * float64(size)
		rest = after
	}
	if n.text == "" {
		return 0, `"" is not a duration; write "5s" or "5m"`
	}
	if total > float64(longest) {
		return 0, fmt.Sprintf(`%s is too long; write at most "3660d"`, n.show())
	}
	return time.Duration(math.Round(total)), ""
}

// unitOf cuts a unit off the front of a text; 0 if there is none.
func unitOf(s string) (time.Duration, string) {
	for _, u := range units {
		if after, ok := strings.CutPrefix(s, u.name); ok {
			return u.size, after
		}
	}
	return 0, s
}

// durationHint proposes the two durations that a bare number most likely means.
func durationHint(text string) string {
	if n, err := strconv.ParseUint(text, 10, 31); err == nil && n > 0 {
		return fmt.Sprintf(`"%ds" or "%dm"`, n, n)
	}
	return `"5s" or "5m"`
}
