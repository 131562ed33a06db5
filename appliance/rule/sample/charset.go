package sample

import (
	"strings"
	"unicode/utf8"
)

// Charset is what a target takes in names.
type Charset uint8

// The charsets. Each byte that a target does not take in a value becomes "_".
const (
	// Text takes everything but control characters.
	Text Charset = iota
	// Path is for one node of a Graphite path: letters, digits, "_" and "-". A dot
	// separates nodes and so becomes "_" too.
	Path
	// Prometheus is for names of metrics: letters, digits, "_" and, in literals, ":".
	Prometheus
	// OpenTSDB takes letters, digits and "-_./".
	OpenTSDB
)

// takes tells whether a byte may stand in a value that becomes part of a name.
func (c Charset) takes(b byte) bool {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '_':
		return true
	case c == Path:
		return b == '-'
	case c == OpenTSDB:
		return strings.IndexByte("-./", b) >= 0
	}
	return c == Text && b >= ' ' && b != 0x7f
}

// literal tells whether a text may stand in a name as it is.
func (c Charset) literal(text string) bool {
	for i := range len(text) {
		b := text[i]
		switch {
		case c.takes(b), c == Path && b == '.', c == Prometheus && b == ':':
		default:
			return false
		}
	}
	return utf8.ValidString(text)
}

// clean appends a value as it may stand in a name.
func (c Charset) clean(dst []byte, value string) []byte {
	if c == Text && !utf8.ValidString(value) {
		value = strings.ToValidUTF8(value, "_")
	}
	for i := range len(value) {
		if b := value[i]; c.takes(b) {
			dst = append(dst, b)
			continue
		}
		dst = append(dst, '_')
	}
	return dst
}

// labelName returns a name of a label as the target takes it.
func (c Charset) labelName(name string) string {
	if c == Path || c == Prometheus {
		c = Prometheus
	}
	out := c.clean(nil, name)
	if c == Prometheus && len(out) > 0 && out[0] >= '0' && out[0] <= '9' {
		out = append([]byte{'_'}, out...)
	}
	return string(out)
}

// labelValue returns the value of a label as the target takes it, "" = none.
func (c Charset) labelValue(value string) string {
	switch c {
	case OpenTSDB:
		return string(c.clean(nil, value))
	case Path: // of a tag: no ";", and "~" not in front
		value = string(Text.clean(nil, strings.ReplaceAll(value, ";", "_")))
		if strings.HasPrefix(value, "~") {
			value = "_" + value[1:]
		}
		return strings.ReplaceAll(value, " ", "_")
	}
	for i := range len(value) {
		if value[i] < ' ' || value[i] >= 0x7f {
			return string(Text.clean(nil, value))
		}
	}
	return value
}
