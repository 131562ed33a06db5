package message

import (
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// samples are messages of every kind and size, with all that can be missing missing
// somewhere, for trying templates.
func samples(channel string) []*Message {
	now := object.At(time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC))
	host := &object.Object{ID: "web01", Name: "web01", Alias: "Web server", Address: "192.0.2.11", Rule: &object.Rule{Notes: "rack 4"}, Groups: []string{"web"}}
	disk := &object.Object{ID: "web01!disk", Name: "disk", Host: host, Rule: &object.Rule{Labels: map[string]string{"team": "shop"}}}
	message := func(items ...Item) *Message {
		return &Message{
			ID: "sample-message", Thread: "sample-thread", Contact: &object.Contact{Name: "alice"}, Channel: channel,
			Items: items, URL: "https://monitor.example.org", Version: "0.0", Now: now,
		}
	}
	var all []*Message
	for _, kind := range []string{
		problem, recovery, acknowledgement, flapStart, flapStop, flapDisabled, downStart, downEnd, downCancelled, custom, heartbeat,
	} {
		it := Item{
			ID: disk.ID, Object: disk, Kind: kind, Number: 1, Time: now, Since: now.Add(-12 * time.Minute),
			Status: &event.Status{
				State: object.Critical, Checked: true, Attempt: 3, MaxAttempts: 3, Ack: object.AckKind(1),
				Extra: &event.Extra{AckAuthor: "bob", AckText: "on it", AckTime: now},
			},
			Measure: &event.Measure{Output: "DISK CRITICAL - free space: /var 312 MiB (3%)", Long: "/var 3%\n/home 40%"},
			Author:  "bob", Text: "on it", Policy: "shop", Steps: []string{"managers"}, Others: []string{"bob", "carol"},
		}
		all = append(all, message(it))
	}
	bare := message(Item{ID: "old", Kind: problem})
	bare.URL, bare.Contact, bare.Repeat = "", nil, true
	test := message()
	test.Test = true
	many := message()
	many.Root = host.ID
	for i := range 2 * offered {
		id := object.ServiceID("web"+strconv.Itoa(i/2), "service "+strings.Repeat("x", i%9))
		many.Items = append(many.Items, Item{ID: id, Kind: problem, Time: now, Status: &event.Status{State: object.State(i % 4), Checked: true}, Measure: &event.Measure{Output: strings.Repeat("long ", 60)}})
	}
	return append(all, bare, test, many)
}

// name says for an error which sample it is.
func (m *Message) name() string {
	switch {
	case len(m.Items) == 0:
		return "TEST"
	case len(m.Items) > 1:
		return m.Items[0].Kind + " with " + strconv.Itoa(len(m.Items)) + " objects"
	}
	return m.Items[0].Kind
}
