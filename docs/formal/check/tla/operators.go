package tla

import "slices"

// standard compiles the operators of Naturals, Sequences and FiniteSets that the
// modules use.
func (c *compiler) standard(n *node, s *scope) expr {
	args := c.all(n.kids, s)
	is := func(name string, params int) bool { return n.name == name && len(args) == params }
	switch {
	case is("Len", 1):
		return func(r *run) value { return len(asSeq(args[0](r), n)) }
	case is("Append", 2):
		return func(r *run) value {
			old := asSeq(args[0](r), n)
			return append(slices.Clip(slices.Clone(old)), args[1](r))
		}
	case is("Head", 1):
		return func(r *run) value { return at(args[0](r), 0) }
	case is("Cardinality", 1):
		return func(r *run) value { return len(asSet(args[0](r), n)) }
	case is("BOOLEAN", 0):
		return constant(set{false, true})
	}
	fail(n, "%s is not defined", n.name)
	return nil
}

func asSeq(v value, n *node) seq {
	s, ok := v.(seq)
	if !ok {
		fail(n, "a sequence is needed, not %s", show(v))
	}
	return s
}

func asSet(v value, n *node) set {
	s, ok := v.(set)
	if !ok {
		fail(n, "a set is needed, not %s", show(v))
	}
	return s
}

func asInt(v value, n *node) int {
	i, ok := v.(int)
	if !ok {
		fail(n, "a number is needed, not %s", show(v))
	}
	return i
}

func (c *compiler) unary(n *node, s *scope) expr {
	k := c.expr(n.kids[0], s)
	switch n.op {
	case "pre~":
		return func(r *run) value { return !truth(k, r, n) }
	case "preSUBSET":
		return func(r *run) value { return subsets(asSet(k(r), n)) }
	case "preUNION":
		return func(r *run) value {
			var all []value
			for _, v := range asSet(k(r), n) {
				all = append(all, asSet(v, n)...)
			}
			return makeSet(all)
		}
	case "preDOMAIN":
		return func(r *run) value {
			d, ok := domain(k(r))
			if !ok {
				fail(n, "DOMAIN needs a function")
			}
			return d
		}
	}
	fail(n, "%q is not part of a state formula of this subset", n.op)
	return nil
}

func subsets(s set) set {
	out := make([]value, 0, 1<<len(s))
	for bits := range 1 << len(s) {
		sub := set{}
		for i, v := range s {
			if bits>>i&1 == 1 {
				sub = append(sub, v)
			}
		}
		out = append(out, sub)
	}
	return makeSet(out)
}

func (c *compiler) binary(n *node, s *scope) expr {
	a, b := c.expr(n.kids[0], s), c.expr(n.kids[1], s)
	switch n.op {
	case "=>":
		return func(r *run) value { return !truth(a, r, n) || truth(b, r, n) }
	case "<=>":
		return func(r *run) value { return truth(a, r, n) == truth(b, r, n) }
	case "=":
		return func(r *run) value { return equal(a(r), b(r)) }
	case "#":
		return func(r *run) value { return !equal(a(r), b(r)) }
	case "\\in":
		return func(r *run) value { v := a(r); return asSet(b(r), n).has(v) }
	case "\\notin":
		return func(r *run) value { v := a(r); return !asSet(b(r), n).has(v) }
	case "\\subseteq", "\\cup", "\\cap", "\\":
		return func(r *run) value { return combine(n.op, asSet(a(r), n), asSet(b(r), n)) }
	}
	f := arithmetic(n)
	return func(r *run) value { return f(asInt(a(r), n), asInt(b(r), n)) }
}

// combine applies an operator of two sets.
func combine(op string, a, b set) value {
	if op == "\\cup" {
		return makeSet(slices.Concat(a, b))
	}
	in, out := set{}, set{}
	for _, v := range a {
		if b.has(v) {
			in = append(in, v)
		} else {
			out = append(out, v)
		}
	}
	switch op {
	case "\\cap":
		return in
	case "\\":
		return out
	}
	return len(out) == 0
}

