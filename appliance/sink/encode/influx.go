package encode

import (
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/rule/sample"
)

// escaping are the bytes that a backslash in front may escape for some reader.
const escaping = ", =\"\\"

// bare tells whether a text needs no escape anywhere.
func bare(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c == ',' || c == '=' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// escape appends a text with a backslash in front of each byte of special. A
// backslash of the text itself that would escape what follows becomes a slash.
func escape(dst []byte, text, special string) []byte {
	if bare(text) {
		return append(dst, text...)
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '\n' || c == '\r' || c == '\t':
			c = ' '
			if strings.IndexByte(special, ' ') >= 0 {
				dst = append(dst, '\\')
			}
		case strings.IndexByte(special, c) >= 0:
			dst = append(dst, '\\')
		case c == '\\' && (i+1 == len(text) || strings.IndexByte(escaping, text[i+1]) >= 0):
			c = '/'
		}
		dst = append(dst, c)
	}
	return dst
}

// Influx appends points in line protocol with one field and a time in milliseconds:
// the name is the measurement, the labels are tags.
func Influx(dst []byte, samples []sample.Sample, field string) []byte {
	for i := range samples {
		s := &samples[i]
		begin := len(dst)
		if dst = escape(dst, s.Name, ", "); dst[begin] == '#' {
			dst[begin] = '_' // else the line would be a comment
		}
		for _, l := range s.Labels {
			dst = append(escape(append(dst, ','), l.Name, ",= "), '=')
			dst = escape(dst, l.Value, ",= ")
		}
		dst = append(escape(append(dst, ' '), field, ",= "), '=')
		dst = append(Number(dst, s.Value), ' ')
		dst = append(strconv.AppendInt(dst, int64(s.Time), 10), '\n')
	}
	return dst
}
