package encode

import (
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Syslog says what stands around the events in messages of RFC 5424.
type Syslog struct {
	Facility int    // 0 … 23
	Hostname string // of this machine
	App      string
	ProcID   string
}

// The severities of RFC 5424 that events have.
const (
	sevCritical = 2
	sevWarning  = 4
	sevNotice   = 5
	sevInfo     = 6
)

// structured is the id of the structured data; 32473 is the number for documentation.
const structured = "jaque@32473"

// Message appends one message without framing. The text is the output of the check,
// else what the event says; the structured data name the event, the object and its
// state, and the whole event may stand behind as JSON.
func (y *Syslog) Message(dst []byte, e *event.Event, json []byte) []byte {
	dst = strconv.AppendInt(append(dst, '<'), int64(y.Facility*8+severity(e)), 10)
	dst = append(dst, ">1 "...)
	dst = e.Time.Std().AppendFormat(dst, "2006-01-02T15:04:05.000Z07:00")
	for _, field := range []struct {
		text string
		most int
	}{{y.Hostname, 255}, {y.App, 48}, {y.ProcID, 128}, {string(e.Kind), 32}} {
		dst = header(append(dst, ' '), field.text, field.most)
	}
	dst = append(append(append(dst, " ["...), structured...), ` id="`...)
	dst = append(param(dst, string(position(nil, e.Stream.String(), e.Seq))), '"')
	if e.Object != "" {
		dst = append(param(append(dst, ` host="`...), e.Object.Host()), '"')
		if s := e.Object.Service(); s != "" {
			dst = append(param(append(dst, ` service="`...), s), '"')
		}
	}
	if state, kind, ok := state(e); ok {
		dst = append(param(append(dst, ` state="`...), state), '"')
		dst = append(param(append(dst, ` type="`...), kind), '"')
	}
	if e.Author != "" {
		dst = append(param(append(dst, ` by="`...), e.Author), '"')
	}
	dst = append(dst, ']', ' ')
	if len(json) > 0 {
		return append(dst, json...)
	}
	return text(dst, e)
}

// state returns the state an event left its object in, and its type.
func state(e *event.Event) (name, kind string, ok bool) {
	switch {
	case e.Object == "":
		return "", "", false
	case e.Status != nil:
		return e.Status.State.Name(e.Object.Kind()), e.Status.Type.String(), true
	case e.Measure != nil:
		return e.Measure.State.Name(e.Object.Kind()), "", true
	}
	return "", "", false
}

// severity says how loud an event is: transitions by the state they lead to, in soft
// states never above a warning.
func severity(e *event.Event) int {
	if e.Status == nil || !e.Transition {
		return sevInfo
	}
	s, soft := e.Status.State, e.Status.Type == object.Soft
	switch {
	case s == object.OK:
		return sevNotice
	case soft || e.Object.Kind() == object.Service && s != object.Critical:
		return sevWarning
	}
	return sevCritical
}

// header appends a field of the header: printable ASCII without blanks, "-" if there
// is nothing.
func header(dst []byte, text string, most int) []byte {
	if text == "" {
		return append(dst, '-')
	}
	for i := range min(len(text), most) {
		if c := text[i]; c > ' ' && c < 0x7f {
			dst = append(dst, c)
			continue
		}
		dst = append(dst, '_')
	}
	return dst
}

// param appends a value of structured data.
func param(dst []byte, value string) []byte {
	for _, r := range value {
		switch r {
		case '"', '\\', ']':
			dst = append(dst, '\\')
		case '\n', '\r', 0:
			r = ' '
		}
		dst = append(dst, string(r)...)
	}
	return dst
}

// text appends what the event says for people, on one line.
func text(dst []byte, e *event.Event) []byte {
	words := e.Text
	if e.Measure != nil && e.Has(event.CheckResult) {
		words = e.Measure.Output
	}
	if words == "" {
		words = string(e.Kind)
	}
	words = strings.ToValidUTF8(words, "\uFFFD")
	return append(dst, strings.Join(strings.FieldsFunc(words, func(r rune) bool { return r < ' ' || r == 0x7f }), " ")...)
}

// Frame appends a message as RFC 6587 counts octets: its length, a blank, itself.
func Frame(dst, message []byte) []byte {
	return append(append(strconv.AppendInt(dst, int64(len(message)), 10), ' '), message...)
}

// Date puts an instant into a name: %Y, %m and %d, in UTC.
func Date(pattern string, at time.Time) string {
	if !strings.Contains(pattern, "%") {
		return pattern
	}
	at = at.UTC()
	return strings.NewReplacer("%Y", at.Format("2006"), "%m", at.Format("01"), "%d", at.Format("02")).Replace(pattern)
}
