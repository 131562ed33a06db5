package config

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// dependency is one declared dependency of some objects on others.
type dependency struct {
	name   string
	at     *path
	pos    Position
	of, on choice
	terms  object.Dependency // without master and period
	period string
}

// choice says which objects are meant: some by their IDs, or the hosts that all
// given selectors hold for, or services of these hosts.
type choice struct {
	at       *path
	pos      Position
	objects  []ref
	services []ref
	hosts    selection
	sameHost bool // nothing but services is given
}

// dependency reads #Dependency.
func (d *decoder) dependency(at *path, f field) *dependency {
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	out := &dependency{name: d.strings.get(f.name), at: at, pos: f.pos}
	out.of, out.on = s.choice("of"), s.choice("on")
	s.need("of", `{services: ["http"]}`)
	s.need("on", `["db01!mysql"]`)
	when := d.open(at.field("when"), s.take("when"))
	kind := out.on.kind()
	t := &out.terms
	t.Execution, t.ExecutionPending = when.states("execution", kind)
	t.Notification, t.NotificationPending = when.states("notification", kind)
	if when.done() == 0 && !when.bad && s.n != nil && !when.has("execution") && !when.has("notification") {
		d.bad(at.field("when"), s.n.get("when").or(f.pos), `says for no state of the other what is left alone; write when: {execution: ["%s"]}`, worst(kind))
	}
	t.Inherits, t.Group = s.flag("inherits", false), s.text("group")
	period, refs := s.ref("period")
	out.period, d.hours = period, append(d.hours, refs...)
	s.done()
	return out
}

// worst is the state in which most dependencies hold.
func worst(k object.Kind) string {
	if k == object.Host {
		return object.Down.Name(k)
	}
	return object.Critical.Name(k)
}

// or returns the place of a value, another one if there is no value.
func (n *node) or(absent Position) Position {
	if n == nil {
		return absent
	}
	return n.pos
}

// choice reads #Objects.
func (s *section) choice(name string) choice {
	n := s.take(name)
	c := choice{at: s.at.field(name), pos: n.where()}
	if n != nil && n.kind == kindList {
		s.list(name, func(at *path, n *node) {
			if v, ok := s.d.text(at, n); ok {
				c.objects = append(c.objects, ref{v, at, n.pos})
			}
		})
		s.asked = s.asked[:len(s.asked)-1]
		s.d.oneKind(c)
		return c
	}
	f := s.d.open(c.at, n)
	r := &rule{all: f.has("match"), on: f.matches("match"), hosts: f.refs("hosts"), groups: f.refs("groups"), except: f.refs("except")}
	r.given.hosts, r.given.groups = f.has("hosts"), f.has("groups")
	c.services = f.refs("services")
	f.done()
	c.sameHost = f.has("services") && !r.all && !r.given.hosts && !r.given.groups
	if c.sameHost {
		r.all = true
	}
	if f.n != nil && !r.all && !r.given.hosts && !r.given.groups {
		s.d.bad(c.at, c.pos, `selects nothing; write services: ["http"], hosts: [...], groups: [...], match: {role: "web"} or a list of objects`)
	}
	c.hosts = selection{rule: r, hosts: refSet(r.hosts), groups: refSet(r.groups), except: refSet(r.except)}
	return c
}

// oneKind refuses hosts and services in one list: their states differ.
func (d *decoder) oneKind(c choice) {
	for _, r := range c.objects {
		if object.ID(r.name).Kind() != c.kind() {
			d.bad(r.at, r.pos, "%s is a %s and the first of the list is not; write two dependencies", quote(r.name), object.ID(r.name).Kind())
			return
		}
	}
}

// kind tells whether hosts or services are meant.
func (c *choice) kind() object.Kind {
	if len(c.services) > 0 || len(c.objects) > 0 && object.ID(c.objects[0].name).Kind() == object.Service {
		return object.Service
	}
	return object.Host
}

// states reads a list of states; PENDING is one that was never checked.
func (s *section) states(name string, k object.Kind) (mask object.StateMask, pending bool) {
	words := append(stateNames(k), "PENDING")
	s.list(name, func(at *path, n *node) {
		text, ok := s.d.text(at, n)
		if !ok {
			return
		}
		switch i := slices.Index(words, strings.ToUpper(text)); {
		case i < 0:
			s.d.bad(at, n.pos, "%s is no state of a %s; write one of %s%s", quote(text), k, strings.Join(words, ", "),
				didYouMean(text, slices.Values(words)))
		case i == len(words)-1:
			pending = true
		default:
			mask |= 1 << i
		}
	})
	return mask, pending
}
