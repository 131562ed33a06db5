package config

import (
	"strings"

	"jaque.sh/jaque/appliance/core/object"
)

// duty is what may be said about when an object is looked after and what
// happens then. A nil pointer means "as below".
type duty struct {
	checkPeriod, notePeriod, handlerPeriod *string
	handler                                *object.Handler
	checkFreshness                         *bool
	notifications, handlers                *bool
	perfdata, obsess                       *bool
}

// duties reads the fields of #Duty.
func (s *section) duties(t *timing) {
	optional(s, "check_period", &t.checkPeriod, func() string { return s.hours("check_period") })
	optional(s, "notification_period", &t.notePeriod, func() string { return s.hours("notification_period") })
	optional(s, "event_handler_period", &t.handlerPeriod, func() string { return s.hours("event_handler_period") })
	optional(s, "check_freshness", &t.checkFreshness, func() bool { return s.flag("check_freshness", false) })
	optional(s, "notifications", &t.notifications, func() bool { return s.flag("notifications", true) })
	optional(s, "event_handlers", &t.handlers, func() bool { return s.flag("event_handlers", true) })
	optional(s, "perfdata", &t.perfdata, func() bool { return s.flag("perfdata", true) })
	optional(s, "obsess", &t.obsess, func() bool { return s.flag("obsess", true) })
	t.handler = s.handler("event_handler")
}

// hours reads the name of a period and remembers it for references.
func (s *section) hours(name string) string {
	v, r := s.ref(name)
	s.d.hours = append(s.d.hours, r...)
	return v
}

// tellingHours reads the name of the period in which somebody is told.
func (s *section) tellingHours() string {
	before := len(s.d.hours)
	v := s.hours("period")
	s.d.telling = append(s.d.telling, s.d.hours[before:]...)
	return v
}

// put puts what u says over d.
func (d *duty) put(u duty) {
	put(&d.checkPeriod, u.checkPeriod)
	put(&d.notePeriod, u.notePeriod)
	put(&d.handlerPeriod, u.handlerPeriod)
	put(&d.handler, u.handler)
	put(&d.checkFreshness, u.checkFreshness)
	put(&d.notifications, u.notifications)
	put(&d.handlers, u.handlers)
	put(&d.perfdata, u.perfdata)
	put(&d.obsess, u.obsess)
}

// off returns the switches that are turned off.
func (d *duty) off() object.Switches {
	var off object.Switches
	for _, s := range []struct {
		on  *bool
		bit object.Switches
	}{
		{d.notifications, object.SwitchNotifications},
		{d.handlers, object.SwitchEventHandler},
		{d.perfdata, object.SwitchPerfdata},
		{d.obsess, object.SwitchObsess},
	} {
		if !or(s.on, true) {
			off |= s.bit
		}
	}
	return off
}

// handler reads #Handler: a list of words, a line for the shell, or a set of
// fields. Nil means absent or unusable.
func (s *section) handler(name string) *object.Handler {
	n := s.take(name)
	if n == nil {
		return nil
	}
	at := s.at.field(name)
	h := &object.Handler{Name: s.d.strings.get(at.String())}
	switch n.kind {
	case kindText:
		h.Shell = s.text(name)
		s.asked = s.asked[:len(s.asked)-1]
	case kindList:
		h.Plugin = s.argv(name)
		s.asked = s.asked[:len(s.asked)-1]
	case kindMap:
		f := s.d.open(at, n)
		h.Plugin, h.Shell, h.Environ = f.argv("plugin"), f.text("shell"), f.flag("environ", false)
		f.done()
		if f.has("plugin") == f.has("shell") {
			s.d.bad(at, n.pos, `needs either plugin or shell; write {plugin: ["restart", "$HOSTNAME$"]}`)
		}
	default:
		what := "an event handler"
		if name == "command" {
			what = "a command"
		}
		s.d.bad(at, n.pos, `%s is not %s; write ["restart", "$HOSTNAME$"] or a line for the shell`, n.show(), what)
	}
	if len(h.Plugin) == 0 && strings.TrimSpace(h.Shell) == "" {
		return nil
	}
	s.d.watch(at, n, h)
	return h
}

// watch has the texts of a handler looked at as those of a check are. Whose
// variables it will find depends on the object, so those of any will do.
func (d *decoder) watch(at *path, n *node, h *object.Handler) {
	c := &check{at: at, pos: n.pos, check: object.Check{Plugin: h.Plugin}, local: true, handler: true}
	c.macros = macrosIn(at, n, h.Shell != "", nil)
	for _, m := range c.macros {
		m.anyone = true
	}
	d.handled = append(d.handled, c)
}

// commandOf notes which variables the command that was read last finds at its contact.
func (d *decoder) commandOf(c *Contact) {
	for _, m := range d.handled[len(d.handled)-1].macros {
		m.contact = c.Name
		m.defined = m.defined || hasVar(c.Vars, m.name, "_CONTACT")
	}
}

// handlers are those of every host and of every service.
type handlers struct{ host, service *object.Handler }

// readDuties reads the sections dependencies and handlers.
func (l *loader) readDuties(s *section) {
	s.each("dependencies", func(at *path, f field) { l.depends = append(l.depends, l.dependency(at, f)) })
	h := l.open(s.at.field("handlers"), s.take("handlers"))
	l.global = handlers{h.handler("host"), h.handler("service")}
	h.done()
}
