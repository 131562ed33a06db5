package config

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// host is one declared host.
type host struct {
	name     string
	at       *path
	pos      Position
	timing   timing
	address  string
	alias    string
	labels   map[string]string
	groups   []string
	parents  []ref
	zone     string
	vars     map[string]string
	check    *check
	services []service
	flawed   bool // something about it was reported
}

// service is what a rule and a host's own service have in common.
type service struct {
	name     string
	at       *path
	pos      Position
	timing   timing
	alias    string
	labels   map[string]string
	vars     map[string]string
	group    []string // groups of the service itself
	zone     string
	check    *check
	hasCheck bool // a check is given, usable or not
}

// rule is a service with the selection of its hosts.
type rule struct {
	service
	key    string // the name it is declared under
	all    bool   // on is given
	on     []match
	hosts  []ref
	groups []ref
	except []ref
	given  struct{ hosts, groups bool }
}

// match is one label and the values that satisfy it.
type match struct {
	label  string
	values []string
}

// holds tells whether labels satisfy a match.
func (m match) holds(labels map[string]string) bool {
	v, ok := labels[m.label]
	return ok && slices.Contains(m.values, v)
}

// host reads one host. With listed, its name is a field.
func (d *decoder) host(at *path, pos Position, name string, n *node, listed bool) *host {
	s := d.open(at, n)
	h := &host{name: d.strings.get(name), at: at, pos: pos}
	// A host in a list has no key, so its name is a field; under a key the field
	// is allowed, because exports from other systems repeat it.
	if listed || s.has("name") {
		h.name = s.hostName(name, listed)
	} else {
		s.asked = append(s.asked, "name")
		d.name(at, pos, name)
	}
	h.address, h.alias = s.text("address"), s.prose("alias")
	h.labels = d.strings.table(s.table("labels", false))
	h.groups = d.strings.list(refNames(s.refs("groups")))
	h.parents = s.refs("parents")
	h.zone = s.zone()
	h.vars = s.vars(object.Host)
	h.check = s.check("check", object.Host)
	h.timing = s.timing(object.Host)
	s.each("services", func(at *path, f field) {
		own := d.service(at, f.pos, f.name, f.node)
		h.services = append(h.services, own)
	})
	s.done()
	return h
}

// hostName reads the field name of a host in a list, or checks that it repeats
// the name the host is declared under.
func (s *section) hostName(key string, listed bool) string {
	name := s.prose("name")
	if listed {
		s.need("name", `"web01"`)
		if n := s.n.get("name"); n != nil && n.kind == kindText {
			s.d.name(s.at.field("name"), n.pos, name)
		}
		return name
	}
	if n := s.n.get("name"); n.kind == kindText && name != key {
		s.d.bad(s.at.field("name"), n.pos, "%s differs from the name it is declared under; write %s or leave name out", quote(name), quote(key))
	}
	return s.d.strings.get(key)
}

// refNames lists the names of references.
func refNames(refs []ref) []string {
	var names []string
	for _, r := range refs {
		names = append(names, r.name)
	}
	return names
}

// zone reads the name of a zone.
func (s *section) zone() string {
	z := s.text("zone")
	if z == "" {
		return z
	}
	at, pos := s.at.field("zone"), s.n.get("zone").pos
	if s.d.name(at, pos, z) && strings.Contains(z, ",") {
		s.d.bad(at, pos, "the zone %s contains a comma, which separates the zones of a worker, so that none can serve it; write another character", quote(z))
	}
	return z
}

// vars reads custom variables and brings their names to upper case without a
// leading "_", as macros use them.
func (s *section) vars(_ object.Kind) map[string]string {
	raw := s.table("vars", true)
	if raw == nil {
		return nil
	}
	out := make(map[string]string, len(raw))
	for k, v := range raw {
		name := varName(k)
		// Macros know only capital letters: port and PORT would be one variable, and
		// which of the two wins would depend on the order of a map.
		if _, twice := out[name]; twice || name == "" {
			s.d.bad(s.at.field("vars"), s.n.get("vars").pos, "two variables are %s in macros; rename one", quote(name))
		}
		out[s.d.strings.get(name)] = v
	}
	return s.d.strings.table(out)
}

// service reads a service of one host.
func (d *decoder) service(at *path, pos Position, name string, n *node) service {
	s := d.open(at, n)
	d.name(at, pos, name)
	out := s.service(at, pos, name)
	s.done()
	return out
}

// service reads #HostService, which #Rule contains.
func (s *section) service(at *path, pos Position, name string) service {
	out := service{
		name: s.d.strings.get(name), at: at, pos: pos,
		alias: s.prose("alias"), labels: s.d.strings.table(s.table("labels", false)),
		vars: s.vars(object.Service), zone: s.zone(),
		check: s.check("check", object.Service), hasCheck: s.has("check"),
	}
	out.group = s.d.strings.list(refNames(s.refs("service_groups")))
	out.timing = s.timing(object.Service)
	return out
}

// rule reads one rule of the section services.
func (d *decoder) rule(at *path, f field) *rule {
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	r := &rule{service: s.service(at, f.pos, f.name), key: d.strings.get(f.name)}
	// Several rules may make services of one name, each for other hosts; their
	// keys must differ, their names need not.
	if own := s.text("name"); own != "" {
		d.name(at.field("name"), s.n.get("name").pos, own)
		r.name = own
	}
	r.all = s.has("on")
	r.on = s.matches("on")
	r.hosts, r.groups, r.except = s.refs("hosts"), s.refs("groups"), s.refs("except")
	r.given.hosts, r.given.groups = s.has("hosts"), s.has("groups")
	if s.n != nil {
		// A rule without a selection could mean every host or none. Both readings
		// are dangerous, so it has to be said.
		if !r.all && !r.given.hosts && !r.given.groups {
			d.bad(at, f.pos, `selects no host; write on: {role: "web"}, hosts: [...] or groups: [...], or on: {} for every host`)
		}
		s.need("check", `{plugin: ["check_disk", "-w", "20%"]}`)
	}
	s.done()
	return r
}

// matches reads labels with one accepted value or a list of them, sorted by label.
func (s *section) matches(name string) []match {
	var out []match
	s.each(name, func(at *path, f field) {
		m := match{label: s.d.strings.get(f.name)}
		if f.node.kind == kindList {
			for i, item := range f.node.items {
				if v, ok := s.d.text(at.at(i), item); ok {
					m.values = append(m.values, v)
				}
			}
		} else if v, ok := s.d.text(at, f.node); ok {
			m.values = []string{v}
		}
		out = append(out, m)
	})
	// Sorted, so that the generation does not depend on the order of writing.
	slices.SortFunc(out, func(a, b match) int { return cmpText(a.label, b.label) })
	return out
}
