package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/filter"
	"jaque.sh/jaque/appliance/rule/macro"
)

// ref reads the name of something declared elsewhere.
func (s *section) ref(name string) (string, []ref) {
	v := s.text(name)
	if v == "" {
		return "", nil
	}
	return v, []ref{{v, s.at.field(name), s.n.get(name).pos}}
}

// view reads #View.
func (d *decoder) view(at *path, f field) View {
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	v := View{Name: d.strings.get(f.name), Title: s.prose("title"), Filter: s.text("filter")}
	s.need("filter", `"label.role=web"`)
	if _, err := filter.Parse(v.Filter); v.Filter != "" && err != nil {
		d.bad(at.field("filter"), s.n.get("filter").pos, "%s", err)
	}
	s.done()
	return v
}

// user reads #User.
func (d *decoder) user(at *path, f field) User {
	s := d.open(at, f.node)
	d.name(at, f.pos, f.name)
	u := User{
		Name: d.strings.get(f.name), Password: s.secret("password"),
		Role: s.oneOf("role", "", "viewer", "operator", "admin"),
	}
	s.need("password", `"$argon2id$..." or "file:PATH"`)
	s.need("role", `"viewer", "operator" or "admin"`)
	// The text itself is not shown: it may be a password somebody uses.
	if text := u.Password.Reveal(); text != "" && !strings.HasPrefix(text, "$argon2id$") {
		d.bad(at.field("password"), s.n.get("password").pos, `not an argon2id hash; write "$argon2id$..." or a reference to it, never the password itself`)
	}
	s.done()
	return u
}

var macroName = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)

// settings reads the program-wide settings over the schema's defaults.
func (d *decoder) settings(at *path, n *node, base object.Settings, out *Config) object.Settings {
	s := d.open(at, n)
	set := object.Settings{
		On:             s.switches(base.On),
		ServiceFlapLow: s.percent("service_flap_low", base.ServiceFlapLow), ServiceFlapHigh: s.percent("service_flap_high", base.ServiceFlapHigh),
		HostFlapLow: s.percent("host_flap_low", base.HostFlapLow), HostFlapHigh: s.percent("host_flap_high", base.HostFlapHigh),
		AggressiveHostChecking: s.flag("aggressive_host_checking", base.AggressiveHostChecking),
		PassiveHostsAreSoft:    s.flag("passive_hosts_are_soft", base.PassiveHostsAreSoft),
		TranslatePassiveHosts:  s.flag("translate_passive_hosts", base.TranslatePassiveHosts),
		TimeoutState:           base.TimeoutState,
	}
	// OK is the zero state, so presence decides and not the value.
	if v := s.stateField("timeout_state", object.Service); s.has("timeout_state") {
		set.TimeoutState = v
	}
	if s.n != nil {
		s.settingsOrder("service_flap_low", "service_flap_high", set.ServiceFlapLow, set.ServiceFlapHigh)
		s.settingsOrder("host_flap_low", "host_flap_high", set.HostFlapLow, set.HostFlapHigh)
	}
	out.PluginPath = s.texts("plugin_path")
	s.each("macros", func(at *path, f field) {
		switch {
		case !macroName.MatchString(f.name):
			d.bad(at, f.pos, "%s is not the name of a macro; write capital letters, digits and _ such as USER1", quote(f.name))
		case macro.Known(f.name) && !strings.HasPrefix(f.name, "USER"):
			d.bad(at, f.pos, "$%s$ has a value already; write another name", f.name)
		}
		out.Macros[d.strings.get(f.name)] = d.secret(at, f.node)
	})
	web := d.open(at.field("http"), s.take("http"))
	out.HTTP.PublicReads = web.flag("public_reads", false)
	out.HTTP.Hosts = web.texts("hosts")
	web.done()
	s.done()
	return set
}

// switches reads what is on for the whole program. A switch of jaque sets what
// Nagios has for hosts and services apart.
func (s *section) switches(on object.Program) object.Program {
	for _, w := range []struct {
		name string
		bits object.Program
	}{
		{"active_checks", object.ProgramHostChecks | object.ProgramServiceChecks},
		{"passive_checks", object.ProgramPassiveHosts | object.ProgramPassiveServices},
		{"flap_detection", object.ProgramFlapDetection},
		{"notifications", object.ProgramNotifications},
		{"event_handlers", object.ProgramEventHandlers},
		{"perfdata", object.ProgramPerfdata},
		{"freshness", object.ProgramHostFreshness | object.ProgramServiceFreshness},
		{"obsess", object.ProgramObsessHosts | object.ProgramObsessServices},
	} {
		if s.flag(w.name, on.Has(w.bits)) {
			on |= w.bits
		} else {
			on &^= w.bits
		}
	}
	return on
}

// settingsOrder refuses a lower threshold that is not below the upper one, at
// whichever of the two the operator wrote.
func (s *section) settingsOrder(lowName, highName string, low, high float64) {
	if low < high {
		return
	}
	for _, name := range []string{lowName, highName} {
		if n := s.n.get(name); n != nil {
			s.d.bad(s.at.field(name), n.pos, "%s (%v) is not below %s (%v); write numbers in this order", lowName, low, highName, high)
			return
		}
	}
}

// defaults reads the section defaults; zone and check come apart.
func (d *decoder) defaults(at *path, n *node) (t timing, zone string, hostCheck *check) {
	s := d.open(at, n)
	optional(s, "interval", &t.interval, func() time.Duration { return s.duration("interval", 0, false) })
	optional(s, "retry", &t.retry, func() time.Duration { return s.duration("retry", 0, false) })
	optional(s, "timeout", &t.timeout, func() time.Duration { return s.duration("timeout", 0, false) })
	optional(s, "freshness", &t.freshness, func() time.Duration { return s.duration("freshness", 0, true) })
	optional(s, "notification_interval", &t.renotify, func() time.Duration { return s.duration("notification_interval", 0, true) })
	optional(s, "attempts", &t.attempts, func() int { return s.whole("attempts", 1, 1, 1000) })
	optional(s, "flap_detection", &t.flapDetection, func() bool { return s.flag("flap_detection", true) })
	optional(s, "flap_low", &t.flapLow, func() float64 { return s.percent("flap_low", 0) })
	optional(s, "flap_high", &t.flapHigh, func() float64 { return s.percent("flap_high", 0) })
	s.flapOrder("flap_low", "flap_high", t.flapLow, t.flapHigh)
	s.duties(&t)
	zone, hostCheck = s.zone(), s.check("host_check", object.Host)
	s.done()
	return t, zone, hostCheck
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
