package config

import (
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// policy is a declared policy with the places of its names, and what becomes of it.
type policy struct {
	Policy
	at     *path
	pos    Position
	named  bool // it has a name of its own
	match  []match
	groups []ref
	objects,
	except []*pattern
	told     told
	steps    []*step
	groupPos Position // of group.wait, if it is given

	contacts []*object.Contact
	rotas    []object.Rota
	byKind   [2][]*object.Step
	matched  int  // declared objects that it is for
	zoned    bool // it is for zones of workers
	heard    bool // it may have its say about one of them
	repeats  bool // it tells an object it is for again and again
	// behind are those that hide it from objects at every time, before those that do
	// so at all times that are near.
	behind, before map[*policy]bool
}

// step is a declared step of an escalation with its places.
type step struct {
	Escalation
	at   *path
	pos  Position
	told told
}

// told are the names of those who are told, with their places.
type told struct{ notify, oncall []ref }

// pattern is the name of a host or of a service in which * is any text.
type pattern struct {
	ref
	host, service string
	kind          object.Kind
	hits          int // objects that it is about
}

// The grouping of a policy that says nothing of it.
const (
	groupWait     = 10 * time.Second
	groupInterval = 5 * time.Minute
)

// policy reads #Policy.
func (d *decoder) policy(at *path, n *node) *policy {
	s := d.open(at, n)
	p := &policy{at: at, pos: n.pos, named: s.has("name")}
	if p.Name = s.text("name"); p.Name == "" {
		p.Name = at.String()
	} else {
		d.name(at.field("name"), s.n.get("name").pos, p.Name)
	}
	p.match = s.matches("match")
	for _, m := range p.match {
		p.Match = append(p.Match, Match{m.label, m.values})
	}
	p.groups = s.refs("groups")
	p.objects, p.except = s.patterns("objects"), s.patterns("except")
	p.Groups, p.Objects, p.Except = refNames(p.groups), patternNames(p.objects), patternNames(p.except)
	for _, name := range []string{"groups", "objects"} {
		// A list that came out empty must not become one of everything.
		if n := s.n.get(name); n != nil && n.kind == kindList && len(n.items) == 0 {
			d.bad(at.field(name), n.pos, "names nothing; write names, or leave %s out for every object", name)
		}
	}
	p.Only = s.oneOf("only", "", "hosts", "services")
	p.States, p.Period, p.Tell = s.problemStates(object.Host, object.Service), s.tellingHours(), s.news()
	p.told = s.told()
	p.Told = p.told.names()
	p.After, p.Repeat = s.duration("after", 0, true), s.pause("repeat", -1, true, time.Second)
	p.Group, p.groupPos = s.grouping()
	p.ToChosen = s.oneOf("recovery", "told", "told", "chosen") == "chosen"
	s.list("escalate", func(at *path, n *node) { p.steps = append(p.steps, d.step(at, n)) })
	s.done()
	for _, e := range p.steps {
		p.Escalate = append(p.Escalate, e.Escalation)
	}
	d.kinds(p)
	return p
}

// kinds refuses a policy that its own states and kind leave nothing.
func (d *decoder) kinds(p *policy) {
	only := map[string]object.StateMask{"hosts": p.States.Hosts, "services": p.States.Services}
	if p.Only != "" && !p.States.None() && only[p.Only] == 0 {
		d.bad(p.at.field("states"), p.pos, "no state of %s is named and the policy is only for them; change states or only", p.Only)
	}
}

// told reads who is told; at least somebody must be.
func (s *section) told() told {
	t := told{s.refs("notify"), s.refs("oncall")}
	switch n := s.n.get("notify"); {
	case !s.has("notify") && !s.has("oncall"):
		s.need("notify", `["ops"]`)
	case len(t.notify)+len(t.oncall) == 0 && n != nil && n.kind == kindList && len(n.items) == 0:
		s.d.bad(s.at.field("notify"), n.pos, `names nobody; write ["ops"]`)
	}
	return t
}

func (t told) names() Told { return Told{refNames(t.notify), refNames(t.oncall)} }

// grouping reads #Grouping. The place is that of its wait.
func (s *section) grouping() (out object.Grouping, wait Position) {
	n := s.take("group")
	words := []string{"root", "host", "policy", "none"}
	if n != nil && n.kind == kindText {
		by := "root"
		if slices.Contains(words, n.text) || strings.HasPrefix(n.text, string(object.GroupLabel)) {
			by = n.text
		}
		s.d.bad(s.at.field("group"), n.pos, "%s is not a set of fields; write group: {by: %s}", n.show(), quote(by))
		n = nil
	}
	g := s.d.open(s.at.field("group"), n)
	out = object.Grouping{By: object.GroupRoot}
	if by := g.text("by"); by != "" {
		out.By = object.GroupBy(by)
		switch label, isLabel := strings.CutPrefix(by, string(object.GroupLabel)); {
		case by == "none":
			out.By = object.GroupNone
		case isLabel && label != "", slices.Contains(words, by):
		default:
			g.d.bad(g.at.field("by"), g.n.get("by").pos, `%s is not known; write one of %s or "label:NAME"%s`, quote(by), strings.Join(words, ", "), didYouMean(by, slices.Values(words)))
		}
	}
	out.Wait, out.Interval = g.pause("wait", groupWait, true, time.Second), g.pause("interval", groupInterval, true, time.Second)
	g.done()
	if out.By == object.GroupNone {
		out.Wait, out.Interval = 0, 0
	}
	return out, g.n.get("wait").where()
}

// step reads #Escalation.
func (d *decoder) step(at *path, n *node) *step {
	s := d.open(at, n)
	e := &step{at: at, pos: n.pos}
	e.After = s.duration("after", 0, true)
	e.From, e.To = s.whole("from", 0, 1, 1_000_000), s.whole("to", 0, 1, 1_000_000)
	e.told = s.told()
	e.Told = e.told.names()
	e.Repeat = s.pause("repeat", -1, true, time.Second)
	e.States, e.Period = s.problemStates(object.Host, object.Service), s.tellingHours()
	e.Instead = s.flag("instead", false)
	if !s.has("from") && !s.has("to") {
		s.need("after", `"30m", or from: 3`)
	}
	if e.From > 0 && e.To > 0 && e.To < e.From {
		d.bad(at.field("to"), s.n.get("to").pos, "ends before it begins; write a number from %d on", e.From)
	}
	s.done()
	return e
}

// patterns reads a list of names of objects with *.
func (s *section) patterns(name string) []*pattern {
	var out []*pattern
	s.list(name, func(at *path, n *node) {
		text, ok := s.d.text(at, n)
		if !ok {
			return
		}
		p := &pattern{ref: ref{text, at, n.pos}, host: text}
		host, service, isService := strings.Cut(text, "!")
		if isService {
			p.host, p.service, p.kind = host, service, object.Service
		}
		if p.host == "" || isService && service == "" {
			s.d.bad(at, n.pos, `%s is not the name of an object; write "web01", "web01!http" or "*!http"`, quote(text))
			return
		}
		out = append(out, p)
	})
	return out
}

func patternNames(all []*pattern) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.name)
	}
	return names
}
