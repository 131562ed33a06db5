package period_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/period"
)

// zones loads every zone of IANA, a tenth of them for a short test.
func zones(t *testing.T) []*time.Location {
	text, err := os.ReadFile("testdata/zones.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []*time.Location
	seen := map[string]bool{}
	names := strings.Fields(string(text))
	for i, name := range names {
		if i%10 != 0 && testing.Short() {
			continue
		}
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		// Many names stand for clocks that were changed alike in these years.
		if like := history(zone); !seen[like] {
			seen[like] = true
			all = append(all, zone)
		}
	}
	t.Logf("%d zones, %d different clocks", len(names), len(all))
	return all
}

// history is what the clocks of a zone showed from 1990 to 2037.
func history(zone *time.Location) string {
	_, offset := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).In(zone).Zone()
	text := []string{said(offset)}
	for _, c := range clockChanges(zone) {
		_, offset := c.Zone()
		text = append(text, said(c.Unix(), offset))
	}
	return strings.Join(text, "")
}

// clockChanges returns every instant from 1990 to 2037 at which the clocks of a
// zone change.
func clockChanges(zone *time.Location) []time.Time {
	var all []time.Time
	end := time.Date(2038, 1, 1, 0, 0, 0, 0, time.UTC)
	for t := time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); ; {
		_, next := t.ZoneBounds()
		if next.IsZero() || next.After(end) {
			return all
		}
		all = append(all, next)
		t = next
	}
}

// wall is a period of plain weekdays as the slow second version sees it: minutes
// of the day by weekday.
type wall [7][][2]int

// has tells by the clock on the wall whether an instant is inside.
func (w wall) has(at int64, zone *time.Location) bool {
	shown := time.Unix(at, 0).In(zone)
	hour, minute, _ := shown.Clock()
	for _, s := range w[shown.Weekday()] {
		if m := hour*60 + minute; s[0] <= m && m < s[1] {
			return true
		}
	}
	return false
}

// texts writes the period as lines.
func (w wall) texts() []string {
	var texts []string
	for i, spans := range w {
		for _, s := range spans {
			texts = append(texts, strings.ToLower(time.Weekday(i).String())+" "+clockText(s[0])+"-"+clockText(s[1]))
		}
	}
	return texts
}

// walls are the periods that every change of clocks is tried with: spans that
// begin, end or lie within the hour that is changed, and joins of days.
func walls() []wall {
	var nights, joined, short wall
	for i := range nights {
		nights[i] = [][2]int{{0, 80}, {90, 125}, {140, 165}, {180, 235}, {1380, 1440}}
		short[i] = [][2]int{{20 * i, 20*i + 15}, {400, 405}, {1425, 1440}}
	}
	joined[0], joined[1], joined[6] = [][2]int{{0, 150}, {1320, 1440}}, [][2]int{{0, 360}}, [][2]int{{60, 1440}}
	return []wall{nights, joined, short}
}

// Around every change of clocks the period says the same as the clock on the
// wall, second by second where it changes and every five minutes between.
func TestEveryZoneByTheClockOnTheWall(t *testing.T) {
	changes := 0
	for _, zone := range zones(t) {
		for i, w := range walls() {
			p, err := period.Parse("p", zone, w.texts(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range clockChanges(zone) {
				changes++
				if why := around(p, w, zone, c.Unix()); why != "" {
					t.Fatalf("%s, period %d, change at %s: %s", zone, i, c, why)
				}
			}
		}
	}
	t.Logf("%d changes of clocks", changes)
}

// around walks from change to change of a period, 30 hours to both sides.
func around(p *period.Period, w wall, zone *time.Location, change int64) string {
	const side, grid = 30 * 3600, 300
	for at := change - side; at < change+side; {
		in, until := p.Window(object.Time(at * 1000))
		next := int64(until / 1000)
		if w.has(at, zone) != in || p.Contains(object.Time(at*1000)) != in {
			return said("at", at, "inside is", in)
		}
		if next <= at || w.has(next, zone) == in || w.has(next-1, zone) != in {
			return said("from", at, "inside", in, "until", next, "which is no change")
		}
		for g := at - at%grid + grid; g < min(next, change+side); g += grid {
			if w.has(g, zone) != in {
				return said("from", at, "inside", in, "until", next, "but not at", g)
			}
		}
		at = next
	}
	return ""
}

// A span that the change does not touch takes place exactly once and has its
// length, on the day of the change, the day before and the day after.
func TestEveryZoneLosesAndDoublesNothing(t *testing.T) {
	seen := 0
	for _, zone := range zones(t) {
		for hour := 0; hour < 24; hour += 3 {
			p, err := period.Recurring([]string{clockText(hour*60) + "-" + clockText(hour*60+60)}, zone)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range clockChanges(zone) {
				seen += untouched(t, p, zone, c, hour)
			}
		}
	}
	t.Logf("%d windows", seen)
}

// untouched compares windows around a change with the days of the calendar.
func untouched(t *testing.T, p *period.Period, zone *time.Location, change time.Time, hour int) int {
	from := change.Add(-50 * time.Hour)
	var got []time.Time
	for _, w := range period.Windows(p, object.At(from), 6) {
		got = append(got, w.Start.Std().In(zone), w.End.Std().In(zone))
	}
	_, before := change.Add(-time.Second).Zone()
	_, after := change.Zone()
	checked := 0
	for d := -1; d <= 1; d++ {
		shown := change.AddDate(0, 0, d)
		start := time.Date(shown.Year(), shown.Month(), shown.Day(), hour, 0, 0, 0, time.UTC).Unix()
		// What the clock shows around the change, as if it were UTC: a span that
		// reaches into it is cut or repeated.
		low, high := change.Unix()+int64(min(before, after)), change.Unix()+int64(max(before, after))
		if start < high && start+3600 > low {
			continue
		}
		offset := before
		if start >= high {
			offset = after
		}
		want := time.Unix(start-int64(offset), 0)
		matches := 0
		for i := 0; i+1 < len(got); i += 2 {
			if got[i].Day() == shown.Day() && got[i].Month() == shown.Month() {
				matches++
				if !got[i].Equal(want) || got[i+1].Sub(got[i]) != time.Hour {
					t.Fatalf("%s, change at %s: window %s to %s, want one hour from %s", zone, change, got[i], got[i+1], want)
				}
			}
		}
		if matches != 1 {
			t.Fatalf("%s, change at %s: %d windows on %s at %d:00", zone, change, matches, shown.Format(time.DateOnly), hour)
		}
		checked++
	}
	return checked
}
