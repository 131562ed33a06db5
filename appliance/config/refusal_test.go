package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestRefusals writes one wrong thing at a time. Each row wants exactly one
// problem, at the path and with the advice that an operator needs; a row that
// brings a second problem would send them to the wrong place.
func TestRefusals(t *testing.T) {
	const hosts = "hosts: web: {address: \"192.0.2.1\", groups: [\"g\"], %s}\n"
	const service = "hosts: web: {}\nservices: s: {on: {}, %s}\n"
	const check = "hosts: web: {}\nservices: s: {on: {}, check: %s}\n"
	for _, c := range []struct{ name, in, text, path, want string }{
		{"an interval without a unit", hosts, `interval: "5"`, "hosts.web.interval", `write "5s" or "5m"`},
		{"an interval as a number", hosts, `interval: 5`, "hosts.web.interval", `5 is not a duration`},
		{"an interval of zero", hosts, `interval: "0s"`, "hosts.web.interval", "write"},
		{"a negative interval", hosts, `interval: "-5s"`, "hosts.web.interval", "is not a duration"},
		{"no attempts", hosts, `attempts: 0`, "hosts.web.attempts", "1"},
		{"half an attempt", hosts, `attempts: 1.5`, "hosts.web.attempts", "1.5"},
		{"too many attempts", hosts, `attempts: 1001`, "hosts.web.attempts", "1000"},
		{"attempts as a text", hosts, `attempts: "3"`, "hosts.web.attempts", "3"},
		{"a switch as a text", hosts, `active: "yes"`, "hosts.web.active", "true"},
		{"a switch as a number", hosts, `volatile: 1`, "hosts.web.volatile", "true"},
		{"more than all", hosts, `flap_high: 101`, "hosts.web.flap_high", "100"},
		{"less than nothing", hosts, `flap_low: -1`, "hosts.web.flap_low", "0"},
		{"thresholds in the wrong order", hosts, `flap_low: 30, flap_high: 20`, "hosts.web.flap_low", "30 is not below flap_high (20)"},
		{"equal thresholds", hosts, `flap_low: 20, flap_high: 20`, "hosts.web.flap_low", "is not below"},
		{"a state of services for a host", hosts, `initial: "CRITICAL"`, "hosts.web.initial", "UP, DOWN, UNREACHABLE"},
		{"a state that is none", hosts, `flap_ignore: ["UP", "sideways"]`, "hosts.web.flap_ignore[1]", "sideways"},
		{"a state as a number", hosts, `initial: 2`, "hosts.web.initial", "2"},
		{"a misspelt field", hosts, `adress: "x"`, "hosts.web.adress", `did you mean "address"?`},
		{"a field of another time", hosts, `colour: "x"`, "hosts.web.colour", "no such field; known are"},
		{"an empty address", hosts, `alias: "x", zone: ""`, "hosts.web.zone", "empty; write a text or leave zone out"},
		{"groups as a text", "%s", `hosts: web: {groups: "a"}`, "hosts.web.groups", `["a"]`},
		{"a number in a list of texts", "%s", `hosts: web: {groups: ["a", 5]}`, "hosts.web.groups[1]", "5"},
		{"labels as a list", hosts, `labels: ["a"]`, "hosts.web.labels", "{"},
		{"a label that is a list", hosts, `labels: a: ["x"]`, "hosts.web.labels.a", "a list is not a text"},
		{"two variables of one name", hosts, `vars: {port: "1", PORT: "2"}`, "hosts.web.vars", "two variables are"},
		{"a parent that is not there", hosts, `parents: ["gw"]`, "hosts.web.parents[0]", "gw"},
		{"its own parent", hosts, `parents: ["web"]`, "hosts.web.parents[0]", "its own parent"},
		{"a host that is a text", "%s", `hosts: web: "192.0.2.1"`, "hosts.web", "is not a set of fields"},
		{"a name with the separator", "%s", `hosts: "a!b": {}`, `hosts."a!b"`, "separates"},
		{"a name that differs from its key", hosts, `name: "other"`, "hosts.web.name", `write "web" or leave name out`},
		{"a service of a host with a bad name", hosts, `services: "x!y": {check: dummy: {}}`, `hosts.web.services."x!y"`, "separates"},
		{"a service of a host without a check", hosts, `services: x: {}`, "hosts.web.services.x", "check"},

		{"a rule that selects nothing", "%s", `services: s: {check: passive: {}}`, "services.s", "selects no host"},
		{"a rule without a check", service, `notes: "n"`, "services.s.check", "missing; write check:"},
		{"a rule for a host that is not there", service, `check: passive: {}, hosts: ["db"]`, "services.s.hosts[0]", "db"},
		{"a rule for a group that is not there", service, `check: passive: {}, groups: ["g"]`, "services.s.groups[0]", "g"},
		{"an exception that is not there", service, `check: passive: {}, except: ["db"]`, "services.s.except[0]", "db"},
		{"a selection by a list", "%s", "hosts: web: {}\nservices: s: {on: [\"web\"], check: passive: {}}", "services.s.on", "{"},
		{"a state of hosts for a service", service, `check: passive: {}, initial: "DOWN"`, "services.s.initial", "OK, WARNING, CRITICAL, UNKNOWN"},

		{"a check as a text", check, `"check_disk -w 20"`, "services.s.check", `write {plugin: ["check_disk"`},
		{"a check as a list", check, `["check_disk"]`, "services.s.check", "is not a check"},
		{"a check that says nothing", check, `{}`, "services.s.check", "says nothing; write one of plugin, shell"},
		{"two checks in one", check, `{passive: {}, shell: "x"}`, "services.s.check", "2 kinds of check are given; keep one"},
		{"a check of a later release", check, `snmp: {}`, "services.s.check.snmp", "not available in this release; use a plugin"},
		{"a misspelt kind", check, `htpp: {}`, "services.s.check.htpp", `did you mean "http"?`},
		{"a command line in one text", check, `plugin: "check_disk -w 20%%"`, "services.s.check.plugin", `["check_disk", "-w", "20%"]`},
		{"no command line", check, `plugin: []`, "services.s.check.plugin", "the first word must name a program"},
		{"an empty program", check, `plugin: ["", "x"]`, "services.s.check.plugin", "the first word must name a program"},
		{"an empty shell line", check, `shell: ""`, "services.s.check.shell", "empty"},
		{"no URL", check, `http: {}`, "services.s.check.http.url", "missing; write url:"},
		{"a URL without a scheme", check, `http: url: "example.com"`, "services.s.check.http.url", `write "http://example.com"`},
		{"a URL of another scheme", check, `http: url: "ftp://example.com"`, "services.s.check.http.url", "neither http nor https"},
		{"a status that is none", check, `http: {url: "http://a", status: [20]}`, "services.s.check.http.status[0]", "100"},
		{"too many redirects", check, `http: {url: "http://a", redirect: 21}`, "services.s.check.http.redirect", "20"},
		{"headers as a text", check, `http: {url: "http://a", headers: "x"}`, "services.s.check.http.headers", "{"},
		{"neither port nor address", check, `tcp: {}`, "services.s.check.tcp", "neither port nor address is given"},
		{"both port and address", check, `tcp: {port: 22, address: "a:22"}`, "services.s.check.tcp.port", "keep one"},
		{"an address without a port", check, `tcp: address: "192.0.2.1"`, "services.s.check.tcp.address", "is not host:port"},
		{"an address with a large port", check, `tcp: address: "a:65536"`, "services.s.check.tcp.address", "is not host:port"},
		{"an address with a named port", check, `tls: address: "a:https"`, "services.s.check.tls.address", "is not host:port"},
		{"port zero", check, `tcp: port: 0`, "services.s.check.tcp.port", "65535"},
		{"no packets", check, `icmp: count: 0`, "services.s.check.icmp.count", "100"},
		{"a range upside down", check, `icmp: warn_loss: "60:20"`, "services.s.check.icmp.warn_loss", `write "20:60"`},
		{"a range inside, upside down", check, `icmp: warn_rtt: "@60:20"`, "services.s.check.icmp.warn_rtt", `write "@20:60"`},
		{"a range that is none", check, `icmp: crit_rtt: "fast"`, "services.s.check.icmp.crit_rtt", `write "10", "10:", "~:10"`},
		{"a range that is a list", check, `icmp: crit_loss: [10]`, "services.s.check.icmp.crit_loss", "a list is not a text"},
		{"no name to look up", check, `dns: {}`, "services.s.check.dns.name", "missing; write name:"},
		{"a record type that is none", check, `dns: {name: "a", type: "HINFO"}`, "services.s.check.dns.type", "AAAA"},
		{"a record type in small letters", check, `dns: {name: "a", type: "aaaa"}`, "services.s.check.dns.type", "AAAA"},
		{"both a state and states", check, `dummy: {state: "OK", states: ["OK"]}`, "services.s.check.dummy.states", "keep one"},
		{"a state of a dummy that is none", check, `dummy: state: "ok"`, "services.s.check.dummy.state", `did you mean "OK"?`},
		{"an aggregate of nothing", check, `aggregate: members: []`, "services.s.check.aggregate.members", "no members"},
		{"an aggregate without members", check, `aggregate: {}`, "services.s.check.aggregate.members", "missing; write members:"},
		{"an aggregate of something unknown", check, `aggregate: members: ["db!x"]`, "services.s.check.aggregate.members[0]", `no host named "db"`},

		{"a period without ranges", "%s", `periods: p: {}`, "periods.p.ranges", "missing; write ranges:"},
		{"a time zone that is none", "%s", `periods: p: {ranges: [], timezone: "Mars"}`, "periods.p.timezone", `"Europe/Berlin"`},
		{"a range without times", "%s", `periods: p: ranges: ["monday"]`, "periods.p.ranges[0]", "does not end with times of day"},
		{"an empty range", "%s", `periods: p: ranges: [" "]`, "periods.p.ranges[0]", "is not a span of time"},
		{"hour 25", "%s", `periods: p: ranges: ["monday 09:00-25:00"]`, "periods.p.ranges[0]", "does not end with times of day"},
		{"minute 60", "%s", `periods: p: ranges: ["monday 09:60-10:00"]`, "periods.p.ranges[0]", "does not end with times of day"},
		{"a span over midnight", "%s", `periods: p: ranges: ["monday 22:00-06:00"]`, "periods.p.ranges[0]", "ends before it starts"},
		{"a span of nothing", "%s", `periods: p: ranges: ["monday 09:00-09:00"]`, "periods.p.ranges[0]", "ends before it starts"},
		{"a misspelt day", "%s", `periods: p: ranges: ["mondey 09:00-17:00"]`, "periods.p.ranges[0]", `did you mean "monday"?`},
		{"a day that is none", "%s", `periods: p: ranges: ["x-friday 09:00-17:00"]`, "periods.p.ranges[0]", `"x" is not a day`},
		{"an exception that is no day", "%s", `periods: p: {ranges: [], except: ["25.12."]}`, "periods.p.except[0]", `write "2026-12-25"`},

		{"a contact that hears nothing", "%s", `contacts: c: {}`, "contacts.c", "can be told nothing"},
		{"a mail address that is none", "%s", `contacts: c: email: "ops"`, "contacts.c.email", "is not a mail address"},
		{"a contact in an unknown period", "%s", `contacts: c: {email: "a@b", period: "p"}`, "contacts.c.period", "p"},
		{"a policy for nobody", "%s", `policies: [{match: {}}]`, "policies[0].notify", "missing; write notify:"},
		{"a policy for somebody unknown", "%s", `policies: [{notify: ["c"]}]`, "policies[0].notify[0]", "c"},
		{"a step without a time", "%s", "contacts: c: email: \"a@b\"\npolicies: [{notify: [\"c\"], escalate: [{notify: [\"c\"]}]}]", "policies[0].escalate[0].after", "missing; write after:"},
		{"a step for nobody", "%s", "contacts: c: email: \"a@b\"\npolicies: [{notify: [\"c\"], escalate: [{after: \"5m\"}]}]", "policies[0].escalate[0].notify", "missing; write notify:"},
		{"a sink without an input", "%s", `sinks: s: file: path: "/x"`, "sinks.s.input", `"metrics" or input: "events"`},
		{"a sink to nowhere", "%s", `sinks: s: input: "metrics"`, "sinks.s", "writes nowhere; give one of influx"},
		{"a sink to two places", "%s", `sinks: s: {input: "metrics", file: {}, graphite: {}}`, "sinks.s", "2 targets are given"},
		{"a sink of something else", "%s", `sinks: s: {input: "logs", file: {}}`, "sinks.s.input", "events"},
		{"a view of everything", "%s", `views: v: title: "x"`, "views.v.filter", "missing; write filter:"},
		{"a view that does not parse", "%s", `views: v: filter: "state=="`, "views.v.filter", "state"},
		{"a user without a password", "%s", `users: u: role: "viewer"`, "users.u.password", "missing; write password:"},
		{"a user without a role", "%s", `users: u: password: "$argon2id$v=19$x"`, "users.u.role", "missing; write role:"},
		{"a password in the open", "%s", `users: u: {role: "admin", password: "hunter2"}`, "users.u.password", "never the password itself"},
		{"a role that is none", "%s", `users: u: {role: "root", password: "$argon2id$v=19$x"}`, "users.u.role", "operator"},

		{"a macro in small letters", "%s", `settings: macros: user1: "/x"`, "settings.macros.user1", "capital letters"},
		{"service thresholds in the wrong order", "%s", `settings: service_flap_low: 60`, "settings.service_flap_low", "is not below service_flap_high"},
		{"host thresholds in the wrong order", "%s", `settings: host_flap_high: 1`, "settings.host_flap_high", "is not below host_flap_high (1)"},
		{"a timeout state of hosts", "%s", `settings: timeout_state: "DOWN"`, "settings.timeout_state", "CRITICAL"},
		{"a setting that is none", "%s", `settings: htpp: {}`, "settings.htpp", `did you mean "http"?`},
		{"plugin_path as a text", "%s", `settings: plugin_path: "/x"`, "settings.plugin_path", `["/x"]`},
		{"defaults that are no set", "%s", `defaults: []`, "defaults", "is not a set of fields"},
		{"a default that is none", "%s", `defaults: address: "x"`, "defaults.address", "no such field"},
		{"a section that is none", "%s", `host: web: {}`, "host", `did you mean "hosts"?`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(c.in, strings.ReplaceAll(c.text, "%%", "%"))
			out, problems := tryLoad(t, text)
			if out != nil {
				t.Error("a configuration came of it")
			}
			if len(problems) != 1 || problems[0].Path != c.path || !strings.Contains(problems[0].Text, c.want) {
				t.Errorf("got\n%swant one at %s with %q", problems.Lines(), c.path, c.want)
			}
			for _, p := range problems {
				if p.Line < 2 || p.Column < 1 || !strings.HasSuffix(p.File, "site.cue") {
					t.Errorf("the place is %s", p.Position)
				}
			}
		})
	}
}
