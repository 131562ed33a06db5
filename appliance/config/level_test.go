package config

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// TestEveryLevelOverridesTheOneBelow writes each timing of a service in the
// defaults, in the rule and in the host's own service, and takes the levels
// away from the top. What no level says comes from the schema.
func TestEveryLevelOverridesTheOneBelow(t *testing.T) {
	for _, c := range []struct {
		field           string
		own, rule, base string // "" where a level has no such field
		get             func(*object.Rule) any
		want            [4]any // own, rule, base, nothing
	}{
		{"interval", `"1m"`, `"2m"`, `"3m"`, func(r *object.Rule) any { return r.Interval }, [4]any{time.Minute, 2 * time.Minute, 3 * time.Minute, time.Minute}},
		{"retry", `"1s"`, `"2s"`, `"3s"`, func(r *object.Rule) any { return r.Retry }, [4]any{time.Second, 2 * time.Second, 3 * time.Second, 15 * time.Second}},
		{"timeout", `"1s"`, `"2s"`, `"3s"`, func(r *object.Rule) any { return r.Timeout }, [4]any{time.Second, 2 * time.Second, 3 * time.Second, 30 * time.Second}},
		{"freshness", `"1h"`, `"0"`, `"3h"`, func(r *object.Rule) any { return r.Freshness }, [4]any{time.Hour, time.Duration(0), 3 * time.Hour, time.Duration(0)}},
		{"notification_interval", `"1h"`, `"2h"`, `"3h"`, func(r *object.Rule) any { return r.NoteInterval }, [4]any{time.Hour, 2 * time.Hour, 3 * time.Hour, time.Duration(0)}},
		{"attempts", "1", "2", "4", func(r *object.Rule) any { return r.Attempts }, [4]any{1, 2, 4, 3}},
		{"flap_detection", "true", "false", "true", func(r *object.Rule) any { return r.FlapDetection }, [4]any{true, false, true, true}},
		{"flap_low", "1", "2.5", "3", func(r *object.Rule) any { return r.FlapLow }, [4]any{1.0, 2.5, 3.0, 0.0}},
		{"flap_high", "71", "72.5", "73", func(r *object.Rule) any { return r.FlapHigh }, [4]any{71.0, 72.5, 73.0, 0.0}},
		{"volatile", "false", "true", "", func(r *object.Rule) any { return r.Volatile }, [4]any{false, true, false, false}},
		{"active", "true", "false", "", func(r *object.Rule) any { return r.Active }, [4]any{true, false, true, true}},
		{"passive", "true", "false", "", func(r *object.Rule) any { return r.Passive }, [4]any{true, false, true, true}},
		{
			"flap_ignore", `["UNKNOWN"]`, `["OK", "WARNING"]`, "", func(r *object.Rule) any { return r.FlapIgnore },
			[4]any{object.StateMask(1 << object.Unknown), object.StateMask(1<<object.OK | 1<<object.Warning), object.StateMask(0), object.StateMask(0)},
		},
		{"initial", `"WARNING"`, `"CRITICAL"`, "", func(r *object.Rule) any { return r.Initial }, [4]any{object.Warning, object.Critical, object.OK, object.OK}},
		{"notes", `"own"`, `"rule"`, "", func(r *object.Rule) any { return r.Notes }, [4]any{"own", "rule", "", ""}},
		{"notes_url", `""`, `"http://r"`, "", func(r *object.Rule) any { return r.NotesURL }, [4]any{"", "http://r", "", ""}},
		{"action_url", `"http://o"`, `"http://r"`, "", func(r *object.Rule) any { return r.ActionURL }, [4]any{"http://o", "http://r", "", ""}},
	} {
		t.Run(c.field, func(t *testing.T) {
			line := func(value string, given bool) string {
				if value == "" || !given {
					return ""
				}
				return c.field + ": " + value
			}
			for level, want := range c.want {
				text := fmt.Sprintf("defaults: {%s}\nhosts: web: services: s: {%s}\nservices: s: {on: {}, check: shell: \"x\", %s}\n",
					line(c.base, level <= 2), line(c.own, level == 0), line(c.rule, level <= 1))
				if got := c.get(get(t, load(t, text), "web!s").Rule); !reflect.DeepEqual(got, want) {
					t.Errorf("without the %d upper levels: %v, want %v\n%s", level, got, want, text)
				}
			}
		})
	}
}

