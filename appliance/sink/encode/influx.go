package encode

import (
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/rule/sample"
)

// escape appends a text with a backslash in front of each byte of special. A
// backslash at its end would escape what follows and becomes a slash.
func escape(dst []byte, text, special string) []byte {
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
		case c == '\\' && (i+1 == len(text) || strings.IndexByte(special, text[i+1]) >= 0 || text[i+1] == '\\'):
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
		if strings.HasPrefix(s.Name, "#") {
			dst = append(dst, '\\') // else the line would be a comment
		}
		dst = escape(dst, s.Name, ", ")
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
