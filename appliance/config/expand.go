package config

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// chunk is how many objects are allocated in one piece.
const chunk = 512

// built is an object with the declaration of its check, while aggregates are
// being looked at.
type built struct {
	object *object.Object
	check  *check
}

// selection is a rule with its names as sets, ready to be asked about hosts.
type selection struct {
	*rule
	hosts, groups, except map[string]bool
	shared                *object.Rule
	count                 int // hosts selected
	shadowed              int // of them, hosts that have a check of their own
}

// expand makes every object: a host per declaration, a service per rule and
// host. It works with whatever could be read, so that all problems come at once.
func (l *loader) expand() {
	rules := l.selections()
	byName := make(map[string]*object.Object, len(l.hosts))
	objects := make([]*object.Object, 0, len(l.hosts)*(1+len(rules)/2))
	for _, h := range l.hosts {
		o := l.hostObject(h)
		byName[h.name] = o
		objects = append(objects, o)
		objects = l.services(objects, h, o, rules)
	}
	for _, h := range l.hosts {
		o := byName[h.name]
		for _, p := range h.parents {
			// Names that do not exist are reported by references, and a parent that is
			// named twice counts once.
			if parent := byName[p.name]; parent != nil && !slices.Contains(o.Parents, parent) {
				o.Parents = append(o.Parents, parent)
			}
		}
		slices.SortFunc(o.Parents, func(a, b *object.Object) int { return cmpText(string(a.ID), string(b.ID)) })
	}
	objects = l.addZones(l.canary(objects))
	l.out.Set = object.NewSet("", l.settings, slices.Clip(objects))
	l.people()
	l.dependencies()
	l.aggregates()
	l.selectionWarnings(rules)
	l.tellCanary()
	l.notifications()
}

// selections prepares every rule, in the order of their names.
func (l *loader) selections() []*selection {
	out := make([]*selection, 0, len(l.rules))
	for _, r := range l.rules {
		out = append(out, &selection{rule: r, hosts: refSet(r.hosts), groups: refSet(r.groups), except: refSet(r.except)})
	}
	return out
}

// refSet is the set of names of a list of references.
func refSet(refs []ref) map[string]bool {
	set := make(map[string]bool, len(refs))
	for _, r := range refs {
		set[r.name] = true
	}
	return set
}

// selects tells whether every given selector holds for a host.
func (s *selection) selects(h *host) bool {
	// A rule that selects nothing is a problem already; here it must not turn
	// into one that selects everything.
	if !s.all && !s.given.hosts && !s.given.groups || s.except[h.name] {
		return false
	}
	if s.given.hosts && !s.hosts[h.name] {
		return false
	}
	if s.given.groups && !slices.ContainsFunc(h.groups, func(g string) bool { return s.groups[g] }) {
		return false
	}
	for _, m := range s.on {
		if !m.holds(h.labels) {
			return false
		}
	}
	return true
}

// alloc returns a zeroed object out of a larger piece of memory.
func (l *loader) alloc() *object.Object {
	if len(l.spare) == 0 {
		l.spare = make([]object.Object, chunk)
	}
	o := &l.spare[0]
	l.spare = l.spare[1:]
	return o
}

// hostObject makes a host. Its parents are linked once all hosts are there.
func (l *loader) hostObject(h *host) *object.Object {
	o := l.alloc()
	o.ID, o.Name, o.Alias = object.HostID(h.name), h.name, h.alias
	o.Address, o.Labels, o.Groups, o.Vars = h.address, h.labels, h.groups, h.vars
	if o.Address == "" {
		o.Address = h.name
	}
	o.Zone = firstText(h.zone, l.zone)
	c := h.check
	if c == nil {
		c = l.hostCheck
	}
	if c == nil {
		c = &noCheck
	}
	o.Rule = l.hostRule(h, c)
	l.note(o, c)
	return o
}

// hostRule returns the rule of a host. Most hosts say nothing of their own, and
// then the check alone decides.
func (l *loader) hostRule(h *host, c *check) *object.Rule {
	// Comparing pointers is right here: a host that says something of its own
	// has at least one that is not nil.
	plain := h.timing == timing{}
	if known := l.plain[c]; plain && known != nil {
		return known
	}
	r := l.share(l.ruleOf("hosts", c, nil, h.timing))
	if plain {
		l.plain[c] = r
	}
	return r
}

// note remembers an object whose check refers to others.
func (l *loader) note(o *object.Object, c *check) {
	if c != nil {
		l.use(o, c)
	}
	if c != nil && c.check.Aggregate != nil {
		l.built = append(l.built, built{o, c})
	}
}

// share returns the one rule with this content.
func (l *loader) share(r *object.Rule) *object.Rule {
	key := digestOf(r)
	if known, ok := l.shared[key]; ok {
		return known
	}
	l.shared[key] = r
	return r
}

