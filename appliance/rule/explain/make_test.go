package explain_test

import (
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/notify"
	"jaque.sh/jaque/appliance/core/object"
)

// noon is a day at 12:00 UTC.
const noon object.Time = 20820*86400e3 + 12*3600e3

// hours is a period of every day, from one hour to another, UTC.
type hours struct{ from, to int64 }

func (h hours) Name() string   { return "hours" }
func (h hours) String() string { return "hours" }

func (h hours) Window(at object.Time) (bool, object.Time) {
	const hour, day = 3600e3, 86400e3
	midnight, since := int64(at)/day*day, int64(at)%day
	switch {
	case since < h.from*hour:
		return false, object.Time(midnight + h.from*hour)
	case since < h.to*hour:
		return true, object.Time(midnight + h.to*hour)
	}
	return false, object.Time(midnight + day + h.from*hour)
}

// never is a period without any time in it.
type never struct{}

func (never) Name() string                           { return "never" }
func (never) String() string                         { return "never" }
func (never) Window(object.Time) (bool, object.Time) { return false, 0 }

// duty is an on-call schedule that always has the same contact.
type duty struct{ who, other string }

func (d duty) Name() string { return "duty" }

func (d duty) OnCall(object.Time) (string, string, object.Time) { return d.who, "by turns", 0 }

func (d duty) Members() []string { return []string{d.who, d.other} }

func periods() *rapid.Generator[object.Period] {
	return rapid.SampledFrom([]object.Period{nil, nil, hours{8, 18}, hours{20, 22}, hours{0, 24}, never{}})
}

func lengths() *rapid.Generator[time.Duration] {
	return rapid.SampledFrom([]time.Duration{0, 0, 5 * time.Minute, time.Hour, 5 * time.Hour})
}

func wants() *rapid.Generator[object.NoteOptions] {
	return rapid.OneOf(rapid.Just(object.NoteAll), rapid.Map(rapid.Uint8Range(0, uint8(object.NoteAll)), func(v uint8) object.NoteOptions {
		return object.NoteOptions(v)
	}))
}

func rarely(t *rapid.T, label string) bool { return rapid.IntRange(0, 5).Draw(t, label) == 0 }

func people(t *rapid.T) []*object.Contact {
	var all []*object.Contact
	for _, name := range []string{"ada", "bob", "cai", "dan"} {
		c := &object.Contact{Name: name, Notify: &object.ContactNotification{
			Importance: rapid.IntRange(0, 2).Draw(t, "importance"), Channels: []string{"email"},
		}}
		for _, k := range []object.Kind{object.Host, object.Service} {
			*c.Notify.Of(k) = object.Reach{Off: rarely(t, "off"), Options: wants().Draw(t, "wants"), Period: periods().Draw(t, "reach")}
		}
		all = append(all, c)
	}
	return all
}

func some(t *rapid.T, all []*object.Contact) []*object.Contact {
	var few []*object.Contact
	for _, c := range all {
		if rapid.Bool().Draw(t, "named") {
			few = append(few, c)
		}
	}
	return few
}

func policyOf(t *rapid.T, all []*object.Contact, depth int) *object.Notification {
	n := &object.Notification{
		Name: rapid.SampledFrom([]string{"", "web", "db"}).Draw(t, "policy"), Contacts: some(t, all), Options: wants().Draw(t, "options"),
		FirstDelay: lengths().Draw(t, "delay"), Importance: 1, FromFirst: rapid.Bool().Draw(t, "from first"),
		ToTold: rapid.Bool().Draw(t, "to told"), Timed: rapid.Bool().Draw(t, "timed"),
	}
	if rarely(t, "on call") {
		n.Rotas = []object.Rota{duty{"bob", "cai"}}
	}
	if rarely(t, "bounded") {
		n.States, n.Period = object.StateMask(rapid.Uint8Range(1, 7).Draw(t, "states")<<1), periods().Draw(t, "policy period")
	}
	for range rapid.IntRange(0, 2).Draw(t, "steps") {
		n.Steps = append(n.Steps, &object.Step{
			Name: "step", Contacts: some(t, all), First: rapid.Int32Range(0, 3).Draw(t, "first"), Last: rapid.Int32Range(0, 4).Draw(t, "last"),
			After: lengths().Draw(t, "after"), Interval: lengths().Draw(t, "interval"), Options: object.NoteAll,
			Period: periods().Draw(t, "step period"), Adds: rapid.Bool().Draw(t, "adds"),
		})
	}
	if depth > 0 && rapid.Bool().Draw(t, "else") {
		n.Else = policyOf(t, all, depth-1)
	}
	return n
}

