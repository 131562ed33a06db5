package period

// date is a day of the calendar with its number since 1970-01-01.
type date struct {
	number  int
	year    int
	month   int // 1 to 12
	day     int // 1 to 31
	weekday int // 0 is Sunday
}

// civil returns the day of a number. It counts years from March on, so that the
// leap day is the last of its year and months have a fixed start.
func civil(number int) date {
	const era = 146097 // days in 400 years
	z := number + 719468
	e := floor(z, era)
	doe := z - e*era
	yoe := (doe - doe/1460 + doe/36524 - doe/(era-1)) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := date{number: number, year: yoe + e*400, month: mp + 3, day: doy - (153*mp+2)/5 + 1, weekday: weekdayOf(number)}
	if d.month > 12 {
		d.month -= 12
		d.year++
	}
	return d
}

// days returns the number of a day of the calendar; the inverse of civil.
func days(year, month, dayOfMonth int) int {
	if month <= 2 {
		year--
		month += 12
	}
	e := floor(year, 400)
	yoe := year - e*400
	doy := (153*(month-3)+2)/5 + dayOfMonth - 1
	return e*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// weekdayOf returns the weekday of a day; 1970-01-01 was a Thursday.
func weekdayOf(number int) int { return number + 4 - 7*floor(number+4, 7) }

// floor divides and rounds down, below 0 too.
func floor[T int | int64](a, b T) T {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// daysIn returns the length of a month.
func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// next returns the day after a day.
func (d date) next() date {
	d.number++
	d.day++
	if d.weekday++; d.weekday == 7 {
		d.weekday = 0
	}
	if d.day > 28 && d.day > daysIn(d.year, d.month) {
		d.day = 1
		if d.month++; d.month > 12 {
			d.month = 1
			d.year++
		}
	}
	return d
}

// nextMonth returns the first day of the month after a day's.
func (d date) nextMonth() date {
	left := daysIn(d.year, d.month) - d.day + 1
	d.number += left
	d.day = 1
	if d.month++; d.month > 12 {
		d.month = 1
		d.year++
	}
	d.weekday = weekdayOf(d.number)
	return d
}

// dayOfMonth returns the number of a day of a month, below 0 counted from its
// end; false if the month has no such day.
func dayOfMonth(year, month, n int) (int, bool) {
	length := daysIn(year, month)
	if n < 0 {
		n += length + 1
	}
	return days(year, month, n), n >= 1 && n <= length
}

// weekdayOfMonth returns the number of the n-th weekday of a month, below 0
// counted from its end; false if the month has no such day.
func weekdayOfMonth(year, month, weekday, n int) (int, bool) {
	length := daysIn(year, month)
	first := days(year, month, 1)
	// The day of the month of the first such weekday, 1 to 7.
	at := 1 + (weekday-weekdayOf(first)+7)%7
	if n > 0 {
		at += 7 * (n - 1)
	} else {
		at += 7*((length-at)/7) + 7*(n+1)
	}
	return first + at - 1, at >= 1 && at <= length
}
