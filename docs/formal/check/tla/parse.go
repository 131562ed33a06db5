package tla

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A node is one operator of a formula with what it stands over.
type node struct {
	op     string // the operator as written, or the kind of a leaf, see primary
	name   string // of a name, a string, a field, a definition
	num    int
	kids   []*node
	bounds []bound   // of quantifiers, sets and functions
	defs   []*def    // of LET
	paths  [][]*node // of EXCEPT: the arguments of each change; kids holds its values
	line   int
}

// A bound is one "x, y \in S".
type bound struct {
	names []string
	set   *node
}

// A def is one definition of a module or of a LET.
type def struct {
	name      string
	params    []string
	body      *node
	recursive bool
}

// A module is the parsed text of one file.
type module struct {
	name      string
	constants []string
	variables []string
	defs      map[string]*def
}

// infix holds how strongly operators bind: a higher number binds stronger.
var infix = map[string]int{
	"=>": 1, "<=>": 2, "~>": 2, "/\\": 3, "\\/": 3,
	"=": 5, "#": 5, "<": 5, ">": 5, "<=": 5, "\\leq": 5, ">=": 5, "\\geq": 5,
	"\\in": 5, "\\notin": 5, "\\subseteq": 5,
	"\\cup": 8, "\\cap": 8, "\\": 8, "..": 9, "+": 10, "-": 11, "%": 12, "*": 13,
}

// prefix holds how strongly what follows an operator must bind.
var prefix = map[string]int{"~": 4, "[]": 4, "<>": 4, "ENABLED": 4, "UNCHANGED": 4, "SUBSET": 8, "UNION": 8, "DOMAIN": 9}

// A parser walks the tokens. Bullets of a list close what stands left of or
// under them: tokens at or left of the column edge are not seen.
type parser struct {
	file string
	toks []token
	i    int
	edge int
}

// parseModule reads a module.
func parseModule(file, text string) (m *module, err error) {
	toks, err := lex(file, text)
	if err != nil {
		return nil, err
	}
	p := &parser{file: file, toks: toks}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(parseError)
			if !ok {
				panic(r)
			}
			m, err = nil, e.error
		}
	}()
	return p.module(), nil
}

// parseError carries an error out of the descent.
type parseError struct{ error }

func (p *parser) fail(format string, args ...any) {
	t := p.toks[p.i]
	panic(parseError{fmt.Errorf("%s:%d:%d: %s", p.file, t.line, t.col, fmt.Sprintf(format, args...))})
}

// peek is the next token, an end when it is left of the edge.
func (p *parser) peek() token {
	t := p.toks[p.i]
	if t.kind != 'e' && t.col <= p.edge {
		return token{kind: 'e', line: t.line, col: t.col}
	}
	return t
}

func (p *parser) next() token {
	t := p.peek()
	if t.kind == 'e' {
		p.fail("the formula ends too early")
	}
	p.i++
	return t
}

// is tells whether the operator or keyword comes next.
func (p *parser) is(op string) bool {
	t := p.peek()
	return t.kind == 'o' && t.text == op
}

// take skips the operator if it comes next.
func (p *parser) take(op string) bool {
	if !p.is(op) {
		return false
	}
	p.i++
	return true
}

func (p *parser) want(op string) {
	if !p.take(op) {
		p.fail("%q expected, not %q", op, p.toks[p.i].text)
	}
}

func (p *parser) ident() string {
	t := p.next()
	if t.kind != 'n' {
		p.i--
		p.fail("a name expected, not %q", t.text)
	}
	return t.text
}

func (p *parser) idents() []string {
	names := []string{p.ident()}
	for p.take(",") {
		names = append(names, p.ident())
	}
	return names
}