// services appends the services of one host.
func (l *loader) services(objects []*object.Object, h *host, ho *object.Object, rules []*selection) []*object.Object {
	from := len(objects)
	var by []*selection
	for _, r := range rules {
		if !r.selects(h) {
			continue
		}
		r.count++
		if i := slices.IndexFunc(by, func(o *selection) bool { return o.name == r.name }); i >= 0 {
			l.clashing(by[i].rule, r.rule, h)
			continue
		}
		by = append(by, r)
		own := h.own(r.name)
		if own != nil && own.hasCheck {
			r.shadowed++
		}
		objects = append(objects, l.serviceObject(ho, r, own))
	}
	for i := range h.services {
		own := &h.services[i]
		if slices.ContainsFunc(by, func(r *selection) bool { return r.name == own.name }) {
			continue
		}
		if !own.hasCheck {
			// The rule that gives it a check may be the one that could not be read.
			if l.incomplete["service"] {
				continue
			}
			l.bad(own.at, own.pos, "no rule gives this host the service %s, so it needs a check of its own; write check: {...}%s",
				quote(own.name), didYouMean(own.name, serviceNames(by)))
			continue
		}
		objects = append(objects, l.ownObject(ho, own))
	}
	made := objects[from:]
	slices.SortFunc(made, func(a, b *object.Object) int { return cmpText(a.Name, b.Name) })
	ho.Services = make([]*object.Object, 0, len(made))
	return objects
}

// serviceNames runs over the services that rules give.
func serviceNames(rules []*selection) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, r := range rules {
			if !yield(r.name) {
				return
			}
		}
	}
}

// own returns what a host says about one service, nil if nothing.
func (h *host) own(name string) *service {
	for i := range h.services {
		if h.services[i].name == name {
			return &h.services[i]
		}
	}
	return nil
}

// clashing reports, once per pair, two rules that give a host the same service.
func (l *loader) clashing(first, second *rule, h *host) {
	pair := [2]string{first.key, second.key}
	if l.clash[pair] {
		return
	}
	l.clash[pair] = true
	l.bad(second.at, second.pos, "gives host %s the service %s, which %s at %s gives it already; rename one or list the host in except",
		quote(h.name), quote(second.name), first.at, first.pos)
}

// serviceObject makes the service that a rule gives a host.
func (l *loader) serviceObject(ho *object.Object, r *selection, own *service) *object.Object {
	o := l.alloc()
	o.ID, o.Name, o.Host = object.ServiceID(ho.Name, r.name), r.name, ho
	o.Alias, o.Vars, o.Zone, o.Groups = r.alias, r.vars, firstText(r.zone, ho.Zone), r.group
	c := r.check
	if own == nil {
		if r.shared == nil {
			r.shared = l.share(l.ruleOf("services."+r.key, orNone(c), r.labels, r.timing))
		}
		o.Rule = r.shared
		l.note(o, c)
		return o
	}
	if own.hasCheck {
		c = own.check
	}
	o.Rule = l.share(l.ruleOf("services."+r.key, orNone(c), r.labels, r.timing, own.timing))
	o.Labels = own.labels
	o.Alias = firstText(own.alias, r.alias)
	o.Groups = l.strings.list(slices.Concat(r.group, own.group))
	o.Zone = firstText(own.zone, o.Zone)
	o.Vars = l.merged(r.vars, own.vars)
	l.note(o, c)
	return o
}

// ownObject makes a service that only its host declares.
func (l *loader) ownObject(ho *object.Object, own *service) *object.Object {
	o := l.alloc()
	o.ID, o.Name, o.Host = object.ServiceID(ho.Name, own.name), own.name, ho
	o.Alias, o.Labels, o.Vars, o.Zone = own.alias, own.labels, own.vars, firstText(own.zone, ho.Zone)
	o.Groups = own.group
	o.Rule = l.share(l.ruleOf("hosts.services."+own.name, orNone(own.check), nil, own.timing))
	l.note(o, own.check)
	return o
}

// orNone stands in for a check that could not be read, so that the object exists
// and others may refer to it without a second problem.
func orNone(c *check) *check {
	if c == nil {
		return &noCheck
	}
	return c
}

// firstText returns the first text that says something.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// merged returns a map with over put over base; either may be nil.
func (l *loader) merged(base, over map[string]string) map[string]string {
	if len(over) == 0 {
		return base
	}
	all := make(map[string]string, len(base)+len(over))
	for k, v := range base {
		all[k] = v
	}
	for k, v := range over {
		all[k] = v
	}
	return l.strings.table(all)
}

// aggregates checks that the members of every aggregate exist and that no
// aggregate depends on itself.
func (l *loader) aggregates() {
	seen := map[*check]bool{}
	members := map[string][]string{}
	at := map[string]ref{}
	var names []string
	for _, b := range l.built {
		id := string(b.object.ID)
		names = append(names, id)
		for _, m := range b.check.members {
			members[id] = append(members[id], m.name)
			at[id] = m
			if !seen[b.check] {
				l.member(m)
			}
		}
		seen[b.check] = true
	}
	slices.Sort(names)
	next := func(id string) []string { return members[id] }
	for _, circle := range cycles(names, next) {
		r := at[circle[0]]
		l.bad(r.at, r.pos, "the aggregate depends on itself, %s; remove one of them", strings.Join(append(circle, circle[0]), " -> "))
	}
}

// member checks that one member of an aggregate exists. Names with macros are
// known only when the check runs.
func (l *loader) member(m ref) {
	if strings.Contains(m.name, "$") || l.out.Set.Get(object.ID(m.name)) != nil || l.zoneObject(object.ID(m.name)) != nil {
		return
	}
	id := object.ID(m.name)
	host := l.out.Set.Get(object.HostID(id.Host()))
	if id.Kind() == object.Host || host == nil {
		known := func(yield func(string) bool) {
			for _, h := range l.out.Set.Hosts {
				if !yield(h.Name) {
					return
				}
			}
		}
		l.unknown(ref{id.Host(), m.at, m.pos}, "host", known)
		return
	}
	known := func(yield func(string) bool) {
		for _, s := range host.Services {
			if !yield(string(s.ID)) {
				return
			}
		}
	}
	l.unknown(m, "service", known)
}
