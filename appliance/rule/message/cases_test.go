package message_test

import (
	"fmt"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/message"
)

// noon is when all of these messages are written.
var noon = object.At(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))

func host(name, alias, address string) *object.Object {
	return &object.Object{ID: object.HostID(name), Name: name, Alias: alias, Address: address, Rule: &object.Rule{}}
}

func service(h *object.Object, name string) *object.Object {
	return &object.Object{
		ID: object.ServiceID(h.Name, name), Name: name, Host: h, Groups: []string{"shop"},
		Rule: &object.Rule{Notes: "Call the data centre before you touch it."},
	}
}

// item is the problem of a critical disk for twelve minutes.
func item(kind string, change ...func(*message.Item)) message.Item {
	o := service(host("web01", "Web server of the shop", "192.0.2.11"), "disk")
	since := noon.Add(-12*time.Minute - 4*time.Second)
	it := message.Item{
		ID: o.ID, Object: o, Kind: kind, Number: 1, Time: since, Since: since,
		Status:  &event.Status{State: object.Critical, Checked: true, Attempt: 3, MaxAttempts: 3},
		Measure: &event.Measure{Output: "DISK CRITICAL - free space: /var 312 MiB (3% inode=88%):"},
		Was:     &event.Was{State: object.Warning, Checked: true},
		Policy:  "shop", Why: "the policy shop names the contact", Others: []string{"bob", "carol"},
	}
	for _, c := range change {
		c(&it)
	}
	return it
}

func ok(it *message.Item) {
	it.Status = &event.Status{Checked: true, Attempt: 1, MaxAttempts: 3}
	it.Measure = &event.Measure{Output: "DISK OK - free space: /var 7.9 GiB (80% inode=88%):"}
	it.Was = &event.Was{State: object.Critical, Checked: true}
	it.Time = noon
}

func by(author, text string) func(*message.Item) {
	return func(it *message.Item) { it.Author, it.Text, it.Time = author, text, noon }
}

func of(items ...message.Item) *message.Message {
	return &message.Message{
		ID: "m-1f0c", Thread: "t-77aa", Contact: &object.Contact{Name: "alice"}, Channel: "email", Items: items,
		URL: "https://jaque.example.org", Version: "1.0.0", Now: noon,
	}
}

// behindSwitch is a switch that is down with services of three hosts behind it.
func behindSwitch(services int) *message.Message {
	sw := host("sw1", "Switch of rack 7", "192.0.2.1")
	root := message.Item{
		ID: sw.ID, Object: sw, Kind: "PROBLEM", Number: 1, Time: noon.Add(-90 * time.Second), Since: noon.Add(-90 * time.Second),
		Status:  &event.Status{State: object.Down, Checked: true, Attempt: 3, MaxAttempts: 3},
		Measure: &event.Measure{Output: "PING CRITICAL - Packet loss = 100%"},
		Policy:  "network", Why: "the schedule primary has the contact on call until 2026-12-01 09:00",
	}
	m := of(root)
	m.Root = sw.ID
	names := []string{"http", "disk", "load", "ntp", "ssh", "mail queue", "swap", "users"}
	for i := range services {
		h := host(fmt.Sprintf("web%02d", i/len(names)+1), "", "")
		o := service(h, names[i%len(names)])
		state := object.Critical
		if i%5 == 4 {
			state = object.Unknown
		}
		m.Items = append(m.Items, message.Item{
			ID: o.ID, Object: o, Kind: "PROBLEM", Number: 1, Time: noon.Add(-time.Minute), Since: noon.Add(-time.Minute),
			Status:  &event.Status{State: state, Checked: true, Attempt: 3, MaxAttempts: 3, Root: sw.ID},
			Measure: &event.Measure{Output: "connect to address 192.0.2.11: No route to host"}, Policy: "network",
		})
	}
	return m
}

// cases are messages of every kind by the name of their golden files.
func cases() map[string]*message.Message {
	flexible := func(it *message.Item) {
		it.Status.Extra = &event.Extra{Downtimes: []event.Downtime{{Start: noon, Started: noon, End: noon.Add(2 * time.Hour)}}}
	}
	berlin := time.FixedZone("CET", 3600)
	all := map[string]*message.Message{
		"problem": of(item("PROBLEM", func(it *message.Item) {
			it.Measure.Long = "/      ok   2.1 GiB free\n/var   LOW  312 MiB free\n/home  ok   40 GiB free"
		})),
		"repeated": of(item("PROBLEM", func(it *message.Item) {
			it.Number, it.Steps, it.Why = 3, []string{"managers"}, "the step managers names the contact"
			it.Was, it.Since = nil, noon.Add(-26*time.Hour)
			it.Status.Ack, it.Status.Extra = 1, &event.Extra{AckAuthor: "dave", AckText: "waiting for the new disk", AckTime: noon.Add(-time.Hour)}
		})),
		"host": of(message.Item{
			ID: "mail01", Object: host("mail01", "", "2001:db8::25"), Kind: "PROBLEM", Number: 1, Time: noon, Since: noon,
			Status:  &event.Status{State: object.Down, Checked: true, Attempt: 1, MaxAttempts: 1},
			Measure: &event.Measure{Output: "PING CRITICAL - Packet loss = 100%"},
		}),
		"recovery": of(item("RECOVERY", ok)),
		"brief": of(item("PROBLEM"), item("RECOVERY", ok, func(it *message.Item) {
			it.Time = noon.Add(-11 * time.Minute)
		})),
		"acknowledgement": of(item("ACKNOWLEDGEMENT", by("dave", "waiting for the new disk"))),
		"flapping":        of(item("FLAPPINGSTART")),
		"flapping-over":   of(item("FLAPPINGSTOP", ok)),
		"downtime":        of(item("DOWNTIMESTART", flexible, by("dave", "new disks"))),
		"downtime-over":   of(item("DOWNTIMEEND", ok)),
		"cancelled":       of(item("DOWNTIMECANCELLED", ok)),
		"custom":          of(item("CUSTOM", by("dave", "I am on site, call me before you do anything: 030 1234"))),
		"heartbeat":       of(item("HEARTBEAT", ok)),
		"test":            of(),
		"group":           behindSwitch(200),
		"few":             behindSwitch(3),
		"mixed": of(item("PROBLEM"), item("RECOVERY", ok, func(it *message.Item) {
			it.Object = service(host("db01", "", ""), "replication")
			it.ID = it.Object.ID
		})),
		"bare": {Items: []message.Item{{ID: "gone!check", Kind: "PROBLEM"}}, Repeat: true},
	}
	all["test"].Test = true
	all["downtime"].Zone = berlin
	all["repeated"].Repeat = true
	return all
}

// hostile are texts that plugins and people may say.
var hostile = []string{
	"\r\nBcc: everybody@example.org", "\x1b[31mred\x1b[0m", "a\u202eb\u2066c", "zero\u200bwidth\ufeff", "\x00\x07",
	`"><img src=x onerror=alert(1)>`, "</td></table><script>alert(1)</script>", "javascript:alert(1)",
	strings.Repeat("long ", 20000), "\xff\xfe not UTF-8", "{{.Host}}", "$(reboot) `reboot`", "%n%s", "\U000e0041\u2028x",
}
