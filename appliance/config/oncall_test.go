package config

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

const pair = `
contacts: ann: email: "ann@example.com"
contacts: ben: email: "ben@example.com"
periods: nights: {timezone: "UTC", ranges: ["00:00-06:00", "22:00-24:00"]}
hosts: web01: check: dummy: {}
policies: [{oncall: ["first"]}]
`

func TestSchedulesSayWhoIsOnCall(t *testing.T) {
	c := load(t, pair+`oncall: first: {
	timezone: "Europe/Berlin"
	layers: [
		{name: "weeks", contacts: ["ann", "ben"], start: "2026-01-05", handover: "09:00", days: ["monday"]},
		{contacts: ["ben"], start: "2026-01-05", handover: "09:00", every: "1 week", period: "nights", timezone: "UTC"},
	]
	overrides: [{from: "2026-01-07 12:00", to: "2026-01-07 13:00", nobody: true}, {from: "2026-01-08 12:00", to: "2026-01-08 13:00", contact: "ben", reason: "a visit"}]
}`)
	rota := get(t, c, "web01").Notify.Rotas[0]
	for _, tt := range []struct{ at, contact, why string }{
		{"2026-01-05T08:00:00Z", "ann", "layer weeks"},
		{"2026-01-05T23:00:00Z", "ben", "layer 2"},
		{"2026-01-07T11:30:00Z", "", "override 2026-01-07 12:00 - 2026-01-07 13:00"},
		{"2026-01-08T11:30:00Z", "ben", "override 2026-01-08 12:00 - 2026-01-08 13:00 (a visit)"},
		{"2026-01-12T08:00:00Z", "ben", "layer weeks"},
	} {
		when, err := time.Parse(time.RFC3339, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if contact, why, _ := rota.OnCall(object.At(when)); contact != tt.contact || why != tt.why {
			t.Errorf("at %s %q is on call, %s; want %q, %s", tt.at, contact, why, tt.contact, tt.why)
		}
	}
	if got := strings.Join(rota.Members(), " "); got != "ann ben" {
		t.Errorf("members %s", got)
	}
	if c.OnCall["first"] == nil || len(c.Schedules["first"].Layers) != 2 || c.Schedules["first"].Timezone != "Europe/Berlin" {
		t.Errorf("the schedule is %+v", c.Schedules["first"])
	}
}

func TestGapsAreToldAhead(t *testing.T) {
	layer := func(start, more string) string {
		return pair + `oncall: first: {timezone: "UTC", layers: [{contacts: ["ann", "ben"], start: "` + start + `", handover: "09:00", days: ["monday"]` + more + `}]`
	}
	for _, tt := range []struct{ name, text, want string }{
		{"somebody always is", layer("2026-01-05", "") + `}`, ""},
		{"nobody before the start", layer("2026-01-19", "") + `}`, "nobody is on call from 2026-01-14 12:00 to 2026-01-19 09:00, and for 117h of the next 30 days in all"},
		{"nobody outside of a period", layer("2026-01-05", `, period: "nights"`) + `}`, "nobody is on call from 2026-01-14 12:00 to 2026-01-14 22:00, and for 480h"},
		{"a start far ahead", layer("2027-01-04", "") + `}`, "for 720h of the next 30 days"},
		{"nobody on purpose", layer("2026-01-05", "") + `, overrides: [{from: "2026-01-20 00:00", to: "2026-01-21 00:00", nobody: true}]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := fleet(t, 1)
			appendFile(t, path, tt.text)
			c, problems := Load(path, Options{Now: today, IsPlugin: func(string) bool { return true }})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got := c.Warnings.Lines()
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestChangesOfNotificationsAreAnotherGeneration changes one thing at a time. Checks
// are as they were, so no object is a changed one.
func TestChangesOfNotificationsAreAnotherGeneration(t *testing.T) {
	base := pair + `oncall: first: layers: [{contacts: ["ann"], start: "2026-01-05", handover: "09:00", days: ["monday"]}]
`
	first := load(t, base)
	if again := load(t, base); again.Set.Generation != first.Set.Generation {
		t.Error("the same config is another generation")
	}
	for _, tt := range []struct{ name, old, new string }{
		{"a contact's address", "ann@example.com", "anna@example.com"},
		{"a contact's filter", `ann: email: "ann@example.com"`, `ann: {email: "ann@example.com", tell: ["problem"]}`},
		{"a contact's command", `ann: email: "ann@example.com"`, `ann: {email: "ann@example.com", command: "x"}`},
		{"who takes turns", `contacts: ["ann"]`, `contacts: ["ben"]`},
		{"the time of the hand-over", `handover: "09:00"`, `handover: "10:00"`},
		{"a delay", `{oncall: ["first"]}`, `{oncall: ["first"], after: "1m"}`},
		{"a step", `{oncall: ["first"]}`, `{oncall: ["first"], escalate: [{after: "1m", notify: ["ben"]}]}`},
		{"the grouping", `{oncall: ["first"]}`, `{oncall: ["first"], group: wait: "1m"}`},
		{"a rate", "hosts:", "delivery: rates: email: messages: 5\nhosts:"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next := load(t, strings.Replace(base, tt.old, tt.new, 1))
			if next.Set.Generation == first.Set.Generation {
				t.Error("it is the same generation")
			}
			if change := Diff(first.Set, next.Set); !change.Empty() {
				t.Errorf("checks changed: %+v", change)
			}
		})
	}
}
