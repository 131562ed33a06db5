package web

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// visible passes a page on with the characters that would hide something as signs
// that can be seen: control characters of plugins as U+2400 and following, and
// those that turn the direction of text round, with which a name can look like
// another one, by their number. Tabs and line feeds stay. Inside of tags, where
// values have to come back as they were, directions stay: they end with the tag.
type visible struct {
	w    io.Writer
	tag  bool
	rest []byte // beginning of a character whose end is to come
}

// Write writes p and returns len(p) unless the page could not be passed on.
func (v *visible) Write(p []byte) (int, error) {
	all := p
	if len(v.rest) > 0 {
		all = append(v.rest, p...)
		v.rest = nil
	}
	start := 0
	for i := 0; i < len(all); {
		c := all[i]
		size := 1
		sign := ""
		switch {
		case c == '<' || c == '>':
			v.tag = c == '<'
		case hidden(c):
			sign = string(picture(c))
		case c >= utf8.RuneSelf && !utf8.FullRune(all[i:]):
			v.rest = bytes.Clone(all[i:])
			return len(p), v.pass(all[start:i], "")
		case c >= utf8.RuneSelf:
			var r rune
			if r, size = utf8.DecodeRune(all[i:]); turns(r) && !v.tag {
				sign = fmt.Sprintf("[U+%04X]", r)
			}
		}
		if sign != "" {
			if err := v.pass(all[start:i], sign); err != nil {
				return 0, err
			}
			start = i + size
		}
		i += size
	}
	if err := v.pass(all[start:], ""); err != nil {
		return 0, err
	}
	return len(p), nil
}

// pass writes what stays as it is, and a sign behind it.
func (v *visible) pass(p []byte, sign string) error {
	if _, err := v.w.Write(p); err != nil {
		return err
	}
	if sign == "" {
		return nil
	}
	_, err := io.WriteString(v.w, sign)
	return err
}

// end passes on what is left of a page that ends within a character.
func (v *visible) end() error { return v.pass(v.rest, "") }

func hidden(c byte) bool { return c < ' ' && c != '\t' && c != '\n' || c == 0x7f }

// turns tells whether a character changes the direction of what follows, or is a
// control character beyond ASCII.
func turns(r rune) bool {
	return r >= 0x80 && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// picture returns the picture of a control character.
func picture(c byte) rune {
	if c == 0x7f {
		return '\u2421'
	}
	return '\u2400' + rune(c)
}
