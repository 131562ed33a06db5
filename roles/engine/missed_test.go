package engine

import (
	"reflect"
	"testing"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
)

// asked is an event that asks for a message to each of some contacts.
func asked(id, kind string, contacts ...string) *event.Event {
	n := event.Note{Kind: kind, Send: true, Number: 3}
	for _, c := range contacts {
		n.People = append(n.People, event.Person{Name: c, Told: true, Channels: []string{"email"}})
	}
	return &event.Event{ID: id, Object: "h!s", Status: &event.Status{Problem: 7, NotificationNumber: 3}, Notes: []event.Note{n}}
}

// became is the outcome of a request.
func became(k event.Kind, r event.Request) *event.Event {
	return &event.Event{Kind: k, Object: "h!s", Facts: map[string]string{event.FactRequest: r.ID, event.FactContact: r.Contact}}
}

func nobody(string) bool { return false }

func TestOnlyWhatReachedNobodyIsMissed(t *testing.T) {
	const delivered, abandoned, failed = event.NotificationDelivered, event.NotificationAbandoned, event.NotificationFailed
	tests := []struct {
		name     string
		kind     string
		outcomes []event.Kind // of ann's and bob's messages in turn
		missed   bool
	}{
		{"all are given up", "PROBLEM", []event.Kind{abandoned, abandoned}, true},
		{"one is delivered", "PROBLEM", []event.Kind{abandoned, delivered}, false},
		{"the first is delivered", "PROBLEM", []event.Kind{delivered, abandoned}, false},
		{"one is still on its way", "PROBLEM", []event.Kind{abandoned, failed}, false},
		{"a recovery is given up", "RECOVERY", []event.Kind{abandoned, abandoned}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, e := sendings{}, asked("d1", tt.kind, "ann", "bob")
			m.enter(e, nobody)
			var got fold.Command
			for i, r := range e.Requests() {
				if c, ok := m.end(became(tt.outcomes[i], r)); ok {
					got = c
				}
			}
			if (got != nil) != tt.missed {
				t.Fatalf("decides %+v", got)
			}
			if tt.missed && !reflect.DeepEqual(got, fold.Missed{Problem: 7, Number: 3}) {
				t.Errorf("decides %+v", got)
			}
			if len(m) > 0 && tt.outcomes[1] != failed {
				t.Errorf("%d messages are still followed", len(m))
			}
		})
	}
}

func TestWhoForCertainGotNothingIsLost(t *testing.T) {
	m, e := sendings{}, asked("d1", "PROBLEM", "ann", "bob", "carol")
	m.enter(e, told(&event.Status{Told: "carol\n"}))
	var got fold.Command
	for i, r := range e.Requests() {
		outcome := became(event.NotificationAbandoned, r)
		if i != 1 { // of bob's message it is not known
			outcome.Facts[event.FactLost] = "true"
		}
		if c, ok := m.end(outcome); ok {
			got = c
		}
	}
	if !reflect.DeepEqual(got, fold.Missed{Problem: 7, Number: 3, Lost: []string{"ann"}}) {
		t.Errorf("decides %+v; bob may have it, and carol knew of the problem", got)
	}
}

func TestAStartKnowsWhatIsOpen(t *testing.T) {
	pending := func(e *event.Event, which ...int) (all []*deliver.Pending) {
		for _, i := range which {
			all = append(all, &deliver.Pending{Request: e.Requests()[i]})
		}
		return all
	}
	whole, half := asked("d1", "PROBLEM", "ann", "bob"), asked("d2", "PROBLEM", "ann", "bob")
	m := sendings{}
	m.begin(append(pending(whole, 0, 1), pending(half, 1)...))
	if len(m) != 3 {
		t.Fatalf("%d messages are followed", len(m))
	}
	if c, ok := m.end(became(event.NotificationAbandoned, half.Requests()[1])); ok {
		t.Errorf("what became of the other message is not known, and still %+v", c)
	}
	m.end(became(event.NotificationAbandoned, whole.Requests()[0]))
	if _, ok := m.end(became(event.NotificationAbandoned, whole.Requests()[1])); !ok {
		t.Error("a notification that reached nobody is taken for told")
	}
}
