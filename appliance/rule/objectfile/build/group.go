package build

import (
	"regexp"
	"sort"
	"strings"

	"jaque.sh/jaque/appliance/rule/objectfile"
)

// group is a hostgroup on its way to its members.
type group struct {
	source  *objectfile.Object
	members map[string]bool
	state   int // 0 untouched, 1 being expanded, 2 done
}

// expandGroups fills every group and tells its members.
func (b *builder) expandGroups(objects []*objectfile.Object) {
	var names []string
	for _, o := range objects {
		if o.Type != "hostgroup" {
			continue
		}
		if g := b.groups[o.Name]; g.source != o {
			b.problems.Add(o.Pos, "hostgroup %q is already defined at %s; rename one of them", o.Name, g.source.Pos)
			continue
		}
		b.expand(o.Name)
		names = append(names, o.Name)
	}
	sort.Strings(names)
	for _, name := range names {
		for host := range b.groups[name].members {
			b.hosts[host].Groups = append(b.hosts[host].Groups, name)
		}
	}
}

// expand returns a group with the members of the groups within it.
func (b *builder) expand(name string) *group {
	g := b.groups[name]
	if g.state != 0 {
		// A loop is reported where it closes and then read as far as it goes, so that
		// the rest of the file is still checked.
		if g.state == 1 {
			b.problems.Add(g.source.At("hostgroup_members"), "hostgroup %q is part of a hostgroup_members loop; remove one of its groups", name)
		}
		return g
	}
	g.state = 1
	for host := range b.hostList(g.source, "members") {
		g.members[host] = true
	}
	for _, sub := range g.source.Names("hostgroup_members") {
		if b.groups[sub] == nil {
			b.problems.Add(g.source.At("hostgroup_members"), "there is no hostgroup %q; define it or remove it from this line", sub)
			continue
		}
		for host := range b.expand(sub).members {
			g.members[host] = true
		}
	}
	g.state = 2
	return g
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
	re, err := regexp.CompilePOSIX(pattern)
	if err != nil {
		b.problems.Add(o.At(directive), "%q is no regular expression: %v; correct it or write names", pattern, err)
		return
	}
	found := false
	for host := range b.hosts {
		if re.MatchString(host) {
			list[host], found = true, true
		}
	}
	if !found {
		b.noHost(o, directive, pattern)
	}
}

// strike removes the hosts that a directive lists with "!".
func (b *builder) strike(o *objectfile.Object, directive string, list map[string]bool) {
	for _, name := range o.Names(directive) {
		if host, is := strings.CutPrefix(name, "!"); is {
			delete(list, strings.TrimSpace(host))
		}
	}
}

// serviceHosts returns the hosts of a service, true for those named directly.
func (b *builder) serviceHosts(o *objectfile.Object) map[string]bool {
	list := map[string]bool{}
	all, out := map[string]bool{}, map[string]bool{}
	for _, name := range o.Names("hostgroup_name") {
		plain, not := strings.CutPrefix(name, "!")
		into := all
		if not {
			into = out
		}
		switch g := b.groups[strings.TrimSpace(plain)]; {
		case name == "*":
			for _, g := range b.groups {
				add(all, g.members)
			}
		case g == nil:
			b.problems.Add(o.At("hostgroup_name"), "there is no hostgroup %q; define it or remove it from this line", plain)
		default:
			add(into, g.members)
		}
	}
	for host := range all {
		if !out[host] {
			list[host] = false
		}
	}
	for host := range b.hostList(o, "host_name") {
		list[host] = true
	}
	b.strike(o, "host_name", list)
	return list
}

func add(to, from map[string]bool) {
	for name := range from {
		to[name] = true
	}
}
