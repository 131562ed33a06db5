package oncall_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/oncall"
	"jaque.sh/jaque/appliance/rule/period"
)

// load returns a zone.
func load(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// made parses a schedule that must have no problem.
func made(t testing.TB, spec oncall.Spec) *oncall.Schedule {
	t.Helper()
	s, err := oncall.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// during makes a period.
func during(t testing.TB, zone *time.Location, ranges ...string) *period.Period {
	t.Helper()
	p, err := period.Parse("nights", zone, ranges, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// weekly is a layer that hands over on Mondays at nine.
func weekly(name string, contacts ...string) oncall.LayerSpec {
	return oncall.LayerSpec{Name: name, Contacts: contacts, Start: "2026-01-05", Handover: "09:00", Days: []string{"monday"}}
}

// at reads a time with an offset or, without one, in UTC.
func at(t testing.TB, text string) object.Time {
	t.Helper()
	layout := "2006-01-02 15:04"
	if strings.ContainsRune(text, 'T') {
		layout = "2006-01-02T15:04Z07:00"
	}
	v, err := time.Parse(layout, text)
	if err != nil {
		t.Fatal(err)
	}
	return object.At(v)
}

// show writes shifts by the clock of a zone with their lengths, a line for each.
func show(zone *time.Location, shifts []oncall.Shift) string {
	var b strings.Builder
	for _, s := range shifts {
		who := s.Contact
		if who == "" {
			who = "-"
		}
		fmt.Fprintf(&b, "%s %s %s (%s)\n", who, s.From.Std().In(zone).Format("Mon 2006-01-02 15:04"), s.To.Sub(s.From), s.Source)
	}
	return b.String()
}

// lines drops the indentation of a text in a test.
func lines(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// said makes one line of what a check found.
func said(words ...any) string { return fmt.Sprintln(words...) }
