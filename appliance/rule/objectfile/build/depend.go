package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// dependencies makes the dependencies of hosts and of services.
func (b *builder) dependencies(objects []*objectfile.Object) {
	b.declared = map[*object.Dependency]*objectfile.Object{}
	for _, o := range objects {
		switch o.Type {
		case "hostdependency":
			b.hostDependency(o)
		case "servicedependency":
			b.serviceDependency(o)
		}
	}
	b.circles()
}

// hostDependency makes every dependent host depend on every master.
func (b *builder) hostDependency(o *objectfile.Object) {
	masters := b.hostsOf(o, "host_name", "hostgroup_name")
	dependents := b.hostsOf(o, "dependent_host_name", "dependent_hostgroup_name")
	if !b.bothNamed(o, len(masters), len(dependents)) {
		return
	}
	terms, ok := b.terms(o, object.Host)
	if !ok {
		return
	}
	for _, d := range slices.Sorted(maps.Keys(dependents)) {
		for _, m := range slices.Sorted(maps.Keys(masters)) {
			b.depend(o, b.hosts[d], b.hosts[m], terms)
		}
	}
}

// serviceDependency makes every dependent service depend on every master. Where no
// dependent host is named, each is on the host of its master.
func (b *builder) serviceDependency(o *objectfile.Object) {
	terms, ok := b.terms(o, object.Service)
	masters := b.servicesOf(o, "")
	elsewhere := named(o, "dependent_host_name", "dependent_hostgroup_name", "dependent_servicegroup_name")
	if !elsewhere {
		if ok {
			b.sameHost(o, masters, terms)
		}
		return
	}
	dependents := b.servicesOf(o, "dependent_")
	if !ok || !b.bothNamed(o, len(masters), len(dependents)) {
		return
	}
	for _, d := range dependents {
		for _, m := range masters {
			b.depend(o, b.serviceObject(d), b.serviceObject(m), terms)
		}
	}
}

// sameHost pairs each master with the dependent services on its own host.
func (b *builder) sameHost(o *objectfile.Object, masters []object.ID, terms object.Dependency) {
	words := o.Names("dependent_service_description")
	if !b.bothNamed(o, len(masters), len(words)) {
		return
	}
	for _, m := range masters {
		on := map[string]bool{m.Host(): true}
		for _, d := range b.described(o, "dependent_service_description", on) {
			b.depend(o, b.serviceObject(d), b.serviceObject(m), terms)
		}
	}
}

func (b *builder) serviceObject(id object.ID) *object.Object { return b.services[b.byID[id]].object }

func named(o *objectfile.Object, directives ...string) bool {
	for _, d := range directives {
		if o.Text(d, "") != "" {
			return true
		}
	}
	return false
}

// bothNamed reports a definition that names no masters or no dependents. An
// unknown name was reported already, so only a missing directive is.
func (b *builder) bothNamed(o *objectfile.Object, masters, dependents int) bool {
	host := named(o, "host_name", "hostgroup_name", "servicegroup_name")
	switch {
	case masters > 0 && dependents > 0:
		return true
	case masters == 0 && !host:
		b.problems.Add(o.Pos, "this %s names no host or service that others depend on; give it a host_name", o.Type)
	case dependents == 0 && !named(o, "dependent_host_name", "dependent_hostgroup_name", "dependent_service_description", "dependent_servicegroup_name"):
		b.problems.Add(o.Pos, "this %s names nothing that depends on another; give it what stands behind dependent_", o.Type)
	}
	return false
}

// servicesOf returns the services that a definition names on one of its sides:
// prefix is "" for the masters, "dependent_" for the others.
func (b *builder) servicesOf(o *objectfile.Object, prefix string) []object.ID {
	list := map[object.ID]bool{}
	for _, name := range o.Names(prefix + "servicegroup_name") {
		plain, not := strings.CutPrefix(name, "!")
		g := b.serviceGroups.byName[strings.TrimSpace(plain)]
		switch {
		case g == nil:
			b.problems.Add(o.At(prefix+"servicegroup_name"), "there is no servicegroup %q; define it or remove it from this line", plain)
		case !not:
			for id := range g.members {
				list[object.ID(id)] = true
			}
		}
	}
	hosts := b.hostsOf(o, prefix+"host_name", prefix+"hostgroup_name")
	for _, id := range b.described(o, prefix+"service_description", hosts) {
		list[id] = true
	}
	for _, name := range o.Names(prefix + "servicegroup_name") {
		plain, not := strings.CutPrefix(name, "!")
		if g := b.serviceGroups.byName[strings.TrimSpace(plain)]; not && g != nil {
			for id := range g.members {
				delete(list, object.ID(id))
			}
		}
	}
	return slices.Sorted(maps.Keys(list))
}

