package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

func TestDutiesArriveAtTheObjects(t *testing.T) {
	c, problems := Load("testdata/everything.cue", Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, q := c.Set.Periods["p"], c.Set.Periods["q"]
	if r := get(t, c, "sw1").Rule; r.CheckPeriod != p || r.NotePeriod != p || r.HandlerPeriod != q || r.Off != 0 ||
		!slices.Equal(r.Handler.Plugin, []string{"log-event", "$HOSTNAME$"}) {
		t.Errorf("the defaults are %+v", r)
	}
	// A service is no part of its host: it has the defaults and its own.
	if r := get(t, c, "web01!http").Rule; r.CheckPeriod != p || !r.Handler.Environ || !slices.Equal(r.Handler.Plugin, []string{"restart-http"}) {
		t.Errorf("a service is %+v", r)
	}
	if got := get(t, c, "web01!http").Groups; !slices.Equal(got, []string{"own", "shop", "web"}) || len(c.Set.Groups["shop"]) != 1 {
		t.Errorf("groups %v, %v", got, c.Set.Groups)
	}
	if c.Set.HostHandler.Shell != "logger $HOSTNAME$" || len(c.Set.ServiceHandler.Plugin) != 2 {
		t.Errorf("global handlers %+v, %+v", c.Set.HostHandler, c.Set.ServiceHandler)
	}
	ops := *c.Set.Contacts["c"]
	ops.Notify = nil // see TestContactsSayWhatTheyHear
	want := object.Contact{Name: "c", Alias: "C", Email: "c@example.com", Vars: map[string]string{"SMS": "+49"}}
	if !reflect.DeepEqual(ops, want) || !slices.Contains(c.Set.ContactGroups["ops"], "c") {
		t.Errorf("contacts %+v, groups %v", c.Set.Contacts["c"], c.Set.ContactGroups)
	}
}

func TestPeriodsAreCompiled(t *testing.T) {
	c := load(t, `
periods: office: {timezone: "Europe/Berlin", ranges: ["monday-friday 09:00-17:00"], except: ["2026-12-25"], exclude: ["lunch"]}
periods: lunch: {timezone: "Europe/Berlin", ranges: ["12:00-13:00"]}
`)
	office := c.Set.Periods["office"]
	for at, want := range map[string]bool{
		"2026-12-24T08:30:00Z": true, "2026-12-24T11:30:00Z": false, "2026-12-25T08:30:00Z": false, "2026-12-26T08:30:00Z": false,
		"2026-07-01T07:30:00Z": true,
	} {
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := object.Inside(office, object.At(when)); got != want {
			t.Errorf("at %s inside is %v", at, got)
		}
	}
}

func TestFreshness(t *testing.T) {
	for _, tt := range []struct {
		name, service string
		fresh         time.Duration
		auto          bool
		interval      time.Duration
	}{
		{"a submitted result is never stale by itself", `check: passive: {}`, 0, false, 0},
		{"who says how often it comes expects it", `interval: "5m", check: passive: {}`, 0, true, 5 * time.Minute},
		{"its own freshness goes before", `interval: "5m", check: passive: freshness: "1h"`, time.Hour, false, 0},
		{"its own freshness may be none", `interval: "5m", check: passive: freshness: "0"`, 0, false, 0},
		{"none of the rule is none too", `interval: "5m", freshness: "0", check: passive: {}`, 0, false, 0},
		{"it can be switched off", `interval: "5m", check_freshness: false, check: passive: {}`, 0, false, 0},
		{"a check that runs is not watched", `interval: "5m", check: dummy: {}`, 0, false, 5 * time.Minute},
		{"but may be", `interval: "5m", check_freshness: true, check: dummy: {}`, 0, true, 5 * time.Minute},
		{"by a given time", `check_freshness: true, freshness: "2h", check: dummy: {}`, 2 * time.Hour, false, time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := get(t, load(t, `hosts: a: services: s: {`+tt.service+`}`), "a!s").Rule
			if r.Freshness != tt.fresh || r.FreshAuto != tt.auto || r.Interval != tt.interval {
				t.Errorf("got %s, automatic %v, interval %s", r.Freshness, r.FreshAuto, r.Interval)
			}
		})
	}
}

// depends writes what an object depends on.
func depends(o *object.Object) string {
	var out []string
	for _, d := range o.Depends {
		out = append(out, string(d.Master.ID))
	}
	return strings.Join(out, " ")
}

