package build

import (
	"sort"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// linkServices fills the groups of services and tells their members.
func (b *builder) linkServices() {
	b.onHost = map[string][]string{}
	for i := range b.services {
		s := &b.services[i]
		b.onHost[s.object.Host.Name] = append(b.onHost[s.object.Host.Name], s.object.Name)
		b.join(b.serviceGroups, s.source, "servicegroups", string(s.object.ID))
	}
	b.serviceGroups.list = func(o *objectfile.Object) map[string]bool { return b.serviceList(o) }
	b.expandAll(b.serviceGroups)
	for _, name := range sorted(b.serviceGroups.order) {
		for id := range b.serviceGroups.byName[name].members {
			s := b.services[b.byID[object.ID(id)]].object
			s.Groups = append(s.Groups, name)
		}
	}
}

// serviceList returns the services of a group's members directive, which lists
// hosts and services in turn.
func (b *builder) serviceList(o *objectfile.Object) map[string]bool {
	list := map[string]bool{}
	words := o.Names("members")
	if len(words)%2 != 0 {
		b.problems.Add(o.At("members"), "servicegroup %q: service description missing from list; write host,service,host,service", o.Name)
		return list
	}
	for i := 0; i < len(words); i += 2 {
		hosts := map[string]bool{}
		switch host := words[i]; {
		case host == "*":
			add(hosts, b.everyHost())
		case b.isPattern(host):
			b.matching(o, "members", host, hosts)
		case b.hosts[host] == nil:
			b.noHost(o, "members", host)
			continue
		default:
			hosts[host] = true
		}
		for _, id := range b.servicesNamed(o, "members", hosts, words[i+1]) {
			list[string(id)] = true
		}
	}
	return list
}

func (b *builder) everyHost() map[string]bool {
	all := make(map[string]bool, len(b.hosts))
	for host := range b.hosts {
		all[host] = true
	}
	return all
}

// servicesNamed returns the services of some hosts that a word names: one by its
// description, which every host must have, "*", or a regular expression.
func (b *builder) servicesNamed(o *objectfile.Object, directive string, hosts map[string]bool, word string) []object.ID {
	var ids []object.ID
	names := make([]string, 0, len(hosts))
	for host := range hosts {
		names = append(names, host)
	}
	sort.Strings(names)
	pattern := word == "*" || b.isPattern(word)
	for _, host := range names {
		if !pattern {
			id := object.ServiceID(host, word)
			if _, ok := b.byID[id]; !ok {
				b.noService(o, host, word)
				continue
			}
			ids = append(ids, id)
			continue
		}
		ids = append(ids, b.servicesLike(o, directive, host, word)...)
	}
	if pattern && len(ids) == 0 && len(names) > 0 {
		b.noService(o, strings.Join(names, ","), word)
	}
	return ids
}

func (b *builder) noService(o *objectfile.Object, host, description string) {
	b.problems.Add(o.Pos, "could not find a service matching host name %q and description %q; define it or correct this %s", host, description, o.Type)
}

// servicesLike returns the services of a host that "*" or an expression names.
func (b *builder) servicesLike(o *objectfile.Object, directive, host, word string) []object.ID {
	all := b.onHost[host]
	list := map[string]bool{}
	if word == "*" {
		for _, name := range all {
			list[name] = true
		}
	} else if re, ok := b.expression(o, directive, word); ok {
		for _, name := range all {
			list[name] = re.MatchString(name)
		}
	}
	var ids []object.ID
	for _, name := range sorted(all) {
		if list[name] {
			ids = append(ids, object.ServiceID(host, name))
		}
	}
	return ids
}
