package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// load writes a package into a folder of its own and loads it.
func load(t *testing.T, text string) *Config {
	t.Helper()
	c, problems := tryLoad(t, text)
	if len(problems) > 0 {
		t.Fatalf("load:\n%s", problems)
	}
	return c
}

func tryLoad(t testing.TB, text string) (*Config, Problems) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	if err := os.WriteFile(path, []byte("package site\n"+text), 0o644); err != nil {
		t.Fatal(err)
	}
	return Load(path, Options{})
}

func get(t *testing.T, c *Config, id object.ID) *object.Object {
	t.Helper()
	o := c.Set.Get(id)
	if o == nil {
		t.Fatalf("no object %q", id)
	}
	return o
}

func TestEveryFieldArrives(t *testing.T) {
	c, problems := Load("testdata/everything.cue", Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	h := get(t, c, "web01")
	want := &object.Rule{
		Name: "hosts", Interval: time.Minute, Retry: 10 * time.Second, Timeout: 1500 * time.Millisecond, Attempts: 2,
		Check:    object.Check{Kind: object.CheckTCP, TCP: &object.TCPCheck{Address: ":22", Send: "x", Expect: "SSH", Warn: "0.5", Crit: "1"}},
		Volatile: true, Active: true, Passive: false, Freshness: 90 * time.Minute,
		FlapLow: 1.5, FlapHigh: 50, FlapIgnore: 1 << object.Unreachable,
		Notes: "n", NotesURL: "http://n/", ActionURL: "http://a/",
		CheckPeriod: c.Set.Periods["q"], NotePeriod: c.Set.Periods["p"], HandlerPeriod: c.Set.Periods["p"],
		Handler: &object.Handler{Name: "hosts.web01.event_handler", Shell: "restart $HOSTNAME$ | logger"},
		Off:     object.SwitchNotifications | object.SwitchEventHandler | object.SwitchPerfdata | object.SwitchObsess,
	}
	if !reflect.DeepEqual(h.Rule, want) {
		t.Errorf("host rule\ngot  %+v\nwant %+v", h.Rule, want)
	}
	if h.Alias != "Web 1" || h.Address != "192.0.2.10" || h.Zone != "dmz" || !slices.Equal(h.Groups, []string{"a", "b"}) {
		t.Errorf("host is %+v", h)
	}
	if wantVars := map[string]string{"COMMUNITY": "public", "PORT": "8080", "TLS": "true"}; !reflect.DeepEqual(h.Vars, wantVars) {
		t.Errorf("got variables %v, want %v", h.Vars, wantVars)
	}
	if len(h.Parents) != 1 || h.Parents[0] != get(t, c, "sw1") || len(h.Services) != 8 {
		t.Errorf("got parents %v and %d services", h.Parents, len(h.Services))
	}
	wantSettings := object.Settings{
		On: object.ProgramHostChecks | object.ProgramServiceChecks | object.ProgramFlapDetection |
			object.ProgramObsessHosts | object.ProgramObsessServices,
		ServiceFlapLow: 10, ServiceFlapHigh: 40, HostFlapLow: 11, HostFlapHigh: 41,
		AggressiveHostChecking: true, PassiveHostsAreSoft: true, TranslatePassiveHosts: true, TimeoutState: object.Unknown,
	}
	if c.Set.Settings != wantSettings {
		t.Errorf("got settings %+v, want %+v", c.Set.Settings, wantSettings)
	}
	if !c.HTTP.PublicReads || !slices.Equal(c.PluginPath, []string{"/opt/plugins"}) || c.Macros["USER1"].Reveal() != "/opt/plugins" {
		t.Errorf("got http %+v, plugin path %v, macros %v", c.HTTP, c.PluginPath, c.Macros)
	}
}

func TestChecksArriveAsDeclared(t *testing.T) {
	c, problems := Load("testdata/everything.cue", Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for id, want := range map[object.ID]object.Check{
		"sw1": {Kind: object.CheckICMP, ICMP: &object.ICMPCheck{Count: 3}},
		"web01!http": {Kind: object.CheckHTTP, HTTP: &object.HTTPCheck{
			URL: "https://$HOSTADDRESS$/", Method: "HEAD", Headers: map[string]string{"Accept": "text/html"},
			Status: []int{200, 301}, Contains: "ok", Insecure: true, Redirect: 3, Warn: "$_SERVICEWARN$", Crit: "2",
		}},
		"web01!extra": {Kind: object.CheckPlugin, Shell: "echo $HOSTNAME$ | cat"},
		"web01!stale": {Kind: object.CheckPassive},
		"web01!tls": {Kind: object.CheckTLS, TLS: &object.TLSCheck{
			Address: ":443", ServerName: "example.com", Insecure: true, WarnDays: "30:", CritDays: "7:",
		}},
		"web01!name": {Kind: object.CheckDNS, DNS: &object.DNSCheck{
			Name: "example.com", Type: "AAAA", Server: "192.0.2.53", Expect: []string{"2001:db8::1"}, Warn: "1", Crit: "2",
		}},
		"web01!steps": {Kind: object.CheckDummy, Dummy: &object.DummyCheck{
			States: []object.State{object.OK, object.Critical}, Period: "1m0s", Text: "flip",
		}},
		"web01!all": {Kind: object.CheckAggregate, Aggregate: &object.AggregateCheck{
			Members: []object.ID{"sw1", "web01!http", "$HOSTNAME$!extra"}, Warn: "1", Crit: "@2:3",
		}},
		"sw1!icmp ping": {Kind: object.CheckICMP, ICMP: &object.ICMPCheck{
			Address: "$HOSTADDRESS$", WarnLoss: "20", CritLoss: "60", WarnRTT: "100", CritRTT: "500",
		}},
	} {
		if got := get(t, c, id).Rule.Check; !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", id, got, want)
		}
	}
	if r := get(t, c, "web01!stale").Rule; r.Active || r.Interval != 0 || r.Freshness != 24*time.Hour || !r.Passive {
		t.Errorf("a passive check is %+v", r)
	}
}

func TestShapesOfLaterStagesArrive(t *testing.T) {
	c, problems := Load("testdata/everything.cue", Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got := c.Contacts["c"]; got.Email != "c@example.com" || got.Telegram.Reveal() != "1" {
		t.Errorf("got contact %+v", got)
	}
	if got := c.Sinks["s"]; got.Input != "metrics" || got.Target != "influx" || got.Options["items"].Reveal() != "100" {
		t.Errorf("got sink %+v", got)
	}
	if got := c.Periods["p"]; got.Timezone != "UTC" || len(got.Ranges) != 2 || len(got.Except) != 1 {
		t.Errorf("got period %+v", got)
	}
	if got := c.Views["v"]; got != (View{"v", "V", "label.role=web"}) {
		t.Errorf("got view %+v", got)
	}
	if got := c.Users["u"]; got.Role != "admin" || got.Password.Reveal() != "$argon2id$x" {
		t.Errorf("got user %+v", got)
	}
}

func TestAHostOverridesItsRule(t *testing.T) {
	c, problems := Load("testdata/everything.cue", Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	o := get(t, c, "web01!http")
	if o.Rule.Interval != 10*time.Second || o.Alias != "own" || o.Zone != "lab" {
		t.Errorf("got interval %s, alias %q, zone %q", o.Rule.Interval, o.Alias, o.Zone)
	}
	for label, want := range map[string]string{"tier": "1", "kind": "http", "role": "web"} {
		got, _ := o.Label(label)
		if got != want {
			t.Errorf("label %s is %q, want %q", label, got, want)
		}
	}
	if want := map[string]string{"PATH": "/x", "HOST": "h"}; !reflect.DeepEqual(o.Vars, want) {
		t.Errorf("got variables %v, want %v", o.Vars, want)
	}
}

// S092: a zone is all that can be said about where a check runs; there is no field for a worker.
func TestNoFieldNamesAWorker(t *testing.T) {
	for _, field := range []string{"worker", "workers", "engine", "node"} {
		for _, text := range []string{
			"hosts: a: {%s: \"w1\", check: dummy: {}}", "hosts: a: {}\nservices: x: {on: {}, %s: \"w1\", check: dummy: {}}", "defaults: %s: \"w1\"",
		} {
			if _, problems := tryLoad(t, fmt.Sprintf(text, field)); len(problems) != 1 || !strings.Contains(problems[0].Path+problems[0].Text, field) {
				t.Errorf("%s: %v, want one problem about the field", fmt.Sprintf(text, field), problems)
			}
		}
	}
}

// S088, S089: the zone of a host, and of the services on it.
func TestZones(t *testing.T) {
	c := load(t, `
hosts: a: {}
hosts: b: zone: "dmz"
services: x: {on: {}, check: dummy: {}}
services: y: {on: {}, zone: "lab", check: dummy: {}}
`)
	for id, want := range map[object.ID]string{"a": "default", "a!x": "default", "b": "dmz", "b!x": "dmz", "b!y": "lab"} {
		if got := get(t, c, id).Zone; got != want {
			t.Errorf("zone of %s is %q, want %q", id, got, want)
		}
	}
	if len(c.Warnings) != 0 {
		t.Errorf("got warnings %v", c.Warnings)
	}
}

func TestSelection(t *testing.T) {
	const hosts = `
hosts: web1: {labels: {role: "web", site: "a"}, groups: ["linux"]}
hosts: web2: {labels: {role: "web", site: "b"}, groups: ["bsd"]}
hosts: db1: {labels: {role: "db", site: "a"}, groups: ["linux", "big"]}
`
	for _, c := range []struct{ name, rule, want string }{
		{"an empty on selects every host", `on: {}`, "db1 web1 web2"},
		{"one label selects", `on: role: "web"`, "web1 web2"},
		{"all labels must hold", `on: {role: "web", site: "a"}`, "web1"},
		{"one of several values is enough", `on: site: ["a", "b"]`, "db1 web1 web2"},
		{"a label nobody has selects nothing", `on: colour: "red"`, ""},
		{"hosts are selected by name", `hosts: ["db1", "web2"]`, "db1 web2"},
		{"one of several groups is enough", `groups: ["big", "bsd"]`, "db1 web2"},
		{"label and group must both hold", `on: {role: "web"}, groups: ["linux"]`, "web1"},
		{"hosts and labels must both hold", `on: {role: "web"}, hosts: ["db1", "web1"]`, "web1"},
		{"except leaves hosts out", `on: {}, except: ["web1"]`, "db1 web2"},
		{"an empty list of hosts selects nothing", `hosts: []`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := load(t, hosts+"services: x: {"+c.rule+", check: dummy: {}}\n")
			var got []string
			for _, o := range cfg.Set.Objects {
				if o.Kind() == object.Service {
					got = append(got, o.HostObject().Name)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %q", got, c.want)
			}
		})
	}
}

func TestDefaultsComeFromTheSchema(t *testing.T) {
	c := load(t, "hosts: a: {}\nservices: x: {on: {}, check: dummy: {}}\n")
	h, s := get(t, c, "a"), get(t, c, "a!x")
	if h.Rule.Check.Kind != object.CheckNone || h.Rule.Active || h.Address != "a" {
		t.Errorf("a plain host is %+v with %+v", h, h.Rule)
	}
	if r := s.Rule; r.Interval != time.Minute || r.Retry != 15*time.Second || r.Timeout != 30*time.Second || r.Attempts != 3 || !r.FlapDetection {
		t.Errorf("a plain service has %+v", r)
	}
	if c.Set.Settings != object.DefaultSettings() {
		t.Errorf("the schema's settings %+v differ from the core's %+v", c.Set.Settings, object.DefaultSettings())
	}
}

func TestEqualServicesShareOneRule(t *testing.T) {
	c := load(t, `
hosts: a: services: x: interval: "5s"
hosts: b: services: x: interval: "5s"
hosts: c: {}
hosts: d: {}
services: x: {on: {}, check: dummy: {}}
`)
	a, b, x := get(t, c, "a!x").Rule, get(t, c, "b!x").Rule, get(t, c, "c!x").Rule
	if a != b || x != get(t, c, "d!x").Rule || a == x {
		t.Error("services of one rule with equal overrides do not share their rule")
	}
}

func TestSecretsAreNeverPrinted(t *testing.T) {
	c := load(t, `users: u: {password: "$argon2id$hidden", role: "admin"}`)
	text, err := json.Marshal(c.Users)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{string(text), fmt.Sprint(c.Users), fmt.Sprintf("%+v %#v", c.Users, c.Users["u"].Password)} {
		if strings.Contains(shown, "hidden") {
			t.Errorf("the secret shows in %s", shown)
		}
	}
}

func TestSecretsAreResolvedBesideTheConfig(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "site.cue")
	text := `package site
settings: macros: {USER1: "file:pass", USER2: "env:TOKEN", USER3: "plain"}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var asked string
	c, problems := Load(path, Options{
		ReadSecret: func(name string) ([]byte, error) { asked = name; return []byte("from a file\n"), nil },
		LookupEnv:  func(name string) (string, bool) { return "from " + name, true },
	})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for name, want := range map[string]string{"USER1": "from a file", "USER2": "from TOKEN", "USER3": "plain"} {
		if got := c.Macros[name].Reveal(); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		if got := c.Macros[name].Referred(); got == (name == "USER3") {
			t.Errorf("%s stands elsewhere is %v", name, got)
		}
	}
	if asked != filepath.Join(dir, "pass") {
		t.Errorf("read %s", asked)
	}
}

func TestTwoLoadsAtOnceDoNotMeet(t *testing.T) {
	var wg sync.WaitGroup
	generations := make([]string, 4)
	for i := range generations {
		wg.Go(func() {
			c, problems := Load("testdata/everything.cue", Options{})
			if len(problems) == 0 {
				generations[i] = c.Set.Generation
			}
		})
	}
	wg.Wait()
	for _, g := range generations {
		if g == "" || g != generations[0] {
			t.Errorf("got generations %v", generations)
		}
	}
}

func TestProblemsOfManyHostsStayFast(t *testing.T) {
	dir := t.TempDir()
	var csv strings.Builder
	csv.WriteString("name,parents\n")
	for i := range 5000 {
		fmt.Fprintf(&csv, "host-%d,gone-%d\n", i, i)
	}
	for name, text := range map[string]string{"site.cue": "inventory: [\"hosts.csv\"]", "hosts.csv": csv.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	_, problems := Load(dir, Options{})
	if len(problems) != 5000 {
		t.Errorf("got %d problems, want 5000", len(problems))
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}