func TestDependenciesOfAndOn(t *testing.T) {
	const base = `
hosts: {db01: groups: ["db"], db02: groups: ["db"], web01: labels: role: "web", web02: labels: role: "web"}
services: ping: {on: {}, check: dummy: {}}
services: mysql: {groups: ["db"], check: dummy: {}}
services: http: {on: role: "web", check: dummy: {}}
`
	for _, tt := range []struct{ name, dependency, object, want string }{
		{"a list of objects", `{of: ["web01"], on: ["db02", "db01"]}`, "web01", "db01 db02"},
		{"others do not", `{of: ["web01"], on: ["db02", "db01"]}`, "web02", ""},
		{"hosts by label on hosts of a group", `{of: match: role: "web", on: groups: ["db"]}`, "web02", "db01 db02"},
		{"services of these hosts", `{of: {match: role: "web", services: ["http", "ping"]}, on: {groups: ["db"], except: ["db02"], services: ["mysql"]}}`, "web01!ping", "db01!mysql"},
		{"services of the same host", `{of: services: ["http", "mysql"], on: services: ["ping"]}`, "web02!http", "web02!ping"},
		{"services of the same host, another", `{of: services: ["http", "mysql"], on: services: ["ping"]}`, "db01!mysql", "db01!ping"},
		{"nothing depends on itself", `{of: groups: ["db"], on: groups: ["db"]}`, "", ""},
		{"a service on a host", `{of: services: ["http"], on: ["db01"]}`, "web01!http", "db01"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, problems := tryLoad(t, base+`dependencies: d: `+tt.dependency+` & {when: execution: ["`+
				map[bool]string{true: "CRITICAL", false: "DOWN"}[strings.Contains(tt.dependency, "on: services") || strings.Contains(tt.dependency, `services: ["mysql"]`)]+`"]}`)
			if tt.object == "" {
				if len(problems) == 0 || !strings.Contains(problems.Error(), "circle, db01 -> db02 -> db01") {
					t.Errorf("got %v", problems)
				}
				return
			}
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := depends(get(t, c, object.ID(tt.object))); got != tt.want {
				t.Errorf("depends on %q, want %q", got, tt.want)
			}
		})
	}
}

func TestTermsOfDependencies(t *testing.T) {
	c, problems := Load("testdata/everything.cue", Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d := get(t, c, "web01!http").Depends
	if len(d) != 2 || d[0].Master.ID != "web01!icmp ping" || d[1].Master.ID != "web01!tls" {
		t.Fatalf("depends on %q", depends(get(t, c, "web01!http")))
	}
	want := object.Dependency{
		Master: d[0].Master, Execution: 1 << object.Critical, ExecutionPending: true, Notification: 1 << object.Warning,
		Period: c.Set.Periods["p"], Inherits: true, Group: "front",
	}
	if !reflect.DeepEqual(*d[0], want) {
		t.Errorf("got %+v, want %+v", *d[0], want)
	}
}

// What an operator changes about duties is a change of the objects, and of the
// generation.
func TestDutiesAreSeenByDiff(t *testing.T) {
	const base = `
hosts: {a: {}, b: {}}
services: s: {on: {}, check: dummy: {}}
periods: p: {timezone: "Europe/Berlin", ranges: ["monday 09:00-17:00"]}
`
	const depending = base + `hosts: a: check_period: "p"
dependencies: d: {of: ["a"], on: ["b"], when: execution: ["DOWN"], period: "p"}
`
	for _, tt := range []struct{ name, old, new, want string }{
		{"nothing", depending, depending, ""},
		{"a check period", base, base + `hosts: a: check_period: "p"`, "~a"},
		{"what a period means", depending, strings.ReplaceAll(depending, "17:00", "18:00"), "~a"},
		{"the zone of a period", depending, strings.ReplaceAll(depending, "Berlin", "Paris"), "~a"},
		{"a handler", base, base + `services: s: event_handler: ["x"]`, "~a!s ~b!s"},
		{"a dependency", base, base + `dependencies: d: {of: ["a"], on: ["b"], when: execution: ["DOWN"]}`, "~a"},
		{"the states of a dependency", depending, strings.ReplaceAll(depending, "DOWN", "UNREACHABLE"), "~a"},
		{"a switch", base, base + `hosts: b: notifications: false`, "~b"},
		{"a group of services", base, base + `services: s: service_groups: ["g"]`, "~a!s ~b!s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			old, next := load(t, tt.old).Set, load(t, tt.new).Set
			if got := showChange(Diff(old, next)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if same := old.Generation == next.Generation; same != (tt.want == "") {
				t.Errorf("the same generation: %v", same)
			}
		})
	}
}

func TestADependencyOfNothingIsAWarning(t *testing.T) {
	c := load(t, `
hosts: {a: {}, b: {}}
services: {x: {hosts: ["a"], check: dummy: {}}, y: {hosts: ["b"], check: dummy: {}}}
dependencies: d: {of: services: ["x"], on: services: ["y"], when: execution: ["CRITICAL"]}
`)
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Text, "makes nothing depend on anything") {
		t.Errorf("got %v", c.Warnings)
	}
}

