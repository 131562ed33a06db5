package config

import (
	"maps"
	"slices"
	"strings"
)

// maxHints bounds how often a whole set of names is searched for a similar one:
// a renamed host may be missed by thousands.
const maxHints = 200

// references checks every name that must be declared elsewhere.
func (l *loader) references() {
	for _, h := range l.hosts {
		for _, p := range h.parents {
			// A circle of one reads better as what it is.
			if p.name == h.name {
				l.bad(p.at, p.pos, "the host is its own parent; remove it")
				continue
			}
			if l.byName[p.name] == nil {
				l.unknown(p, "host", maps.Keys(l.byName))
			}
		}
	}
	l.parentCycles()
	for _, r := range l.rules {
		for _, h := range slices.Concat(r.hosts, r.except) {
			if l.byName[h.name] == nil {
				l.unknown(h, "host", maps.Keys(l.byName))
			}
		}
		for _, g := range r.groups {
			if l.groups[g.name] == nil {
				l.unknown(g, "group", maps.Keys(l.groups))
			}
		}
	}
	for _, p := range l.hours {
		if _, ok := l.out.Periods[p.name]; !ok {
			l.unknownPeriod(p)
		}
	}
	l.compile()
	l.rotas()
}

// unknownPeriod reports the name of a period that is not declared.
func (l *loader) unknownPeriod(p ref) { l.unknown(p, "period", maps.Keys(l.out.Periods)) }

// holes notes which declarations are incomplete, because something that stands
// in the list of problems already kept them from being read.
func (l *loader) holes() {
	for what, section := range map[string]string{
		"host": "hosts", "service": "services", "contact": "contacts", "period": "periods", "schedule": "oncall",
	} {
		l.incomplete[what] = l.src.root.incomplete() || l.src.root.get(section).incomplete()
	}
	hosts := l.incomplete["host"] || l.lost
	l.incomplete["host"], l.incomplete["group"] = hosts, hosts || l.incomplete["group"]
	l.incomplete["service"] = hosts || l.incomplete["service"]
}

// unknown reports a name that is not declared, unless its declaration may be
// what could not be read.
func (l *loader) unknown(r ref, what string, candidates func(func(string) bool)) {
	if l.incomplete[what] {
		return
	}
	hint := ""
	// The hints cost the product of both lists; the problems themselves do not.
	if l.hints < maxHints {
		l.hints++
		hint = didYouMean(r.name, candidates)
	}
	if hint == "" {
		hint = "; declare it or remove it here"
	}
	l.bad(r.at, r.pos, "no %s named %s%s", what, quote(r.name), hint)
}

// parentCycles reports every circle of parents once, at its first host by name.
func (l *loader) parentCycles() {
	next := func(name string) []string {
		var out []string
		if h := l.byName[name]; h != nil {
			for _, p := range h.parents {
				if p.name != name {
					out = append(out, p.name)
				}
			}
		}
		return out
	}
	for _, circle := range cycles(hostNames(l.hosts), next) {
		h := l.byName[circle[0]]
		for _, p := range h.parents {
			if p.name == circle[1%len(circle)] {
				l.bad(h.at.field("parents"), p.pos, "the parents form a circle, %s; remove one of them",
					strings.Join(append(circle, circle[0]), " -> "))
			}
		}
	}
}

// hostNames lists names in the order of the hosts.
func hostNames(hosts []*host) []string {
	names := make([]string, 0, len(hosts))
	for _, h := range hosts {
		names = append(names, h.name)
	}
	return names
}

// cycles finds circles in a graph: one for every edge that leads back while
// walking depth first in the given order. Each starts at its smallest name.
func cycles(names []string, next func(string) []string) [][]string {
	const walking, done = 1, 2
	color := make(map[string]int, len(names))
	var trail []string
	var found [][]string
	var walk func(string)
	walk = func(name string) {
		color[name] = walking
		trail = append(trail, name)
		for _, to := range next(name) {
			switch color[to] {
			case 0:
				walk(to)
			case walking:
				found = append(found, rotate(trail[slices.Index(trail, to):]))
			}
		}
		trail = trail[:len(trail)-1]
		color[name] = done
	}
	for _, name := range names {
		if color[name] == 0 {
			walk(name)
		}
	}
	return found
}

// rotate copies a circle so that it starts at its smallest name.
func rotate(circle []string) []string {
	at := slices.Index(circle, slices.Min(circle))
	return slices.Concat(circle[at:], circle[:at])
}
