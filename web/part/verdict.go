package part

import (
	"strings"

	"jaque.sh/jaque/web/view"
)

// gateClass names how a gate looks.
func gateClass(verdict string) string {
	return "gate " + strings.ReplaceAll(verdict, " ", "-")
}

// tone is that of a contact who is told or not. That somebody is not told is
// nothing bad.
func tone(v view.Verdict) string {
	switch {
	case v.Says == view.NotReached:
		return "crit"
	case v.Told, v.Says != "" && v.Says != "not told":
		return "ok"
	}
	return "pending"
}

// says is the verdict about a contact in words.
func says(v view.Verdict) string {
	switch {
	case v.Says != "":
		return v.Says
	case v.Told:
		return "told"
	}
	return "not told"
}

// slug makes an id of a name: what is no letter or digit becomes its code.
func slug(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			b.WriteByte(c)
			continue
		}
		const digits = "0123456789abcdef"
		b.WriteByte('_')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

// Comma returns what stands behind the one at a place of so many in a sentence.
func Comma(at, of int) string {
	if at+1 < of {
		return ","
	}
	return ""
}
