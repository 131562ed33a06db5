package filter

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// MaxDepth is how deep parentheses and negations may be nested.
const MaxDepth = 64

// Error is what is wrong with a filter's text.
type Error struct {
	Column int    // of the first character that is wrong, from 1
	Text   string // what is wrong and what would be right
}

// Error returns the text with its column.
func (e *Error) Error() string { return fmt.Sprintf("filter, column %d: %s", e.Column, e.Text) }

func fail(col int, format string, args ...any) *Error {
	return &Error{Column: col, Text: fmt.Sprintf(format, args...)}
}

// Filter is a parsed filter; any goroutine may use it.
type Filter struct {
	root   node
	moving moving
}

// Parse reads a filter. The empty text matches everything. An error is an
// *Error.
func Parse(text string) (*Filter, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := parser{tokens: tokens}
	if p.peek().kind == end {
		return &Filter{root: all{}}, nil
	}
	root, err := p.or(0)
	if err != nil {
		return nil, err
	}
	// or stops at whatever cannot continue a condition, and at this depth only a
	// closing parenthesis is left.
	if t := p.peek(); t.kind != end {
		return nil, fail(t.col, "%q has no opening parenthesis; remove it", t.text)
	}
	return &Filter{root: root, moving: p.moving}, nil
}

type parser struct {
	tokens []token
	at     int
	moving moving
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// keyword takes the word if it comes next, in any case.
func (p *parser) keyword(w string) bool {
	t := p.peek()
	if t.kind != word || !strings.EqualFold(t.text, w) {
		return false
	}
	// "and=x" is a comparison that names an unknown field, not a keyword.
	if p.tokens[p.at+1].kind == operator {
		return false
	}
	p.at++
	return true
}

func (p *parser) or(depth int) (node, error) {
	left, err := p.and(depth)
	if err != nil {
		return nil, err
	}
	parts := []node{left}
	for p.keyword("or") {
		right, err := p.and(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, right)
	}
	if len(parts) == 1 {
		return left, nil
	}
	return anyOf(parts), nil
}

func (p *parser) and(depth int) (node, error) {
	left, err := p.term(depth)
	if err != nil {
		return nil, err
	}
	parts := []node{left}
	for {
		// Two conditions side by side are joined by "and", written or not. After a
		// written one the condition must come, and term says so if it does not.
		explicit := p.keyword("and")
		t := p.peek()
		last := t.kind == end || t.kind == shut || p.isOr()
		if last && !explicit {
			break
		}
		right, err := p.term(depth)
		if err != nil {
			return nil, err
		}
		parts = append(parts, right)
	}
	if len(parts) == 1 {
		return left, nil
	}
	return allOf(parts), nil
}

func (p *parser) isOr() bool {
	t := p.peek()
	return t.kind == word && strings.EqualFold(t.text, "or") && p.tokens[p.at+1].kind != operator
}

func (p *parser) term(depth int) (node, error) {
	// The depth bounds the recursion here and, since the tree is no deeper than
	// its text, in Match: a filter comes from a URL that anybody can write.
	if depth > MaxDepth {
		return nil, fail(p.peek().col, "nested deeper than %d levels; write a flatter filter", MaxDepth)
	}
	if p.isOr() {
		return nil, fail(p.peek().col, `"or" needs a condition on its left`)
	}
	if p.keyword("not") {
		inner, err := p.term(depth + 1)
		return negated{inner}, err
	}
	switch t := p.next(); t.kind {
	case not:
		inner, err := p.term(depth + 1)
		return negated{inner}, err
	case open:
		inner, err := p.or(depth + 1)
		if err != nil {
			return nil, err
		}
		if c := p.next(); c.kind != shut {
			return nil, fail(c.col, `the parenthesis of column %d is never closed; add ")"`, t.col)
		}
		return inner, nil
	case word:
		if p.peek().kind == operator {
			return p.comparison(t)
		}
		if strings.EqualFold(t.text, "and") {
			return nil, fail(t.col, `"and" needs a condition on its left`)
		}
		if t.text == "*" {
			return all{}, nil
		}
		// A flag is a word like any other; in quotes it is a text to search for.
		if f, ok := flags[strings.ToLower(t.text)]; ok {
			p.moves(strings.ToLower(t.text), t.col)
			return f, nil
		}
		p.moves("output", t.col)
		return newText(t.text), nil
	case quoted:
		p.moves("output", t.col)
		return newText(t.text), nil
	case operator:
		return nil, fail(t.col, "%q needs a field on its left, as in state=CRITICAL", t.text)
	case end:
		return nil, fail(t.col, "something is missing at the end; add a condition such as state=CRITICAL")
	default:
		return nil, fail(t.col, "%q stands where a condition should; add one in front of it", t.text)
	}
}

// comparison reads the rest of "field op value".
func (p *parser) comparison(field token) (node, error) {
	op := p.next()
	value := p.next()
	if value.kind != word && value.kind != quoted {
		return nil, fail(value.col, `%s%s needs a value; write "" for the empty one`, field.text, op.text)
	}
	name := strings.ToLower(field.text)
	// Two objects may differ in capitals alone, and an id means one.
	n := compare{value: value.text, contains: strings.HasSuffix(op.text, "~"), exact: name == "id"}
	counted := name == "comments" || name == "downtimes"
	// Field names are the same in any case, the names of labels are not.
	if label, ok := strings.CutPrefix(name, "label."); ok && label != "" {
		n.get = labelOf(field.text[len("label."):])
	} else if get, ok := fields[name]; ok {
		n.get = get
	} else {
		return nil, fail(field.col, "no field is called %q; write one of %s", field.text, strings.Join(Fields(), ", "))
	}
	if !slices.Contains(configured, name) && !strings.HasPrefix(name, "label.") {
		p.moves(name, field.col)
	}
	order := strings.ContainsAny(op.text, "<>")
	switch {
	case order && !counted:
		return nil, fail(op.col, "%s has no order; only comments and downtimes are compared with %s, as in comments>0", field.text, op.text)
	case n.contains:
	case !known(name, value.text):
		return nil, fail(value.col, "%q is no %s; write one of %s", value.text, name, strings.Join(words(name), ", "))
	case counted && (value.text == "" || strings.Trim(value.text, "0123456789") != ""):
		return nil, fail(value.col, "%q is no number of %s; write digits, as in %s=0", value.text, name, name)
	}
	if order {
		limit, err := strconv.Atoi(value.text)
		if err != nil {
			return nil, fail(value.col, "%q is too large a number of %s; write a smaller one", value.text, name)
		}
		return ordered{n.get, op.text, limit}, nil
	}
	if n.contains {
		n.value = strings.ToLower(n.value)
	}
	if strings.HasPrefix(op.text, "!") {
		return negated{n}, nil
	}
	return n, nil
}

// Fields returns the names that may stand on the left of an operator, sorted.
func Fields() []string {
	out := []string{"label.NAME"}
	for name := range fields {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}
