package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
)

func TestChannelsStandInOneOrder(t *testing.T) {
	c := load(t, `contacts: c: {
	command: "logger hello", chat: ["ntfy://ntfy.sh/a", "ntfy://ntfy.sh/b", "ntfy://ntfy.sh/c"], webhook: "http://h/", telegram: "1", email: "a@example.com"
}
contacts: d: chat: "ntfy://ntfy.sh/a"`)
	want := []string{"email", "telegram", "webhook", "chat", "chat:2", "chat:3", "command"}
	if got := c.Set.Contacts["c"].Notify.Over(object.Service); !slices.Equal(got, want) {
		t.Errorf("channels %v, want %v", got, want)
	}
	if got := c.Set.Contacts["d"].Notify.Channels; !slices.Equal(got, []string{"chat"}) {
		t.Errorf("channels %v", got)
	}
	if h := c.Contacts["c"].Command; h == nil || h.Shell != "logger hello" || h.Name != "contacts.c.command" {
		t.Errorf("the command is %+v", h)
	}
}

func TestContactsSayWhatTheyHear(t *testing.T) {
	const critical, down = object.NoteOptions(1 << object.Critical), object.NoteOptions(1 << object.Down)
	rest := object.NoteRecovery | object.NoteFlapping | object.NoteDowntime
	for _, tt := range []struct {
		name, text      string
		hosts, services object.Reach
	}{
		{"everything", ``, object.Reach{Options: object.NoteAll}, object.Reach{Options: object.NoteAll}},
		{"nothing", `notifications: false`, object.Reach{Off: true, Options: object.NoteAll}, object.Reach{Off: true, Options: object.NoteAll}},
		{
			"nothing of hosts", `hosts: notifications: false`,
			object.Reach{Off: true, Options: object.NoteAll},
			object.Reach{Options: object.NoteAll},
		},
		{
			"hosts after all", `notifications: false, hosts: notifications: true`,
			object.Reach{Options: object.NoteAll},
			object.Reach{Off: true, Options: object.NoteAll},
		},
		{"the worst states", `states: ["critical", "Down"]`, object.Reach{Options: down | rest}, object.Reach{Options: critical | rest}},
		{
			"states of services alone leave nothing of hosts", `states: ["CRITICAL"]`,
			object.Reach{Off: true, Options: rest},
			object.Reach{Options: critical | rest},
		},
		{
			"problems and recoveries in some states", `states: ["critical", "down"], tell: ["problem", "recovery"]`,
			object.Reach{Options: down | object.NoteRecovery},
			object.Reach{Options: critical | object.NoteRecovery},
		},
		{
			"other news of services", `tell: ["problem"], services: {tell: ["downtime", "flapping"]}`,
			object.Reach{Options: newsProblem},
			object.Reach{Options: object.NoteDowntime | object.NoteFlapping},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := load(t, "contacts: c: {email: \"a@example.com\"\n"+tt.text+"}").Set.Contacts["c"].Notify
			if !reflect.DeepEqual(n.Hosts, tt.hosts) || !reflect.DeepEqual(n.Services, tt.services) {
				t.Errorf("of hosts    %+v, want %+v\nof services %+v, want %+v", n.Hosts, tt.hosts, n.Services, tt.services)
			}
		})
	}
}

func TestPeriodsOfContacts(t *testing.T) {
	c := load(t, `periods: day: ranges: ["09:00-17:00"]
periods: late: ranges: ["17:00-22:00"]
contacts: c: {email: "a@example.com", period: "day", hosts: period: "late"}`)
	n := c.Set.Contacts["c"].Notify
	if n.Hosts.Period != c.Set.Periods["late"] || n.Services.Period != c.Set.Periods["day"] {
		t.Errorf("got %v and %v", n.Hosts.Period, n.Services.Period)
	}
}

