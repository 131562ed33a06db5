package tla

import "slices"

// A step takes every step that a formula allows: it chooses values of variables
// after the step and calls then once for each choice, with r.nxt filled in as
// far as the formula says.
type step func(r *run, then func())

// primes tells whether a formula speaks about values after a step.
func (c *compiler) primes(n *node, s *scope) bool {
	if n == nil {
		return false
	}
	if n.op == "prime" || n.op == "preUNCHANGED" {
		return true
	}
	if n.op == "name" {
		if b, ok := s.names[n.name]; ok && b.def != nil {
			return c.primes(b.def.body, b.scope)
		} else if !ok {
			if d := c.mod.defs[n.name]; d != nil && c.defPrimes(d) {
				return true
			}
		}
	}
	for _, d := range n.defs {
		if c.primes(d.body, s) {
			return true
		}
	}
	return slices.ContainsFunc(n.kids, func(k *node) bool { return c.primes(k, s) })
}

func (c *compiler) defPrimes(d *def) bool {
	known, ok := c.acts[d]
	if !ok {
		c.acts[d] = false // a recursive definition has no primes of its own
		known = c.primes(d.body, &scope{})
		c.acts[d] = known
	}
	return known
}

// step compiles an action.
func (c *compiler) step(n *node, s *scope) step {
	if !c.primes(n, s) {
		guard := c.expr(n, s)
		return func(r *run, then func()) {
			if truth(guard, r, n) {
				then()
			}
		}
	}
	switch n.op {
	case "group":
		return c.step(n.kids[0], s)
	case "/\\":
		return c.conjuncts(n, n.kids, s)
	case "\\/":
		return c.disjuncts(n.kids, s)
	case "\\E":
		each, inner := c.each(n, s)
		body := c.step(n.kids[0], inner)
		return func(r *run, then func()) {
			each(r, func() bool { body(r, then); return true })
		}
	case "if":
		cond, yes, no := c.expr(n.kids[0], s), c.step(n.kids[1], s), c.step(n.kids[2], s)
		return func(r *run, then func()) {
			if truth(cond, r, n) {
				yes(r, then)
			} else {
				no(r, then)
			}
		}
	case "let":
		enter, inner := c.enter(n, s)
		body := c.step(n.kids[0], inner)
		return func(r *run, then func()) {
			enter(r)
			body(r, then)
		}
	case "name":
		return c.stepOf(n, s)
	case "preUNCHANGED":
		return c.unchanged(n, n.kids[0], s)
	case "=", "\\in":
		if l := n.kids[0]; l.op == "prime" && l.kids[0].op == "name" {
			if i, ok := c.vars[l.kids[0].name]; ok {
				return choose(i, n, c.expr(n.kids[1], s))
			}
		}
	}
	guard := c.expr(n, s)
	return func(r *run, then func()) {
		if truth(guard, r, n) {
			then()
		}
	}
}

// disjuncts takes the steps of each part of a disjunction.
func (c *compiler) disjuncts(kids []*node, s *scope) step {
	steps := make([]step, len(kids))
	for i, k := range kids {
		steps[i] = c.step(k, s)
	}
	return func(r *run, then func()) {
		for _, st := range steps {
			st(r, then)
		}
	}
}

// conjuncts takes the steps of a conjunction one inside the other.
func (c *compiler) conjuncts(n *node, kids []*node, s *scope) step {
	if len(kids) == 1 {
		return c.step(kids[0], s)
	}
	first, rest := kids[0], c.conjuncts(n, kids[1:], s)
	if !c.primes(first, s) {
		guard := c.expr(first, s)
		return func(r *run, then func()) {
			if truth(guard, r, n) {
				rest(r, then)
			}
		}
	}
	st := c.step(first, s)
	return func(r *run, then func()) {
		st(r, func() { rest(r, then) })
	}
}

// stepOf puts the definition of an action in. The outermost one below the
// formula of all steps gives its name to the step.
func (c *compiler) stepOf(n *node, s *scope) step {
	d, outer := c.mod.defs[n.name], &scope{}
	if b, ok := s.names[n.name]; ok {
		d, outer = b.def, b.scope
	}
	set, inner := c.args(n, d, outer, s)
	inner.labelled = true
	body := c.step(d.body, inner)
	if set == nil {
		set = func(*run) {}
	}
	if s.labelled {
		return func(r *run, then func()) {
			set(r)
			body(r, then)
		}
	}
	label := slices.Index(c.labels, n.name)
	if label < 0 {
		label = len(c.labels)
		c.labels = append(c.labels, n.name)
	}
	return func(r *run, then func()) {
		r.label = label
		set(r)
		body(r, then)
	}
}

// choose gives a variable its value after the step, or compares with the one it
// has been given.
func choose(i int, n *node, e expr) step {
	return func(r *run, then func()) {
		v := e(r)
		choices := set{v}
		if n.op == "\\in" {
			choices = asSet(v, n)
		}
		if old := r.nxt[i]; old != nil {
			if choices.has(old) {
				then()
			}
			return
		}
		for _, v := range choices {
			r.nxt[i] = v
			then()
		}
		r.nxt[i] = nil
	}
}

// unchanged keeps a variable, or all variables of a tuple or of a definition
// that is a tuple.
func (c *compiler) unchanged(n, what *node, s *scope) step {
	var vars []int
	var collect func(*node)
	collect = func(k *node) {
		i, isVar := c.vars[k.name]
		switch {
		case k.op == "name" && isVar:
			vars = append(vars, i)
		case k.op == "name" && c.mod.defs[k.name] != nil && len(k.kids) == 0:
			collect(c.mod.defs[k.name].body)
		case k.op == "tuple":
			for _, kid := range k.kids {
				collect(kid)
			}
		default:
			fail(n, "UNCHANGED takes variables, tuples and definitions of tuples")
		}
	}
	collect(what)
	return func(r *run, then func()) {
		var given []int
		for _, i := range vars {
			switch {
			case r.nxt[i] == nil:
				r.nxt[i] = r.cur[i]
				given = append(given, i)
			case !equal(r.nxt[i], r.cur[i]):
				for _, j := range given {
					r.nxt[j] = nil
				}
				return
			}
		}
		then()
		for _, j := range given {
			r.nxt[j] = nil
		}
	}
}
