package web

import "io"

// visible passes a page on with the control characters that plugins write as
// signs that can be seen: U+2400 and following. Tabs and line feeds stay.
// Markup has no such bytes of its own and UTF-8 none inside of a character.
type visible struct{ w io.Writer }

// Write writes p and returns len(p) unless the page could not be passed on.
func (v visible) Write(p []byte) (int, error) {
	start := 0
	for i, c := range p {
		if !hidden(c) {
			continue
		}
		if _, err := v.w.Write(p[start:i]); err != nil {
			return start, err
		}
		if _, err := io.WriteString(v.w, string(sign(c))); err != nil {
			return i, err
		}
		start = i + 1
	}
	if _, err := v.w.Write(p[start:]); err != nil {
		return start, err
	}
	return len(p), nil
}

func hidden(c byte) bool { return c < ' ' && c != '\t' && c != '\n' || c == 0x7f }

// sign returns the picture of a control character.
func sign(c byte) rune {
	if c == 0x7f {
		return '\u2421'
	}
	return '\u2400' + rune(c)
}