// arithmetic returns an operator of two numbers.
func arithmetic(n *node) func(a, b int) value {
	switch n.op {
	case "+":
		return func(a, b int) value { return a + b }
	case "-":
		return func(a, b int) value { return a - b }
	case "*":
		return func(a, b int) value { return a * b }
	case "%":
		return func(a, b int) value { return ((a % b) + b) % b }
	case "<":
		return func(a, b int) value { return a < b }
	case ">":
		return func(a, b int) value { return a > b }
	case "<=", "\\leq":
		return func(a, b int) value { return a <= b }
	case ">=", "\\geq":
		return func(a, b int) value { return a >= b }
	case "..":
		return func(a, b int) value {
			out := set{}
			for i := a; i <= b; i++ {
				out = append(out, i)
			}
			return out
		}
	}
	fail(n, "%q is not part of a state formula of this subset", n.op)
	return nil
}

// set compiles the three forms of braces.
func (c *compiler) set(n *node, s *scope) expr {
	if n.op == "set" {
		kids := c.all(n.kids, s)
		return func(r *run) value {
			out := make([]value, len(kids))
			for i, k := range kids {
				out[i] = k(r)
			}
			return makeSet(out)
		}
	}
	each, inner := c.each(n, s)
	body := c.expr(n.kids[0], inner)
	if n.op == "map" {
		return func(r *run) value {
			out := []value{}
			each(r, func() bool { out = append(out, body(r)); return true })
			return makeSet(out)
		}
	}
	slot := inner.names[n.bounds[0].names[0]].slot
	return func(r *run) value {
		out := set{}
		each(r, func() bool {
			v := r.loc[slot]
			if truth(body, r, n) {
				out = append(out, v)
			}
			return true
		})
		return out
	}
}

// function compiles what makes or takes apart functions.
func (c *compiler) function(n *node, s *scope) expr {
	switch n.op {
	case "tuple":
		kids := c.all(n.kids, s)
		return func(r *run) value {
			out := make(seq, len(kids))
			for i, k := range kids {
				out[i] = k(r)
			}
			return out
		}
	case "record":
		return c.record(n, s)
	case "function":
		each, inner := c.each(n, s)
		if len(n.bounds) != 1 || len(n.bounds[0].names) != 1 {
			fail(n, "functions of one argument only")
		}
		slot, body := inner.names[n.bounds[0].names[0]].slot, c.expr(n.kids[0], inner)
		return func(r *run) value {
			keys, vals := []value{}, []value{}
			each(r, func() bool {
				keys = append(keys, r.loc[slot])
				vals = append(vals, body(r))
				return true
			})
			return makeFun(keys, vals)
		}
	case "except":
		return c.except(n, s)
	}
	f, key := c.expr(n.kids[0], s), constant(n.name)
	if n.op == "apply" {
		key = c.expr(n.kids[1], s)
	}
	return func(r *run) value {
		v, k := f(r), key(r)
		i := find(v, k)
		if i < 0 {
			fail(n, "%s is not in the domain of %s", show(k), show(v))
		}
		return at(v, i)
	}
}

func (c *compiler) record(n *node, s *scope) expr {
	order := make([]int, len(n.kids))
	for i := range order {
		order[i] = i
	}
	name := func(i int) string { return n.bounds[i].names[0] }
	slices.SortFunc(order, func(a, b int) int { return compare(name(a), name(b)) })
	keys, kids := make([]value, len(order)), make([]expr, len(order))
	for i, o := range order {
		keys[i], kids[i] = name(o), c.expr(n.kids[o], s)
	}
	return func(r *run) value {
		vals := make([]value, len(kids))
		for i, k := range kids {
			vals[i] = k(r)
		}
		return &fun{keys, vals}
	}
}

func (c *compiler) except(n *node, s *scope) expr {
	f, slot := c.expr(n.kids[0], s), c.slot()
	inner := s.bind("@", binding{slot: slot})
	paths, vals := make([][]expr, len(n.paths)), make([]expr, len(n.paths))
	for i, p := range n.paths {
		paths[i], vals[i] = c.all(p, s), c.expr(n.kids[i+1], inner)
	}
	return func(r *run) value {
		v := f(r)
		for i, p := range paths {
			v = changed(r, n, v, p, slot, vals[i])
		}
		return v
	}
}

// changed is the function f with the place under the path changed.
func changed(r *run, n *node, f value, path []expr, slot int, val expr) value {
	if len(path) == 0 {
		r.loc[slot] = f
		return val(r)
	}
	k := path[0](r)
	i := find(f, k)
	if i < 0 {
		fail(n, "EXCEPT: %s is not in the domain of %s", show(k), show(f))
	}
	return with(f, i, changed(r, n, at(f, i), path[1:], slot, val))
}
