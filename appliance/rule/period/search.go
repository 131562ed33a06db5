package period

import (
	"math"
	"time"
)

const (
	weekReach = 28         // a week in which a clock change eats a span is followed by others
	longReach = 41 * 366   // the fifth Monday of a February comes after 40 years at most
	skipReach = 4 * 7 * 24 // days for skips of different lengths to meet a weekday
)

// prepare works out what the search needs to know of the lines.
func (p *Period) prepare() {
	first := p.week[0]
	p.constant = len(first) == 0 || len(first) == 1 && first[0] == wholeDay
	for _, w := range p.week {
		if len(w) != len(first) || len(w) > 0 && w[0] != first[0] {
			p.constant = false
		}
	}
	p.reach = weekReach
	for _, l := range p.lines {
		switch {
		case l.class != calendarDate:
			p.reach = longReach
		case l.open:
			p.reach = max(p.reach, min(skipReach*l.every, longReach))
			p.last = max(p.last, l.from.number)
		default:
			p.last = max(p.last, l.to.number)
		}
	}
}

// spans returns the spans of a day.
func (p *Period) spans(d date) []span {
	for i := range p.lines {
		if p.lines[i].covers(d) {
			return p.lines[i].spans
		}
	}
	return p.week[d.weekday]
}

// spansOf is spans for a day by its number; it works out the date only if a line
// needs it.
func (p *Period) spansOf(number int) []span {
	if len(p.lines) == 0 {
		return p.week[weekdayOf(number)]
	}
	return p.spans(civil(number))
}

// onClock tells whether the clock of the zone shows a time inside.
func (p *Period) onClock(at int64) bool {
	if p.constant && len(p.lines) == 0 {
		return len(p.week[0]) > 0
	}
	_, offset := time.Unix(at, 0).In(p.zone).Zone()
	number, second := split(at + int64(offset))
	in, _ := within(p.spansOf(number), second)
	return in
}

// split returns the day and the second of the day that a clock shows.
func split(shown int64) (number int, second int32) {
	number = int(floor(shown, day))
	return number, int32(shown - int64(number)*day)
}

// clockWindow tells whether an instant is inside by the lines alone and when
// that changes; 0 = never. Between two changes of the clocks the time shown is
// the instant moved by a fixed offset, so it searches one such stretch after the
// other.
func (p *Period) clockWindow(at int64) (bool, int64) {
	if p.constant && len(p.lines) == 0 {
		return len(p.week[0]) > 0, 0
	}
	limit := p.horizon(at)
	offset, stretch := p.stretch(at)
	inside, shown := p.change(at+offset, min(stretch, limit)+offset)
	for {
		if shown < min(stretch, limit)+offset {
			return inside, shown - offset
		}
		if stretch >= limit {
			return inside, 0
		}
		at = stretch
		offset, stretch = p.stretch(at)
		var in bool
		if in, shown = p.change(at+offset, min(stretch, limit)+offset); in != inside {
			return inside, at
		}
	}
}

// horizon returns the instant at which a search that begins at an instant gives
// up: what is not found by then never comes.
func (p *Period) horizon(at int64) int64 {
	return max(at, int64(p.last)*day) + int64(p.reach)*day
}

// stretch returns the offset of the zone at an instant and the instant of its
// next change.
func (p *Period) stretch(at int64) (offset, until int64) {
	t := time.Unix(at, 0).In(p.zone)
	_, seconds := t.Zone()
	_, end := t.ZoneBounds()
	switch {
	case end.IsZero():
		return int64(seconds), math.MaxInt64 / 2
	// On the last day of a leap year behind the end of its table, Go names a change
	// that is past.
	case end.Unix() <= at:
		return int64(seconds), at + day
	}
	return int64(seconds), end.Unix()
}

// change tells whether a time shown by the clock is inside, and the next one
// before limit at which that changes, else limit.
func (p *Period) change(shown, limit int64) (bool, int64) {
	number, second := split(shown)
	start := int64(number) * day
	if len(p.lines) > 0 {
		return p.changeByLines(number, second, limit)
	}
	inside, next := within(p.week[weekdayOf(number)], second)
	for w := weekdayOf(number); next == day; {
		start += day
		if start >= limit {
			return inside, limit
		}
		if w++; w == 7 {
			w = 0
		}
		var in bool
		if in, next = within(p.week[w], 0); in != inside {
			return inside, start
		}
	}
	return inside, min(start+int64(next), limit)
}

// changeByLines is change for a period with lines about certain days. A month
// that no line can be about is passed at once if its days are all the same.
func (p *Period) changeByLines(number int, second int32, limit int64) (bool, int64) {
	d := civil(number)
	inside, next := within(p.spans(d), second)
	for next == day {
		d = d.next()
		for p.constant && d.day == 1 && !p.busy(d) && int64(d.number)*day < limit && inside == (len(p.week[0]) > 0) {
			d = d.nextMonth()
		}
		if int64(d.number)*day >= limit {
			return inside, limit
		}
		var in bool
		if in, next = within(p.spans(d), 0); in != inside {
			return inside, int64(d.number) * day
		}
	}
	return inside, min(int64(d.number)*day+int64(next), limit)
}

// busy tells whether a line can be about a day of a month.
func (p *Period) busy(d date) bool {
	for i := range p.lines {
		if p.lines[i].mayCover(d.year, d.month) {
			return true
		}
	}
	return false
}
