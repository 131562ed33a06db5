package view

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// MostWorkers is how many workers the page shows at once.
const MostWorkers = 200

// Workers is the page of zones and of who executes their checks.
type Workers struct {
	Chrome  Chrome
	Zone    string // that the page is narrowed to, "" = all
	Trouble string
	Zones   []ZoneRow // those with trouble first
	List    []WorkerRow
	Rest    string // how many workers are not shown, "" = all are
	Empty   string // why there is no worker
}

// ZoneRow is one zone.
type ZoneRow struct {
	Badge Badge
	Name  string
	URL   string // the page of the zone, or of its workers
	Text  string
	Start string // how a worker is started for it, "" = it has one
	Since When   // when its last worker went; zero = it has one
}

// WorkerRow is one worker.
type WorkerRow struct {
	Name    string
	Version string
	Zones   []Link
	Marks   []string
	TooOld  string // what does not work with it, "" = nothing
	Load    string
	Width   int // of the load in a bar of 1000
	Tone    string
	Seen    When
}

// FleetSources are what the page of workers is filled from.
type FleetSources struct {
	Zone    string // that the page is narrowed to, "" = all
	Version string // of this process
	Trouble string
	Workers []FleetWorker
	Zones   []FleetZone
}

// FleetWorker is what is known of a worker.
type FleetWorker struct {
	ID, Version    string
	Zones          []string
	Capacity, Busy int
	Seen           object.Time
	TooOld         bool
}

// FleetZone is what is known of a zone.
type FleetZone struct {
	Name, URL               string // URL of its page, "" = it has none
	Workers, Capacity, Busy int
	Waiting                 int
	Oldest                  object.Time // when the oldest that waits was sent; 0 = not known
	Deserted                object.Time // since when nobody serves it; 0 = somebody does
	Old                     bool        // it is what an engine last saw, and none says it anew
}

// NewWorkers fills the page.
func NewWorkers(c Chrome, src FleetSources, now time.Time) Workers {
	v := Workers{Chrome: c, Zone: src.Zone, Trouble: src.Trouble}
	old := map[string]int{}
	for i := range src.Workers {
		if w := &src.Workers[i]; w.TooOld {
			for _, zone := range w.Zones {
				old[zone]++
			}
		}
		v.List = append(v.List, newWorker(&src.Workers[i], src.Version, now))
	}
	// What somebody has to see to comes first.
	slices.SortStableFunc(v.List, func(a, b WorkerRow) int { return trouble(b.TooOld != "") - trouble(a.TooOld != "") })
	if n := len(v.List) - MostWorkers; n > 0 {
		v.List, v.Rest = v.List[:MostWorkers], "and "+Count(n, "more worker", "more workers")+"; narrow the list with a zone"
	}
	for i := range src.Zones {
		v.Zones = append(v.Zones, newZone(&src.Zones[i], old[src.Zones[i].Name], now))
	}
	slices.SortStableFunc(v.Zones, func(a, b ZoneRow) int { return weight(b.Badge.Tone) - weight(a.Badge.Tone) })
	if len(v.List) == 0 {
		v.Empty = "No worker has announced itself."
		if src.Trouble != "" {
			v.Empty = "Which workers there are is not known here."
		}
	}
	return v
}

func trouble(is bool) int {
	if is {
		return 1
	}
	return 0
}

// weight orders tones, the worst highest.
func weight(tone string) int { return slices.Index([]string{"ok", "pending", "warn", "crit"}, tone) }

func newZone(z *FleetZone, old int, now time.Time) ZoneRow {
	row := ZoneRow{
		Name: z.Name, URL: cmp.Or(z.URL, zoneURL(z.Name)), Badge: Badge{Name: "SERVED", Tone: "ok"},
		Text: Count(z.Workers, "worker", "workers") + ", " + load(z.Busy, z.Capacity),
	}
	if z.Waiting > 0 {
		row.Text += ", " + Count(z.Waiting, "check waits", "checks wait") + " for a place"
		if z.Oldest != 0 {
			row.Text += ", the oldest for " + Span(now.Sub(z.Oldest.Std()))
		}
	}
	switch {
	case z.Old:
		row.Badge, row.Text = Badge{Name: "NOT KNOWN", Tone: "pending"}, "As an engine last saw it: "+lastSeen(z, row.Text)
	case z.Deserted != 0:
		row.Badge, row.Since = Badge{Name: "NO WORKER", Tone: "crit"}, NewWhen(z.Deserted, now)
		row.Text, row.Start = "Its services are UNKNOWN and its hosts DOWN until a worker serves it. Start one:", "jaque -target worker -queue nats://SERVER:4222 -zones "+quoted(z.Name)
	case old > 0:
		row.Badge = Badge{Name: "TOO OLD", Tone: "warn"}
		row.Text += "; " + Count(old, "worker does", "workers do") + " not understand the checks of this version"
	case z.Waiting > 0 && z.Busy >= z.Capacity:
		row.Badge = Badge{Name: "FULL", Tone: "warn"}
	}
	return row
}

// lastSeen says how a zone was when an engine last looked.
func lastSeen(z *FleetZone, served string) string {
	if z.Deserted != 0 {
		return "no worker"
	}
	return served
}

func load(busy, capacity int) string {
	return Number(busy) + " of " + Number(capacity) + " places busy"
}

func zoneURL(name string) string { return "/workers?" + url.Values{"zone": {name}}.Encode() }

// quoted is a name as a shell takes it.
func quoted(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./", r)
	}
	if strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

func newWorker(w *FleetWorker, own string, now time.Time) WorkerRow {
	row := WorkerRow{
		Name: w.ID, Version: cmp.Or(w.Version, "version not known"), Load: load(w.Busy, w.Capacity), Seen: NewWhen(w.Seen, now), Tone: "ok",
	}
	if w.Capacity > 0 {
		row.Width = min(1000*w.Busy/w.Capacity, 1000)
	}
	if row.Width == 1000 {
		row.Tone = "warn"
	}
	for _, zone := range w.Zones {
		row.Zones = append(row.Zones, Link{Label: zone, URL: zoneURL(zone)})
	}
	if w.Version != own {
		row.Marks = append(row.Marks, "other version")
	}
	if w.TooOld {
		row.TooOld = "It does not understand the checks of this version and answers them with UNKNOWN: upgrade it."
	}
	return row
}
