package oncall_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/rule/oncall"
)

// layerWith is an ordinary layer after a change.
func layerWith(change func(l *oncall.LayerSpec)) oncall.Spec {
	l := weekly("main", "alice", "bob")
	change(&l)
	return oncall.Spec{Name: "ops", Layers: []oncall.LayerSpec{l}}
}

// overridden is an ordinary schedule with overrides.
func overridden(overrides ...oncall.OverrideSpec) oncall.Spec {
	return oncall.Spec{Name: "ops", Layers: []oncall.LayerSpec{weekly("main", "alice", "bob")}, Overrides: overrides}
}

func TestRefusals(t *testing.T) {
	berlin := load(t, "Europe/Berlin")
	inBerlin := func(s oncall.Spec) oncall.Spec { s.Zone = berlin; return s }
	for _, c := range []struct {
		name, field, want string
		spec              oncall.Spec
	}{
		{"a schedule without layers", "layers", `the on-call schedule "ops" has no layers, so nobody would ever be on call; write at least one with contacts, start, handover and days`, oncall.Spec{Name: "ops"}},
		{"a layer without a name", "name", `layer 1 of the on-call schedule "ops" has no name; write for example name: "weekdays"`, layerWith(func(l *oncall.LayerSpec) { l.Name = " " })},
		{
			"two layers of one name", "name", `two layers of the on-call schedule "ops" are called "main"; write another name for one of them`,
			oncall.Spec{Name: "ops", Layers: []oncall.LayerSpec{weekly("main", "alice"), weekly("main", "bob")}},
		},
		{"a rotation without contacts", "contacts", `layer "main" has no contacts, so nobody takes a turn; write for example contacts: ["alice", "bob"]`, layerWith(func(l *oncall.LayerSpec) { l.Contacts = nil })},
		{"a contact without a name", "contacts", `layer "main": contact 2 has no name; write one or remove it`, layerWith(func(l *oncall.LayerSpec) { l.Contacts = []string{"alice", ""} })},
		{"no start", "start", `layer "main": there is no start; write the day of the first turn, for example "2026-01-05"`, layerWith(func(l *oncall.LayerSpec) { l.Start = "" })},
		{
			"a start with a time", "start", `layer "main": the start "2026-01-05 09:00" is not a day; write the day alone, for example "2026-01-05": the time is that of the hand-over`,
			layerWith(func(l *oncall.LayerSpec) { l.Start = "2026-01-05 09:00" }),
		},
		{"a start that no calendar has", "start", `layer "main": the start "2026-02-30" is not a day of the calendar; write year, month and day such as "2026-01-05"`, layerWith(func(l *oncall.LayerSpec) { l.Start = "2026-02-30" })},
		{"a start in another century", "start", `layer "main": the start "0206-01-05" is too early; write a day from 1971 on`, layerWith(func(l *oncall.LayerSpec) { l.Start = "0206-01-05" })},
		{
			"a start in the hour that is skipped", "start", `layer "main": the start 2026-03-29 02:30 does not exist in Europe/Berlin: the clocks go from 2026-03-29 02:00 to 2026-03-29 03:00; write the day before or after, or another time of the hand-over`,
			inBerlin(layerWith(func(l *oncall.LayerSpec) { l.Start, l.Handover = "2026-03-29", "02:30" })),
		},
		{"no time of the hand-over", "handover", `layer "main": there is no time of the hand-over; write for example "09:00"`, layerWith(func(l *oncall.LayerSpec) { l.Handover = "" })},
		{"a hand-over that is no time", "handover", `layer "main": the hand-over "nine" is not a time of day; write hours and minutes such as "09:00"`, layerWith(func(l *oncall.LayerSpec) { l.Handover = "nine" })},
		{"a hand-over in the 61st minute", "handover", `layer "main": the hand-over "09:60" is not a time of day; write hours and minutes such as "09:00"`, layerWith(func(l *oncall.LayerSpec) { l.Handover = "09:60" })},
		{"a hand-over in the 26th hour", "handover", `layer "main": the hand-over "25:00" is not a time of day; write hours and minutes such as "09:00"`, layerWith(func(l *oncall.LayerSpec) { l.Handover = "25:00" })},
		{"a hand-over at the end of the day", "handover", `layer "main": the hand-over "24:00" is on the next day; write "00:00"`, layerWith(func(l *oncall.LayerSpec) { l.Handover = "24:00" })},
		{"no hand-over at all", "days", `layer "main" never hands over; write the weekdays, for example days: ["monday"], or every: "2 weeks"`, layerWith(func(l *oncall.LayerSpec) { l.Days = nil })},
		{"a weekday with a slip", "days", `layer "main": the hand-over day "mnoday" is not a weekday; did you mean "monday"?`, layerWith(func(l *oncall.LayerSpec) { l.Days = []string{"mnoday"} })},
		{"a weekday cut short", "days", `layer "main": the hand-over day "Wed" is not a weekday; did you mean "wednesday"?`, layerWith(func(l *oncall.LayerSpec) { l.Days = []string{"Wed"} })},
		{"a word that is no weekday", "days", `layer "main": the hand-over day "payday tomorrow" is not a weekday; write for example "monday"`, layerWith(func(l *oncall.LayerSpec) { l.Days = []string{"payday tomorrow"} })},
		{"a weekday twice", "days", `layer "main": the hand-over day "Monday" stands there twice; remove number 2`, layerWith(func(l *oncall.LayerSpec) { l.Days = []string{"monday", "Monday"} })},
		{"weekdays every so many days", "every", `layer "main" hands over on weekdays and every "3 days"; write every in weeks, or leave out the days`, layerWith(func(l *oncall.LayerSpec) { l.Every = "3 days" })},
		{"an interval of hours", "every", `layer "main": hand-overs every "12h" are not possible, only whole days and weeks; write a layer for each part of the day, with a period in "only"`, layerWith(func(l *oncall.LayerSpec) { l.Every = "12h" })},
		{"an interval of nothing", "every", `layer "main": hand-overs every "0 weeks" are not possible; write a number from 1 to 52`, layerWith(func(l *oncall.LayerSpec) { l.Every = "0 weeks" })},
		{"an interval of ages", "every", `layer "main": hand-overs every "99999999999999999999 days" are not possible; write a number from 1 to 366`, layerWith(func(l *oncall.LayerSpec) { l.Days, l.Every = nil, "99999999999999999999 days" })},
		{"an interval in words", "every", `layer "main": "fortnight" is no interval of hand-overs; write for example "3 days" or "2 weeks"`, layerWith(func(l *oncall.LayerSpec) { l.Every = "fortnight" })},
		{
			"a period that never comes", "only", `layer "main": the period "nights" is never inside after the start, so nobody would ever be on call; write another period or an earlier start`,
			layerWith(func(l *oncall.LayerSpec) { l.Only = during(t, time.UTC, "2025-01-01 00:00-24:00") }),
		},
		{"an override without a contact", "contact", `override "2026-02-01 09:00 - 2026-02-02 09:00" names no contact; write contact: "alice", or nobody: true`, overridden(oncall.OverrideSpec{From: "2026-02-01 09:00", To: "2026-02-02 09:00"})},
		{"an override with a contact and nobody", "nobody", `override "2026-02-01 09:00 - 2026-02-02 09:00" names "bob" and nobody; write one of the two`, overridden(oncall.OverrideSpec{From: "2026-02-01 09:00", To: "2026-02-02 09:00", Contact: "bob", Nobody: true})},
		{"an override without an end", "to", `override "2026-02-01 09:00 - ": to: it is missing; write day and time, for example "2026-12-24 18:00"`, overridden(oncall.OverrideSpec{From: "2026-02-01 09:00", Contact: "bob"})},
		{"an override that begins on a day alone", "from", `override "2026-02-01 - 2026-02-02 09:00": from: "2026-02-01" is not a time; write day and time such as "2026-12-24 18:00"`, overridden(oncall.OverrideSpec{From: "2026-02-01", To: "2026-02-02 09:00", Contact: "bob"})},
		{"an override in another century", "from", `override "1926-02-01T09:00:00Z - 2026-02-02 09:00": from: "1926-02-01T09:00:00Z" is too early; write a year from 1971 on`, overridden(oncall.OverrideSpec{From: "1926-02-01T09:00:00Z", To: "2026-02-02 09:00", Contact: "bob"})},
		{
			"an override in the hour that is skipped", "to", `override "2026-03-29 00:00 - 2026-03-29 02:30": to: 2026-03-29 02:30 does not exist in Europe/Berlin: the clocks go from 2026-03-29 02:00 to 2026-03-29 03:00; write "2026-03-29 03:00" or a time before the change`,
			inBerlin(overridden(oncall.OverrideSpec{From: "2026-03-29 00:00", To: "2026-03-29 02:30", Contact: "bob"})),
		},
		{"an override that ends before it begins", "to", `override "2026-02-02 09:00 - 2026-02-01 09:00" does not end after it begins; write a later time in to`, overridden(oncall.OverrideSpec{From: "2026-02-02 09:00", To: "2026-02-01 09:00", Contact: "bob"})},
		{"an override of no length", "to", `override "2026-02-02 09:00 - 2026-02-02T09:00:00Z" does not end after it begins; write a later time in to`, overridden(oncall.OverrideSpec{From: "2026-02-02 09:00", To: "2026-02-02T09:00:00Z", Contact: "bob"})},
		{
			"two overrides at once", "from", `the overrides "2026-02-01 09:00 - 2026-02-03 09:00" and "2026-02-02 09:00 - 2026-02-02 10:00" overlap, and only one can count; write the end of the one as the beginning of the other`,
			overridden(oncall.OverrideSpec{From: "2026-02-02 09:00", To: "2026-02-02 10:00", Contact: "bob"}, oncall.OverrideSpec{From: "2026-02-01 09:00", To: "2026-02-03 09:00", Nobody: true}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := oncall.Parse(c.spec)
			var problems oncall.Problems
			if !errors.As(err, &problems) || len(problems) != 1 || s != nil {
				t.Fatalf("got %v, want one problem", err)
			}
			if p := problems[0]; p.Text != c.want || p.Field != c.field {
				t.Errorf("got %s: %s\nwant %s: %s", p.Field, p.Text, c.field, c.want)
			}
		})
	}
}

