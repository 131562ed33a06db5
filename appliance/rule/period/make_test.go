package period_test

import (
	"fmt"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/rule/period"
)

// said makes one text of what a check found.
func said(words ...any) string { return fmt.Sprintln(words...) }

// clockText writes a minute of the day.
func clockText(minute int) string { return fmt.Sprintf("%02d:%02d", minute/60, minute%60) }

// load returns a zone.
func load(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// made parses jaque's texts, which must have no problem.
func made(t testing.TB, zone string, ranges ...string) *period.Period {
	t.Helper()
	p, err := period.Parse("p", load(t, zone), ranges, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
