package rehearse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/rehearse"
)

// site is a tree of hosts, each with a service, whose problems are hard within
// seconds, and one host elsewhere.
type site struct {
	all   []*object.Object
	rule  *object.Rule
	tells *object.Notification
	known map[string]*object.Contact
}

func newSite() *site {
	reach := object.Reach{Options: object.NoteAll}
	ann := &object.Contact{Name: "ann", Notify: &object.ContactNotification{Hosts: reach, Services: reach, Channels: []string{"email"}}}
	s := &site{
		known: map[string]*object.Contact{"ann": ann},
		rule: &object.Rule{
			Name: "all", Check: object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{}},
			Interval: time.Minute, Retry: 2 * time.Second, Attempts: 3, Active: true, Passive: true, NoteInterval: time.Hour,
		},
		tells: &object.Notification{
			Name: "all", Contacts: []*object.Contact{ann}, Options: object.NoteAll, FromFirst: true, ToTold: true, Timed: true,
			Group: object.Grouping{By: object.GroupRoot, Wait: 10 * time.Second, Interval: 5 * time.Minute},
		},
	}
	s.host("elsewhere")
	return s
}

func (s *site) host(name string, parents ...*object.Object) *object.Object {
	h := &object.Object{ID: object.HostID(name), Name: name, Rule: s.rule, Notify: s.tells, Zone: "default", Parents: parents}
	s.all = append(s.all, h, &object.Object{ID: object.ServiceID(name, "http"), Name: "http", Host: h, Rule: s.rule, Notify: s.tells, Zone: "default"})
	return h
}

// A switch fails just after it was checked, and everything behind it with it: that it
// is down is known late. Whatever is behind it, that is at most three messages, and what
// fails elsewhere at the same time is told of.
func TestASwitchThatIsFoundLateIsThreeMessages(t *testing.T) {
	star := func(s *site) {
		sw := s.host("sw")
		for i := range 40 {
			s.host(fmt.Sprintf("h%02d", i), sw)
		}
	}
	pairs := func(s *site) {
		sw := s.host("sw")
		for i := range 20 {
			s.host(fmt.Sprintf("vm%02d", i), s.host(fmt.Sprintf("h%02d", i), sw))
		}
	}
	levels := func(s *site) {
		core := s.host("sw", s.host("router"))
		for i := range 4 {
			rack := s.host(fmt.Sprint("rack", i), core)
			for j := range 10 {
				s.host(fmt.Sprintf("h%d%d", i, j), rack)
			}
		}
	}
	twoWays := func(s *site) {
		sw := s.host("sw")
		a, b := s.host("a", sw), s.host("b", sw)
		for i := range 30 {
			s.host(fmt.Sprintf("h%02d", i), a, b)
		}
	}
	shapes := map[string]func(*site){"one level": star, "pairs": pairs, "several levels": levels, "two ways": twoWays}
	most := 0
	for name, shape := range shapes {
		for _, before := range []time.Duration{500 * time.Millisecond, 5 * time.Second, 14 * time.Second, 40 * time.Second} {
			for _, takes := range []time.Duration{0, 3 * time.Second, 12 * time.Second, 25 * time.Second} {
				t.Run(fmt.Sprintf("%s, checked %s before, a check takes %s", name, before, takes), func(t *testing.T) {
					most = max(most, late(t, shape, before, takes))
				})
			}
		}
	}
	t.Logf("%d cases, at most %d messages", len(shapes)*16, most)
}

// late plays one storm and returns how many messages it was.
func late(t *testing.T, shape func(*site), before, takes time.Duration) (messages int) {
	s := newSite()
	shape(s)
	set := object.NewSet("site", object.DefaultSettings(), s.all)
	set.Contacts = s.known
	scene := &rehearse.Scene{
		Set: set, Start: begin.Add(-2 * time.Minute), End: begin.Add(20 * time.Minute), Settled: true,
		Acts: []rehearse.Act{{At: begin.Add(-before), Object: "sw", Command: fold.Reschedule{At: begin.Add(-before), Forced: true, Author: "test"}}},
	}
	scene.Find = func(o *object.Object, at object.Time) rehearse.Finding {
		switch {
		case at < begin || o.ID.Host() == "router" || o.ID == "elsewhere":
			return rehearse.Finding{Output: "all is well"}
		case o.Kind() == object.Service:
			return rehearse.Finding{State: object.Critical, Output: "no answer", Takes: takes / 2}
		}
		return rehearse.Finding{State: object.Down, Output: "no answer", Takes: takes}
	}
	out := rehearse.Run(scene, deliver.Limits{})
	var said []string
	own := false
	for _, m := range out.Messages {
		first := out.Entries[m.Entries[0]].Object
		if first.Host() == "elsewhere" && len(m.Entries) == 1 {
			own = true
			continue
		}
		messages++
		said = append(said, fmt.Sprintf("%.0f s %s: %d from %s", m.Time.Sub(begin).Seconds(), m.Group, len(m.Entries), first))
	}
	if messages > 3 || messages == 0 || !own {
		t.Errorf("%d messages, what is elsewhere in one of its own: %v\n%s", messages, own, strings.Join(said, "\n"))
	}
	for _, e := range out.Entries {
		if e.Told && e.Message == 0 {
			t.Errorf("%s %s stands in no message", e.Kind, e.Object)
		}
	}
	return messages
}
