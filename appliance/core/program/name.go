package program

import (
	"slices"
	"strings"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// The names of the settings of a contact. A custom variable is event.SettingVar
// and its upper-case name.
const (
	HostNotifications    = "host_notifications"
	ServiceNotifications = "service_notifications"
	HostNotePeriod       = "host_notification_period"
	ServiceNotePeriod    = "service_notification_period"
)

// Tells tells whether notifications about a kind of object are on for a contact: as
// an operator set it, else as configured.
func Tells(c *object.Contact, s *event.ContactStatus, k object.Kind) bool {
	off, name := s.HostOff, HostNotifications
	if k == object.Service {
		off, name = s.ServiceOff, ServiceNotifications
	}
	on := slices.ContainsFunc(s.Settings, func(e event.Setting) bool { return e.Name == name && e.Value == "on" })
	return on || !off && !offByConfig(c, k)
}

func offByConfig(c *object.Contact, k object.Kind) bool {
	return c.Notify != nil && c.Notify.Of(k).Off
}

// switchNames are the names of the program-wide switches in events and settings;
// bit n is object.Program(1<<n). The table is constant.
var switchNames = [...]string{
	"host_checks", "service_checks", "passive_host_checks", "passive_service_checks", "notifications", "event_handlers",
	"flap_detection", "perfdata", "host_freshness", "service_freshness", "obsess_hosts", "obsess_services",
}

const allSwitches = object.Program(1<<len(switchNames) - 1)

// Names returns the names of switches, separated by commas.
func Names(w object.Program) string {
	var names []string
	for i, name := range switchNames {
		if w.Has(1 << i) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}
