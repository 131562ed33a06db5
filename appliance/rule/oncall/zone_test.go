package oncall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/oncall"
)

// zoneNames are zones whose clocks differ in rule, date, hour, size or direction
// of the change, or that moved over the date line. They never change.
var zoneNames = []string{
	"UTC", "Europe/Berlin", "Europe/London", "Europe/Dublin", "Europe/Lisbon", "Europe/Moscow", "Europe/Istanbul", "Europe/Chisinau", "Europe/Volgograd",
	"America/New_York", "America/St_Johns", "America/Havana", "America/Sao_Paulo", "America/Asuncion", "America/Santiago", "America/Caracas",
	"America/Nuuk", "America/Scoresbysund", "America/Adak", "America/Argentina/San_Luis", "America/Cancun", "America/Metlakatla",
	"Asia/Amman", "Asia/Beirut", "Asia/Gaza", "Asia/Jerusalem", "Asia/Kathmandu", "Asia/Kolkata", "Asia/Pyongyang", "Asia/Tehran", "Asia/Ulaanbaatar", "Asia/Dili",
	"Australia/Lord_Howe", "Australia/Sydney", "Antarctica/Casey", "Antarctica/Troll", "Africa/Cairo", "Africa/Casablanca", "Africa/Juba",
	"Pacific/Apia", "Pacific/Kiritimati", "Pacific/Kwajalein", "Pacific/Chatham", "Pacific/Fakaofo", "Pacific/Easter",
}

// zones loads all of zoneNames.
func zones(t *testing.T) []*time.Location {
	all := make([]*time.Location, len(zoneNames))
	for i, name := range zoneNames {
		all[i] = load(t, name)
	}
	return all
}

// clockChanges returns every instant from 1990 to 2037 at which the clocks of a
// zone change.
func clockChanges(zone *time.Location) []time.Time {
	var all []time.Time
	for t := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); ; {
		_, next := t.ZoneBounds()
		if next.IsZero() || next.Year() > 2037 {
			return all
		}
		all = append(all, next)
		t = next
	}
}

// wallTime is what the clock of a zone shows, as if it were UTC.
func wallTime(t time.Time, zone *time.Location) time.Time {
	_, offset := t.In(zone).Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}

// weekdays are the contacts of a rotation from day to day that begins on a
// Sunday, so that each is on call on the day of that name. They never change.
var weekdays = strings.Fields("Sunday Monday Tuesday Wednesday Thursday Friday Saturday")

// Hand-overs from day to day around every change of clocks: each once, in order,
// at their time of day or else when the clocks change.
func TestEveryChangeOfClocksLosesAndDoublesNoHandover(t *testing.T) {
	changes, handovers := 0, 0
	for _, zone := range zones(t) {
		all := clockChanges(zone)
		changes += len(all)
		moved := map[object.Time]time.Duration{} // how far the clocks go
		for _, c := range all {
			moved[object.At(c)] = wallTime(c, zone).Sub(wallTime(c.Add(-time.Second), zone)) - time.Second
		}
		for _, handover := range []string{"00:00", "00:30", "01:00", "01:59", "02:00", "02:30", "03:00", "12:00", "23:30"} {
			s := made(t, oncall.Spec{Zone: zone, Layers: []oncall.LayerSpec{{Name: "main", Contacts: weekdays, Start: "1989-01-01", Handover: handover, Every: "day"}}})
			for _, c := range all {
				shifts := s.Final(object.At(c.Add(-60*time.Hour)), object.At(c.Add(60*time.Hour)))
				handovers += len(shifts) - 1
				if why := inOrder(shifts, handover, zone, moved); why != "" {
					t.Fatalf("%s, hand-over at %s: %s", zone, handover, why)
				}
			}
		}
	}
	t.Logf("%d zones, %d changes of clocks, %d hand-overs", len(zoneNames), changes, handovers)
}

// inOrder says what is wrong with the hand-overs between shifts.
func inOrder(shifts []oncall.Shift, handover string, zone *time.Location, moved map[object.Time]time.Duration) string {
	for i, shift := range shifts[1:] {
		shown, skipped := wallTime(shift.From.Std(), zone), moved[shift.From]
		if skipped <= 0 && (shown.Format("15:04") != handover || shown.Weekday().String() != shift.Contact) {
			return said(shift.Contact, "begins at", shown)
		}
		// A zone that skips a whole day skips the turn in it.
		next := (slices.Index(weekdays, shifts[i].Contact) + 1) % len(weekdays)
		if weekdays[next] != shift.Contact && skipped < 24*time.Hour {
			return said("after", shifts[i].Contact, "comes", shift.Contact, "at", shown)
		}
	}
	return ""
}

