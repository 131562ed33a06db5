package view

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

func TestZonesWithTroubleComeFirst(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(ago time.Duration) object.Time { return object.At(now.Add(-ago)) }
	v := NewWorkers(Chrome{}, FleetSources{
		Version: "1.2",
		Zones: []FleetZone{
			{Name: "calm", Workers: 1, Capacity: 8, Busy: 3},
			{Name: "full", Workers: 2, Capacity: 1500, Busy: 1500, Waiting: 12, Oldest: at(40 * time.Second)},
			{Name: "gone", Deserted: at(3 * time.Minute), Waiting: 4},
			{Name: "it's", Deserted: at(time.Minute), URL: "/services/jaque/x"},
			{Name: "gone then", Deserted: at(time.Hour), Old: true},
			{Name: "seen once", Workers: 1, Capacity: 8, Busy: 2, Old: true},
			{Name: "old", Workers: 2, Capacity: 8},
		},
		Workers: []FleetWorker{
			{ID: "a", Version: "1.2", Zones: []string{"calm", "full"}, Capacity: 8, Busy: 2, Seen: at(time.Second)},
			{ID: "b", Version: "1.1", Zones: []string{"old"}, Capacity: 4, Busy: 4, TooOld: true},
			{ID: "c", Zones: []string{"old"}},
		},
	}, now)
	type row struct{ name, badge, text, start, url string }
	want := []row{
		{"gone", "NO WORKER", "Its services are UNKNOWN and its hosts DOWN until a worker serves it. Start one:", "jaque -target worker -queue nats://SERVER:4222 -zones gone", "/workers?zone=gone"},
		{"it's", "NO WORKER", "Its services are UNKNOWN and its hosts DOWN until a worker serves it. Start one:", `jaque -target worker -queue nats://SERVER:4222 -zones 'it'\''s'`, "/services/jaque/x"},
		{"full", "FULL", "2 workers, 1\u202f500 of 1\u202f500 places busy, 12 checks wait for a place, the oldest for 40 s", "", "/workers?zone=full"},
		{"old", "TOO OLD", "2 workers, 0 of 8 places busy; 1 worker does not understand the checks of this version", "", "/workers?zone=old"},
		{"gone then", "NOT KNOWN", "As an engine last saw it: no worker", "", "/workers?zone=gone+then"},
		{"seen once", "NOT KNOWN", "As an engine last saw it: 1 worker, 2 of 8 places busy", "", "/workers?zone=seen+once"},
		{"calm", "SERVED", "1 worker, 3 of 8 places busy", "", "/workers?zone=calm"},
	}
	var got []row
	for _, z := range v.Zones {
		got = append(got, row{z.Name, z.Badge.Name, z.Text, z.Start, z.URL})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if v.Zones[0].Since.Rel != "3 min ago" || v.Empty != "" || v.Rest != "" {
		t.Errorf("%+v", v)
	}
	first, second, third := v.List[0], v.List[1], v.List[2]
	if first.Name != "b" || first.TooOld == "" || first.Width != 1000 || first.Tone != "warn" || !slices.Equal(first.Marks, []string{"other version"}) {
		t.Errorf("the worker that is too old: %+v", first)
	}
	if second.Name != "a" || len(second.Marks) != 0 || second.Width != 250 || second.Load != "2 of 8 places busy" || len(second.Zones) != 2 {
		t.Errorf("a worker: %+v", second)
	}
	if third.Version != "version not known" || third.Width != 0 || third.Seen.Rel != "never" {
		t.Errorf("a worker that says little: %+v", third)
	}
}

func TestThePageOfWorkersIsBounded(t *testing.T) {
	src := FleetSources{}
	for n := range MostWorkers + 7 {
		src.Workers = append(src.Workers, FleetWorker{ID: strconv.Itoa(n), TooOld: n == MostWorkers+6})
	}
	v := NewWorkers(Chrome{}, src, time.Now())
	if len(v.List) != MostWorkers || v.Rest != "and 7 more workers; narrow the list with a zone" || v.List[0].TooOld == "" {
		t.Errorf("%d workers, %q", len(v.List), v.Rest)
	}
	for _, trouble := range []string{"", "away"} {
		if v := NewWorkers(Chrome{}, FleetSources{Trouble: trouble}, time.Now()); v.Empty == "" || v.Trouble != trouble {
			t.Errorf("an empty fleet: %+v", v)
		}
	}
}
