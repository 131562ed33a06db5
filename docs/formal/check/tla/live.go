package tla

import (
	"context"
	"fmt"
)

// A liveness holds the graph of all states and what is asked about the paths
// that run through it for ever.
type liveness struct {
	names   []string   // properties
	denied  [][]clause // per property: how a path can break it
	preds   []expr
	fair    []step // weakly fair actions
	succ    [][]edge
	enabled []uint64 // per state: which fair actions can change it
	holds   []uint64 // per state: which predicates are true
	ids     []int32  // successors of the state that is being expanded
	looked  int      // states there were at the last look
}

// An edge leads to a state; taken tells which fair actions allow it.
type edge struct {
	to    int32
	taken uint64
}

// A clause describes paths: from some point on always all of one list, and again
// and again each of another. The lists hold numbers of predicates.
type clause struct{ always, again []int }

// newLiveness compiles the properties of a configuration and the fairness of its
// specification.
func newLiveness(m *model, fair []*node) *liveness {
	l := &liveness{names: m.conf.properties}
	for _, n := range fair {
		l.fairness(m, n, &scope{})
	}
	for _, name := range l.names {
		l.denied = append(l.denied, l.paths(m, &node{op: "name", name: name}, &scope{}, true))
	}
	if len(l.fair) > 64 || len(l.preds) > 64 {
		fail(&node{}, "at most 64 fair actions and 64 predicates, not %d and %d", len(l.fair), len(l.preds))
	}
	return l
}

// fairness collects the actions of a conjunction of WF_vars(A).
func (l *liveness) fairness(m *model, n *node, s *scope) {
	switch d := m.mod.defs[n.name]; {
	case n.op == "group" || n.op == "/\\":
		for _, k := range n.kids {
			l.fairness(m, k, s)
		}
	case n.op == "\\A":
		m.values(n, s, func(t *scope) { l.fairness(m, n.kids[0], t) })
	case n.op == "name" && d != nil && len(d.params) == 0:
		l.fairness(m, d.body, s)
	case n.op == "WF":
		t := *s
		t.labelled = true
		l.fair = append(l.fair, m.step(n.kids[0], &t))
	default:
		fail(n, "fairness is a conjunction of WF_vars(A) in this subset")
	}
}

// values calls f for every choice of a quantifier over constant sets, with its
// names bound.
func (c *compiler) values(n *node, s *scope, f func(*scope)) {
	var walk func(i, j int, s *scope)
	walk = func(i, j int, t *scope) {
		if i == len(n.bounds) {
			f(t)
			return
		}
		b := n.bounds[i]
		if j == len(b.names) {
			walk(i+1, 0, t)
			return
		}
		all := c.expr(b.set, s)
		for _, v := range asSet(all(&run{loc: make([]value, c.slots)}), n) {
			walk(i, j+1, t.bind(b.names[j], binding{slot: c.slot(), lazy: constant(v)}))
		}
	}
	walk(0, 0, s)
}

// paths brings a temporal formula, or its opposite, into clauses one of which a
// path must satisfy. It knows <>[]P and []<>P and what joins them.
func (l *liveness) paths(m *model, n *node, s *scope, not bool) []clause {
	switch n.op {
	case "group":
		return l.paths(m, n.kids[0], s, not)
	case "pre~":
		return l.paths(m, n.kids[0], s, !not)
	case "=>":
		left, right := l.paths(m, n.kids[0], s, !not), l.paths(m, n.kids[1], s, not)
		return join(not, left, right)
	case "/\\", "\\/":
		out := l.paths(m, n.kids[0], s, not)
		for _, k := range n.kids[1:] {
			out = join((n.op == "/\\") != not, out, l.paths(m, k, s, not))
		}
		return out
	case "\\A", "\\E":
		var out []clause
		first := true
		m.values(n, s, func(t *scope) {
			more := l.paths(m, n.kids[0], t, not)
			if !first {
				more = join((n.op == "\\A") != not, out, more)
			}
			out, first = more, false
		})
		return out
	case "name":
		if d := m.mod.defs[n.name]; d != nil && len(d.params) == 0 {
			return l.paths(m, d.body, &scope{}, not)
		}
	case "pre<>", "pre[]":
		inner := n.kids[0]
		if inner.op == "pre<>" || inner.op == "pre[]" && inner.op != n.op {
			return l.path(m, n, inner.kids[0], s, not)
		}
	}
	fail(n, "a property is built of <>[]P and []<>P in this subset")
	return nil
}

// path is the clause of one <>[]P or []<>P.
func (l *liveness) path(m *model, n, p *node, s *scope, not bool) []clause {
	if not {
		p = &node{op: "pre~", kids: []*node{p}, line: p.line}
	}
	i := len(l.preds)
	l.preds = append(l.preds, m.expr(p, s))
	if (n.op == "pre<>") != not {
		return []clause{{always: []int{i}}}
	}
	return []clause{{again: []int{i}}}
}

