package view

import (
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
)

// Gallery is one page with every part in all its states.
type Gallery struct {
	Chrome    Chrome
	Badges    []Badge
	Homes     []Home
	Tallies   []Tally
	Groups    []Group
	Lists     []List
	One       []Row
	Perf      []Perf
	Bars      []Bar
	Timelines [][]Stretch
	Lines     []Line
	Facts     []Fact
	Forms     []Form
	Handling  Handling
	Notices   []Notice
	Sheet     Sheet
	Preview   Preview
	Bulk      Bulk
	Strips    []Strip
	Canaries  []Canary
	Notes     []NoteRow
	Who       Who
	Verdicts  []Verdict
}

// NewGallery fills the gallery with invented objects.
func NewGallery(c Chrome) Gallery {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) When { return NewWhen(object.At(now.Add(-d)), now) }
	row := func(tone, name, service, output string, d time.Duration) Row {
		return Row{
			Badge: Badge{Name: name, Tone: tone}, Host: "web01", HostURL: "/hosts/web01", Name: service,
			URL: "/services/web01/" + service, Output: output, Since: ago(d), Checked: ago(20 * time.Second), Attempt: "3/3",
		}
	}
	long := row("warn", "WARNING", strings.Repeat("a-very-long-service-name-", 6), strings.Repeat("output without an end ", 30), 76*time.Hour)
	long.Marks = []string{"acknowledged", "in downtime", "flapping"}
	soft := row("crit", "CRITICAL", "http", "HTTP 500", 90*time.Second)
	soft.Badge.Soft, soft.Attempt, soft.Help = true, "1/3", "https://example.com/runbook"
	rows := []Row{
		soft, row("crit", "CRITICAL", "disk", "DISK CRITICAL - / 98 % used", 4*time.Minute),
		row("unknown", "UNKNOWN", "ntp", "<script>alert('no')</script>", time.Hour), long,
	}
	down := row("crit", "DOWN", "web01", "no answer within 3 s", 2*time.Minute)
	counts := projection.Counts{Hosts: [3]int{12, 1, 0}, Services: [4]int{99_312, 7, 3, 1}, PendingServices: 20}
	g := Gallery{
		Chrome: c,
		Badges: []Badge{
			{Name: "OK", Tone: "ok"},
			{Name: "WARNING", Tone: "warn"},
			{Name: "CRITICAL", Tone: "crit"},
			{Name: "UNKNOWN", Tone: "unknown"},
			{Name: "PENDING", Tone: "pending"},
			{Name: "CRITICAL", Tone: "crit", Soft: true},
			{Name: "WARNING", Tone: "warn", Soft: true},
			{Name: "UNKNOWN", Tone: "unknown", Soft: true},
		},
		Homes: []Home{
			{Headline: "4 problems need somebody", Tone: "crit", Detail: "on 3 hosts, the newest since 2 min"},
			{Headline: "Nothing needs you", Tone: "ok", Detail: "230 objects are watched"},
			{Headline: "Nothing is watched yet", Tone: "pending", Detail: "Add hosts and services to the configuration and reload it."},
		},
		Tallies: append(NewTallies(counts), NewTallies(projection.Counts{})...),
		Groups:  []Group{{Host: row("ok", "UP", "web01", "", time.Hour), Rows: rows}, {Host: down, Down: true}, {Host: down, Down: true, Rows: rows[1:2]}},
		One:     rows[:1],
		Perf:    NewPerf("load1=0.92;4;8;0 /=87%;80;90 time=0.0123s;;;0 mem=6442450944B;;;0;8589934592 'a label'=5 users=7;5;10;0"),
		Bars:    NewLateness([]string{"half within", "worst"}, []float64{0.002, 1.3}),
		Lines: []Line{
			{When: ago(time.Minute), Badge: rows[1].Badge, Object: "web01!disk", URL: "/services/web01/disk", What: "check result, hard 3/3", Text: rows[1].Output, Was: "OK"},
			{When: ago(time.Hour), What: "configuration loaded", Text: "generation: 4f2a"},
			{When: ago(48 * time.Hour), Badge: long.Badge, Object: "web01!" + long.Name, URL: long.URL, What: "check result", Text: long.Output},
		},
		Facts: []Fact{{Label: "Took", Value: "12 ms"}, {Label: "Last check", When: ago(time.Minute)}, {Label: "Never", When: NewWhen(0, now)}, {Label: "role", Value: "web", URL: "/services?filter=label.role%3Dweb"}},
		Forms: []Form{{Action: "#", Label: "Check now"}, {Action: "#", Label: "Check now", Why: "this process only reads"}},
	}
	for _, q := range []ListRequest{{Kind: object.Service, Page: 1, Sort: "-state"}, {Kind: object.Host, Page: 2, Filter: "x"}, {Kind: object.Host, Page: 1, Error: "filter, column 3: something"}} {
		g.Lists = append(g.Lists, NewList(c, q, nil, 0, now))
	}
	g.Lists[0].Rows, g.Lists[0].Empty = rows, ""
	g.people(ago)
	g.telling(now)
	day := now.Add(-Window)
	g.Timelines = [][]Stretch{
		{stretch(g.Badges[0], day, now, day, now)},
		{stretch(g.Badges[0], day, now.Add(-6*time.Hour), day, now), stretch(g.Badges[2], now.Add(-6*time.Hour), now.Add(-5*time.Hour), day, now), stretch(g.Badges[1], now.Add(-5*time.Hour), now, day, now)},
	}
	return g
}