// module reads from the first line of dashes to the last of equals signs.
func (p *parser) module() *module {
	m := &module{defs: map[string]*def{}}
	recursive := map[string]bool{}
	p.want("----")
	p.want("MODULE")
	m.name = p.ident()
	p.want("----")
	for !p.take("====") {
		switch {
		case p.take("----"):
		case p.take("EXTENDS"):
			p.idents()
		case p.take("CONSTANTS"), p.take("CONSTANT"):
			m.constants = append(m.constants, p.idents()...)
		case p.take("VARIABLES"), p.take("VARIABLE"):
			m.variables = append(m.variables, p.idents()...)
		case p.take("RECURSIVE"):
			recursive[p.ident()] = true
			p.want("(")
			for !p.take(")") { // the underscores of its parameters
				p.next()
			}
		default:
			d := p.def()
			d.recursive = recursive[d.name]
			if m.defs[d.name] != nil {
				p.fail("%s is defined twice", d.name)
			}
			m.defs[d.name] = d
		}
	}
	return m
}

// def reads "Name(params) == formula".
func (p *parser) def() *def {
	d := &def{name: p.ident()}
	if p.take("(") {
		d.params = p.idents()
		p.want(")")
	}
	p.want("==")
	d.body = p.expr(0)
	return d
}

// expr reads a formula whose infix operators bind at least as strongly as low.
func (p *parser) expr(low int) *node {
	left := p.operand()
	for {
		t := p.peek()
		strength, ok := infix[t.text]
		if t.kind != 'o' || !ok || strength < low {
			return left
		}
		p.i++
		right := p.expr(strength + 1)
		if left.op == t.text && (t.text == "/\\" || t.text == "\\/") {
			left.kids = append(left.kids, right)
			continue
		}
		left = &node{op: t.text, kids: []*node{left, right}, line: t.line}
	}
}

// operand reads a prefixed or plain operand with what is put behind it.
func (p *parser) operand() *node {
	t := p.peek()
	if t.kind == 'o' {
		if t.text == "/\\" || t.text == "\\/" {
			return p.bullets(t)
		}
		if strength, ok := prefix[t.text]; ok {
			p.i++
			return &node{op: "pre" + t.text, kids: []*node{p.expr(strength)}, line: t.line}
		}
		if t.text == "-" {
			p.fail("negative numbers are not part of this subset")
		}
	}
	return p.postfix(p.primary())
}

// bullets reads a list of conjuncts or disjuncts that stand under each other.
func (p *parser) bullets(first token) *node {
	n := &node{op: first.text, line: first.line}
	for {
		t := p.peek()
		if t.kind != 'o' || t.text != first.text || t.col != first.col {
			break
		}
		p.i++
		edge := p.edge
		p.edge = first.col
		n.kids = append(n.kids, p.expr(0))
		p.edge = edge
	}
	if len(n.kids) == 1 {
		return n.kids[0]
	}
	return n
}

// postfix reads applications, fields and primes behind an operand.
func (p *parser) postfix(n *node) *node {
	for {
		line := p.peek().line
		switch {
		case p.take("["):
			n = &node{op: "apply", kids: []*node{n, p.tupleOf("]")}, line: line}
		case p.take("."):
			n = &node{op: "field", name: p.ident(), kids: []*node{n}, line: line}
		case p.take("'"):
			n = &node{op: "prime", kids: []*node{n}, line: line}
		default:
			return n
		}
	}
}

// tupleOf reads arguments up to the closing bracket: one as it is, several as a
// tuple.
func (p *parser) tupleOf(end string) *node {
	args := p.list(end)
	if len(args) == 1 {
		return args[0]
	}
	return &node{op: "tuple", kids: args}
}

// list reads formulas between commas up to the closing bracket.
func (p *parser) list(end string) []*node {
	var out []*node
	if p.take(end) {
		return out
	}
	for {
		out = append(out, p.expr(0))
		if p.take(end) {
			return out
		}
		p.want(",")
	}
}

