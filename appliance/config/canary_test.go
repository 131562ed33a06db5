package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

const ping = `url: "https://example.com/ping"`

func TestTheCanaryIsAnObjectThatTellsEveryRound(t *testing.T) {
	for _, tt := range []struct{ name, canary, contacts, channels string }{
		{"an address alone", ping, "canary", "canary"},
		{"a contact alone", `contact: "ops"`, "ops", "email"},
		{"both", ping + `, contact: "ops"`, "canary ops", "canary email"},
		{"both, the contact first by name", ping + `, contact: "alice"`, "alice canary", "telegram canary"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := load(t, `
contacts: ops: email: "ops@example.com"
contacts: alice: telegram: "1"
hosts: web01: check: dummy: {}
services: http: {on: {}, check: dummy: {}}
policies: [{notify: ["ops", "alice"]}]
delivery: canary: {every: "20s", `+tt.canary+`}`)
			o := get(t, c, "jaque!canary")
			n := o.Notify
			if n == nil || !n.Heartbeat || n.Name != "canary" || n.Options != object.NoteAll || n.Timed || n.Else != nil {
				t.Fatalf("it tells %+v", n)
			}
			var contacts, channels []string
			for _, one := range n.Contacts {
				contacts, channels = append(contacts, one.Name), append(channels, one.Notify.Over(object.Service)...)
				if c.Set.Contacts[one.Name] != one {
					t.Errorf("the set does not know %s", one.Name)
				}
			}
			if strings.Join(contacts, " ") != tt.contacts || strings.Join(channels, " ") != tt.channels {
				t.Errorf("told are %v over %v", contacts, channels)
			}
			r := o.Rule
			if r.Interval != 20*time.Second || r.Check.Kind != object.CheckDummy || !r.Active || r.Attempts != 1 || r.Timeout != 20*time.Second {
				t.Errorf("it is checked by %+v", r)
			}
			host := get(t, c, "jaque")
			if host.Notify != nil || !slices.Equal(host.Services, []*object.Object{o}) || host.Rule.Check.Kind != object.CheckDummy {
				t.Errorf("its host is %+v", host)
			}
			if len(c.Warnings) > 0 {
				t.Errorf("\n%s", c.Warnings.Lines())
			}
		})
	}
}

func TestWithoutACanaryNothingIsAdded(t *testing.T) {
	c := load(t, `hosts: jaque: check: dummy: {}
delivery: deadline: "1h"`)
	if len(c.Set.Objects) != 1 || len(c.Set.Contacts) != 0 || c.Delivery.Canary.Every != 0 {
		t.Errorf("got %s, contacts %v", c.Summary(), c.Set.Contacts)
	}
}

func TestDeliveryHasDefaults(t *testing.T) {
	for _, tt := range []struct{ name, text string }{{"without the section", ``}, {"with an empty one", `delivery: {}`}} {
		t.Run(tt.name, func(t *testing.T) {
			d := load(t, tt.text).Delivery
			if d.Deadline != 24*time.Hour || d.URL != "" || d.TelegramAPI != "" || len(d.Templates) != 0 {
				t.Errorf("got %+v", d)
			}
			if len(d.Rates) != 4 || d.Rates["email"] != (Rate{60, time.Minute}) || d.Rates["webhook"] != (Rate{300, time.Minute}) {
				t.Errorf("rates %v", d.Rates)
			}
		})
	}
}

func TestDeliveryArrives(t *testing.T) {
	c, problems := Load("testdata/everything.cue", Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	d := c.Delivery
	if d.URL != "https://monitoring.example.com" || d.TelegramAPI != "http://127.0.0.1:8081" || d.Deadline != 12*time.Hour {
		t.Errorf("got %+v", d)
	}
	if _, limited := d.Rates["webhook"]; limited || d.Rates["email"] != (Rate{30, 5 * time.Minute}) || d.Rates["command"] != (Rate{100, time.Minute}) {
		t.Errorf("rates %v", d.Rates)
	}
	if got := d.Templates["email"]; got != (Template{"{{.Subject}}", "{{.Subject}}", "<p>{{.Subject}}</p>"}) {
		t.Errorf("templates %+v", d.Templates)
	}
	if d.Canary.Every != 30*time.Second || d.Canary.URL.Reveal() != "https://example.com/ping" || d.Canary.Contact != "e" {
		t.Errorf("canary %+v", d.Canary)
	}
}

func TestTemplatesMayBeFiles(t *testing.T) {
	path := fleet(t, 1)
	appendFile(t, path, `delivery: templates: email: text: "file:mail.txt"
contacts: c: webhook: {url: "https://example.com", body: "file:body.json"}
policies: [{notify: ["c"]}]
`)
	files := map[string]string{"mail.txt": "{{.Subject}}\n", "body.json": "{{json .subject}}\n"}
	c, problems := Load(path, Options{ReadSecret: func(name string) ([]byte, error) {
		return []byte(files[name[strings.LastIndexByte(name, '/')+1:]]), nil
	}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if c.Delivery.Templates["email"].Text != files["mail.txt"] || c.Contacts["c"].Webhook.Body != files["body.json"] {
		t.Errorf("got %+v and %q", c.Delivery.Templates, c.Contacts["c"].Webhook.Body)
	}
}
