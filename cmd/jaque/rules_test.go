package main

import (
	"strings"
	"testing"
)

// Downtimes for many objects or times are seen, and end when they are cancelled.
func TestRulesOfDowntimesAreSeenAndEnd(t *testing.T) {
	t.Parallel()
	r := launch(t, "-config", site(t, crowdConfig), "-eventlog", "memory", "-log-level", "info")
	r.until("/readyz", "ok")
	const weekly = "every sunday 02:00-04:00 Europe/Berlin"
	for _, c := range []struct {
		name, args string // words separated by ¦
		code       int
		out        string
		shows      string // then on GET /api/v1/downtimes; "" = not looked at
	}{
		{"none yet", "list", 3, "", ""},
		{"a recurring one names itself and its object", "web01!s01¦-every¦sunday 02:00-04:00¦-timezone¦Europe/Berlin¦-comment¦weekly", 0, "for web01!s01: 1 object\n", `"target":"web01!s01","objects":1`},
		{"a rule is listed", "list", 0, weekly, ""},
		{"and with its object", "list¦web01!s01", 0, weekly, ""},
		{"one of its times is cancelled", "cancel¦-filter¦service=s01 and downtimes=1", 0, "this time only; the rule ", `"items":[]`},
		{"the rule goes on", "list", 0, weekly, ""},
		{"a host with its services, object by object", "web01¦-scope¦with-services¦-for¦2h¦-comment¦move¦-confirm¦61", 0, "web01!s59  done", `"objects":61`},
		{"the host alone is cancelled", "cancel¦-object¦web01", 0, "this object only; the rule ", `"objects":60`},
		{"its rule goes on for the services", "list¦web01!s02", 0, "web01 with its services  once", ""},
		{"everything is cancelled", "cancel¦-filter¦*¦-yes", 0, "the downtime for web01!s01 and all of its times", `"items":[],"rules":[],"total":0`},
		{"none is left", "list", 3, "", ""},
	} {
		args := strings.Split(c.args, "¦")
		cmd := command(t, append([]string{"downtime"}, args...)...)
		cmd.Env = append(cmd.Env, "JAQUE_URL="+r.url)
		code, out, errs := finish(t, cmd)
		if code != c.code || !strings.Contains(out, c.out) {
			t.Fatalf("%s: exit %d, want %d\n%s%slacks %q", c.name, code, c.code, out, errs, c.out)
		}
		if c.shows != "" {
			r.until("/api/v1/downtimes", c.shows)
		}
	}
}
