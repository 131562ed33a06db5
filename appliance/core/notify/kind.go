package notify

import (
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Kind is what people are told: the types of Nagios, which scripts know.
type Kind string

// The kinds of notification.
const (
	Problem           Kind = "PROBLEM"
	Recovery          Kind = "RECOVERY"
	Acknowledgement   Kind = "ACKNOWLEDGEMENT"
	FlappingStart     Kind = "FLAPPINGSTART"
	FlappingStop      Kind = "FLAPPINGSTOP"
	FlappingDisabled  Kind = "FLAPPINGDISABLED"
	DowntimeStart     Kind = "DOWNTIMESTART"
	DowntimeEnd       Kind = "DOWNTIMEEND"
	DowntimeCancelled Kind = "DOWNTIMECANCELLED"
	Custom            Kind = "CUSTOM"
	Heartbeat         Kind = "HEARTBEAT" // the canary's: no type of Nagios
)

// state tells whether the kind is about the object's state itself.
func (k Kind) state() bool { return k == Problem || k == Recovery }

// flapping tells whether the kind is about flapping.
func (k Kind) flapping() bool {
	return k == FlappingStart || k == FlappingStop || k == FlappingDisabled
}

// downtime tells whether the kind is about a downtime.
func (k Kind) downtime() bool {
	return k == DowntimeStart || k == DowntimeEnd || k == DowntimeCancelled
}

// Attempts returns what an event about an object makes worth telling, in order;
// before and after are the object's status around it, after with the Fields of
// Turn. A check result for which nothing was logged is an event of its kind with
// nothing in Also. What comes back is only attempted: Decide says what is told.
func Attempts(e *event.Event, before, after *event.Status) []Kind {
	var kinds []Kind
	add := func(is bool, k Kind) {
		if is {
			kinds = append(kinds, k)
		}
	}
	add(e.Kind == event.AckSet && e.Facts["notify"] == "true", Acknowledgement)
	add(e.Has(event.FlappingStarted), FlappingStart)
	off := e.Kind == event.SettingChanged && e.Facts["cleared"] == ""
	add(e.Has(event.FlappingStopped) && !off, FlappingStop)
	add(e.Has(event.FlappingStopped) && off, FlappingDisabled)

	ran, runs := before.DowntimeDepth > 0, after.DowntimeDepth > 0
	add(!ran && runs, DowntimeStart)
	// One that was given up unused is over too, as Nagios says.
	over := ran || e.Facts["unused"] != ""
	cancelled := ran && e.Has(event.DowntimeCancelled)
	add(over && !runs && e.Has(event.DowntimeEnded) && !cancelled, DowntimeEnd)
	add(over && !runs && cancelled, DowntimeCancelled)
	add(e.Kind == event.NotificationRequested, Custom)

	owed := after.Notified != 0
	switch {
	case e.Kind == event.CheckResult && after.State != object.OK:
		add(true, Problem)
	case e.Kind == event.CheckResult:
		// Of a problem that was never hard nobody has heard.
		add(owed || before.State != object.OK && before.Type == object.Hard, Recovery)
	case e.Has(event.FlappingStopped):
		add(owed && after.State == object.OK, Recovery)
	}
	return kinds
}

// HostAgain tells whether the result of a service makes an attempt to tell of its
// host's problem again: the host explains the service's problem, which is as it was,
// or nothing checks hosts.
func HostAgain(settings *object.Settings, host, before, after *event.Status) bool {
	return host.State != object.Up && after.State != object.OK &&
		(after.State == before.State || !settings.ActiveChecks(object.Host))
}
