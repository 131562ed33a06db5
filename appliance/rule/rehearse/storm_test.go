package rehearse_test

import (
	"fmt"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
)

// shop makes a switch with hosts behind it, each with four services, and as many
// hosts elsewhere with one service each. Everybody tells three contacts, in messages
// by root.
func shop(behind, elsewhere int) *object.Set {
	check := object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{}}
	hosts := &object.Rule{Name: "hosts", Check: check, Interval: time.Minute, Retry: 15 * time.Second, Attempts: 2, Active: true, Passive: true, NoteInterval: time.Hour}
	services := &object.Rule{Name: "services", Check: check, Interval: time.Minute, Retry: 15 * time.Second, Attempts: 3, Active: true, Passive: true, NoteInterval: time.Hour}
	known := map[string]*object.Contact{}
	var contacts []*object.Contact
	for _, name := range []string{"ann", "bob", "cid"} {
		reach := object.Reach{Options: object.NoteAll}
		c := &object.Contact{Name: name, Notify: &object.ContactNotification{Hosts: reach, Services: reach, Channels: []string{"email"}}}
		known[name], contacts = c, append(contacts, c)
	}
	policy := &object.Notification{
		Name: "all", Contacts: contacts, Options: object.NoteAll, FromFirst: true, ToTold: true, Timed: true,
		Group: object.Grouping{By: object.GroupRoot, Wait: 90 * time.Second, Interval: 5 * time.Minute},
	}
	var all []*object.Object
	host := func(name string, parent *object.Object) *object.Object {
		o := &object.Object{ID: object.HostID(name), Name: name, Rule: hosts, Notify: policy, Zone: "default"}
		if parent != nil {
			o.Parents = []*object.Object{parent}
		}
		all = append(all, o)
		return o
	}
	service := func(h *object.Object, name string) {
		all = append(all, &object.Object{ID: object.ServiceID(h.Name, name), Name: name, Host: h, Rule: services, Notify: policy, Zone: "default"})
	}
	sw := host("sw1", nil)
	for i := range behind {
		h := host(fmt.Sprintf("h%04d", i), sw)
		for _, name := range []string{"cpu", "disk", "http", "load"} {
			service(h, name)
		}
	}
	for i := range elsewhere {
		service(host(fmt.Sprintf("other%02d", i), nil), "db")
	}
	set := object.NewSet("shop", object.DefaultSettings(), all)
	set.Contacts = known
	return set
}

func TestAStormIsThreeMessagesAndHidesNothing(t *testing.T) {
	const behind, elsewhere = 1000, 20
	set := shop(behind, elsewhere)
	story := rehearse.Story{Set: set, Object: "sw1", State: object.Down, At: begin, For: 8 * time.Minute, Behind: true}
	scene, err := story.Scene()
	if err != nil {
		t.Fatal(err)
	}
	storm := scene.Find
	scene.Find = func(o *object.Object, at object.Time) rehearse.Finding {
		var n int
		if _, err := fmt.Sscanf(string(o.ID), "other%02d!db", &n); err == nil && at >= begin.Add(time.Duration(n)*10*time.Second) {
			return rehearse.Finding{State: object.Critical, Output: "a problem of its own"}
		}
		return storm(o, at)
	}
	for i := range elsewhere {
		h := fmt.Sprintf("other%02d", i)
		scene.Cast = append(scene.Cast, object.HostID(h), object.ServiceID(h, "db"))
	}
	out := rehearse.Run(scene, deliver.Limits{Rates: map[string]deliver.Rate{"email": {Messages: 30, Per: 5 * time.Minute}}})

	about, own := map[string]int{}, map[object.ID]int{}
	named := map[object.ID]bool{}
	for _, m := range out.Messages {
		if m.Root == "sw1" || m.Group == "root=sw1" {
			about[m.Contact]++
		}
		for _, i := range m.Entries {
			named[out.Entries[i].Object] = true
		}
		if first := out.Entries[m.Entries[0]].Object; len(m.Entries) == 1 && first.Host() != "sw1" {
			own[first]++
		}
	}
	for _, name := range []string{"ann", "bob", "cid"} {
		if about[name] < 1 || about[name] > 3 {
			t.Errorf("%s got %d messages about sw1, want 1 to 3", name, about[name])
		}
	}
	for i := range elsewhere {
		if id := object.ServiceID(fmt.Sprintf("other%02d", i), "db"); own[id] != 3 {
			t.Errorf("%s has %d messages of its own, want one to each of 3 contacts", id, own[id])
		}
	}
	for _, e := range out.Entries {
		if e.Told && (e.Message == 0 || !named[e.Object]) {
			t.Fatalf("%+v stands in no message", e)
		}
	}
	t.Logf("%d objects, %d verdicts, %d messages: %v about sw1", len(set.Objects), len(out.Entries), len(out.Messages), about)
}
