package tla

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
)

// Result is what a search found.
type Result struct {
	Violated string // the invariant or property that does not hold, "" = all hold
	Steps    int    // of the shortest way to the violation of an invariant
	Distinct int    // states found until then
	Depth    int    // states on the longest of the shortest ways to a state
	Trace    []Step // the way to a violated invariant
}

// Step is one state of a trace.
type Step struct {
	Action string   // what led here, "" at the start
	Vars   []string // changed variables as "name = value", all at the start
}

// A model is a module with the constants of a configuration, ready to be run.
type model struct {
	compiler
	conf       *config
	init, next step
	invariants []expr
	live       *liveness // nil: no property
}

// Check searches the states of a configuration of a module, until an invariant
// is violated or all are known.
func Check(ctx context.Context, module, moduleText, conf, confText string) (res Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(evalError)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s, %s: %w", module, conf, e.error)
		}
	}()
	mod, err := parseModule(module, moduleText)
	if err != nil {
		return Result{}, err
	}
	cfg, err := parseConfig(conf, confText)
	if err != nil {
		return Result{}, err
	}
	m, err := newModel(mod, cfg)
	if err != nil {
		return Result{}, fmt.Errorf("%s, %s: %w", module, conf, err)
	}
	return m.search(ctx)
}

// newModel compiles what the configuration names.
func newModel(mod *module, cfg *config) (*model, error) {
	m := &model{conf: cfg, compiler: compiler{
		mod: mod, vars: map[string]int{}, constants: cfg.constants,
		called: map[*def]*callee{}, acts: map[*def]bool{}, labels: []string{""},
	}}
	for i, v := range mod.variables {
		m.vars[v] = i
	}
	for _, name := range mod.constants {
		if _, ok := cfg.constants[name]; !ok {
			return nil, fmt.Errorf("constant %s has no value", name)
		}
	}
	for name := range cfg.constants {
		if !slices.Contains(mod.constants, name) {
			return nil, fmt.Errorf("the module has no constant %s", name)
		}
	}
	spec := mod.defs[cfg.spec]
	if spec == nil {
		return nil, fmt.Errorf("specification %s is not defined", cfg.spec)
	}
	fair := []*node{}
	m.behaviour(spec.body, &fair)
	if m.init == nil || m.next == nil {
		return nil, fmt.Errorf("%s is not Init /\\ [][Next]_vars", cfg.spec)
	}
	for _, name := range cfg.invariants {
		m.invariants = append(m.invariants, m.expr(&node{op: "name", name: name}, &scope{}))
	}
	if len(cfg.properties) > 0 {
		m.live = newLiveness(m, fair)
	}
	return m, nil
}

// behaviour takes Init /\ [][Next]_vars /\ fairness apart.
func (m *model) behaviour(n *node, fair *[]*node) {
	switch d := m.mod.defs[n.name]; {
	case n.op == "name" && d != nil && boxed(d.body):
		m.behaviour(d.body, fair)
	case n.op == "/\\":
		for _, k := range n.kids {
			m.behaviour(k, fair)
		}
	case n.op == "pre[]" && n.kids[0].op == "box":
		next := n.kids[0].kids[0]
		if d := m.mod.defs[next.name]; next.op == "name" && d != nil {
			next = d.body
		}
		m.next = m.step(next, &scope{})
	case m.init == nil:
		// Init chooses values as a step does, so its variables are read primed.
		m.init = m.step(primeVars(m, n), &scope{primed: true, labelled: true})
	default:
		*fair = append(*fair, n)
	}
}

// boxed tells whether a formula speaks of all steps itself.
func boxed(n *node) bool { return n.op == "box" || slices.ContainsFunc(n.kids, boxed) }

// primeVars rewrites a formula of an initial state, whose definitions it puts in,
// so that it reads as a step: x = e as x' = e.
func primeVars(m *model, n *node) *node {
	if n.op == "name" && m.mod.defs[n.name] != nil && len(n.kids) == 0 {
		return primeVars(m, m.mod.defs[n.name].body)
	}
	out := *n
	switch n.op {
	case "/\\", "\\/", "group":
		out.kids = make([]*node, len(n.kids))
		for i, k := range n.kids {
			out.kids[i] = primeVars(m, k)
		}
	case "=", "\\in":
		out.kids = slices.Clone(n.kids)
		out.kids[0] = &node{op: "prime", kids: n.kids[:1], line: n.line}
	}
	return &out
}

// key is the fingerprint of a state.
type key [2]uint64

type seen struct {
	parent int32
	label  uint8
}

// A frontier of the search: states of one depth with their numbers.
type entry struct {
	id    int32
	state []value
}

