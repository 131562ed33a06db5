package period

import (
	"fmt"
	"strings"

	"jaque.sh/jaque/appliance/rule/near"
)

// The words of day forms by number, weekdays from 0, months from 1; constant.
var (
	weekdayNames = [...]string{"sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"}
	monthNames   = [...]string{
		"", "january", "february", "march", "april", "may", "june", "july", "august", "september",
		"october", "november", "december",
	}
)

// dayReader reads the days of one line: a calendar date or a range of them,
// "february 10", "day -1", "monday 3 may", "monday 3", ranges of these, or plain
// weekdays.
type dayReader struct {
	own   bool
	text  string
	shown string // the whole line for errors

	tokens []token
	line   line
	// weekdays is what plain weekdays are about; the line means nothing then.
	weekdays []int
}

// token is a word, a number, a date, "-" or "/".
type token struct {
	kind byte // 'w', 'n', 'd', '-', '/'
	text string
	n    int // of a number; the day's number of a date
}

func (d *dayReader) read() error {
	if err := d.scan(); err != nil {
		return err
	}
	d.line.every = 1
	pattern := d.pattern()
	// The skip is cut off first, so that the forms stand once.
	rest, skips := strings.CutSuffix(pattern, "/n")
	if skips {
		n := d.tokens[len(d.tokens)-1].n
		if n < 1 {
			return fmt.Errorf(`the skip "/ %d" of %q is below 1; write / 2 for every second day`, n, d.shown)
		}
		d.line.every = n
		d.tokens = d.tokens[:len(d.tokens)-2]
	}
	return d.form(rest, skips)
}

// pattern returns the kinds of the tokens, one letter each.
func (d *dayReader) pattern() string {
	var b strings.Builder
	for _, t := range d.tokens {
		b.WriteByte(t.kind)
	}
	return b.String()
}

// form reads the tokens by their pattern.
func (d *dayReader) form(pattern string, skips bool) error {
	t := d.tokens
	switch {
	case pattern == "" && !skips && d.own:
		d.weekdays = []int{0, 1, 2, 3, 4, 5, 6}
		return nil
	case pattern == "w" && !skips, pattern == "w-w" && !skips && d.own:
		return d.plain(t[0], t[len(t)-1])
	case pattern == "d" || pattern == "d-d":
		return d.dates(t[0], t[len(t)-1], pattern == "d" && skips)
	// A skip without an end would be about one day.
	case pattern == "wn" && !skips:
		return d.range2(t[0], t[1], t[0], t[1])
	case pattern == "wn-n":
		return d.range2(t[0], t[1], t[0], t[3])
	case pattern == "wn-wn":
		return d.range2(t[0], t[1], t[3], t[4])
	case pattern == "wnw" && !skips:
		return d.range3(t, t)
	case pattern == "wnw-wnw":
		return d.range3(t[:3], t[4:])
	}
	return d.unreadable()
}

func (d *dayReader) unreadable() error {
	return fmt.Errorf(`the days of %q cannot be read; write for example "monday", "day 1 - 15", "monday -1 may" or "2026-12-24 - 2027-01-02"`, d.shown)
}

// plain reads weekdays without a number; a range may go over the end of the week.
func (d *dayReader) plain(from, to token) error {
	a, b := weekday(from.text), weekday(to.text)
	for _, t := range []token{from, to} {
		if weekday(t.text) < 0 {
			return noDay(t.text)
		}
	}
	for d.weekdays = []int{a}; a != b; d.weekdays = append(d.weekdays, a) {
		a = (a + 1) % 7
	}
	return nil
}

// noDay says that a word is no day and which one it may have been.
func noDay(word string) error {
	known := append(append([]string{"day"}, weekdayNames[:]...), monthNames[1:]...)
	low := strings.ToLower(word)
	best, at := min(1+len(word)/5, 3)+1, ""
	for _, k := range known {
		// Nagios knows no short names; they are a habit from elsewhere.
		if len(low) > 2 && strings.HasPrefix(k, low) {
			best, at = 0, k
		}
		if n := near.Distance(low, k, best); n < best {
			best, at = n, k
		}
	}
	if at != "" && at != word {
		return fmt.Errorf(`%q is not a day; did you mean %q?`, word, at)
	}
	return fmt.Errorf(`%q is not a day; write "monday-friday 09:00-17:00"`, word)
}

// dates reads calendar dates.
func (d *dayReader) dates(from, to token, open bool) error {
	if to.n < from.n {
		return fmt.Errorf("%s is before %s; write the earlier day first", to.text, from.text)
	}
	d.line.class, d.line.open = calendarDate, open
	d.line.from, d.line.to = mark{number: from.n}, mark{number: to.n}
	return nil
}

// range2 reads "february 10", "day 15" and "monday 3" and ranges of them.
func (d *dayReader) range2(fromWord, from, toWord, to token) error {
	if from.n == 0 || to.n == 0 {
		return fmt.Errorf("0 in %q is no day; write 1 for the first or -1 for the last", d.shown)
	}
	a, b := mark{n: from.n}, mark{n: to.n}
	// The ends are of the same kind: both a month, both a weekday or both "day".
	switch {
	case fromWord.text == "day" && toWord.text == "day":
		d.line.class = monthDay
	case month(fromWord.text) > 0 && month(toWord.text) > 0:
		d.line.class = monthDate
		a.month, b.month = month(fromWord.text), month(toWord.text)
	case weekday(fromWord.text) >= 0 && weekday(toWord.text) >= 0:
		d.line.class = weekdayOrdinal
		a.weekday, b.weekday = weekday(fromWord.text), weekday(toWord.text)
	default:
		return d.wrongWords(fromWord, toWord)
	}
	d.line.from, d.line.to = a, b
	return nil
}

// wrongWords says which word is none that a day form knows, else that they do
// not go together.
func (d *dayReader) wrongWords(words ...token) error {
	for _, w := range words {
		if w.text != "day" && month(w.text) == 0 && weekday(w.text) < 0 {
			return noDay(w.text)
		}
	}
	return d.unreadable()
}

// range3 reads "monday 3 may" and ranges of it.
func (d *dayReader) range3(from, to []token) error {
	if from[1].n == 0 || to[1].n == 0 {
		return fmt.Errorf("0 in %q is no weekday; write 1 for the first or -1 for the last", d.shown)
	}
	d.line.class = monthWeekday
	d.line.from = mark{weekday: weekday(from[0].text), n: from[1].n, month: month(from[2].text)}
	d.line.to = mark{weekday: weekday(to[0].text), n: to[1].n, month: month(to[2].text)}
	if d.line.from.weekday < 0 || d.line.to.weekday < 0 || d.line.from.month == 0 || d.line.to.month == 0 {
		return d.wrongWords(from[0], from[2], to[0], to[2])
	}
	return nil
}

// weekday returns the number of a weekday, -1 if the word is none.
func weekday(word string) int {
	for i, name := range weekdayNames {
		if name == word {
			return i
		}
	}
	return -1
}

// month returns the number of a month, 0 if the word is none.
func month(word string) int {
	for i, name := range monthNames {
		if name == word && i > 0 {
			return i
		}
	}
	return 0
}
