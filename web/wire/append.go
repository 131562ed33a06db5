package wire

import (
	"strconv"
	"time"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/core/object"
)

const hex = "0123456789abcdef"

// safe tells for each ASCII byte whether JSON may hold it as it is. "<", ">"
// and "&" are escaped too, so that no reader can take the answer for HTML.
var safe = func() (t [utf8.RuneSelf]bool) {
	for c := range t {
		t[c] = c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != 0x7f
	}
	return t
}()

// AppendString appends s as a JSON string; bytes that are no UTF-8 become
// U+FFFD.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if safe[c] {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, s[start:i]...), `\ufffd`...)
			start = i + n
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hex[r&15])
			start = i + n
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// AppendTime appends an instant as RFC 3339 with milliseconds in UTC, null for
// never.
func AppendTime(b []byte, t object.Time) []byte {
	if t == 0 {
		return append(b, "null"...)
	}
	if t < 0 || t > lastMilli {
		return t.Std().AppendFormat(b, `"2006-01-02T15:04:05.000Z07:00"`)
	}
	year, month, day := date(int64(t) / dayMillis)
	b = appendDigits(append(b, '"'), year, 4)
	b = appendDigits(append(b, '-'), month, 2)
	b = appendDigits(append(b, '-'), day, 2)
	ms := int64(t) % dayMillis
	b = appendDigits(append(b, 'T'), ms/3_600_000, 2)
	b = appendDigits(append(b, ':'), ms/60_000%60, 2)
	b = appendDigits(append(b, ':'), ms/1000%60, 2)
	b = appendDigits(append(b, '.'), ms%1000, 3)
	return append(b, 'Z', '"')
}

const (
	dayMillis = 86_400_000
	lastMilli = 253_402_300_799_999 // of the year 9999
)

// date returns the date of a day since 1970. Years are counted from March, so
// that a leap day is the last of its year; 400 of them are an era.
func date(days int64) (year, month, day int64) {
	const era, toMarch = 146_097, 719_468 // days of an era, days from 0000-03-01 to 1970-01-01
	days += toMarch
	in := days % era
	y := (in - in/1460 + in/36_524 - in/146_096) / 365
	in -= 365*y + y/4 - y/100
	m := (5*in + 2) / 153 // months from March have 153 days in five
	day = in - (153*m+2)/5 + 1
	year = y + days/era*400
	if month = m + 3; month > 12 {
		month, year = month-12, year+1
	}
	return year, month, day
}

// appendDigits appends a number with leading zeros.
func appendDigits(b []byte, n int64, digits int) []byte {
	for range digits {
		b = append(b, '0')
	}
	for i := len(b) - 1; n > 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}

// AppendMicros appends microseconds as seconds.
func AppendMicros(b []byte, us int64) []byte { return appendFixed(b, us, 6) }

// appendFixed appends n divided by a power of ten, without needless zeros.
func appendFixed(b []byte, n int64, decimals int) []byte {
	if n < 0 {
		b, n = append(b, '-'), -n
	}
	unit := int64(1)
	for range decimals {
		unit *= 10
	}
	b = strconv.AppendInt(b, n/unit, 10)
	if n%unit == 0 {
		return b
	}
	b = appendDigits(append(b, '.'), n%unit, decimals)
	for b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// Time is an instant as the API writes it, null for never.
type Time object.Time

// MarshalJSON writes RFC 3339 in UTC or null.
func (t Time) MarshalJSON() ([]byte, error) { return AppendTime(nil, object.Time(t)), nil }

// Stamp returns a standard time as the API writes it.
func Stamp(t time.Time) Time { return Time(object.At(t)) }

// UnmarshalJSON reads RFC 3339 or null, as clients of the API need it.
func (t *Time) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		*t = 0
		return nil
	}
	var std time.Time
	if err := std.UnmarshalJSON(data); err != nil {
		return err
	}
	*t = Stamp(std)
	return nil
}