func (p *parser) primary() *node {
	t := p.next()
	n := &node{line: t.line}
	switch t.kind {
	case '0':
		n.op = "num"
		n.num, _ = strconv.Atoi(t.text)
		return n
	case '"':
		n.op, n.name = "str", t.text
		return n
	case 'n':
		n.op, n.name = "name", t.text
		if p.take("(") {
			n.kids = p.list(")")
		}
		return n
	}
	switch t.text {
	case "TRUE", "FALSE":
		n.op, n.num = "bool", toInt(t.text == "TRUE")
	case "@":
		n.op, n.name = "name", "@"
	case "(":
		n = p.expr(0)
		p.want(")")
		n = &node{op: "group", kids: []*node{n}, line: t.line}
	case "<<":
		n.op, n.kids = "tuple", p.list(">>")
	case "{":
		p.braces(n)
	case "[":
		p.brackets(n)
	case "\\A", "\\E", "CHOOSE":
		n.op, n.bounds = t.text, p.bounds()
		p.want(":")
		n.kids = []*node{p.expr(0)}
	case "IF":
		n.op, n.kids = "if", []*node{p.upTo("THEN"), p.upTo("ELSE"), p.expr(0)}
	case "LET":
		n.op = "let"
		for !p.take("IN") {
			n.defs = append(n.defs, p.def())
		}
		n.kids = []*node{p.expr(0)}
	default:
		if strings.HasPrefix(t.text, "WF_") {
			n.op, n.name = "WF", t.text[len("WF_"):]
			p.want("(")
			n.kids = []*node{p.expr(0)}
			p.want(")")
			break
		}
		p.i--
		p.fail("%q cannot begin a formula", t.text)
	}
	return n
}

// upTo reads a formula and the keyword behind it.
func (p *parser) upTo(keyword string) *node {
	n := p.expr(0)
	p.want(keyword)
	return n
}

// bounds reads "x, y \in S, z \in T".
func (p *parser) bounds() []bound {
	var out []bound
	for {
		b := bound{names: p.idents()}
		p.want("\\in")
		b.set = p.expr(infix["\\in"] + 1)
		out = append(out, b)
		if !p.take(",") {
			return out
		}
	}
}

// braces reads {a, b}, {x \in S : P} or {e : x \in S}.
func (p *parser) braces(n *node) {
	n.op = "set"
	if p.take("}") {
		return
	}
	first := p.expr(0)
	switch {
	case p.take(":"):
		if first.op == "\\in" && first.kids[0].op == "name" && len(first.kids[0].kids) == 0 {
			n.op = "filter"
			n.bounds = []bound{{[]string{first.kids[0].name}, first.kids[1]}}
			n.kids = []*node{p.expr(0)}
		} else {
			n.op, n.kids, n.bounds = "map", []*node{first}, p.bounds()
		}
		p.want("}")
	case p.take(","):
		n.kids = append([]*node{first}, p.list("}")...)
	default:
		n.kids = []*node{first}
		p.want("}")
	}
}

// brackets reads [x \in S |-> e], [f EXCEPT ![a] = e], [a |-> e] or [A]_vars.
func (p *parser) brackets(n *node) {
	named := p.peek().kind == 'n'
	if named && p.toks[p.i+1].text == "|->" {
		n.op = "record"
		for {
			n.bounds = append(n.bounds, bound{names: []string{p.ident()}})
			p.want("|->")
			n.kids = append(n.kids, p.expr(0))
			if p.take("]") {
				return
			}
			p.want(",")
		}
	}
	if named && slices.Contains([]string{"\\in", ","}, p.toks[p.i+1].text) {
		n.op, n.bounds = "function", p.bounds()
		p.want("|->")
		n.kids = []*node{p.expr(0)}
		p.want("]")
		return
	}
	n.kids = []*node{p.expr(0)}
	if p.take("]") { // [Next]_vars: the subscript is one name
		n.op = "box"
		name := p.ident()
		n.name = strings.TrimPrefix(name, "_")
		return
	}
	n.op = "except"
	p.want("EXCEPT")
	for {
		p.want("!")
		var path []*node
		for !p.take("=") {
			if p.take(".") {
				path = append(path, &node{op: "str", name: p.ident()})
				continue
			}
			p.want("[")
			path = append(path, p.tupleOf("]"))
		}
		n.paths = append(n.paths, path)
		n.kids = append(n.kids, p.expr(0))
		if p.take("]") {
			return
		}
		p.want(",")
	}
}