func TestHandlersAsTheyAreWritten(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       object.Handler
	}{
		{"a list of words", `["restart", "$HOSTNAME$"]`, object.Handler{Plugin: []string{"restart", "$HOSTNAME$"}}},
		{"a line for the shell", `"restart $HOSTNAME$ &"`, object.Handler{Shell: "restart $HOSTNAME$ &"}},
		{"fields", `{plugin: ["restart"], environ: true}`, object.Handler{Plugin: []string{"restart"}, Environ: true}},
		{"fields with a line", `{shell: "restart"}`, object.Handler{Shell: "restart"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, `hosts: a: {event_handler: `+tt.text+`}
handlers: service: `+tt.text)
			own, global := tt.want, tt.want
			own.Name, global.Name = "hosts.a.event_handler", "handlers.service"
			if got := get(t, c, "a").Rule.Handler; !reflect.DeepEqual(*got, own) {
				t.Errorf("got %+v, want %+v", *got, own)
			}
			if got := c.Set.ServiceHandler; !reflect.DeepEqual(*got, global) || c.Set.HostHandler != nil {
				t.Errorf("got %+v, want %+v", *got, global)
			}
		})
	}
}

func TestProgramSwitches(t *testing.T) {
	for name, bits := range map[string]object.Program{
		"active_checks": object.ProgramHostChecks | object.ProgramServiceChecks, "passive_checks": object.ProgramPassiveHosts | object.ProgramPassiveServices,
		"notifications": object.ProgramNotifications, "event_handlers": object.ProgramEventHandlers, "flap_detection": object.ProgramFlapDetection,
		"perfdata": object.ProgramPerfdata, "freshness": object.ProgramHostFreshness | object.ProgramServiceFreshness,
	} {
		if got := load(t, "settings: "+name+": false").Set.Settings.On; got != object.ProgramDefault&^bits {
			t.Errorf("%s leaves %b on, want %b", name, got, object.ProgramDefault&^bits)
		}
	}
	if got := load(t, "settings: obsess: true").Set.Settings.On; got != object.ProgramDefault|object.ProgramObsessHosts|object.ProgramObsessServices {
		t.Errorf("obsess turns %b on", got)
	}
	if got := load(t, "").Set.Settings; got != object.DefaultSettings() {
		t.Errorf("without a setting: %+v", got)
	}
}

func TestSwitchesOfObjects(t *testing.T) {
	for name, bit := range map[string]object.Switches{
		"notifications": object.SwitchNotifications, "event_handlers": object.SwitchEventHandler, "perfdata": object.SwitchPerfdata, "obsess": object.SwitchObsess,
	} {
		c := load(t, `
defaults: `+name+`: false
hosts: {a: `+name+`: true, b: {}}
services: s: {on: {}, check: dummy: {}}
`)
		if a, b, s := get(t, c, "a").Rule.Off, get(t, c, "b").Rule.Off, get(t, c, "a!s").Rule.Off; a != 0 || b != bit || s != bit {
			t.Errorf("%s: %b of a host that says so, %b and %b of others", name, a, b, s)
		}
	}
}

// A service of one host may take another period than its rule, which may take
// another than the defaults.
func TestPeriodsByLevel(t *testing.T) {
	c := load(t, `
periods: {one: ranges: ["01:00-02:00"], two: ranges: ["02:00-03:00"], three: ranges: ["03:00-04:00"]}
defaults: check_period: "one"
hosts: {a: services: s: check_period: "three", b: {}}
services: s: {on: {}, check_period: "two", check: dummy: {}}
services: t: {on: {}, check: dummy: {}}
`)
	for id, want := range map[object.ID]string{"a": "one", "a!s": "three", "b!s": "two", "b!t": "one"} {
		if got := get(t, c, id).Rule.CheckPeriod; got.Name() != want {
			t.Errorf("%s is checked in %s, want %s", id, got, want)
		}
	}
	if get(t, c, "b").Rule != get(t, c, "a").Rule {
		t.Error("hosts that say the same have rules of their own")
	}
}

func TestInventoriesNamePeriodsToo(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"site.cue":  "package site\ninventory: [\"hosts.csv\"]\nperiods: office: ranges: [\"monday 09:00-17:00\"]\n",
		"hosts.csv": "name,check_period,notifications,event_handler\na,office,false,restart $HOSTNAME$\nb,,,\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, problems := Load(dir, Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if r := get(t, c, "a").Rule; r.CheckPeriod != c.Set.Periods["office"] || r.Off != object.SwitchNotifications || r.Handler.Shell != "restart $HOSTNAME$" {
		t.Errorf("got %+v", r)
	}
	if r := get(t, c, "b").Rule; r.CheckPeriod != nil || r.Off != 0 || r.Handler != nil {
		t.Errorf("got %+v", r)
	}
}
