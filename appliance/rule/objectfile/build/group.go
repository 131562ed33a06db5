package build

import (
	"maps"
	"regexp"
	"slices"
	"sort"
	"strings"

	"jaque.sh/jaque/appliance/rule/objectfile"
)

// group is a group on its way to its members.
type group struct {
	source  *objectfile.Object
	members map[string]bool
	state   int // 0 untouched, 1 being expanded, 2 done
}

// groups are the groups of one kind, by name.
type groups struct {
	kind   string // "hostgroup", the type of its definitions
	byName map[string]*group
	order  []string // as they are defined
	// list returns the members that a definition lists itself.
	list func(o *objectfile.Object) map[string]bool
}

func newGroups(kind string) *groups { return &groups{kind: kind, byName: map[string]*group{}} }

// define notes a group before anybody refers to it.
func (b *builder) define(g *groups, o *objectfile.Object) {
	if other := g.byName[o.Name]; other != nil {
		b.problems.Add(o.Pos, "%s %q is already defined at %s; rename one of them", g.kind, o.Name, other.source.Pos)
		return
	}
	g.byName[o.Name] = &group{source: o, members: map[string]bool{}}
	g.order = append(g.order, o.Name)
}

// join adds a member to the groups that its own definition lists.
func (b *builder) join(g *groups, o *objectfile.Object, directive, member string) {
	for _, name := range o.Names(directive) {
		if strings.HasPrefix(name, "!") {
			continue
		}
		to := g.byName[name]
		if to == nil {
			b.problems.Add(o.At(directive), "there is no %s %q; define it or remove it from this line", g.kind, name)
			continue
		}
		to.members[member] = true
	}
}

// expandAll fills every group.
func (b *builder) expandAll(g *groups) {
	for _, name := range g.order {
		b.expand(g, name)
	}
}

// expand returns a group with the members of the groups within it.
func (b *builder) expand(all *groups, name string) *group {
	g := all.byName[name]
	within := all.kind + "_members"
	if g.state != 0 {
		// A loop is reported where it closes and then read as far as it goes, so that
		// the rest of the file is still checked.
		if g.state == 1 {
			b.problems.Add(g.source.At(within), "%s %q is part of a %s loop; remove one of its groups", all.kind, name, within)
		}
		return g
	}
	g.state = 1
	add(g.members, all.list(g.source))
	for _, sub := range g.source.Names(within) {
		if all.byName[sub] == nil {
			b.problems.Add(g.source.At(within), "there is no %s %q; define it or remove it from this line", all.kind, sub)
			continue
		}
		add(g.members, b.expand(all, sub).members)
	}
	g.state = 2
	return g
}

// expandHostGroups fills every hostgroup and tells its members.
func (b *builder) expandHostGroups() {
	b.groups.list = func(o *objectfile.Object) map[string]bool { return b.hostList(o, "members") }
	b.expandAll(b.groups)
	for _, name := range sorted(b.groups.order) {
		for host := range b.groups.byName[name].members {
			b.hosts[host].Groups = append(b.hosts[host].Groups, name)
		}
	}
}

func sorted(names []string) []string {
	names = append([]string{}, names...)
	sort.Strings(names)
	return names
}

// hostList returns the hosts that a directive lists by name, "*" or "!".
func (b *builder) hostList(o *objectfile.Object, directive string) map[string]bool {
	list := map[string]bool{}
	for _, name := range o.Names(directive) {
		switch {
		case name == "*":
			for host := range b.hosts {
				list[host] = true
			}
		// Struck at the end, wherever it stands in the list.
		case strings.HasPrefix(name, "!"):
		case b.isPattern(name):
			b.matching(o, directive, name, list)
		case b.hosts[name] == nil:
			b.noHost(o, directive, name)
		default:
			list[name] = true
		}
	}
	b.strike(o, directive, list)
	return list
}

func (b *builder) noHost(o *objectfile.Object, directive, name string) {
	b.problems.Add(o.At(directive), "could not find any host matching %q; define it or remove it from this line", name)
}

// isPattern tells whether a name in a list is a regular expression by the
// main file's settings.
func (b *builder) isPattern(name string) bool {
	if b.main.Bool("use_true_regexp_matching", false) {
		return true
	}
	return b.main.Bool("use_regexp_matching", false) && (strings.ContainsAny(name, "*?+") || strings.Contains(name, `\.`))
}

// matching adds the hosts in whose names a regular expression is found.
func (b *builder) matching(o *objectfile.Object, directive, pattern string, list map[string]bool) {
	b.matchingNames(o, directive, pattern, "host", slices.Collect(maps.Keys(b.hosts)), list)
}

func (b *builder) matchingNames(o *objectfile.Object, directive, pattern, what string, names []string, list map[string]bool) {
	re, ok := b.expression(o, directive, pattern)
	if !ok {
		return
	}
	found := false
	for _, name := range names {
		if re.MatchString(name) {
			list[name], found = true, true
		}
	}
	if !found {
		b.problems.Add(o.At(directive), "could not find any %s matching %q; define it or remove it from this line", what, pattern)
	}
}

// expression compiles a regular expression, or says what is wrong with it.
func (b *builder) expression(o *objectfile.Object, directive, pattern string) (*regexp.Regexp, bool) {
	re, err := regexp.CompilePOSIX(pattern)
	if err != nil {
		b.problems.Add(o.At(directive), "%q is no regular expression: %v; correct it or write names", pattern, err)
	}
	return re, err == nil
}

// strike removes the hosts that a directive lists with "!".
func (b *builder) strike(o *objectfile.Object, directive string, list map[string]bool) {
	for _, name := range o.Names(directive) {
		if host, is := strings.CutPrefix(name, "!"); is {
			delete(list, strings.TrimSpace(host))
		}
	}
}

// hostsOf returns the hosts that two directives name, true for those named
// directly.
func (b *builder) hostsOf(o *objectfile.Object, byName, byGroup string) map[string]bool {
	list := map[string]bool{}
	all, out := map[string]bool{}, map[string]bool{}
	for _, name := range o.Names(byGroup) {
		plain, not := strings.CutPrefix(name, "!")
		into := all
		if not {
			into = out
		}
		switch g := b.groups.byName[strings.TrimSpace(plain)]; {
		case name == "*":
			for _, g := range b.groups.byName {
				add(all, g.members)
			}
		case g == nil:
			b.problems.Add(o.At(byGroup), "there is no hostgroup %q; define it or remove it from this line", plain)
		default:
			add(into, g.members)
		}
	}
	for host := range all {
		if !out[host] {
			list[host] = false
		}
	}
	for host := range b.hostList(o, byName) {
		list[host] = true
	}
	b.strike(o, byName, list)
	return list
}

func add(to, from map[string]bool) {
	for name := range from {
		to[name] = true
	}
}
