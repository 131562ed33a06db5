package period

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Problem is one text of a definition that cannot be read.
type Problem struct {
	Except bool // it is one of the exceptions, else one of the ranges
	Index  int  // in its list
	Text   string
}

// Problems is everything that is wrong with a definition.
type Problems []Problem

// Error returns one line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Text
	}
	return strings.Join(lines, "\n")
}

// Parse makes a period of jaque's texts: "monday-friday 09:00-17:00", times
// alone for every day, or any day form of Nagios. Of plain weekdays all texts
// count together. Exceptions are days in any form but plain weekdays
// ("2026-12-25", "december 24 - december 26") on which the period never holds.
// An error is of type Problems; without one, zone nil is UTC.
func Parse(name string, zone *time.Location, ranges, except []string, exclude []*Period) (*Period, error) {
	r := reader{own: true}
	for i, text := range ranges {
		r.index = i
		r.read(strings.ToLower(text), text)
	}
	r.except = true
	days := r.lines
	r.lines = nil
	for i, text := range except {
		r.index = i
		r.day(strings.ToLower(text), text)
	}
	// No line of the ranges goes before an exception, whatever it is about.
	off := r.lines
	r.lines = days
	text := strings.Join(ranges, "; ")
	if len(except) > 0 {
		text += "; except " + strings.Join(except, ", ")
	}
	p, err := r.period(name, zone, text, off)
	if err != nil {
		return nil, err
	}
	return p.Without(exclude...), nil
}

// ParseNagios makes a period of the lines of an object file ("monday
// 09:00-17:00", "day -1 00:00-24:00"), as strict as Nagios: words in lower case,
// and of two lines of a plain weekday the later counts. An error is of type
// Problems; zone nil is UTC.
func ParseNagios(name string, zone *time.Location, lines []string) (*Period, error) {
	r := reader{}
	for i, text := range lines {
		r.index = i
		r.read(text, text)
	}
	return r.period(name, zone, strings.Join(lines, "; "), nil)
}

// Recurring makes a period without a name for something that comes again and
// again, such as a downtime. See Windows for when.
func Recurring(ranges []string, zone *time.Location) (*Period, error) {
	if len(ranges) == 0 {
		return nil, errors.New(`there are no spans; write for example "sunday 02:00-04:00"`)
	}
	return Parse("", zone, ranges, nil, nil)
}

// reader collects lines.
type reader struct {
	own      bool // jaque's texts, else Nagios'
	except   bool // reading exceptions
	index    int
	lines    []line
	week     [7][]span
	problems Problems
}

func (r *reader) bad(format string, args ...any) {
	r.problems = append(r.problems, Problem{r.except, r.index, fmt.Sprintf(format, args...)})
}

// period puts together what was read. Lines of off go before all others.
func (r *reader) period(name string, zone *time.Location, text string, off []line) (*Period, error) {
	if len(r.problems) > 0 {
		return nil, r.problems
	}
	if zone == nil {
		zone = time.UTC
	}
	// Of lines of the same class the later goes before the earlier.
	slices.Reverse(r.lines)
	slices.SortStableFunc(r.lines, func(a, b line) int { return cmp.Compare(a.class, b.class) })
	p := &Period{name: name, zone: zone, lines: append(off, r.lines...), week: r.week}
	p.text = name + " [" + zone.String() + "] " + text
	for i := range p.week {
		p.week[i] = join(p.week[i])
	}
	p.prepare()
	return p, nil
}

// read takes one text with days and times; shown is how the operator wrote it.
func (r *reader) read(text, shown string) {
	days, times := r.cut(text)
	if strings.TrimSpace(text) == "" {
		r.bad(`"" is not a span of time; write "monday-friday 09:00-17:00"`)
		return
	}
	spans, err := clocks(times, r.own)
	if times == "" || r.own && errors.As(err, new(errClock)) {
		r.bad(`%q does not end with times of day; write %s`, shown, r.example())
		return
	}
	if err != nil {
		r.bad("%s", err)
		return
	}
	d := dayReader{own: r.own, text: days, shown: shown}
	if err := d.read(); err != nil {
		r.bad("%s", err)
		return
	}
	for _, weekday := range d.weekdays {
		if r.own {
			r.week[weekday] = append(r.week[weekday], spans...)
			continue
		}
		r.week[weekday] = spans
	}
	if len(d.weekdays) == 0 {
		d.line.spans = spans
		r.lines = append(r.lines, d.line)
	}
}

// day takes one text with days alone, which are without any span then.
func (r *reader) day(text, shown string) {
	d := dayReader{own: r.own, text: text, shown: shown}
	if err := d.read(); err != nil || len(d.weekdays) > 0 || strings.TrimSpace(text) == "" {
		r.bad(`%q is not a day; write "2026-12-25"`, shown)
		return
	}
	r.lines = append(r.lines, d.line)
}

func (r *reader) example() string {
	if r.own {
		return `"monday-friday 09:00-17:00"`
	}
	return `for example: monday 09:00-17:00`
}

// cut splits a text before the first time of day.
func (r *reader) cut(text string) (days, times string) {
	colon := strings.IndexByte(text, ':')
	if colon < 0 {
		return text, ""
	}
	at := len(strings.TrimRight(text[:colon], "0123456789"))
	words := strings.Fields(text[at:])
	times = words[0]
	for _, w := range words[1:] {
		// Nagios takes a blank for a comma, so a blank beside a comma is an empty
		// span to it. In jaque's own texts blanks mean nothing.
		glued := strings.HasSuffix(times, ",") || strings.HasSuffix(times, "-") || w[0] == ',' || w[0] == '-'
		if !r.own || !glued {
			times += ","
		}
		times += w
	}
	return text[:at], times
}
