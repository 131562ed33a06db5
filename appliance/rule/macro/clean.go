package macro

import "strings"

// dirty tells whether a macro holds what plugins or operators wrote.
func dirty(name string) bool {
	switch name {
	case "HOSTOUTPUT", "LONGHOSTOUTPUT", "HOSTPERFDATA", "HOSTACKAUTHOR", "HOSTACKCOMMENT",
		"SERVICEOUTPUT", "LONGSERVICEOUTPUT", "SERVICEPERFDATA", "SERVICEACKAUTHOR", "SERVICEACKCOMMENT":
		return true
	}
	return false
}

// clean takes control characters and those of illegal out of a value.
func clean(value, illegal string) string {
	return strings.Map(func(r rune) rune {
		// Control characters go in any case: a line feed would end a command.
		if r < 32 || r == 127 || strings.ContainsRune(illegal, r) {
			return -1
		}
		return r
	}, value)
}

const hexDigits = "0123456789ABCDEF"

// encode escapes a value for a URL, if that is where it goes.
func (e *expander) encode(value string) string {
	if !e.opts.url {
		return value
	}
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hexDigits[c>>4])
		b.WriteByte(hexDigits[c&15])
	}
	return b.String()
}
