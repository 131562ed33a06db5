package sample

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Shift returns the office in the middle of a day on which people did something:
// every kind of remark, downtime and setting is there.
func Shift() *Site {
	s := Office()
	set := s.Set()
	set.Contacts = map[string]*object.Contact{
		"maria": {Name: "maria", Alias: "Maria, shop"}, "night": {Name: "night", Alias: "whoever has the phone at night"},
	}
	ago := func(d time.Duration) object.Time { return object.At(Now.Add(-d)) }
	s.say("web01!http", event.CommentAdded, "maria", func(x *event.Status) {
		x.Extra = &event.Extra{Comments: []event.Comment{
			{ID: "c-1", Number: 1, Kind: event.CommentUser, Author: "maria", Text: "The pool was restarted at 11:50.\nIt came up with two of four backends.", Time: ago(9 * time.Minute), Persistent: true},
			{ID: "c-2", Number: 2, Kind: event.CommentUser, Author: "jo", Text: "the shop's team knows", Time: ago(2 * time.Minute), Expires: ago(-time.Hour)},
		}}
	})
	s.say("db01!replication", event.AckSet, "maria", func(x *event.Status) {
		x.Ack, x.AckExpires = object.AckSticky, ago(-2*time.Hour)
		x.Extra = &event.Extra{AckAuthor: "maria", AckText: "restored after the import, watching it", AckTime: ago(48 * time.Minute)}
	})
	s.say("web02!load", event.DowntimeScheduled, "ops", func(x *event.Status) {
		extra := *x.Extra
		extra.Downtimes = append(extra.Downtimes,
			event.Downtime{ID: "d-2", Number: 2, Author: "jo", Text: "tests of the new kernel", Start: ago(-3 * time.Hour), End: ago(-6 * time.Hour), Duration: object.Time(time.Hour.Milliseconds())},
			event.Downtime{ID: "r-1@1772607600000", Number: 3, Author: "jo", Text: "patches of the web servers", Start: ago(-62 * time.Hour), End: ago(-64 * time.Hour), Rule: "r-1"})
		x.Extra = &extra
	})
	s.say("web03", event.DowntimeStarted, "ops", func(x *event.Status) {
		x.DowntimeDepth = 1
		x.Extra = &event.Extra{Downtimes: []event.Downtime{{ID: "d-3", Number: 4, Author: "ops", Text: "new power supply", Start: ago(20 * time.Minute), Started: ago(20 * time.Minute), End: ago(-40 * time.Minute)}}}
	})
	s.say("web04!disk", event.SettingChanged, "jo", func(x *event.Status) {
		x.Off = object.SwitchNotifications | object.SwitchActive
		x.Extra = &event.Extra{Settings: []event.Setting{
			{Name: event.SettingActive, Value: "off", Author: "jo", Time: ago(90 * time.Minute)},
			{Name: event.SettingInterval, Value: "10m0s", Config: "1m0s", Author: "maria", Time: ago(3 * time.Hour)},
			{Name: event.SettingNotifications, Value: "off", Author: "jo", Time: ago(90 * time.Minute)},
		}}
	})
	s.say("mail01!imap", event.CheckResult, "", func(x *event.Status) { x.Root = "mail01" })
	s.program(event.Program{Switches: &event.Switches{
		Off: object.ProgramNotifications, Settings: []event.Setting{{Name: "notifications", Value: "off", Author: "maria", Time: ago(15 * time.Minute)}},
	}})
	s.program(event.Program{Contact: &event.ContactStatus{
		Name: "night", ServiceOff: true, Settings: []event.Setting{{Name: "service_notifications", Value: "off", Author: "jo", Time: ago(26 * time.Hour)}},
	}})
	s.program(event.Program{Rule: &event.DowntimeRule{
		ID: "r-1", Number: 3, Author: "jo", Text: "patches of the web servers", Entry: ago(72 * time.Hour), Group: "web-servers",
		Ranges: []string{"sunday 02:00-04:00"}, Zone: "Europe/Madrid",
	}})
	s.program(event.Program{Rule: &event.DowntimeRule{
		ID: "r-2", Number: 5, Author: "ops", Text: "the cabinet moves to the other room", Entry: ago(time.Hour), Object: "sw1", WithServices: true,
		Start: ago(-24 * time.Hour), End: ago(-30 * time.Hour),
	}})
	return s
}

// say folds a decision of an operator about an object, as change makes it.
func (s *Site) say(id object.ID, k event.Kind, author string, change func(*event.Status)) {
	old := s.State(id)
	status := old.Status
	change(&status)
	measure := old.Measure
	s.Append(event.Event{
		Kind: k, Object: id, Epoch: 3, Writer: "engine-1", Prev: old.Last, Time: object.At(Now.Add(-time.Minute)), ID: "s-" + string(id),
		Author: author, Status: &status, Measure: &measure,
	})
}

func (s *Site) program(p event.Program) {
	s.Append(event.Event{
		Kind: event.SettingChanged, Epoch: 3, Writer: "engine-1", Time: object.At(Now.Add(-time.Minute)), Author: "maria", Program: &p,
		Facts: map[string]string{"topic": "program"},
	})
}
