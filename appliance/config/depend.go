package config

import (
	"maps"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// dependencies makes every object depend on what is declared for it.
func (l *loader) dependencies() {
	declared := map[[2]object.ID]*dependency{}
	services := map[string]bool{}
	if len(l.depends) > 0 {
		for _, o := range l.out.Set.Objects {
			if o.Kind() == object.Service {
				services[o.Name] = true
			}
		}
	}
	for _, d := range l.depends {
		l.choiceNames(d.of, services)
		l.choiceNames(d.on, services)
		if d.period != "" {
			// A nil period is always; one that could not be read is a problem already.
			d.terms.Period = l.compiled[d.period]
		}
		if l.pairs(d, declared) == 0 && len(l.problems) == 0 {
			l.warning(d.at, d.pos, "makes nothing depend on anything; loosen of or on, or remove it")
		}
	}
	if len(declared) == 0 {
		return
	}
	for _, o := range l.out.Set.Objects {
		slices.SortFunc(o.Depends, func(a, b *object.Dependency) int { return cmpText(string(a.Master.ID), string(b.Master.ID)) })
	}
	l.circles(declared)
}

// pairs links the objects of one dependency and returns how many pairs there are.
func (l *loader) pairs(d *dependency, declared map[[2]object.ID]*dependency) int {
	count := 0
	// What many depend on in the same way is said once.
	said := map[*object.Object]*object.Dependency{}
	link := func(o, master *object.Object) {
		if o == master {
			return
		}
		one := said[master]
		if one == nil {
			own := d.terms
			own.Master = master
			one = &own
			said[master] = one
		}
		o.Depends = append(o.Depends, one)
		declared[[2]object.ID{o.ID, master.ID}] = d
		count++
	}
	masters := l.chosen(&d.on)
	for _, o := range l.chosen(&d.of) {
		if d.on.sameHost {
			for _, r := range d.on.services {
				if m := l.out.Set.Get(object.ServiceID(o.ID.Host(), r.name)); m != nil {
					link(o, m)
				}
			}
			continue
		}
		for _, m := range masters {
			link(o, m)
		}
	}
	return count
}

// chosen returns the objects of a choice in the order of their IDs.
func (l *loader) chosen(c *choice) []*object.Object {
	var out []*object.Object
	for _, r := range c.objects {
		if o := l.out.Set.Get(object.ID(r.name)); o != nil {
			out = append(out, o)
		}
	}
	if c.hosts.rule == nil {
		return out
	}
	for _, h := range l.hosts {
		if !c.hosts.selects(h) {
			continue
		}
		if len(c.services) == 0 {
			out = append(out, l.out.Set.Get(object.HostID(h.name)))
		}
		for _, r := range c.services {
			if o := l.out.Set.Get(object.ServiceID(h.name, r.name)); o != nil {
				out = append(out, o)
			}
		}
	}
	return out
}

// choiceNames reports names of a choice that nothing has.
func (l *loader) choiceNames(c choice, services map[string]bool) {
	for _, r := range c.objects {
		l.member(r)
	}
	if c.hosts.rule == nil {
		return
	}
	for _, h := range slices.Concat(c.hosts.rule.hosts, c.hosts.rule.except) {
		if l.byName[h.name] == nil {
			l.unknown(h, "host", maps.Keys(l.byName))
		}
	}
	for _, g := range c.hosts.rule.groups {
		if l.groups[g.name] == nil {
			l.unknown(g, "group", maps.Keys(l.groups))
		}
	}
	for _, r := range c.services {
		if !services[r.name] {
			l.unknown(r, "service", maps.Keys(services))
		}
	}
}

// circles reports objects that depend on themselves by way of others, for checks
// and for notifications apart.
func (l *loader) circles(declared map[[2]object.ID]*dependency) {
	var names []string
	for _, o := range l.out.Set.Objects {
		if len(o.Depends) > 0 {
			names = append(names, string(o.ID))
		}
	}
	reported := map[string]bool{}
	for _, counts := range []func(*object.Dependency) bool{
		func(d *object.Dependency) bool { return d.Execution != 0 || d.ExecutionPending },
		func(d *object.Dependency) bool { return d.Notification != 0 || d.NotificationPending },
	} {
		for _, circle := range cycles(names, l.masters(counts)) {
			way := strings.Join(append(circle, circle[0]), " -> ")
			d := declared[[2]object.ID{object.ID(circle[0]), object.ID(circle[1%len(circle)])}]
			if reported[way] {
				continue
			}
			reported[way] = true
			l.bad(d.at, d.pos, "the dependencies form a circle, %s; remove one of them", way)
		}
	}
}

// masters returns a function that lists what an object depends on.
func (l *loader) masters(counts func(*object.Dependency) bool) func(string) []string {
	return func(id string) []string {
		var out []string
		for _, d := range l.out.Set.Get(object.ID(id)).Depends {
			if counts(d) {
				out = append(out, string(d.Master.ID))
			}
		}
		return out
	}
}
