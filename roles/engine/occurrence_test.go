package engine

import (
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

func TestTheOccurrenceThatRunsOrComesNext(t *testing.T) {
	at := func(text string) object.Time {
		if text == "" {
			return 0
		}
		v, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return object.At(v)
	}
	sunday := []string{"sunday 02:00-04:00"}
	always := []string{"monday-sunday 00:00-24:00"}
	for _, c := range []struct {
		name             string
		ranges           []string
		from, until, now string // of the rule
		start, end       string // "" = none
		fails            bool
	}{
		{name: "once, ahead", from: "2026-06-01 10:00", until: "2026-06-01 11:00", now: "2026-05-01 00:00", start: "2026-06-01 10:00", end: "2026-06-01 11:00"},
		{name: "once, running", from: "2026-06-01 10:00", until: "2026-06-01 11:00", now: "2026-06-01 10:30", start: "2026-06-01 10:00", end: "2026-06-01 11:00"},
		{name: "once, over", from: "2026-06-01 10:00", until: "2026-06-01 11:00", now: "2026-06-01 11:00"},
		{name: "recurring, the next", ranges: sunday, now: "2026-06-03 00:00", start: "2026-06-07 02:00", end: "2026-06-07 04:00"},
		{name: "recurring, running", ranges: sunday, now: "2026-06-07 03:00", start: "2026-06-07 02:00", end: "2026-06-07 04:00"},
		{name: "recurring, at its end", ranges: sunday, now: "2026-06-07 04:00", start: "2026-06-14 02:00", end: "2026-06-14 04:00"},
		{name: "a rule that begins within a window waits for the next", ranges: sunday, from: "2026-06-07 03:00", now: "2026-06-07 03:30", start: "2026-06-14 02:00", end: "2026-06-14 04:00"},
		{name: "a rule that begins later", ranges: sunday, from: "2026-07-01 00:00", now: "2026-06-03 00:00", start: "2026-07-05 02:00", end: "2026-07-05 04:00"},
		{name: "a rule that ends before the next window", ranges: sunday, until: "2026-06-07 02:00", now: "2026-06-03 00:00"},
		{name: "a rule that ends within a window lets it pass", ranges: sunday, until: "2026-06-07 03:00", now: "2026-06-07 03:30", start: "2026-06-07 02:00", end: "2026-06-07 04:00"},
		{name: "all the time, as long as the rule", ranges: always, from: "2026-06-01 00:00", until: "2026-07-01 00:00", now: "2026-06-03 00:00", start: "2026-06-01 00:00", end: "2026-07-01 00:00"},
		{name: "all the time, over", ranges: always, until: "2026-06-01 00:00", now: "2026-06-03 00:00"},
		{name: "all the time for ever is no downtime", ranges: always, now: "2026-06-03 00:00", fails: true},
		{name: "ranges that cannot be read", ranges: []string{"someday"}, now: "2026-06-03 00:00", fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := event.DowntimeRule{Ranges: c.ranges, Zone: "UTC", Start: at(c.from), End: at(c.until)}
			start, end, err := occurrence(&r, at(c.now))
			if start != at(c.start) || end != at(c.end) || (err != nil) != c.fails {
				t.Errorf("from %s to %s, %v", start.Std().UTC(), end.Std().UTC(), err)
			}
			if over(&r, at(c.now)) != (c.end == "" && !c.fails) {
				t.Error("it counts as over, or not, against that")
			}
		})
	}
	if _, _, err := occurrence(&event.DowntimeRule{Ranges: sunday, Zone: "Mars/Olympus"}, 0); err == nil {
		t.Error("a zone that does not exist is taken")
	}
}
