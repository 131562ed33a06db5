package objectfile

import "strings"

// lines steps through a text by logical lines: a trailing backslash joins the
// next line, whose leading blanks are dropped; two of them are one backslash
// that does not join. Line feeds may follow carriage returns.
type lines struct {
	rest string
	line int // of the last physical line taken
}

// next returns the next logical line and the number of its first physical line;
// false at the end of the text.
func (l *lines) next() (string, int, bool) {
	if l.rest == "" {
		return "", 0, false
	}
	text, more := l.physical()
	first := l.line
	if !more {
		return text, first, true
	}
	var b strings.Builder
	b.WriteString(text)
	for more && l.rest != "" {
		text, more = l.physical()
		b.WriteString(strings.TrimLeft(text, " \t"))
	}
	return b.String(), first, true
}

// physical takes one line and tells whether it is continued.
func (l *lines) physical() (string, bool) {
	text, rest, _ := strings.Cut(l.rest, "\n")
	l.rest = rest
	l.line++
	text = strings.TrimSuffix(text, "\r")
	if !strings.HasSuffix(text, `\`) {
		return text, false
	}
	text = text[:len(text)-1]
	return text, !strings.HasSuffix(text, `\`)
}

// uncomment cuts a line of an object file at its first ";" and trims it; "\;"
// stands for the character itself. A "#" comments out the whole line, but only
// in front.
func uncomment(line string) string {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "#") {
		return ""
	}
	at := strings.IndexByte(line, ';')
	if at < 0 {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == ';':
			return strings.TrimSpace(b.String())
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == ';':
			b.WriteByte(';')
			i++
		default:
			b.WriteByte(line[i])
		}
	}
	return strings.TrimSpace(b.String())
}

// cutWord splits a trimmed line after its first word.
func cutWord(line string) (word, rest string) {
	at := strings.IndexAny(line, " \t")
	if at < 0 {
		return line, ""
	}
	return line[:at], strings.TrimSpace(line[at:])
}