func statuses(t *rapid.T, ago func(string) object.Time) event.Status {
	st := event.Status{
		State: object.State(rapid.IntRange(0, 3).Draw(t, "state")), Checked: true, Attempt: 1, MaxAttempts: 3,
		LastHardChange: ago("hard change"), LastChange: ago("change"), Flapping: rarely(t, "flaps"), Hard: ago("hard"),
	}
	if rarely(t, "soft") {
		st.Type = object.Soft
	}
	if rarely(t, "acknowledged") {
		st.Ack = object.AckSticky
	}
	if rarely(t, "downtime") {
		st.DowntimeDepth = 1
	}
	if rarely(t, "switched off") {
		st.Off = object.SwitchNotifications
	}
	if rapid.Bool().Draw(t, "told before") {
		st.NotificationNumber, st.LastNotification = rapid.Int32Range(1, 4).Draw(t, "number"), ago("last")
		st.Notified = object.StateMask(rapid.Uint8Range(1, 7).Draw(t, "notified") << 1)
		st.NextNotification = rapid.SampledFrom([]object.Time{0, notify.Never, noon - 60e3, noon + 60e3}).Draw(t, "next")
		st.Told = "ada\ncai\n"
	}
	return st
}

// situation is a service with everything that may stand in the way of a
// notification.
type situation struct {
	set  *object.Set
	in   notify.Input
	host event.Status
}

// situations draws one; most of what can block does so now and then.
func situations() *rapid.Generator[*situation] {
	return rapid.Custom(func(t *rapid.T) *situation {
		all := people(t)
		ago := func(label string) object.Time {
			return noon - object.Time(rapid.Int64Range(0, 600).Draw(t, label))*60e3
		}
		settings := object.DefaultSettings()
		if rarely(t, "program off") {
			settings.On &^= object.ProgramNotifications
		}
		host := &object.Object{ID: "h", Name: "h", Rule: &object.Rule{Attempts: 1}}
		o := &object.Object{ID: "h!s", Name: "s", Host: host, Notify: policyOf(t, all, 1), Rule: &object.Rule{
			Attempts: 3, NotePeriod: periods().Draw(t, "note period"), NoteInterval: lengths().Draw(t, "note interval"), Volatile: rarely(t, "volatile"),
		}}
		s := &situation{set: object.NewSet("1", settings, []*object.Object{host, o})}
		s.set.Contacts, s.set.Periods = map[string]*object.Contact{}, map[string]object.Period{}
		for _, c := range all {
			s.set.Contacts[c.Name] = c
		}
		st := statuses(t, ago)
		s.host.Checked = true
		if rarely(t, "host down") {
			s.host.State = object.Down
		}
		if rarely(t, "host downtime") {
			s.host.DowntimeDepth = 1
		}
		s.in = notify.Input{
			Object: o, Status: &st, Host: &s.host, Settings: &settings, Now: noon, Started: noon - 86400e3, Known: s.set.Contacts,
			Periods: s.set.Periods, Fields: notify.FieldsOf(&st), Flexible: rarely(t, "flexible"), Kind: notify.Problem,
			Contacts: map[string]event.ContactStatus{"ada": {Name: "ada", ServiceOff: rarely(t, "ada off")}},
		}
		if rarely(t, "dependency") {
			s.in.Failed = "master"
		}
		if st.State == object.OK {
			s.in.Kind = notify.Recovery
		}
		if rarely(t, "other") {
			s.in.Kind = rapid.SampledFrom([]notify.Kind{notify.Acknowledgement, notify.FlappingStart, notify.DowntimeStart, notify.DowntimeEnd, notify.Custom}).Draw(t, "kind")
		}
		return s
	})
}