// join joins two lists of clauses by "and" or by "or".
func join(and bool, a, b []clause) []clause {
	if !and {
		return append(a[:len(a):len(a)], b...)
	}
	var out []clause
	for _, x := range a {
		for _, y := range b {
			out = append(out, clause{
				append(x.always[:len(x.always):len(x.always)], y.always...),
				append(x.again[:len(x.again):len(x.again)], y.again...),
			})
		}
	}
	return out
}

func (l *liveness) begin() { l.ids = l.ids[:0] }

func (l *liveness) edge(id int32) { l.ids = append(l.ids, id) }

// end remembers the edges of the state that was expanded, what was enabled in it
// and which predicates hold.
func (l *liveness) end(s *searcher, e entry) {
	taken := map[int32]uint64{}
	for _, id := range l.ids {
		taken[id] = 0
	}
	var enabled, holds uint64
	for j, a := range l.fair {
		a(&s.run, func() {
			id, ok := s.ids[s.fingerprint()]
			if !ok {
				panic(evalError{fmt.Errorf("a fair action takes a step that the specification does not")})
			}
			if id != e.id {
				enabled |= 1 << j
				taken[id] |= 1 << j
			}
		})
	}
	for i, p := range l.preds {
		if p(&s.run) == true {
			holds |= 1 << i
		}
	}
	edges := make([]edge, 0, len(taken))
	for id, mask := range taken {
		edges = append(edges, edge{id, mask})
	}
	l.succ = append(l.succ, edges)
	l.enabled = append(l.enabled, enabled)
	l.holds = append(l.holds, holds)
}

// check returns the first property that a fair path through the expanded states
// breaks. They are the first ones, in the order in which states are found.
func (l *liveness) check(ctx context.Context) (string, error) {
	l.looked = len(l.succ)
	for i, name := range l.names {
		for _, c := range l.denied[i] {
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			if l.possible(c) {
				return name, nil
			}
		}
	}
	return "", nil
}

// possible tells whether some fair path satisfies a clause: it ends in a strongly
// connected part of the states in which "always" holds, that has a state for each
// "again" and treats every fair action fairly. A path may also stay in one state
// for ever, which is fair when no fair action is enabled there.
func (l *liveness) possible(c clause) bool {
	var always uint64
	for _, i := range c.always {
		always |= 1 << i
	}
	in := func(id int32) bool { return int(id) < len(l.succ) && l.holds[id]&always == always }
	found := false
	l.components(in, func(part []int32, member func(int32) bool) {
		var holds, fair uint64
		for _, id := range part {
			holds |= l.holds[id]
			fair |= ^l.enabled[id]
			for _, e := range l.succ[id] {
				if int(e.to) < len(l.succ) && member(e.to) {
					fair |= e.taken
				}
			}
		}
		all := uint64(1)<<len(l.fair) - 1
		ok := fair&all == all
		for _, i := range c.again {
			ok = ok && holds>>i&1 == 1
		}
		found = found || ok
	})
	return found
}

// components calls f for every strongly connected part of the states that in
// lets through; it is Tarjan's algorithm without recursion.
func (l *liveness) components(in func(int32) bool, f func([]int32, func(int32) bool)) {
	n := len(l.succ)
	index, low, part := make([]int32, n), make([]int32, n), make([]int32, n)
	type frame struct {
		id   int32
		next int
	}
	var stack []int32
	count, parts := int32(0), int32(0)
	for root := range int32(n) {
		if index[root] != 0 || !in(root) {
			continue
		}
		calls := []frame{{id: root}}
		for len(calls) > 0 {
			top := &calls[len(calls)-1]
			id := top.id
			if top.next == 0 {
				count++
				index[id], low[id] = count, count
				stack = append(stack, id)
			}
			if top.next < len(l.succ[id]) {
				to := l.succ[id][top.next].to
				top.next++
				switch {
				case !in(to) || part[to] != 0:
				case index[to] == 0:
					calls = append(calls, frame{id: to})
				default:
					low[id] = min(low[id], index[to])
				}
				continue
			}
			calls = calls[:len(calls)-1]
			if len(calls) > 0 {
				parent := calls[len(calls)-1].id
				low[parent] = min(low[parent], low[id])
			}
			if low[id] != index[id] {
				continue
			}
			parts++
			at := len(stack) - 1
			for stack[at] != id {
				at--
			}
			for _, v := range stack[at:] {
				part[v] = parts
			}
			mine := parts
			f(stack[at:], func(v int32) bool { return part[v] == mine })
			stack = stack[:at]
		}
	}
}