// described returns the services of some hosts that a directive lists.
func (b *builder) described(o *objectfile.Object, directive string, hosts map[string]bool) []object.ID {
	list := map[object.ID]bool{}
	for _, word := range o.Names(directive) {
		if strings.HasPrefix(word, "!") {
			continue
		}
		for _, id := range b.servicesNamed(o, directive, hosts, word) {
			list[id] = true
		}
	}
	for _, word := range o.Names(directive) {
		if plain, not := strings.CutPrefix(word, "!"); not {
			for host := range hosts {
				delete(list, object.ServiceID(host, strings.TrimSpace(plain)))
			}
		}
	}
	return slices.Sorted(maps.Keys(list))
}

// terms reads when a dependency holds, false if it never does: Nagios ignores
// one without criteria.
func (b *builder) terms(o *objectfile.Object, kind object.Kind) (object.Dependency, bool) {
	d := object.Dependency{
		Period: b.periodOf(o, "dependency_period"), Inherits: o.Bool("inherits_parent", false),
	}
	d.Execution, d.ExecutionPending = b.criteria(o, kind, "execution_failure_criteria")
	d.Notification, d.NotificationPending = b.criteria(o, kind, "notification_failure_criteria")
	return d, d.Execution != 0 || d.Notification != 0 || d.ExecutionPending || d.NotificationPending
}

func (b *builder) criteria(o *objectfile.Object, kind object.Kind, directive string) (states object.StateMask, pending bool) {
	allowed := "owucp"
	if kind == object.Host {
		allowed = "odup"
	}
	listed := o.Options(directive, allowed, "", &b.problems)
	for i := range len(listed) {
		if s, ok := stateOf(kind, listed[i:]); ok {
			states |= 1 << s
		}
	}
	return states, strings.Contains(listed, "p")
}

// depend adds one dependency; an identical one is merged with it.
func (b *builder) depend(o *objectfile.Object, dependent, master *object.Object, terms object.Dependency) {
	terms.Master = master
	for _, d := range dependent.Depends {
		if *d == terms {
			return
		}
	}
	d := &terms
	b.declared[d] = o
	dependent.Depends = append(dependent.Depends, d)
}

// circles reports objects that depend on themselves, by way of others or not:
// they would block each other for ever. Execution and notification are apart.
func (b *builder) circles() {
	for _, purpose := range []struct {
		name  string
		holds func(*object.Dependency) bool
	}{
		{"execution", func(d *object.Dependency) bool { return d.Execution != 0 || d.ExecutionPending }},
		{"notification", func(d *object.Dependency) bool { return d.Notification != 0 || d.NotificationPending }},
	} {
		w := walk{b: b, purpose: purpose.name, holds: purpose.holds, state: map[*object.Object]int{}}
		for _, o := range b.made() {
			w.visit(o)
		}
	}
}

// walk goes along dependencies of one purpose.
type walk struct {
	b       *builder
	purpose string
	holds   func(*object.Dependency) bool
	state   map[*object.Object]int // 0 unknown, 1 on the way here, 2 done
	way     []*object.Object
}

func (w *walk) visit(o *object.Object) {
	w.state[o] = 1
	w.way = append(w.way, o)
	for _, d := range o.Depends {
		if !w.holds(d) {
			continue
		}
		switch w.state[d.Master] {
		case 0:
			w.visit(d.Master)
		case 1:
			from := w.b.declared[d]
			w.b.problems.Add(from.Pos, "circular %s dependency: %s; remove one of these dependencies", w.purpose, w.circle(d.Master))
		}
	}
	w.way = w.way[:len(w.way)-1]
	w.state[o] = 2
}

// circle writes the way from an object back to itself.
func (w *walk) circle(start *object.Object) string {
	at := slices.Index(w.way, start)
	var names []string
	for _, o := range w.way[at:] {
		names = append(names, fmt.Sprintf("%q", o.ID))
	}
	return strings.Join(append(names, fmt.Sprintf("%q", start.ID)), " depends on ")
}
