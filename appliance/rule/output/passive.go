package output

import (
	"fmt"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// Passive returns what a submitted result says. A service's code outside 0 … 3
// means Unknown; a host's code is its state, taken literally, and outside
// 0 … 2 it is refused. The text may have several lines, see Unescape.
func Passive(kind object.Kind, code int, text []byte) (Result, error) {
	if kind == object.Host && (code < 0 || code > int(object.Unreachable)) {
		return Result{}, fmt.Errorf("submitted host result: %d is no host state; write 0 for UP, 1 for DOWN or 2 for UNREACHABLE", code)
	}
	if code < 0 || code > int(object.Unknown) {
		code = int(object.Unknown)
	}
	return read(kind, object.State(code), valid(text)), nil
}

// Unescape reads the form in which the command file carries several lines: \n
// stands for a line feed and \\ for a backslash. Anything else stays.
func Unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case 'n':
				b.WriteByte('\n')
				i++
				continue
			case '\\':
				i++
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
