package build

import (
	"sort"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/macro"
	"jaque.sh/jaque/appliance/rule/objectfile"
)

// service is one service with how its host was named: a definition that names
// the host itself goes before one that names a group.
type service struct {
	object *object.Object
	source *objectfile.Object
	direct bool
}

// service makes one service for each host of a definition. Of two definitions
// for the same host the later counts.
func (b *builder) service(o *objectfile.Object) {
	b.legal(o)
	hosts := b.hostsOf(o, "host_name", "hostgroup_name")
	names := make([]string, 0, len(hosts))
	for host := range hosts {
		names = append(names, host)
	}
	sort.Strings(names)
	rule := b.rule(object.Service, o)
	vars := o.Vars()
	for _, name := range names {
		h := b.hosts[name]
		s := &object.Object{
			ID: object.ServiceID(name, o.Name), Name: o.Name, Alias: o.Text("display_name", ""),
			Host: h, Rule: b.implied(rule, o, name), Vars: vars,
		}
		b.put(service{s, o, hosts[name]})
	}
}

// put keeps a service unless the one that is there already goes before it.
func (b *builder) put(s service) {
	if b.byID == nil {
		b.byID = map[object.ID]int{}
	}
	i, known := b.byID[s.object.ID]
	if !known {
		b.byID[s.object.ID] = len(b.services)
		b.services = append(b.services, s)
		return
	}
	if s.direct || !b.services[i].direct {
		b.services[i] = s
	}
}

// implied returns the rule with what a service takes from its host.
func (b *builder) implied(rule *object.Rule, o *objectfile.Object, host string) *object.Rule {
	h := b.source[host]
	interval := !hasValue(o, "notification_interval") && hasValue(h, "notification_interval")
	period := !hasValue(o, "notification_period") && hasValue(h, "notification_period")
	if !interval && !period {
		return rule
	}
	own := *rule
	if interval {
		own.NoteInterval = b.units(h, "notification_interval", 30)
	}
	if period {
		own.NotePeriod = b.hosts[host].Rule.NotePeriod
	}
	return &own
}

// hasValue tells whether a directive is there at all; null counts.
func hasValue(o *objectfile.Object, name string) bool {
	for _, d := range o.Directives {
		if d.Name == name {
			return true
		}
	}
	return false
}

// check makes a check of the command with its arguments filled in. An object
// without one is never checked actively.
func (b *builder) check(o *objectfile.Object) object.Check {
	d := o.Find("check_command")
	if d == nil || d.Value == "" {
		if o.Type == "host" {
			return object.Check{Kind: object.CheckNone}
		}
		b.problems.Add(o.Pos, "service %q has no check_command; give it one", o.Name)
		return object.Check{Kind: object.CheckPassive}
	}
	line, err := macro.CheckCommand(strings.TrimPrefix(d.Value, "!"), b.command)
	if err != nil {
		b.problems.Add(d.Pos, "%s %q: %v", o.Type, o.Name, err)
	}
	return object.Check{Kind: object.CheckPlugin, Shell: line}
}

// made returns every object in the order of the definitions.
func (b *builder) made() []*object.Object {
	all := make([]*object.Object, 0, len(b.order)+len(b.services))
	all = append(all, b.order...)
	for _, s := range b.services {
		all = append(all, s.object)
	}
	return all
}
