package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
)

// crew is three contacts, two of them in a group, and two periods.
const crew = `
contacts: ops: {email: "ops@example.com", groups: ["admins"]}
contacts: boss: {email: "boss@example.com", groups: ["admins"]}
contacts: night: {telegram: "1"}
periods: office: {timezone: "UTC", ranges: ["monday-friday 09:00-17:00"]}
oncall: primary: {timezone: "UTC", layers: [{contacts: ["night", "ops"], start: "2026-01-05", handover: "09:00", days: ["monday"]}]}
`

// farm is three hosts with two services each.
const farm = `
hosts: web01: {labels: {role: "web", site: "a"}, groups: ["front"]}
hosts: web02: {labels: {role: "web", site: "b"}, services: http: labels: role: "canary"}
hosts: db01: {labels: role: "db", groups: ["back"], notification_interval: "4h"}
services: http: {on: {}, labels: tier: "1", check: dummy: {}}
services: disk: {on: {}, service_groups: ["storage"], check: dummy: {}}
`

// chain lists the policies that may have their say about an object, in order.
func chain(o *object.Object) string {
	var names []string
	for n := o.Notify; n != nil; n = n.Else {
		names = append(names, n.Name)
	}
	return strings.Join(names, " ")
}

// chains lists the objects that have a policy.
func chains(c *Config) map[string]string {
	all := map[string]string{}
	for _, o := range c.Set.Objects {
		if s := chain(o); s != "" {
			all[string(o.ID)] = s
		}
	}
	return all
}

func TestAPolicyIsForTheObjectsItSelects(t *testing.T) {
	for _, tt := range []struct{ name, selectors, want string }{
		{"nothing said is everything", ``, "db01 db01!disk db01!http web01 web01!disk web01!http web02 web02!disk web02!http"},
		{"labels of a host are those of its services", `match: role: "db"`, "db01 db01!disk db01!http"},
		{"a service's own label goes before", `match: role: "web"`, "web01 web01!disk web01!http web02 web02!disk"},
		{"labels of a rule count", `match: tier: ["1", "2"]`, "db01!http web01!http web02!http"},
		{"all labels must hold", `match: {role: "web", site: "b"}`, "web02 web02!disk"},
		{"groups of a host are those of its services", `groups: ["front", "back"]`, "db01 db01!disk db01!http web01 web01!disk web01!http"},
		{"groups of a service are its own", `groups: ["storage"]`, "db01!disk web01!disk web02!disk"},
		{"a host's name is the host alone", `objects: ["web01"]`, "web01"},
		{"a star is any text", `objects: ["web*", "*!http"]`, "db01!http web01 web01!http web02 web02!http"},
		{"what is left out", `objects: ["*!*"], except: ["db*!*", "web01!disk"]`, "web01!http web02!disk web02!http"},
		{"hosts alone", `only: "hosts"`, "db01 web01 web02"},
		{"services alone", `only: "services", match: role: "db"`, "db01!disk db01!http"},
		{"states of services alone", `states: ["critical"], match: role: "db"`, "db01!disk db01!http"},
		{"states of hosts alone", `states: ["DOWN"]`, "db01 web01 web02"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, crew+farm+"policies: [{notify: [\"ops\"]\n"+tt.selectors+"}]")
			if got := strings.Join(sortedKeys(chains(c)), " "); got != tt.want {
				t.Errorf("it is for %s\nwant      %s", got, tt.want)
			}
		})
	}
}

func TestPoliciesStandInOrder(t *testing.T) {
	c := load(t, crew+farm+`policies: [
	{name: "critical", states: ["critical"], notify: ["boss"]},
	{name: "office", period: "office", match: role: "web", notify: ["ops"]},
	{name: "rest", notify: ["admins"]},
	{name: "hidden", match: role: "db", notify: ["ops"]},
]`)
	want := map[string]string{
		"db01": "rest", "db01!disk": "critical rest", "db01!http": "critical rest",
		"web01": "office rest", "web01!disk": "critical office rest", "web01!http": "critical office rest",
		"web02": "office rest", "web02!disk": "critical office rest", "web02!http": "critical rest",
	}
	got := chains(c)
	for id, names := range want {
		if got[id] != names {
			t.Errorf("%s has %q, want %q", id, got[id], names)
		}
	}
	at := func(text string) object.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return object.At(when)
	}
	disk := get(t, c, "web01!disk").Notify
	for _, tt := range []struct {
		state object.State
		time  string
		want  string
	}{
		{object.Critical, "2026-01-14T12:00:00Z", "critical"},
		{object.Warning, "2026-01-14T12:00:00Z", "office"},
		{object.Warning, "2026-01-14T20:00:00Z", "rest"},
		{object.OK, "2026-01-14T20:00:00Z", "critical"},
	} {
		if got := disk.For(tt.state, at(tt.time)); got.Name != tt.want {
			t.Errorf("in state %d at %s policy %s has its say, want %s", tt.state, tt.time, got.Name, tt.want)
		}
	}
}