// rotation is a layer as the slow second version sees it.
type rotation struct {
	zone     *time.Location
	contacts []string
	start    time.Time // day in UTC
	minute   int
	weekdays map[time.Weekday]bool // none = by interval
	every    int                   // days, or weeks with weekdays
}

// isHandover tells whether a day has one.
func (r rotation) isHandover(day time.Time) bool {
	since := int(day.Sub(r.start).Hours() / 24)
	if len(r.weekdays) == 0 {
		return since%r.every == 0
	}
	return since == 0 || r.weekdays[day.Weekday()] && since/7%r.every == 0
}

// instant tries minute by minute when the clock first shows the hand-over of a
// day or a later time.
func (r rotation) instant(day time.Time) time.Time {
	shown := day.Add(time.Duration(r.minute) * time.Minute)
	t := shown.Add(-16 * time.Hour)
	for wallTime(t, r.zone).Before(shown) {
		t = t.Add(time.Minute)
	}
	return t
}

// onCall walks through the calendar from the start on.
func (r rotation) onCall(at time.Time) (contact string, until time.Time) {
	if first := r.instant(r.start); at.Before(first) {
		return "", first
	}
	n := 0
	for day := r.start.AddDate(0, 0, 1); ; day = day.AddDate(0, 0, 1) {
		if !r.isHandover(day) {
			continue
		}
		if at.Sub(day) < 72*time.Hour {
			if next := r.instant(day); next.After(at) {
				return r.contacts[n%len(r.contacts)], next
			}
		}
		n++
	}
}

// spec writes the rotation as a config does.
func (r rotation) spec(name string) oncall.LayerSpec {
	l := oncall.LayerSpec{
		Name: name, Contacts: r.contacts, Start: r.start.Format(time.DateOnly), Zone: r.zone,
		Handover: r.start.Add(time.Duration(r.minute) * time.Minute).Format("15:04"), Every: fmt.Sprint(r.every, " days"),
	}
	if len(r.weekdays) > 0 {
		l.Every = strings.Replace(l.Every, "days", "weeks", 1)
		for d := range r.weekdays {
			l.Days = append(l.Days, d.String())
		}
	}
	return l
}

// drawRotation makes a rotation that starts before a day.
func drawRotation(t *rapid.T, zone *time.Location, before time.Time) rotation {
	r := rotation{
		zone: zone, contacts: strings.Fields("alice bob carol dave eve")[:rapid.IntRange(1, 5).Draw(t, "contacts")],
		minute: rapid.OneOf(rapid.IntRange(0, 24*60-1), rapid.SampledFrom([]int{0, 15, 30, 60, 90, 119, 120, 135, 150, 180})).Draw(t, "minute"),
		start:  before.Truncate(24*time.Hour).AddDate(0, 0, -rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(0, 6000)).Draw(t, "days ago")),
		every:  rapid.IntRange(1, 17).Draw(t, "every"),
	}
	if rapid.Bool().Draw(t, "by weekday") {
		r.every = rapid.IntRange(1, 3).Draw(t, "weeks")
		r.weekdays = map[time.Weekday]bool{}
		for _, d := range rapid.SliceOfNDistinct(rapid.IntRange(0, 6), 1, 7, rapid.ID).Draw(t, "weekdays") {
			r.weekdays[time.Weekday(d)] = true
		}
	}
	return r
}

func TestTurnsAreThoseOfTheCalendar(t *testing.T) {
	all := zones(t)
	rapid.Check(t, func(t *rapid.T) {
		zone := rapid.SampledFrom(all).Draw(t, "zone")
		around := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rapid.IntRange(0, 60*365*24).Draw(t, "hours")) * time.Hour)
		if changes := clockChanges(zone); len(changes) > 0 && rapid.IntRange(0, 3).Draw(t, "where") > 0 {
			around = rapid.SampledFrom(changes).Draw(t, "change").UTC()
		}
		r := drawRotation(t, zone, around)
		s, err := oncall.Parse(oncall.Spec{Layers: []oncall.LayerSpec{r.spec("main")}})
		if err != nil {
			if strings.Contains(err.Error(), "does not exist") && wallTime(r.instant(r.start), zone).Sub(r.start) != time.Duration(r.minute)*time.Minute {
				return
			}
			t.Fatal(err)
		}
		for range 6 {
			at := around.Add(time.Duration(rapid.IntRange(-50*3600, 50*3600).Draw(t, "seconds")) * time.Second)
			contact, until := r.onCall(at)
			if got := s.OnCall(object.At(at)); got.Contact != contact || got.Until != object.At(until) {
				t.Fatalf("%s at %s: %q until %s, want %q until %s", zone, at, got.Contact, got.Until.Std(), contact, until)
			}
			if got := s.OnCall(object.At(until) - 1); got.Contact != contact {
				t.Fatalf("%s just before %s: %q, want %q", zone, until, got.Contact, contact)
			}
		}
	})
}
