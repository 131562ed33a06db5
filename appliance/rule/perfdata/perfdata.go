package perfdata

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"jaque.sh/jaque/appliance/rule/threshold"
)

// Metric is one measured value.
type Metric struct {
	Label   string  // without quotes
	Value   float64 // 0 if Unknown
	Unknown bool    // the plugin wrote U: it could not tell
	UOM     string  // unit as written, "" for none
	Warn    *threshold.Range
	Crit    *threshold.Range
	Min     *float64
	Max     *float64
}

// Parse returns the metrics of a text in its order and the words in it that are
// none. Labels may repeat.
func Parse(s string) (metrics []Metric, bad []string) {
	for s = trim(s); s != ""; s = trim(s) {
		label, rest, ok := cutLabel(s)
		var value string
		if ok {
			value, rest = cutWord(rest)
		}
		m, fine := Metric{Label: label}, false
		if ok {
			fine = m.read(value)
		}
		if !fine {
			var word string
			if ok {
				word = s[:len(s)-len(rest)]
			} else {
				word, rest = cutWord(s)
			}
			bad = append(bad, word)
			s = rest
			continue
		}
		metrics = append(metrics, m)
		s = rest
	}
	return metrics, bad
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func trim(s string) string {
	for s != "" && blank(s[0]) {
		s = s[1:]
	}
	return s
}

// cutWord takes everything up to the next blank off a text.
func cutWord(s string) (word, rest string) {
	for i := range len(s) {
		if blank(s[i]) {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// cutLabel takes a label and its "=" off a text.
func cutLabel(s string) (label, rest string, ok bool) {
	if s[0] == '\'' {
		return cutQuoted(s[1:])
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c == '=':
			return s[:i], s[i+1:], i > 0
		// A quote within a bare label is a label whose quotes went wrong: what it
		// was meant to span nobody can tell.
		case c == '\'' || blank(c):
			return "", "", false
		}
	}
	return "", "", false
}

// cutQuoted takes off a label whose opening quote is gone already. Two quotes
// are one; what is in quotes may hold anything.
func cutQuoted(s string) (label, rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\'' {
			continue
		}
		if i+1 < len(s) && s[i+1] == '\'' {
			i++
			continue
		}
		// Behind the closing quote the value must start; a blank there would join
		// two metrics into one.
		if i == 0 || i+1 == len(s) || s[i+1] != '=' {
			return "", "", false
		}
		return strings.ReplaceAll(s[:i], "''", "'"), s[i+2:], true
	}
	return "", "", false
}

// read fills in what stands behind the "=".
func (m *Metric) read(s string) bool {
	value, rest, _ := strings.Cut(s, ";")
	if !m.readValue(value) {
		return false
	}
	ok := true
	for field := 0; rest != "" && ok; field++ {
		var text string
		text, rest, _ = strings.Cut(rest, ";")
		if text == "" {
			continue
		}
		switch field {
		case 0:
			m.Warn, ok = readRange(text)
		case 1:
			m.Crit, ok = readRange(text)
		case 2:
			m.Min, ok = readNumber(text)
		case 3:
			m.Max, ok = readNumber(text)
		// Empty fields behind the maximum are a common slip and harmless; one that
		// says something has a meaning that is not known here.
		default:
			ok = false
		}
	}
	return ok
}

// readValue fills in the number and its unit. What follows a number is its unit
// or makes the metric wrong; no part of it is ignored.
func (m *Metric) readValue(s string) bool {
	if s == "U" {
		m.Unknown = true
		return true
	}
	n := threshold.NumberPrefix(s)
	v, err := threshold.Number(s[:n])
	if err != nil || !unit(s[n:]) {
		return false
	}
	m.Value, m.UOM = v, s[n:]
	return true
}

// unit tells whether a text may be a unit: letters, currency and other signs,
// raised digits, "%" and "/", but no digits and no punctuation. That keeps
// "1,5", "77_031" and "1.2.3" from being read as numbers with a unit.
func unit(s string) bool {
	for _, r := range s {
		switch {
		case r == utf8.RuneError:
			return false
		case r == '%' || r == '‰' || r == '/':
		case unicode.In(r, unicode.L, unicode.M, unicode.No, unicode.So, unicode.Sc):
		default:
			return false
		}
	}
	return true
}

// readRange reads a threshold; one that does not parse makes the metric wrong,
// because a plugin that writes it means something we would miss.
func readRange(s string) (*threshold.Range, bool) {
	r, err := threshold.Parse(s)
	return &r, err == nil
}

func readNumber(s string) (*float64, bool) {
	v, err := threshold.Number(s)
	return &v, err == nil
}

// String returns the metric in the form that Parse reads.
func (m Metric) String() string {
	fields := []string{"", "", "", ""}
	if m.Warn != nil {
		fields[0] = m.Warn.String()
	}
	if m.Crit != nil {
		fields[1] = m.Crit.String()
	}
	if m.Min != nil {
		fields[2] = format(*m.Min)
	}
	if m.Max != nil {
		fields[3] = format(*m.Max)
	}
	value := "U"
	if !m.Unknown {
		value = format(m.Value) + m.UOM
	}
	return strings.TrimRight(quote(m.Label)+"="+value+";"+strings.Join(fields, ";"), ";")
}

func format(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// quote puts a label in quotes if it would not be read back without.
func quote(label string) string {
	if label != "" && !strings.ContainsAny(label, "'= \t\r\n") {
		return label
	}
	return "'" + strings.ReplaceAll(label, "'", "''") + "'"
}
