package oncall_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/oncall"
)

func TestWhoIsOnCall(t *testing.T) {
	berlin := load(t, "Europe/Berlin")
	nights := oncall.LayerSpec{
		Name: "nights", Contacts: []string{"nora"}, Start: "2026-02-02", Handover: "09:00", Every: "week",
		Only: during(t, berlin, "00:00-06:00", "22:00-24:00"),
	}
	for _, c := range []struct {
		name     string
		spec     oncall.Spec
		from, to string
		want     string
	}{
		{"a week each, handed over on Mondays at nine", oncall.Spec{Layers: []oncall.LayerSpec{weekly("main", "alice", "bob")}}, "2026-01-01 00:00", "2026-01-20 00:00", `
			- Thu 2026-01-01 00:00 105h0m0s (no layer has anybody)
			alice Mon 2026-01-05 09:00 168h0m0s (layer main)
			bob Mon 2026-01-12 09:00 168h0m0s (layer main)
			alice Mon 2026-01-19 09:00 15h0m0s (layer main)`},
		{"a start in the middle of the week makes a short first turn", oncall.Spec{Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2026-01-07", Handover: "9:00", Days: []string{"Monday"}},
		}}, "2026-01-07 09:00", "2026-01-20 00:00", `
			alice Wed 2026-01-07 09:00 120h0m0s (layer main)
			bob Mon 2026-01-12 09:00 168h0m0s (layer main)
			alice Mon 2026-01-19 09:00 15h0m0s (layer main)`},
		{"two hand-overs a week part working days from the weekend", oncall.Spec{Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob", "carol"}, Start: "2026-01-05", Handover: "17:00", Days: []string{"friday", "monday"}},
		}}, "2026-01-05 17:00", "2026-01-17 17:00", `
			alice Mon 2026-01-05 17:00 96h0m0s (layer main)
			bob Fri 2026-01-09 17:00 72h0m0s (layer main)
			carol Mon 2026-01-12 17:00 96h0m0s (layer main)
			alice Fri 2026-01-16 17:00 24h0m0s (layer main)`},
		{"weekdays every two weeks count in the first and third seven days from the start", oncall.Spec{Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2026-01-07", Handover: "00:00", Days: []string{"monday"}, Every: "2 weeks"},
		}}, "2026-01-07 00:00", "2026-02-10 00:00", `
			alice Wed 2026-01-07 00:00 120h0m0s (layer main)
			bob Mon 2026-01-12 00:00 336h0m0s (layer main)
			alice Mon 2026-01-26 00:00 336h0m0s (layer main)
			bob Mon 2026-02-09 00:00 24h0m0s (layer main)`},
		{"an interval of days goes on over the end of a month", oncall.Spec{Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2028-02-26", Handover: "08:30", Every: "3 days"},
		}}, "2028-02-26 08:30", "2028-03-04 00:00", `
			alice Sat 2028-02-26 08:30 72h0m0s (layer main)
			bob Tue 2028-02-29 08:30 72h0m0s (layer main)
			alice Fri 2028-03-03 08:30 15h30m0s (layer main)`},
		{"a later layer goes before the one above it where it has somebody", oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{weekly("main", "alice", "bob"), nights}}, "2026-02-01 20:00", "2026-02-03 06:00", `
			bob Sun 2026-02-01 21:00 12h0m0s (layer main)
			alice Mon 2026-02-02 09:00 13h0m0s (layer main)
			nora Mon 2026-02-02 22:00 8h0m0s (layer nights)
			alice Tue 2026-02-03 06:00 1h0m0s (layer main)`},
		{"a layer for nights alone leaves the day open", oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{nights}}, "2026-01-31 23:00", "2026-02-04 00:00", `
			- Sun 2026-02-01 00:00 46h0m0s (no layer has anybody)
			nora Mon 2026-02-02 22:00 8h0m0s (layer nights)
			- Tue 2026-02-03 06:00 16h0m0s (no layer has anybody)
			nora Tue 2026-02-03 22:00 3h0m0s (layer nights)`},
		{"an override cuts the turn and the turn goes on behind it", oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{weekly("main", "alice", "bob")}, Overrides: []oncall.OverrideSpec{
			{From: "2026-01-10 12:00", To: "2026-01-11T12:00:00+01:00", Contact: "carol", Reason: "wedding"},
			{From: "2026-01-09 12:00", To: "2026-01-10 12:00", Nobody: true},
		}}, "2026-01-08 23:00", "2026-01-12 08:00", `
			alice Fri 2026-01-09 00:00 12h0m0s (layer main)
			- Fri 2026-01-09 12:00 24h0m0s (override 2026-01-09 12:00 - 2026-01-10 12:00)
			carol Sat 2026-01-10 12:00 24h0m0s (override 2026-01-10 12:00 - 2026-01-11T12:00:00+01:00 (wedding))
			alice Sun 2026-01-11 12:00 21h0m0s (layer main)`},
		{"layers in zones of their own follow the sun", oncall.Spec{Layers: []oncall.LayerSpec{
			{Name: "europe", Contacts: []string{"eva"}, Start: "2026-01-05", Handover: "00:00", Every: "day", Zone: berlin},
			{
				Name: "america", Contacts: []string{"ann"}, Start: "2026-01-05", Handover: "00:00", Every: "day", Zone: load(t, "America/New_York"),
				Only: during(t, load(t, "America/New_York"), "09:00-17:00"),
			},
		}}, "2026-01-05 12:00", "2026-01-06 12:00", `
			eva Mon 2026-01-05 12:00 2h0m0s (layer europe)
			ann Mon 2026-01-05 14:00 8h0m0s (layer america)
			eva Mon 2026-01-05 22:00 1h0m0s (layer europe)
			eva Mon 2026-01-05 23:00 13h0m0s (layer europe)`},
		{"the night to summer time is an hour shorter and nine stays nine", oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2026-03-27", Handover: "09:00", Every: "1 day"},
		}}, "2026-03-27 08:00", "2026-03-30 07:00", `
			alice Fri 2026-03-27 09:00 24h0m0s (layer main)
			bob Sat 2026-03-28 09:00 23h0m0s (layer main)
			alice Sun 2026-03-29 09:00 24h0m0s (layer main)`},
		{"a hand-over in the hour that is skipped is when the clocks change", oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2026-03-27", Handover: "02:30", Every: "1d"},
		}}, "2026-03-27 01:30", "2026-03-30 00:30", `
			alice Fri 2026-03-27 02:30 24h0m0s (layer main)
			bob Sat 2026-03-28 02:30 23h30m0s (layer main)
			alice Sun 2026-03-29 03:00 23h30m0s (layer main)`},
		{"a hand-over in the hour that comes twice is in the first pass alone", oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2026-10-24", Handover: "02:30", Every: "1 day"},
		}}, "2026-10-24 00:30", "2026-10-27 01:30", `
			alice Sat 2026-10-24 02:30 24h0m0s (layer main)
			bob Sun 2026-10-25 02:30 25h0m0s (layer main)
			alice Mon 2026-10-26 02:30 24h0m0s (layer main)`},
		{"a start in the hour that comes twice is in the first pass", oncall.Spec{Zone: berlin, Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2026-10-25", Handover: "02:30", Every: "1 day"},
		}}, "2026-10-25 00:00", "2026-10-26 02:00", `
			- Sun 2026-10-25 02:00 30m0s (no layer has anybody)
			alice Sun 2026-10-25 02:30 25h0m0s (layer main)
			bob Mon 2026-10-26 02:30 30m0s (layer main)`},
		{"where a day is skipped, the turn that begins and ends in it has no length", oncall.Spec{Zone: load(t, "Pacific/Apia"), Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob", "carol"}, Start: "2011-12-29", Handover: "00:00", Every: "1 day"},
		}}, "2011-12-29 10:00", "2011-12-31 10:00", `
			alice Thu 2011-12-29 00:00 24h0m0s (layer main)
			carol Sat 2011-12-31 00:00 24h0m0s (layer main)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := made(t, c.spec)
			zone := c.spec.Zone
			if zone == nil {
				zone = time.UTC
			}
			if got, want := show(zone, s.Final(at(t, c.from), at(t, c.to))), lines(c.want); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func TestAtSaysWhoWouldBeOnCallIfNotForTheOthers(t *testing.T) {
	nights := weekly("nights", "nora")
	nights.Only = during(t, time.UTC, "20:00-24:00")
	s := made(t, oncall.Spec{Name: "ops", Layers: []oncall.LayerSpec{weekly("main", "alice", "bob"), nights}, Overrides: []oncall.OverrideSpec{
		{From: "2026-01-07 21:00", To: "2026-01-07 22:00", Contact: "carol", Reason: "swap"},
		{From: "2026-01-08 21:00", To: "2026-01-08 22:00", Nobody: true, Reason: "move"},
	}})
	for _, c := range []struct {
		name, at string
		want     []string
	}{
		{"nobody before the start", "2026-01-05 08:59", nil},
		{"one layer by day, until the next one begins", "2026-01-07 12:00", []string{"alice, layer main, 2026-01-07 20:00"}},
		{"the upper layer is cut by the override", "2026-01-07 20:00", []string{"nora, layer nights, 2026-01-07 21:00", "alice, layer main, 2026-01-12 09:00"}},
		{"the override first, then what it covers", "2026-01-07 21:59", []string{
			"carol, override 2026-01-07 21:00 - 2026-01-07 22:00 (swap), 2026-01-07 22:00", "nora, layer nights, 2026-01-08 00:00", "alice, layer main, 2026-01-12 09:00",
		}},
		{"an override ends when it says", "2026-01-07 22:00", []string{"nora, layer nights, 2026-01-08 00:00", "alice, layer main, 2026-01-12 09:00"}},
		{"nobody on purpose", "2026-01-08 21:00", []string{
			", override 2026-01-08 21:00 - 2026-01-08 22:00 (move), 2026-01-08 22:00", "nora, layer nights, 2026-01-09 00:00", "alice, layer main, 2026-01-12 09:00",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, turn := range s.At(at(t, c.at)) {
				got = append(got, fmt.Sprintf("%s, %s, %s", turn.Contact, turn.Source, turn.Until.Std().Format("2006-01-02 15:04")))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := s.Contacts(); !slices.Equal(got, []string{"alice", "bob", "carol", "nora"}) || s.Name() != "ops" {
		t.Errorf("%s has %q", s.Name(), got)
	}
}

func TestShiftsAreThoseOfEveryLayer(t *testing.T) {
	nights := weekly("nights", "nora")
	nights.Only = during(t, time.UTC, "monday 20:00-24:00")
	s := made(t, oncall.Spec{Layers: []oncall.LayerSpec{weekly("main", "alice", "bob"), nights}, Overrides: []oncall.OverrideSpec{
		{From: "2026-01-12 08:00", To: "2026-01-12 10:00", Contact: "carol"},
	}})
	want := lines(`
		- Mon 2026-01-05 08:00 1h0m0s (layer main has nobody)
		alice Mon 2026-01-05 09:00 168h0m0s (layer main)
		bob Mon 2026-01-12 09:00 15h0m0s (layer main)
		- Mon 2026-01-05 08:00 12h0m0s (layer nights has nobody)
		nora Mon 2026-01-05 20:00 4h0m0s (layer nights)
		- Tue 2026-01-06 00:00 164h0m0s (layer nights has nobody)
		nora Mon 2026-01-12 20:00 4h0m0s (layer nights)`)
	if got := show(time.UTC, s.Shifts(at(t, "2026-01-05 08:00"), at(t, "2026-01-13 00:00"))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestGapsTellPurposeFromForgetting(t *testing.T) {
	office := weekly("office", "alice")
	office.Only = during(t, time.UTC, "monday-friday 08:00-18:00")
	s := made(t, oncall.Spec{Layers: []oncall.LayerSpec{office}, Overrides: []oncall.OverrideSpec{
		{From: "2026-01-08 12:00", To: "2026-01-08 20:00", Nobody: true, Reason: "move"},
	}})
	want := lines(`
		- Wed 2026-01-07 18:00 14h0m0s (no layer has anybody)
		- Thu 2026-01-08 12:00 8h0m0s (override 2026-01-08 12:00 - 2026-01-08 20:00 (move))
		- Thu 2026-01-08 20:00 12h0m0s (no layer has anybody)
		- Fri 2026-01-09 18:00 62h0m0s (no layer has anybody)`)
	if got := show(time.UTC, s.Gaps(at(t, "2026-01-07 08:00"), at(t, "2026-01-12 09:00"))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if gaps := made(t, oncall.Spec{Layers: []oncall.LayerSpec{weekly("main", "alice")}}).Gaps(at(t, "2026-01-05 09:00"), at(t, "2126-01-05 09:00")); len(gaps) != 0 {
		t.Errorf("a rotation round the clock has gaps: %v", gaps)
	}
}

func TestListsAreBounded(t *testing.T) {
	s := made(t, oncall.Spec{Layers: []oncall.LayerSpec{{Name: "main", Contacts: []string{"alice"}, Start: "2026-01-05", Handover: "09:00", Every: "day"}, weekly("other", "bob")}})
	from, to := at(t, "2026-01-05 09:00"), at(t, "2926-01-05 09:00")
	if got := len(s.Shifts(from, to)); got != 2*oncall.Most {
		t.Errorf("%d shifts", got)
	}
	if got := s.Final(from, to); len(got) != oncall.Most || got[len(got)-1].To >= to {
		t.Errorf("%d shifts in the end", len(got))
	}
	if got := s.Shifts(to, from); got != nil {
		t.Errorf("shifts of no time: %v", got)
	}
}

func TestATurnThatNeverEndsSaysSo(t *testing.T) {
	last := weekly("old", "alice")
	last.Only = during(t, time.UTC, "2026-01-06 - 2026-01-08 00:00-24:00")
	s := made(t, oncall.Spec{Layers: []oncall.LayerSpec{last}})
	for text, want := range map[string]oncall.Turn{
		"2026-01-01 00:00": {Until: at(t, "2026-01-06 00:00")},
		"2026-01-09 00:00": {},
	} {
		if got := s.OnCall(at(t, text)); got != want {
			t.Errorf("at %s: %+v, want %+v", text, got, want)
		}
	}
}

// Also when it is asked for in the second pass, whose times are before the start
// by the clock.
func TestAFirstTurnDoesNotGoBackWithTheClocks(t *testing.T) {
	for _, every := range []string{"day", "week", "2 weeks"} {
		s := made(t, oncall.Spec{Zone: load(t, "Europe/Berlin"), Layers: []oncall.LayerSpec{
			{Name: "main", Contacts: []string{"alice", "bob"}, Start: "2026-10-25", Handover: "02:30", Every: every},
		}})
		for _, text := range []string{"2026-10-25 00:30", "2026-10-25 01:10", "2026-10-25 01:40"} {
			if got := s.OnCall(at(t, text)).Contact; got != "alice" {
				t.Errorf("every %s, at %s: %q", every, text, got)
			}
		}
	}
}

func TestMillisecondsBelongToTheirSecond(t *testing.T) {
	s := made(t, oncall.Spec{Layers: []oncall.LayerSpec{weekly("main", "alice", "bob")}, Overrides: []oncall.OverrideSpec{
		{From: "2026-01-13 09:00", To: "2026-01-13 10:00", Contact: "carol"},
	}})
	for text, want := range map[string][2]string{
		"2026-01-05 09:00": {"", "alice"}, "2026-01-12 09:00": {"alice", "bob"}, "2026-01-13 09:00": {"bob", "carol"}, "2026-01-13 10:00": {"carol", "bob"},
	} {
		then := at(t, text)
		if got := [2]string{s.OnCall(then - 1).Contact, s.OnCall(then).Contact}; got != want {
			t.Errorf("around %s: %q, want %q", text, got, want)
		}
		if until := s.OnCall(then - object.Time(1)).Until; until != then {
			t.Errorf("before %s: until %d, want %d", text, until, then)
		}
	}
}