// A searcher is one search.
type searcher struct {
	*model
	run   run
	seeds [2]maphash.Seed
	buf   []byte
	ids   map[key]int32
	order []seen
	level []entry // found and not yet expanded
	made  int     // states that formulas were evaluated over
	bad   string
	at    int32
}

// over makes formulas read the state.
func (s *searcher) over(state []value) {
	s.made++
	s.run.cur, s.run.state = state, s.made
}

func (m *model) search(ctx context.Context) (Result, error) {
	s := &searcher{model: m, ids: map[key]int32{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	s.run = run{nxt: make([]value, len(m.vars)), loc: make([]value, m.slots)}
	s.init(&s.run, func() { s.found(-1) })
	depth := 0
	for len(s.level) > 0 && s.bad == "" {
		depth++
		level := s.level
		s.level = nil
		for i, e := range level {
			if i%1024 == 0 && ctx.Err() != nil {
				return Result{Distinct: len(s.order), Depth: depth}, context.Cause(ctx)
			}
			s.expand(e)
			if s.bad != "" {
				break
			}
		}
		if bad, err := s.early(ctx); bad != "" || err != nil {
			return Result{Violated: bad, Distinct: len(s.order), Depth: depth}, err
		}
	}
	res := Result{Violated: s.bad, Distinct: len(s.order), Depth: depth}
	if s.bad != "" {
		res.Trace = s.trace(s.at)
		res.Steps = len(res.Trace) - 1
		res.Depth = len(res.Trace)
		return res, nil
	}
	if m.live != nil {
		bad, err := m.live.check(ctx)
		res.Violated = bad
		return res, err
	}
	return res, nil
}

// early looks for a broken property in what has been searched, whenever that has
// doubled: a fair path there stays one, whatever comes.
func (s *searcher) early(ctx context.Context) (string, error) {
	if s.live == nil || s.bad != "" || len(s.live.succ) < 2*s.live.looked {
		return "", nil
	}
	return s.live.check(ctx)
}

// expand takes every step from a state.
func (s *searcher) expand(e entry) {
	s.over(e.state)
	made := s.made
	if s.live != nil {
		s.live.begin()
	}
	s.next(&s.run, func() {
		if s.bad != "" {
			return
		}
		id := s.found(e.id)
		s.run.cur, s.run.state = e.state, made
		if s.live != nil {
			s.live.edge(id)
		}
	})
	if s.live != nil {
		s.live.end(s, e)
	}
}

// fingerprint is the key of the state that r.nxt holds.
func (s *searcher) fingerprint() key {
	s.buf = s.buf[:0]
	for i, v := range s.run.nxt {
		if v == nil {
			panic(evalError{fmt.Errorf("step %s does not say what %s becomes", s.labels[s.run.label], s.mod.variables[i])})
		}
		s.buf = encode(s.buf, v)
	}
	return key{maphash.Bytes(s.seeds[0], s.buf), maphash.Bytes(s.seeds[1], s.buf)}
}

// found takes the state in r.nxt, new or known, and returns its number.
func (s *searcher) found(parent int32) int32 {
	k := s.fingerprint()
	if id, ok := s.ids[k]; ok {
		return id
	}
	id := int32(len(s.order))
	s.ids[k] = id
	s.order = append(s.order, seen{parent, uint8(s.run.label)})
	state := slices.Clone(s.run.nxt)
	s.level = append(s.level, entry{id, state})
	// The invariants are formulas over the new state.
	label := s.run.label
	s.over(state)
	for i, inv := range s.invariants {
		if ok, is := inv(&s.run).(bool); !is || !ok {
			s.bad, s.at = s.conf.invariants[i], id
			break
		}
	}
	s.run.label = label
	return id
}

// trace finds the states on the way to one by taking the same steps again.
func (s *searcher) trace(id int32) []Step {
	var path []int32
	for ; id >= 0; id = s.order[id].parent {
		path = append(path, id)
	}
	slices.Reverse(path)
	var out []Step
	var state []value
	for _, want := range path {
		var found []value
		take := func() {
			if got, ok := s.ids[s.fingerprint()]; ok && got == want {
				found = slices.Clone(s.run.nxt)
			}
		}
		if s.over(state); state == nil {
			s.init(&s.run, take)
		} else {
			s.next(&s.run, take)
		}
		step := Step{Action: s.labels[s.order[want].label]}
		for i, v := range found {
			if state == nil || !equal(state[i], v) {
				step.Vars = append(step.Vars, s.mod.variables[i]+" = "+show(v))
			}
		}
		out = append(out, step)
		state = found
	}
	return out
}