// people fills what is about people: what they did, and the forms to do it with.
func (g *Gallery) people(ago func(time.Duration) When) {
	soon := ago(-2 * time.Hour)
	g.Handling = Handling{
		Ack: &Ack{Author: "maria", Text: "restored, watching it", When: ago(time.Hour), Until: "until it has recovered", Remove: "#"},
		Downtimes: []Downtime{
			{Badge: Badge{Name: "RUNNING", Tone: "ok"}, Text: "new disk", Author: "ops", Start: ago(time.Hour), End: soon, ID: "d1", Cancel: "#"},
			{Badge: Badge{Name: "WAITING", Tone: "pending"}, Text: strings.Repeat("a reason without an end ", 12), Author: "jo", Start: ago(time.Hour), End: soon, How: []string{"flexible: 1 h from the first problem"}, Rule: Link{Label: "made by r-1", URL: "#"}, Cancel: "#"},
		},
		Comments: []Comment{{Text: "<b>no markup</b>\nsecond line", Author: "jo", When: ago(time.Minute), Until: "goes in 1 h", Delete: "#"}},
		Settings: []Setting{{Label: "Check interval", Value: "10m0s", Author: "maria", When: ago(3 * time.Hour), Back: []Pair{{"command", "set"}}}},
		Switches: []Switch{
			{Label: "Active checks", On: true, URL: "#", Verb: "Turn off"},
			{Label: "Notifications", Changed: true, Author: "jo", When: ago(time.Hour), Back: []Pair{{"command", "enable"}}},
			{Label: "Flap detection", Changed: true, URL: "#", Verb: "Turn on"},
		},
	}
	for _, n := range [][2]string{{"ok", "Done: web01 has a downtime."}, {"warn", "Acknowledge: refused. web01 is UP."}, {"crit", "Comment: failed."}, {"pending", "The check was asked for."}} {
		g.Notices = append(g.Notices, Notice{Tone: n[0], Text: n[1]})
	}
	g.Bulk = NewBulk("service", "state=CRITICAL", 1200, "#")
	options := []Option{{Value: "one", Label: "one", On: true}, {Value: "two", Label: "the other"}}
	g.Sheet = Sheet{
		Heading: "A form", Command: "add-comment", Submit: "Do it", Dismiss: "Cancel", Back: "#", Review: true, Target: Target{Text: "web01!http", URL: "#"}, Error: "Something is wrong with the whole.",
		Fields: []Field{
			{Name: "text", Label: "Text", Hint: "with a hint", Required: true},
			{Kind: FieldArea, Name: "area", Label: "Area", Value: "typed", Error: "This is wrong.", Required: true},
			{Kind: FieldSelect, Name: "select", Label: "Select", Options: options},
			{Kind: FieldCheck, Name: "check", Label: "Check", On: true},
			{Kind: FieldChoice, Name: "choice", Label: "Choice", Options: options, Group: "A group"},
			{Kind: FieldMany, Name: "many", Label: "Many", Options: options, Error: "Choose another one.", Group: "A group"},
			{Kind: FieldMoment, Name: "moment", Label: "Moment", Group: "A group"},
			{Kind: FieldDay, Name: "day", Label: "Day", Group: "A group"},
			{Kind: FieldClock, Name: "clock", Label: "Clock", Group: "A group"},
			{Name: "zone", Label: "Zone", List: []string{"UTC"}, Error: "No such zone.", Group: "A group"},
		},
	}
	g.Preview = Preview{
		Text: "It touches 73 objects.", Error: "There is no such time any more.", Names: []Link{{Label: "web01!http", URL: "#"}, {Label: strings.Repeat("long-name-", 12), URL: "#"}}, Rest: "and 71 more",
		Zone: "Europe/Madrid",
		Occurrences: []Occurrence{
			{Local: "Sun 2026-03-22 01:00 to 04:00", UTC: "Sun 2026-03-22 00:00 to 03:00", Length: "3 h"},
			{Local: "Sun 2026-03-29 01:00 to 04:00", UTC: "Sun 2026-03-29 00:00 to 02:00", Length: "2 h", DST: "This night is one hour shorter."},
		},
	}
}