func TestEveryProblemIsReportedWithItsPlace(t *testing.T) {
	spec := oncall.Spec{Layers: []oncall.LayerSpec{weekly("main", "alice"), {Name: "nights"}}, Overrides: []oncall.OverrideSpec{
		{From: "2026-01-06 00:00", To: "2026-01-08 00:00", Contact: "a"},
		{},
		{From: "2026-01-01 00:00", To: "2026-01-07 00:00", Contact: "b"},
		{From: "2026-01-07 12:00", To: "2026-01-07 13:00", Contact: "c"},
		{From: "2026-01-07 14:00", To: "2026-01-07 15:00", Nobody: true},
	}}
	_, err := oncall.Parse(spec)
	var problems oncall.Problems
	if !errors.As(err, &problems) {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, said(p.Layer, p.Override, p.Field))
	}
	want := []string{
		said(1, -1, "contacts"), said(1, -1, "start"), said(1, -1, "handover"), said(1, -1, "days"),
		said(-1, 1, "from"), said(-1, 1, "to"), said(-1, 1, "contact"), said(-1, 0, "from"), said(-1, 3, "from"), said(-1, 4, "from"),
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("got\n%swant\n%s", strings.Join(got, ""), strings.Join(want, ""))
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != len(want) {
		t.Errorf("%d lines for %d problems", n, len(want))
	}
}

func TestOverridesMayTouch(t *testing.T) {
	s := made(t, overridden(oncall.OverrideSpec{From: "2026-02-02 09:00", To: "2026-02-02 10:00", Contact: "bob"}, oncall.OverrideSpec{From: "2026-02-01 09:00", To: "2026-02-02 09:00", Contact: "carol"}))
	if a, b := s.OnCall(at(t, "2026-02-02 09:00")-1).Contact, s.OnCall(at(t, "2026-02-02 09:00")).Contact; a != "carol" || b != "bob" {
		t.Errorf("%q hands over to %q", a, b)
	}
}
