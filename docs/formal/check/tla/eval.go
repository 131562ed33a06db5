package tla

import (
	"fmt"
	"maps"
	"slices"
)

// A run holds what formulas are evaluated over.
type run struct {
	cur, nxt []value // variables before and after the step; nil = not yet chosen
	loc      []value // what bound names stand for, by slot
	state    int     // counts up whenever cur changes
	label    int     // the action whose step is being taken, see compiler.labels
}

// An expr yields the value of a formula.
type expr func(*run) value

// A compiler turns formulas into expressions and steps. Definitions are put in
// where they are used; only recursive ones are called.
type compiler struct {
	mod       *module
	vars      map[string]int
	constants map[string]value
	slots     int // slots given out in the current frame
	called    map[*def]*callee
	acts      map[*def]bool
	labels    []string
}

// A callee is a recursive definition with a frame of its own. It remembers the
// results of one state.
type callee struct {
	body  expr
	slots int
	state int
	known []result
}

type result struct{ args, val value }

// A scope says what a name means at a place.
type scope struct {
	names    map[string]binding
	primed   bool // variables mean their values after the step
	labelled bool // an action around this place has given the label
}

// A binding is a slot, or a definition of a LET with the scope it was made in.
type binding struct {
	slot  int
	lazy  expr // evaluated at its first use after the LET was entered
	def   *def
	scope *scope
}

func (s *scope) bind(name string, b binding) *scope {
	t := *s
	t.names = maps.Clone(s.names)
	if t.names == nil {
		t.names = map[string]binding{}
	}
	t.names[name] = b
	return &t
}

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

// evalError is what goes wrong while a formula is read or evaluated.
type evalError struct{ error }

func fail(n *node, format string, args ...any) {
	panic(evalError{fmt.Errorf("line %d: %s", n.line, fmt.Sprintf(format, args...))})
}

func constant(v value) expr { return func(*run) value { return v } }

// expr compiles a formula.
func (c *compiler) expr(n *node, s *scope) expr {
	switch n.op {
	case "num":
		return constant(n.num)
	case "str":
		return constant(n.name)
	case "bool":
		return constant(n.num == 1)
	case "group":
		return c.expr(n.kids[0], s)
	case "name":
		return c.name(n, s)
	case "prime":
		t := *s
		t.primed = true
		return c.expr(n.kids[0], &t)
	case "if":
		return c.choice(n, s)
	case "let":
		return c.let(n, s)
	case "/\\", "\\/":
		return c.junction(n, s)
	case "\\A", "\\E", "CHOOSE":
		return c.quantifier(n, s)
	case "set", "filter", "map":
		return c.set(n, s)
	case "tuple", "record", "function", "apply", "field", "except":
		return c.function(n, s)
	}
	if len(n.kids) == 1 {
		return c.unary(n, s)
	}
	if len(n.kids) == 2 {
		return c.binary(n, s)
	}
	fail(n, "%q is not part of this subset", n.op)
	return nil
}

func (c *compiler) all(ns []*node, s *scope) []expr {
	out := make([]expr, len(ns))
	for i, n := range ns {
		out[i] = c.expr(n, s)
	}
	return out
}

// truth evaluates a formula that must be a boolean.
func truth(e expr, r *run, n *node) bool {
	b, ok := e(r).(bool)
	if !ok {
		fail(n, "a boolean is needed")
	}
	return b
}

// name compiles a bound name, a variable, a constant, a definition or an
// operator of the standard modules.
func (c *compiler) name(n *node, s *scope) expr {
	if b, ok := s.names[n.name]; ok {
		switch {
		case b.def != nil:
			return c.use(n, b.def, b.scope, s)
		case b.lazy != nil:
			slot, lazy := b.slot, b.lazy
			return func(r *run) value {
				if r.loc[slot] == nil {
					r.loc[slot] = lazy(r)
				}
				return r.loc[slot]
			}
		}
		slot := b.slot
		return func(r *run) value { return r.loc[slot] }
	}
	if i, ok := c.vars[n.name]; ok {
		if !s.primed {
			return func(r *run) value { return r.cur[i] }
		}
		return func(r *run) value {
			if r.nxt[i] == nil {
				fail(n, "%s' is read before it is chosen", n.name)
			}
			return r.nxt[i]
		}
	}
	if v, ok := c.constants[n.name]; ok {
		return constant(v)
	}
	if d := c.mod.defs[n.name]; d != nil {
		if d.recursive {
			return c.call(n, d, s)
		}
		return c.use(n, d, &scope{primed: s.primed}, s)
	}
	return c.standard(n, s)
}

// use puts a definition in: its parameters become slots.
func (c *compiler) use(n *node, d *def, outer, s *scope) expr {
	set, inner := c.args(n, d, outer, s)
	inner.primed = inner.primed || s.primed
	body := c.expr(d.body, inner)
	if set == nil {
		return body
	}
	return func(r *run) value {
		set(r)
		return body(r)
	}
}

