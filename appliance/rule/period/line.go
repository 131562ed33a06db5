package period

// class is the kind of a day form; the smaller goes before the larger.
type class uint8

const (
	calendarDate   class = iota // 2026-12-25
	monthDate                   // february 10
	monthDay                    // day 15
	monthWeekday                // monday 3 may
	weekdayOrdinal              // monday 3
	plainWeekday                // monday
)

// mark is one end of a day form. Which fields say something depends on the
// class: number for calendar dates, month and n for month dates, n for days of
// every month, weekday and n for ordinals, all but number for monthWeekday.
type mark struct {
	number  int // of a calendar date
	month   int // 1 to 12
	weekday int
	n       int // day of the month or ordinal of a weekday, below 0 from the end
}

// line is one line of a period that is about certain days.
type line struct {
	class    class
	from, to mark
	open     bool // a calendar date with a skip and no end
	every    int  // every so many days from the start, at least 1
	spans    []span
}

// covers tells whether the line is about a day.
func (l *line) covers(d date) bool {
	switch l.class {
	case calendarDate:
		return l.counts(d.number, l.from.number, l.to.number)
	case monthDate, monthWeekday:
		// A range that ends before it starts goes on into the next year.
		return l.coversFrom(d, d.year, l.from.month, 12) || l.coversFrom(d, d.year-1, l.from.month, 12)
	case monthDay, weekdayOrdinal:
		month, year := d.month-1, d.year
		if month == 0 {
			month, year = 12, year-1
		}
		return l.coversFrom(d, d.year, d.month, 1) || l.coversFrom(d, year, month, 1)
	}
	return d.weekday == l.from.weekday
}

// coversFrom tells whether the occurrence that starts in a month covers a day.
// One that would end before it starts ends so many months later.
func (l *line) coversFrom(d date, year, month, later int) bool {
	start, ok := l.at(l.from, year, month)
	if !ok || start > d.number {
		return false
	}
	endMonth := month
	if later == 12 {
		endMonth = l.to.month
	}
	end, ok := l.end(year, endMonth)
	if ok && end < start {
		endMonth += later
		if endMonth > 12 {
			endMonth, year = endMonth-12, year+1
		}
		end, ok = l.end(year, endMonth)
	}
	return ok && l.counts(d.number, start, end)
}

// counts tells whether a day is one of every so many from start to end.
func (l *line) counts(number, start, end int) bool {
	if number < start || number > end && !l.open {
		return false
	}
	return l.every == 1 || (number-start)%l.every == 0
}

// at returns the day of a mark in a month, false if the month has none.
func (l *line) at(m mark, year, month int) (int, bool) {
	if l.class == monthDate || l.class == monthDay {
		return dayOfMonth(year, month, m.n)
	}
	return weekdayOfMonth(year, month, m.weekday, m.n)
}

// end returns the last day of an occurrence: what lies beyond the end of a month
// is its last day, what lies before its start is nothing.
func (l *line) end(year, month int) (int, bool) {
	number, ok := l.at(l.to, year, month)
	if !ok && l.to.n > 0 {
		return dayOfMonth(year, month, -1)
	}
	return number, ok
}

// mayCover tells whether the line can be about any day of a month; it may say
// yes too often.
func (l *line) mayCover(year, month int) bool {
	switch l.class {
	case calendarDate:
		first := days(year, month, 1)
		return l.from.number < first+daysIn(year, month) && (l.open || l.to.number >= first)
	case monthDate, monthWeekday:
		if l.from.month < l.to.month || l.from == l.to {
			return l.from.month <= month && month <= l.to.month
		}
	}
	return true
}
