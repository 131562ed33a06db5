package tla

import (
	"fmt"
	"strings"
	"unicode"
)

// A token knows its column, since the columns of bullets group a formula.
type token struct {
	text string
	kind byte // 'n' name, '0' number, '"' string, 'o' operator or keyword, 'e' end
	line int
	col  int
}

// operators, longer ones before their beginnings. A name behind a backslash is
// one operator and is cut by lex itself.
var operators = []string{
	"====", "----", "|->", "<=>", "==", "=>", "<<", ">>", "<=", ">=", "/\\", "\\/", "[]", "<>", "->",
	"<-", "~>", "..", "'", "=", "#", "<", ">", "+", "-", "*", "%", "~", "(", ")", "[", "]", "{", "}",
	",", ":", ".", "!", "@", "\\",
}

// keywords are names that are not identifiers.
var keywords = []string{
	"MODULE", "EXTENDS", "CONSTANTS", "CONSTANT", "VARIABLES", "VARIABLE", "RECURSIVE", "ASSUME", "IF",
	"THEN", "ELSE", "CASE", "OTHER", "LET", "IN", "EXCEPT", "UNCHANGED", "ENABLED", "SUBSET", "UNION",
	"DOMAIN", "CHOOSE", "TRUE", "FALSE",
}

// lex cuts the text of a module into tokens. Comments vanish; a line of four or
// more dashes or equals signs is one token.
func lex(name, text string) ([]token, error) {
	var out []token
	for n, line := range strings.Split(blankComments(text), "\n") {
		for i := 0; i < len(line); {
			if line[i] == ' ' || line[i] == '\t' || line[i] == '\r' {
				i++
				continue
			}
			t, size := lexOne(line[i:])
			if size == 0 {
				return nil, fmt.Errorf("%s:%d:%d: %q is no token of this subset of TLA+", name, n+1, i+1, line[i:i+1])
			}
			t.line, t.col = n+1, i+1
			out = append(out, t)
			i += size
		}
	}
	return append(out, token{kind: 'e', line: strings.Count(text, "\n") + 1}), nil
}

// lexOne reads the token that s begins with.
func lexOne(s string) (token, int) {
	word := func(from int) int {
		i := from
		for i < len(s) && (s[i] == '_' || unicode.IsLetter(rune(s[i])) || unicode.IsDigit(rune(s[i]))) {
			i++
		}
		return i
	}
	switch n := word(0); {
	case n > 0 && strings.Trim(s[:n], "0123456789") == "":
		return token{text: s[:n], kind: '0'}, n
	case n > 3 && (strings.HasPrefix(s, "WF_") || strings.HasPrefix(s, "SF_")):
		return token{text: s[:n], kind: 'o'}, n
	case n > 0:
		for _, k := range keywords {
			if k == s[:n] {
				return token{text: k, kind: 'o'}, n
			}
		}
		return token{text: s[:n], kind: 'n'}, n
	}
	if s[0] == '"' {
		if end := strings.IndexByte(s[1:], '"'); end >= 0 {
			return token{text: s[1 : end+1], kind: '"'}, end + 2
		}
		return token{}, 0
	}
	for _, o := range operators {
		if !strings.HasPrefix(s, o) {
			continue
		}
		n := len(o)
		switch {
		case o == "====" || o == "----":
			n = len(s) - len(strings.TrimLeft(s, o[:1]))
		case o == "\\" && word(1) > 1:
			n = word(1)
			o = s[:n]
		}
		return token{text: o, kind: 'o'}, n
	}
	return token{}, 0
}

// blankComments replaces comments by spaces; nested ones too.
func blankComments(text string) string {
	b := []byte(text)
	depth, line, quoted := 0, false, false
	for i := 0; i < len(b); i++ {
		two := ""
		if i+1 < len(b) {
			two = string(b[i : i+2])
		}
		switch {
		case b[i] == '\n':
			line, quoted = false, false
			continue
		case !line && depth == 0 && b[i] == '"':
			quoted = !quoted
		case !line && !quoted && two == "(*":
			depth++
			b[i], b[i+1] = ' ', ' '
			i++
			continue
		case !line && depth > 0 && two == "*)":
			depth--
			b[i], b[i+1] = ' ', ' '
			i++
			continue
		case depth == 0 && !quoted && two == "\\*":
			line = true
		}
		if line || depth > 0 {
			b[i] = ' '
		}
	}
	return string(b)
}
