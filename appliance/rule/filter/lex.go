package filter

import "strings"

// kind is the kind of a token.
type kind uint8

const (
	end kind = iota
	word
	quoted
	operator // = != ~ !~, and < <= > >= after the name of a field
	not
	open
	shut
)

// token is one piece of the text; col counts characters from 1.
type token struct {
	kind kind
	text string
	col  int
}

// lex cuts the text into tokens. Only an unfinished quote can be wrong.
func lex(text string) ([]token, error) {
	var out []token
	runes := []rune(text)
	for i := 0; i < len(runes); {
		c, col := runes[i], i+1
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '(':
			out = append(out, token{open, "(", col})
			i++
		case c == ')':
			out = append(out, token{shut, ")", col})
			i++
		case c == '"' || c == '\'':
			s, n := quote(runes[i:])
			if n < 0 {
				return nil, fail(col, "the quote is never closed; add %c at the end", c)
			}
			out = append(out, token{quoted, s, col})
			i += n
		case c == '!' && i+1 < len(runes) && (runes[i+1] == '=' || runes[i+1] == '~'):
			out = append(out, token{operator, string(runes[i : i+2]), col})
			i += 2
		case c == '=' || c == '~':
			out = append(out, token{operator, string(c), col})
			i++
		case c == '!':
			out = append(out, token{not, "!", col})
			i++
		case (c == '<' || c == '>') && afterField(out):
			n := 1
			if i+1 < len(runes) && runes[i+1] == '=' {
				n = 2
			}
			out = append(out, token{operator, string(runes[i : i+n]), col})
			i += n
		default:
			n := plain(runes[i:])
			out = append(out, token{word, string(runes[i : i+n]), col})
			i += n
		}
	}
	return append(out, token{end, "", len(runes) + 1}), nil
}

// afterField tells whether the last token names a field, so that < and > compare
// it. Elsewhere they are letters of a text.
func afterField(tokens []token) bool {
	return len(tokens) > 0 && tokens[len(tokens)-1].kind == word && isField(tokens[len(tokens)-1].text)
}

func isField(name string) bool {
	name = strings.ToLower(name)
	_, ok := fields[name]
	return ok || strings.HasPrefix(name, "label.")
}

// plain returns how many runes belong to the word at the start. A "!" inside a
// word is part of it unless an operator follows, so that ids can be typed.
func plain(runes []rune) int {
	for i, c := range runes {
		if strings.ContainsRune(" \t\n\r()\"'=~", c) {
			return i
		}
		if c == '!' && i+1 < len(runes) && (runes[i+1] == '=' || runes[i+1] == '~') {
			return i
		}
		if (c == '<' || c == '>') && i > 0 && isField(string(runes[:i])) {
			return i
		}
	}
	return len(runes)
}

// quote reads a quoted text; a backslash takes the next character as it is. It
// returns the text and the runes used, -1 if the quote is not closed.
func quote(runes []rune) (string, int) {
	var b strings.Builder
	for i := 1; i < len(runes); i++ {
		switch {
		case runes[i] == runes[0]:
			return b.String(), i + 1
		case runes[i] == '\\' && i+1 < len(runes):
			i++
			b.WriteRune(runes[i])
		default:
			b.WriteRune(runes[i])
		}
	}
	return "", -1
}