func TestWhatAPolicySaysArrives(t *testing.T) {
	c := load(t, crew+farm+`policies: [{
	name: "all", notify: ["admins", "ops"], oncall: ["primary"], after: "5m", repeat: "1h", tell: ["problem", "flapping"]
	group: {by: "label:site", wait: "1m", interval: "2m"}, recovery: "chosen"
	escalate: [
		{after: "90m", notify: ["night"]},
		{after: "2h", from: 3, to: 5, oncall: ["primary"], repeat: "0", states: ["unknown", "down"], period: "office", instead: true},
		{from: 4, notify: ["boss"], states: ["unreachable"], after: "2h"},
	]
}]`)
	n, host := get(t, c, "db01!disk").Notify, get(t, c, "db01").Notify
	contacts := func(all []*object.Contact) string {
		var names []string
		for _, one := range all {
			names = append(names, one.Name)
		}
		return strings.Join(names, " ")
	}
	if n.Name != "all" || contacts(n.Contacts) != "boss ops" || len(n.Rotas) != 1 || n.Rotas[0].Name() != "primary" {
		t.Errorf("told are %s and %v", contacts(n.Contacts), n.Rotas)
	}
	if n.FirstDelay != 5*time.Minute || n.Interval != time.Hour || n.ToTold || !n.FromFirst || !n.Timed || n.Else != nil || n.States != 0 || n.Heartbeat {
		t.Errorf("got %+v", n)
	}
	if want := (object.Grouping{By: "label:site", Wait: time.Minute, Interval: 2 * time.Minute}); n.Group != want {
		t.Errorf("groups by %+v", n.Group)
	}
	if n.Options != object.NoteOptions(1<<object.Warning|1<<object.Critical|1<<object.Unknown)|object.NoteFlapping {
		t.Errorf("tells of %b", n.Options)
	}
	if len(n.Steps) != 2 || len(host.Steps) != 3 {
		t.Fatalf("%d steps for services, %d for hosts", len(n.Steps), len(host.Steps))
	}
	first, second := n.Steps[0], n.Steps[1]
	if first.Name != "after 1h30m" || contacts(first.Contacts) != "night" || first.After != 90*time.Minute || !first.Adds || first.Interval != -1 || first.Options != object.NoteAll || first.Period != nil {
		t.Errorf("the first step is %+v", first)
	}
	if second.Name != "after 2h, 3 to 5" || second.First != 3 || second.Last != 5 || second.Interval != 0 || second.Adds || len(second.Rotas) != 1 || second.Period != c.Set.Periods["office"] {
		t.Errorf("the second step is %+v", second)
	}
	if second.Options.Problems() != 1<<object.Unknown || host.Steps[1].Options.Problems() != 1<<object.Down || !second.Options.Has(object.NoteRecovery) {
		t.Errorf("the second step holds in %b, of hosts in %b", second.Options, host.Steps[1].Options)
	}
}

func TestIntervalsOfPolicies(t *testing.T) {
	for _, tt := range []struct {
		name, repeat string
		want         time.Duration // as object.Notification counts
	}{
		{"absent is the object's", ``, 0},
		{"zero is told once", `repeat: "0"`, -1},
		{"anything else is its own", `repeat: "30m"`, 30 * time.Minute},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, crew+farm+"policies: [{notify: [\"ops\"]\n"+tt.repeat+"}]")
			if got := get(t, c, "db01").Notify; got.Interval != tt.want || !got.ToTold {
				t.Errorf("the interval is %s", got.Interval)
			}
		})
	}
}