func TestWebhooks(t *testing.T) {
	c := load(t, `contacts: a: webhook: "https://example.com/a"
contacts: b: webhook: {url: "https://example.com/b", key: "secret", headers: Authorization: "Bearer x", body: "{{json .subject}}"}`)
	if w := c.Contacts["a"].Webhook; w.URL.Reveal() != "https://example.com/a" || w.Body != "" || w.Key.Reveal() != "" {
		t.Errorf("a short one is %+v", w)
	}
	if w := c.Contacts["b"].Webhook; w.URL.Reveal() != "https://example.com/b" || w.Body != "{{json .subject}}" || w.Key.Reveal() != "secret" || w.Headers["Authorization"].Reveal() != "Bearer x" {
		t.Errorf("a long one is %+v", w)
	}
}

// TestAddressesAreNeverShown gives every kind of address that is wrong: such texts
// may hold tokens.
func TestAddressesAreNeverShown(t *testing.T) {
	for _, text := range []string{
		`contacts: c: webhook: "hunter2"`, `contacts: c: webhook: url: "ftp://hunter2"`, `contacts: c: chat: "hunter2"`,
		`contacts: c: chat: "slak://hunter2"`, `contacts: c: chat: ["slack://hunter2"]`, `delivery: canary: url: "hunter2"`,
		"contacts: c: {email: \"a@b.de\", webhook: {url: \"https://x/\", headers: A: \"hunter2\\nB: c\"}}",
	} {
		_, problems := tryLoad(t, text)
		if len(problems) == 0 || strings.Contains(problems.String(), "hunter2") {
			t.Errorf("%s\ngave %s", text, problems)
		}
	}
}

// TestWhatChannelsAndTemplatesRefuseHasItsPlace leaves the words to those who refuse.
func TestWhatChannelsAndTemplatesRefuseHasItsPlace(t *testing.T) {
	const mail = `delivery: templates: email: `
	for _, tt := range []struct{ name, text, path, want string }{
		{"a body that names what is not there", `contacts: c: webhook: {url: "https://example.com/", body: "{{.nothing}}"}`, "contacts.c.webhook.body", "nothing"},
		{"a body without an end", `contacts: c: webhook: {url: "https://example.com/", body: "{{range .items}}"}`, "contacts.c.webhook.body", "EOF"},
		{"an address that is none", `contacts: c: chat: "hello"`, "contacts.c.chat", "slack://"},
		{"a service that is none", `contacts: c: chat: ["ntfy://ntfy.sh/x", "slak://x"]`, "contacts.c.chat[1]", "slack"},
		{"a service with half an address", `contacts: c: chat: "slack://x"`, "contacts.c.chat", "slack"},
		{"a subject that names what is not there", mail + `subject: "{{.Subjct}}"`, "delivery.templates.email.subject", "Subjct"},
		{"a text without an end", mail + `text: "{{range .Items}}"`, "delivery.templates.email.text", "EOF"},
		{"HTML that loops", mail + `html: "{{define \"x\"}}{{template \"x\"}}{{end}}{{template \"x\"}}"`, "delivery.templates.email.html", "calls itself"},
		{"a text that grows without end", mail + `text: "{{range $i := .Items}}{{range $.Items}}{{range $.Items}}{{range $.Items}}x{{end}}{{end}}{{end}}{{end}}{{define \"y\"}}{{template \"y\"}}{{end}}{{template \"y\"}}"`, "delivery.templates.email.text", "y"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := tryLoad(t, tt.text)
			if len(problems) != 1 || problems[0].Path != tt.path || !strings.Contains(problems[0].Text, tt.want) || problems[0].Line != 2 {
				t.Errorf("got\n%swant one at %s with %q", problems.Lines(), tt.path, tt.want)
			}
		})
	}
}

// TestAChatOfMatrixIsNotSignedInTo has an address that nothing listens on: a look at a
// config asks nobody.
func TestAChatOfMatrixIsNotSignedInTo(t *testing.T) {
	c := load(t, `contacts: c: chat: "matrix://user:password@127.0.0.1:1/?rooms=!room"`)
	if got := c.Set.Contacts["c"].Notify.Channels; !slices.Equal(got, []string{"chat"}) {
		t.Errorf("channels %v", got)
	}
}