// TestHostsTakeTheDefaultsToo asks a host for what its own level overrides.
func TestHostsTakeTheDefaultsToo(t *testing.T) {
	c := load(t, `
defaults: {interval: "7m", attempts: 9, zone: "dmz", host_check: icmp: count: 2}
hosts: {
	plain: {}
	own: {interval: "1m", zone: "lan", check: tcp: port: 22}
	none: {check: passive: freshness: "1h"}
}
services: s: {on: {}, check: shell: "x", zone: "far"}
`)
	plain, own, none := get(t, c, "plain"), get(t, c, "own"), get(t, c, "none")
	if plain.Rule.Interval != 7*time.Minute || plain.Rule.Attempts != 9 || plain.Zone != "dmz" || plain.Rule.Check.Kind != object.CheckICMP {
		t.Errorf("plain is %+v %+v", plain, plain.Rule)
	}
	if own.Rule.Interval != time.Minute || own.Rule.Attempts != 9 || own.Zone != "lan" || own.Rule.Check.Kind != object.CheckTCP {
		t.Errorf("own is %+v %+v", own, own.Rule)
	}
	if none.Rule.Active || none.Rule.Freshness != time.Hour || none.Rule.Interval != 0 {
		t.Errorf("none is %+v", none.Rule)
	}
	if s := get(t, c, "own!s"); s.Zone != "far" || s.Rule.Attempts != 9 {
		t.Errorf("a service's zone goes before its host's: %+v", s)
	}
	if plain.Address != "plain" {
		t.Errorf("without an address a host is reached by its name, not by %q", plain.Address)
	}
}

// TestSelectorsAreJoinedByAnd crosses every selector with every other: a host
// is taken only if each given one holds and except does not name it.
func TestSelectorsAreJoinedByAnd(t *testing.T) {
	hosts := `
hosts: {
	a: {labels: {role: "web", site: "x"}, groups: ["g", "h"]}
	b: {labels: {role: "web", site: "y"}, groups: ["h"]}
	c: {labels: {role: "db", site: "x"}}
	d: {}
}
services: s: {check: passive: {}, %s}
`
	for _, c := range []struct{ selection, want string }{
		{`on: {}`, "abcd"},
		{`on: role: "web"`, "ab"},
		{`on: role: ["web", "db"]`, "abc"},
		{`on: {role: "web", site: "x"}`, "a"},
		{`on: {role: ["web", "db"], site: ["x"]}`, "ac"},
		{`on: role: []`, ""},
		{`on: role: "mail"`, ""},
		{`hosts: ["a", "d"]`, "ad"},
		{`hosts: []`, ""},
		{`groups: ["h"]`, "ab"},
		{`groups: ["g", "h"]`, "ab"},
		{`hosts: ["a", "c"], groups: ["h"]`, "a"},
		{`on: site: "x", hosts: ["b", "c"]`, "c"},
		{`on: site: "x", groups: ["h"]`, "a"},
		{`on: {}, except: ["a", "d"]`, "bc"},
		{`groups: ["h"], except: ["a"]`, "b"},
		{`hosts: ["a"], except: ["a"]`, ""},
	} {
		out := load(t, fmt.Sprintf(hosts, c.selection))
		got := ""
		for _, o := range out.Set.Objects {
			if o.Kind() == object.Service {
				got += o.Host.Name
			}
		}
		if got != c.want {
			t.Errorf("%s selects %q, want %q", c.selection, got, c.want)
		}
		if (c.want == "") != (len(out.Warnings) == 1) {
			t.Errorf("%s: warnings %v", c.selection, out.Warnings)
		}
	}
}