func TestGroupingOfPolicies(t *testing.T) {
	usual := object.Grouping{By: object.GroupRoot, Wait: 10 * time.Second, Interval: 5 * time.Minute}
	for _, tt := range []struct {
		name, group string
		want        object.Grouping
	}{
		{"absent is by the root", ``, usual},
		{"times alone", `group: wait: "0"`, object.Grouping{By: object.GroupRoot, Interval: 5 * time.Minute}},
		{"none waits for nothing", `group: {by: "none", wait: "1m"}`, object.Grouping{}},
		{"by the policy", `group: by: "policy"`, object.Grouping{By: object.GroupPolicy, Wait: usual.Wait, Interval: usual.Interval}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, crew+farm+"policies: [{notify: [\"ops\"]\n"+tt.group+"}]")
			if got := get(t, c, "db01!disk").Notify.Group; got != tt.want {
				t.Errorf("groups by %+v", got)
			}
		})
	}
}

// TestObjectsShareTheirNotification loads many objects under many policies: there are
// no more notifications than lists of policies, and their number decides nothing.
func TestObjectsShareTheirNotification(t *testing.T) {
	path := fleet(t, 1000)
	var b strings.Builder
	b.WriteString("contacts: ops: email: \"ops@example.com\"\npolicies: [\n")
	for i := range 20 {
		fmt.Fprintf(&b, "{match: site: \"site%02d\", states: [\"critical\", \"down\"], notify: [\"ops\"]},\n", i)
	}
	b.WriteString("{objects: [\"*!check0*\", \"host-*\"], notify: [\"ops\"]},\n{notify: [\"ops\"]}]\n")
	timed := func() (*Config, time.Duration) {
		before := time.Now()
		c, problems := Load(path, Options{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return c, time.Since(before)
	}
	_, without := timed()
	appendFile(t, path, b.String())
	c, with := timed()
	t.Logf("%d objects, %s without policies, %s with 22", len(c.Set.Objects), without, with)
	shared := map[*object.Notification]int{}
	for _, o := range c.Set.Objects {
		for n := o.Notify; n != nil; n = n.Else {
			shared[n]++
		}
	}
	// One for each site and kind, and the one behind them of each kind.
	if len(shared) != 42 {
		t.Errorf("%d notifications", len(shared))
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"web01", "web01", true},
		{"web01", "web011", false},
		{"web*", "web", true},
		{"web*", "xweb", false},
		{"*01", "web01", true},
		{"*01", "web010", false},
		{"w*b*1", "web01", true},
		{"w*b*b*1", "web01", false},
		{"*", "", true},
		{"a*a", "a", false},
		{"a*a", "aa", true},
		{"**", "x", true},
		{"a.c", "abc", false},
	} {
		if got := like(tt.pattern, tt.text); got != tt.want {
			t.Errorf("%q like %q is %v", tt.text, tt.pattern, got)
		}
	}
}

// TestPatternsFindWhatTheyWereMadeFrom replaces parts of a text with stars.
func TestPatternsFindWhatTheyWereMadeFrom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab1-")), 0, 12, -1).Draw(t, "text")
		pattern, rest := "", text
		for rest != "" {
			n := rapid.IntRange(0, len(rest)).Draw(t, "part")
			if rapid.Bool().Draw(t, "star") {
				pattern += "*"
			} else {
				pattern += rest[:n]
			}
			if n == 0 {
				break
			}
			rest = rest[n:]
		}
		if rest != "" {
			pattern += "*"
		}
		if !like(pattern, text) {
			t.Fatalf("%q is not like %q", text, pattern)
		}
		if !strings.Contains(pattern, "*") && like(pattern, text+"x") {
			t.Fatalf("%q is like %q", text+"x", pattern)
		}
	})
}

func TestGroupsOfContactsMayBeNamed(t *testing.T) {
	c := load(t, crew+farm+`contacts: extra: {email: "x@example.com", groups: ["ops"]}
policies: [{notify: ["ops"]}]`)
	n := get(t, c, "db01").Notify
	if len(n.Contacts) != 1 || n.Contacts[0] != c.Set.Contacts["ops"] {
		t.Errorf("told are %v", n.Contacts)
	}
	if !slices.ContainsFunc(c.Warnings, func(p Problem) bool { return strings.Contains(p.Text, "has the same name") }) {
		t.Errorf("no warning in\n%s", c.Warnings.Lines())
	}
}
