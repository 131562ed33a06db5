package view

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

func TestRulesSayWhatTheyAreFor(t *testing.T) {
	for want, r := range map[string]event.DowntimeRule{
		"web01":                   {Object: "web01"},
		"web01 with its services": {Object: "web01", WithServices: true},
		"group web":               {Group: "web"},
		"everything":              {Filter: "*"},
		"everything that matches “label.role=front”": {Filter: "label.role=front"},
	} {
		if got := RuleTarget(&r); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRulesSayWhen(t *testing.T) {
	at := func(d time.Duration) object.Time { return object.At(sample.Now.Add(d)) }
	once := NewRule(&event.DowntimeRule{ID: "r 1", Group: "web", Start: at(0), End: at(26 * time.Hour)}, 2, nil, sample.Now)
	if once.When != "Sun 2026-03-01 12:00 to Mon 2026-03-02 14:00 UTC" || once.Begun.Label != "2 objects are in it now" || once.Begun.URL != "/downtimes?filter=group%3Dweb" || once.Cancel != "/do?command=cancel-downtime&id=r+1&back=/downtimes" {
		t.Errorf("%+v", once)
	}
	weekly := NewRule(&event.DowntimeRule{
		ID: "r2", Filter: "*", Ranges: []string{"sunday 02:00-04:00", "day 1 00:00-01:00"}, Zone: "UTC",
		Start: at(time.Hour), End: at(48 * time.Hour), Duration: 60_000,
	}, 0, []Occurrence{{Local: "x"}}, sample.Now)
	if weekly.When != "sunday 02:00-04:00, day 1 00:00-01:00" || len(weekly.How) != 3 || weekly.Begun.Label != "" || weekly.Zone != "UTC" {
		t.Errorf("%+v", weekly)
	}
}

func TestTheDayStandsOnceIfItIsTheSame(t *testing.T) {
	from := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
	for want, to := range map[string]time.Time{
		"Sun 2026-03-01 22:00 to 23:30":                from.Add(90 * time.Minute),
		"Sun 2026-03-01 22:00 to Mon 2026-03-02 00:00": from.Add(2 * time.Hour),
		"Sun 2026-03-01 22:00":                         time.UnixMilli(0),
	} {
		if got := Stretched(from, to); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestProgramSwitchesSayWhoTurnedThem(t *testing.T) {
	s := sample.Shift()
	p := s.Projection.Program()
	list := NewProgramSwitches(object.ProgramDefault, &p.Switches, sample.Now)
	off := 0
	for _, x := range list {
		if x.On {
			if x.Changed || x.Verb != "Turn off" || !strings.Contains(x.URL, "command=disable") {
				t.Errorf("%+v", x)
			}
			continue
		}
		off++
		if x.Label != "Notifications" || x.Author != "maria" || x.When.Rel != "15 min ago" || x.URL != "/do?command=enable&program=true&what=notifications&back=/settings" {
			t.Errorf("%+v", x)
		}
	}
	if len(list) != 10 || off != 1 {
		t.Errorf("%d switches, %d are off", len(list), off)
	}
}

func TestContactsThatDifferComeFirst(t *testing.T) {
	s := sample.Shift()
	list := NewContacts(s.Set(), s.Projection.Program(), sample.Now)
	if len(list) != 2 || list[0].Name != "night" || list[0].Services.On || !list[0].Hosts.On || list[0].Services.Author != "jo" || list[1].Alias != "Maria, shop" {
		t.Errorf("%+v", list)
	}
	if list[0].Services.URL != "/do?command=enable&what=notifications&kind=service&contact=night&back=/settings" {
		t.Errorf("turned on by %s", list[0].Services.URL)
	}
}

func TestEveryCommandHasItsWords(t *testing.T) {
	keys := map[string]bool{"m": true, "/": true, "?": true}
	for _, c := range commands {
		if c.Heading == "" || c.Submit == "" || c.Done == "" || c.Help == "" || keys[c.Key] {
			t.Errorf("%+v", c)
		}
		if c.Key != "" {
			keys[c.Key] = true
		}
	}
	if _, ok := CommandWords("reboot"); ok {
		t.Error("a command that is none has words")
	}
	if k := NewKeys(Chrome{}).Keys; len(k) != len(keys)+3 {
		t.Errorf("%d keys are listed, %d are known", len(k), len(keys))
	}
	if SwitchLabel("notifications") != "Notifications" || SwitchLabel("var.X") != "var.X" || len(SwitchOptions(true)) != 10 || len(SwitchOptions(false)) != 5 {
		t.Error("names of switches")
	}
}

func TestFieldsOfAGroupStandTogether(t *testing.T) {
	s := Sheet{Fields: []Field{{Name: "a"}, {Name: "b", Group: "g"}, {Name: "c", Group: "g", For: "x"}, {Name: "d"}}}
	var got []string
	for _, b := range s.Blocks() {
		names := ""
		for _, f := range b.Fields {
			names += f.Name
		}
		got = append(got, b.Group+":"+names)
	}
	if text := strings.Join(got, " "); text != ":a g:bc :d" {
		t.Errorf("got %s", text)
	}
	if (Field{Name: "x", Hint: "h"}).Described() != "f-x-hint" || (Field{Name: "x", Hint: "h", Error: "e"}).Described() != "f-x-error" || (Field{Name: "x"}).Described() != "" {
		t.Error("what explains a field")
	}
}

func TestTheHistorySaysWhatChangedForAll(t *testing.T) {
	for want, e := range map[string]event.Event{
		"group web: patches":                         {Program: &event.Program{Rule: &event.DowntimeRule{Group: "web", Text: "patches"}}},
		"downtime r-1 for many objects or times":     {Program: &event.Program{RuleGone: "r-1"}},
		"contact night":                              {Program: &event.Program{Contact: &event.ContactStatus{Name: "night"}}},
		"whole program: Notifications, Perf data on": {Program: &event.Program{Switches: &event.Switches{}}, Facts: map[string]string{"switch": "notifications,Perf data", "to": "on"}},
	} {
		if got := NewLine(&e, sample.Now).Text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
