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
	b = append(b, '"')
	b = t.Std().AppendFormat(b, "2006-01-02T15:04:05.000Z07:00")
	return append(b, '"')
}

// AppendMicros appends microseconds as seconds.
func AppendMicros(b []byte, us int64) []byte {
	return strconv.AppendFloat(b, float64(us)/1e6, 'f', -1, 64)
}

// Time is an instant as the API writes it, null for never.
type Time object.Time

// MarshalJSON writes RFC 3339 in UTC or null.
func (t Time) MarshalJSON() ([]byte, error) { return AppendTime(nil, object.Time(t)), nil }

// Stamp returns a standard time as the API writes it.
func Stamp(t time.Time) Time { return Time(object.At(t)) }
