package explain_test

import (
	"fmt"
	"testing"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/explain"
)

// BenchmarkAskWithManyContacts asks about an object that 100 of 5,000 contacts hear
// of.
func BenchmarkAskWithManyContacts(b *testing.B) {
	w := world(failed())
	n := w.Set.Get("web01!http").Notify
	for i := range 5000 {
		c := *w.Set.Contacts["bob"]
		c.Name = fmt.Sprintf("bob%04d", i)
		w.Set.Contacts[c.Name] = &c
		if i < 100 {
			n.Contacts = append(n.Contacts, &c)
		}
	}
	for b.Loop() {
		if _, err := explain.Ask(explain.Question{Object: "web01!http"}, w); err != nil {
			b.Fatal(err)
		}
	}
}

// Asking about a contact of whom the object knows nothing changes no contact of the
// config.
func TestTheConfigIsNotChanged(t *testing.T) {
	w := world(failed())
	dave := w.Set.Contacts["dave"]
	dave.Notify.Services = object.Reach{Off: true}
	a, err := explain.Ask(explain.Question{Object: "web01!http", Contact: "dave"}, w)
	if err != nil || len(a.Decision.Changes) != 3 {
		t.Fatalf("%v, %+v", err, a.Decision.Changes)
	}
	if now := w.Set.Contacts["dave"]; now != dave || !dave.Notify.Services.Off || dave.Notify.Services.Options != 0 {
		t.Errorf("the config says %+v", now.Notify)
	}
	if n := len(w.Set.Get("web01!http").Notify.Contacts); n != 2 {
		t.Errorf("the policy names %d contacts", n)
	}
}
