package message

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line makes one line of a text that may come from anybody, as Render does: clean,
// and at most limit characters long.
func Line(text string, limit int) string { return line(text, limit) }

// line makes one line of a text: without control characters, without characters
// that are not seen or that turn the direction of others, at most limit
// characters. What a plugin says may come from anybody.
func line(text string, limit int) string {
	return clip(strings.Join(strings.Fields(strings.Map(visible, text)), " "), limit)
}

// block keeps the lines of a text, at most so many and so long, and counts those
// that it leaves out.
func block(text string, lines, limit int) (kept []string, more int) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for l := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if len(kept) == lines {
			more++
			continue
		}
		kept = append(kept, clip(strings.TrimRight(strings.Map(visible, l), " "), limit))
	}
	if len(kept) == 1 && kept[0] == "" {
		return nil, 0
	}
	return kept, more
}

// tidy keeps tabs and line feeds and takes out every other control character, for
// what a template has made.
func tidy(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r == '\r' {
			return -1
		}
		return visible(r)
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// visible maps what must not reach a reader: white space and control characters
// to a space, marks of direction and characters without width to the replacement
// character, so that they are seen.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r) || unicode.IsControl(r):
		return ' '
	case r == '\u00ad' || r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' || r == '\uffa0':
		return utf8.RuneError
	case unicode.Is(unicode.Cf, r) || r >= 0xe0000 && r <= 0xe007f:
		return utf8.RuneError
	}
	return r
}

// clip cuts a text to so many characters, the last one an ellipsis.
func clip(text string, limit int) string {
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	at := 0
	for i := range text {
		if at == limit-1 {
			return strings.TrimRight(text[:i], " ") + "…"
		}
		at++
	}
	return text
}
