package period

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// day is the length of a day without a change of clocks, in seconds.
const day = 24 * 60 * 60

// span is a part of a day in seconds of the clock on the wall, to exclusive.
type span struct{ from, to int32 }

// wholeDay is all of a day.
var wholeDay = span{0, day} // constant

// clocks reads "09:00-12:00,13:00-17:00" and returns the spans sorted, those
// that touch or overlap joined, empty ones left out. Strictly, only 00:00-00:00
// may be empty: anything else of no length is a slip.
func clocks(text string, strict bool) ([]span, error) {
	var spans []span
	for part := range strings.SplitSeq(text, ",") {
		from, to, _ := strings.Cut(part, "-")
		a, okA := clock(from)
		b, okB := clock(to)
		switch {
		case !okA || !okB:
			return nil, errClock{part}
		case a > b, a == b && a != 0 && strict:
			// A span over midnight would belong to two days; written as two spans it
			// says itself which days it is about.
			return nil, fmt.Errorf(`%q ends before it starts; write two spans, the first ending at 24:00`, part)
		case a < b:
			spans = append(spans, span{a, b})
		}
	}
	return join(spans), nil
}

// errClock is a text that is no span of times.
type errClock struct{ part string }

func (e errClock) Error() string {
	return fmt.Sprintf(`%q is no span of times; write for example 09:00-17:00,18:00-24:00 without blanks`, e.part)
}

// clock reads "09:00" as seconds of the day; 24:00 is the end of it.
func clock(text string) (int32, bool) {
	h, m, ok := strings.Cut(text, ":")
	if !ok || len(h) < 1 || len(h) > 2 || len(m) < 1 || len(m) > 2 || strings.Trim(h+m, "0123456789") != "" {
		return 0, false
	}
	minutes := number(m)
	total := int32(number(h)*60 + minutes)
	return total * 60, minutes < 60 && total*60 <= day
}

// number reads a few digits.
func number(digits string) int {
	n := 0
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return n
}

// join sorts spans and makes one of those that touch.
func join(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	out := spans[:0]
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && s.from <= out[last].to {
			out[last].to = max(out[last].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return slices.Clip(out)
}

// within tells whether a second of the day is inside one of a day's spans and
// the second at which that changes; a whole day when it does not change.
func within(spans []span, second int32) (bool, int32) {
	for _, s := range spans {
		if second < s.from {
			return false, s.from
		}
		if second < s.to {
			return true, s.to
		}
	}
	return false, day
}