// args compiles the arguments of a use; the function fills their slots.
func (c *compiler) args(n *node, d *def, outer, s *scope) (func(*run), *scope) {
	if len(n.kids) != len(d.params) {
		fail(n, "%s takes %d arguments, not %d", d.name, len(d.params), len(n.kids))
	}
	inner := *outer
	t := &inner
	if len(n.kids) == 0 {
		return nil, t
	}
	args, slots := c.all(n.kids, s), make([]int, len(n.kids))
	for i, p := range d.params {
		slots[i] = c.slot()
		t = t.bind(p, binding{slot: slots[i]})
	}
	if len(args) == 1 {
		arg, slot := args[0], slots[0]
		return func(r *run) { r.loc[slot] = arg(r) }, t
	}
	return func(r *run) {
		for i, a := range args {
			r.loc[slots[i]] = a(r)
		}
	}, t
}

// call compiles the use of a recursive definition.
func (c *compiler) call(n *node, d *def, s *scope) expr {
	if s.primed {
		fail(n, "a recursive definition under a prime is not part of this subset")
	}
	f := c.called[d]
	if f == nil {
		f = &callee{}
		c.called[d] = f
		outer := c.slots
		c.slots = 0
		t := &scope{}
		for _, p := range d.params {
			t = t.bind(p, binding{slot: c.slot()})
		}
		f.body = c.expr(d.body, t)
		f.slots, c.slots = c.slots, outer
	}
	args := c.all(n.kids, s)
	return func(r *run) value {
		loc := make([]value, max(f.slots, len(args)))
		for i, a := range args {
			loc[i] = a(r)
		}
		return f.run(r, loc, len(args))
	}
}

// run evaluates the body in a frame, or finds the result of the same arguments.
func (f *callee) run(r *run, loc []value, n int) value {
	if f.state != r.state {
		f.state, f.known = r.state, f.known[:0]
	}
	args := seq(slices.Clone(loc[:n]))
	for _, k := range f.known {
		if equal(k.args, args) {
			return k.val
		}
	}
	outer := r.loc
	r.loc = loc
	v := f.body(r)
	r.loc = outer
	f.known = append(f.known, result{args, v})
	return v
}

func (c *compiler) choice(n *node, s *scope) expr {
	cond, yes, no := c.expr(n.kids[0], s), c.expr(n.kids[1], s), c.expr(n.kids[2], s)
	return func(r *run) value {
		if truth(cond, r, n) {
			return yes(r)
		}
		return no(r)
	}
}

// enter makes the scope of a LET; the function forgets what an earlier entry
// made of its definitions.
func (c *compiler) enter(n *node, s *scope) (func(*run), *scope) {
	var slots []int
	for _, d := range n.defs {
		if len(d.params) > 0 || c.primes(d.body, s) {
			s = s.bind(d.name, binding{def: d, scope: s})
			continue
		}
		slot := c.slot()
		slots = append(slots, slot)
		s = s.bind(d.name, binding{slot: slot, lazy: c.expr(d.body, s)})
	}
	return func(r *run) {
		for _, i := range slots {
			r.loc[i] = nil
		}
	}, s
}

func (c *compiler) let(n *node, s *scope) expr {
	enter, inner := c.enter(n, s)
	body := c.expr(n.kids[0], inner)
	return func(r *run) value {
		enter(r)
		return body(r)
	}
}

func (c *compiler) junction(n *node, s *scope) expr {
	kids, stop := c.all(n.kids, s), n.op == "\\/"
	return func(r *run) value {
		for _, k := range kids {
			if truth(k, r, n) == stop {
				return stop
			}
		}
		return !stop
	}
}

// each compiles bounds: the function calls f for every choice, until f says stop.
func (c *compiler) each(n *node, s *scope) (func(r *run, f func() bool) bool, *scope) {
	type level struct {
		slot int
		set  expr
	}
	var levels []level
	outer := s
	for _, b := range n.bounds {
		set := c.expr(b.set, outer)
		for _, name := range b.names {
			l := level{c.slot(), set}
			levels = append(levels, l)
			s = s.bind(name, binding{slot: l.slot})
		}
	}
	var walk func(r *run, f func() bool, i int) bool
	walk = func(r *run, f func() bool, i int) bool {
		if i == len(levels) {
			return f()
		}
		all, ok := levels[i].set(r).(set)
		if !ok {
			fail(n, "a set is needed behind \\in")
		}
		for _, v := range all {
			r.loc[levels[i].slot] = v
			if !walk(r, f, i+1) {
				return false
			}
		}
		return true
	}
	return func(r *run, f func() bool) bool { return walk(r, f, 0) }, s
}

func (c *compiler) quantifier(n *node, s *scope) expr {
	each, inner := c.each(n, s)
	body := c.expr(n.kids[0], inner)
	if n.op == "CHOOSE" {
		slot := inner.names[n.bounds[0].names[0]].slot
		return func(r *run) value {
			var found value
			each(r, func() bool {
				if truth(body, r, n) {
					found = r.loc[slot]
				}
				return found == nil
			})
			if found == nil {
				fail(n, "CHOOSE finds nothing")
			}
			return found
		}
	}
	all := n.op == "\\A"
	return func(r *run) value {
		return each(r, func() bool { return truth(body, r, n) == all }) == all
	}
}
