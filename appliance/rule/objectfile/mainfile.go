package objectfile

import (
	"strings"
)

// Main is the lines of a main file: name=value, in order.
type Main []Directive

// ParseMain reads a main file. Blank lines, comments and lines starting with
// "x" say nothing.
func ParseMain(src Source) (Main, Problems) {
	var m Main
	var problems Problems
	in := lines{rest: src.Text}
	for {
		text, line, ok := in.next()
		if !ok {
			return m, problems
		}
		text = strings.TrimSpace(text)
		// A leading x is a relic of external data in old main files.
		if text == "" || text[0] == '#' || text[0] == ';' || text[0] == 'x' {
			continue
		}
		at := Pos{src.Path, line}
		name, value, ok := strings.Cut(text, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || name == "" {
			problems.Add(at, "%q is no setting; write name=value", clip(text))
			continue
		}
		m = append(m, Directive{Pos: at, Name: name, Value: value})
	}
}

// Find returns the last line of a name, nil if there is none.
func (m Main) Find(name string) *Directive {
	for i := len(m) - 1; i >= 0; i-- {
		if m[i].Name == name {
			return &m[i]
		}
	}
	return nil
}

// Text returns a setting's value, def if it is not set.
func (m Main) Text(name, def string) string {
	if d := m.Find(name); d != nil {
		return d.Value
	}
	return def
}

// Number returns the number that a setting's value starts with, def if it is
// not set.
func (m Main) Number(name string, def float64) float64 {
	if d := m.Find(name); d != nil {
		return number(d.Value)
	}
	return def
}

// Bool tells whether a setting's value starts with a whole number above 0, def
// if it is not set.
func (m Main) Bool(name string, def bool) bool {
	if d := m.Find(name); d != nil {
		return integer(d.Value) > 0
	}
	return def
}

// Users is the values of $USER1$ … $USER256$, by number.
type Users map[int]string

// ParseResource reads lines $USERn$=value of a resource file; other lines say
// nothing.
func ParseResource(src Source) (Users, Problems) {
	users := Users{}
	var problems Problems
	in := lines{rest: src.Text}
	for {
		text, line, ok := in.next()
		if !ok {
			return users, problems
		}
		rest, is := strings.CutPrefix(strings.TrimSpace(text), "$USER")
		if !is {
			continue
		}
		number, value, ok := strings.Cut(rest, "=")
		digits, closed := strings.CutSuffix(strings.TrimSpace(number), "$")
		n := int(integer(digits))
		// Nagios ignores such a line; a password that is silently missing is worse
		// than a start that fails.
		if !ok || !closed || n < 1 || n > 256 || strings.Trim(digits, "0123456789") != "" {
			problems.Add(Pos{src.Path, line}, "%q is no user macro; write $USER1$=value, numbers 1 to 256", clip(text))
			continue
		}
		users[n] = strings.TrimSpace(value)
	}
}
