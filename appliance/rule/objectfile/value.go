package objectfile

import (
	"strconv"
	"strings"
)

// null marks a directive as present without a value, which stops inheritance.
const null = "null"

// Find returns the directive of a canonical name, nil if there is none or its
// value is null.
func (o *Object) Find(name string) *Directive {
	for i := range o.Directives {
		if d := &o.Directives[i]; d.Name == name {
			if d.Value == null {
				return nil
			}
			return d
		}
	}
	return nil
}

// At returns where a directive stands, else where the object does.
func (o *Object) At(name string) Pos {
	if d := o.Find(name); d != nil {
		return d.Pos
	}
	return o.Pos
}

// Text returns a value, def if there is none. An empty value counts as none.
func (o *Object) Text(name, def string) string {
	if d := o.Find(name); d != nil && d.Value != "" {
		return d.Value
	}
	return def
}

// Names returns a comma-separated list without blanks, empty names and the
// leading "+". Duplicates and the marks "*" and "!" are left to the caller.
func (o *Object) Names(name string) []string {
	d := o.Find(name)
	if d == nil {
		return nil
	}
	return splitNames(strings.TrimPrefix(d.Value, "+"))
}

// Number returns the number that a value starts with, 0 if it starts with none
// and def if there is no value, as Nagios reads it.
func (o *Object) Number(name string, def float64) float64 {
	d := o.Find(name)
	if d == nil {
		return def
	}
	return number(d.Value)
}

// Bool tells whether a value starts with a whole number above 0, def if there
// is no value.
func (o *Object) Bool(name string, def bool) bool {
	d := o.Find(name)
	if d == nil {
		return def
	}
	return integer(d.Value) > 0
}

// Vars returns the custom variables, names in upper case without "_"; to them
// null is a text like any other. The result is nil if there are none.
func (o *Object) Vars() map[string]string {
	var vars map[string]string
	for _, d := range o.Directives {
		// No directive has an empty name: a line without a word is no line.
		if d.Name[0] != '_' {
			continue
		}
		if vars == nil {
			vars = map[string]string{}
		}
		vars[d.Name[1:]] = d.Value
	}
	return vars
}

// Options returns the letters of an option list in the order of allowed, def if
// there is no value. Words count as their letter; "a" stands for every allowed
// letter, "n" for none. What is not allowed becomes a problem.
func (o *Object) Options(name, allowed, def string, problems *Problems) string {
	d := o.Find(name)
	if d == nil {
		return def
	}
	var set [256]bool
	for _, word := range strings.FieldsFunc(d.Value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		letter := optionLetter(word)
		switch {
		// n takes back what stands before it and allows what follows, as in Nagios.
		case letter == "n":
			set = [256]bool{}
		case letter == "a":
			for i := range len(allowed) {
				set[allowed[i]] = true
			}
		case len(letter) == 1 && strings.Contains(allowed, letter):
			set[letter[0]] = true
		default:
			problems.Add(d.Pos, "invalid option %q of %s; write letters of %s separated by commas, a for all or n for none",
				word, name, strings.Join(strings.Split(allowed, ""), ","))
		}
	}
	var b strings.Builder
	for i := range len(allowed) {
		if set[allowed[i]] {
			b.WriteByte(allowed[i])
		}
	}
	return b.String()
}

// optionLetter returns the letter that a word of an option list stands for; what
// is no such word is returned as it is, to be judged as a letter.
func optionLetter(word string) string {
	switch word {
	case "ok", "up":
		return "o"
	case "down":
		return "d"
	case "unreachable", "unknown":
		return "u"
	case "warning":
		return "w"
	case "critical":
		return "c"
	case "recovery":
		return "r"
	case "flapping":
		return "f"
	case "downtime":
		return "s"
	case "pending":
		return "p"
	case "none":
		return "n"
	case "all":
		return "a"
	}
	return word
}

// splitNames splits a list at its commas.
func splitNames(list string) []string {
	var names []string
	for _, n := range strings.Split(list, ",") {
		if n = strings.TrimSpace(n); n != "" {
			names = append(names, n)
		}
	}
	return names
}

// number reads the longest decimal number in front of a text, 0 if there is none.
func number(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	end, dot := 0, false
	for ; end < len(s); end++ {
		c := s[end]
		// A sign belongs to the number only in front, a dot only once; everything
		// behind is ignored, so that "5m" is 5.
		sign := end == 0 && (c == '-' || c == '+')
		if c == '.' && !dot {
			dot = true
		} else if !sign && (c < '0' || c > '9') {
			break
		}
	}
	n, err := strconv.ParseFloat(s[:end], 64)
	if err != nil {
		return 0
	}
	return n
}

// integer reads the whole part of the number in front of a text.
func integer(s string) int64 { return int64(number(s)) }
