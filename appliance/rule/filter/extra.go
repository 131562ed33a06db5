package filter

import (
	"strconv"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// switches are what an object can have switched off, by the name of the setting;
// constant.
var switches = []struct {
	name  string
	which object.Switches
}{
	{event.SettingActive, object.SwitchActive},
	{event.SettingPassive, object.SwitchPassive},
	{event.SettingNotifications, object.SwitchNotifications},
	{event.SettingFlapDetection, object.SwitchFlapDetection},
	{event.SettingEventHandler, object.SwitchEventHandler},
	{event.SettingPerfdata, object.SwitchPerfdata},
	{event.SettingObsess, object.SwitchObsess},
}

// settings yields the names of what operators set against the config.
func settings(_ *object.Object, s *fold.State, yield func(string) bool) bool {
	if s.Status.Extra == nil {
		return false
	}
	for i := range s.Status.Extra.Settings {
		if yield(s.Status.Extra.Settings[i].Name) {
			return true
		}
	}
	return false
}

// comments yields what people wrote about an object: its comments, the text of
// its acknowledgement and those of its downtimes.
func comments(_ *object.Object, s *fold.State, yield func(string) bool) bool {
	x := s.Status.Extra
	if x == nil {
		return false
	}
	for i := range x.Comments {
		if yield(x.Comments[i].Text) {
			return true
		}
	}
	for i := range x.Downtimes {
		if yield(x.Downtimes[i].Text) {
			return true
		}
	}
	return s.Status.Ack != object.AckNone && yield(x.AckText)
}

// count writes how many comments or downtimes an object has.
func count(x *event.Extra, downtimes bool) string {
	switch {
	case x == nil:
		return "0"
	case downtimes:
		return strconv.Itoa(len(x.Downtimes))
	}
	return strconv.Itoa(len(x.Comments))
}

// words are the values that a field may be compared with; nil = any. A misspelt
// one would match nothing, which looks like good news.
func words(field string) []string {
	switch field {
	case "state":
		return []string{"OK", "WARNING", "CRITICAL", "UNKNOWN", "UP", "DOWN", "UNREACHABLE", "PENDING"}
	case "state_type":
		return []string{"soft", "hard"}
	case "kind":
		return []string{"host", "service"}
	case "disabled":
		names := make([]string, len(switches))
		for i, s := range switches {
			names[i] = s.name
		}
		return names
	}
	return nil
}

// known tells whether a field may have a value.
func known(field, value string) bool {
	all := words(field)
	for _, w := range all {
		if strings.EqualFold(w, value) {
			return true
		}
	}
	return all == nil
}
