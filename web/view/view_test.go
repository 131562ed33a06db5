package view

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/web/sample"
)

func TestSpansShowTwoUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 90 * time.Second: "1 min", time.Hour: "1 h",
		125 * time.Minute: "2 h 5 min", 24 * time.Hour: "1 d", 76 * time.Hour: "3 d 4 h",
	} {
		if got := Span(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestLengthsAreToTheSecondForAnHour(t *testing.T) {
	for d, want := range map[time.Duration]string{
		59 * time.Second: "59 s", time.Minute: "1 min", 110 * time.Second: "1 min 50 s", 59*time.Minute + 59*time.Second: "59 min 59 s",
		time.Hour + 10*time.Second: "1 h", 76 * time.Hour: "3 d 4 h",
	} {
		if got := Length(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

// Only what has stopped is said on every page.
func TestACanaryThatHasStoppedIsABanner(t *testing.T) {
	now := sample.Now
	for name, c := range map[string]struct {
		canary Canary
		want   string
	}{
		"there is none":         {Canary{}, ""},
		"it goes on":            {NewCanary(time.Minute, now.Add(-30*time.Second), now, "", "", now), ""},
		"a round is on its way": {NewCanary(time.Minute, now.Add(-50*time.Second), now, "decided", "notifications are off", now), ""},
		"it has stopped":        {NewCanary(time.Minute, now.Add(-90*time.Second), now, "decided", "notifications are off", now), "The canary has stopped at decided: notifications are off."},
		"nobody knows where":    {NewCanary(time.Minute, now.Add(-5*time.Minute), now, "", "", now), "The canary has stopped: it is not proven that anybody would be told of a problem."},
	} {
		got := ""
		for _, b := range c.canary.Banner() {
			got += b.Text
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestMomentsHaveADirection(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Minute: "in 1 min", time.Minute: "1 min ago"} {
		w := NewWhen(object.At(sample.Now.Add(-d)), sample.Now)
		if w.Rel != want || w.Ago != "1 min" {
			t.Errorf("%s: %+v", d, w)
		}
	}
	if w := NewWhen(0, sample.Now); w.Rel != "never" || w.Machine != "" {
		t.Errorf("never is %+v", w)
	}
}

func TestNumbersAndDurationsForPeople(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1\u202f000", 1234567: "1\u202f234\u202f567", -1000: "-1\u202f000"} {
		if got := Number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
	for us, want := range map[int64]string{0: "0 ms", 12: "12 µs", 1800: "1.8 ms", 41_300: "41.3 ms", 2_500_000: "2.5 s"} {
		if got := Micros(us); got != want {
			t.Errorf("%d µs are %q, want %q", us, got, want)
		}
	}
}

func TestAddressesEscapeNames(t *testing.T) {
	id := object.ServiceID("web 01", "a/b%2F?x")
	if got := URL(id); got != "/services/web%2001/a%2Fb%252F%3Fx" {
		t.Errorf("got %s", got)
	}
	if got := quote(`say "hi" \`); got != `"say \"hi\" \\"` {
		t.Errorf("got %s", got)
	}
}

func home(s *sample.Site) Home {
	lookup := func(id object.ID) projection.Item { i, _ := s.Get(id); return i }
	return NewHome(Chrome{}, s.Counts(), s.Problems(), lookup, sample.Now)
}

func TestHomeShowsTheWorstFirst(t *testing.T) {
	h := home(sample.Office())
	if h.Headline != "7 problems need somebody" || h.Detail != "on 3 hosts, the newest since 2 min" || h.Tone != "crit" {
		t.Errorf("%q, %q, %s", h.Headline, h.Detail, h.Tone)
	}
	var got []string
	for _, g := range h.Groups {
		line := g.Host.Host
		for _, r := range g.Rows {
			line += " " + r.Name
		}
		got = append(got, line)
	}
	want := "mail01 imap queue; web01 disk http; db01 " + sample.Hostile + " disk"
	if strings.Join(got, "; ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !h.Groups[0].Down || h.Groups[1].Down {
		t.Error("only the first host is down")
	}
	labels := []string{}
	for _, l := range h.Handled {
		labels = append(labels, l.Count+" "+l.Label)
	}
	if strings.Join(labels, ", ") != "1 being retried, 1 acknowledged, 1 in downtime" {
		t.Errorf("handled are %v", labels)
	}
}

func TestHomeSaysWhenThereIsNothing(t *testing.T) {
	if h := home(sample.New()); h.Headline != "Nothing is watched yet" || h.Tone != "pending" {
		t.Errorf("without objects: %q", h.Headline)
	}
	rule := &object.Rule{Attempts: 1}
	s := sample.New(&object.Object{ID: "a", Name: "a", Rule: rule}, &object.Object{ID: "b", Name: "b", Rule: rule})
	if h := home(s); h.Headline != "Waiting for the first results" {
		t.Errorf("before the first result: %q", h.Headline)
	}
	s.Result("a", object.Up, "fine", 0)
	if h := home(s); h.Headline != "Nothing needs you" || h.Detail != "1 object is watched, 1 more not checked yet" || h.Tone != "ok" {
		t.Errorf("all fine: %q, %q", h.Headline, h.Detail)
	}
}

func TestHomeIsCutWhereNobodyReadsOn(t *testing.T) {
	h := home(sample.Many(25_000))
	shown := 0
	for _, g := range h.Groups {
		shown += len(g.Rows)
	}
	if shown != homeRows || h.More == "" || !strings.Contains(h.MoreURL, "unhandled") {
		t.Errorf("%d rows, %q more", shown, h.More)
	}
}

func TestBarsFillTheirWidthAndHideNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 200_000)
		c := projection.Counts{PendingServices: n.Draw(t, "p")}
		for i := range c.Services {
			c.Services[i] = n.Draw(t, fmt.Sprint(i))
		}
		sum, x := 0, 0
		for _, p := range NewTallies(c)[0].Parts {
			if (p.Width > 0) != (p.N > 0) || p.X != x {
				t.Fatalf("%+v at %d", p, x)
			}
			x += p.Width
			sum += p.N
		}
		if x > 1000 || (sum > 0 && x < 990) {
			t.Fatalf("the bar is %d wide", x)
		}
	})
}

func TestListsLinkToTheirOrders(t *testing.T) {
	q := ListRequest{Kind: object.Service, Filter: "host=a b", Sort: "-state", Page: 2}
	l := NewList(Chrome{}, q, make([]projection.Item, 0), 120, sample.Now)
	if l.Heads[0].URL != "/services?filter=host%3Da+b&sort=state" || l.Heads[0].Order != "descending" {
		t.Errorf("state: %+v", l.Heads[0])
	}
	if l.Heads[1].URL != "/services?filter=host%3Da+b&sort=host" || l.Heads[1].Order != "" || l.Heads[3].URL != "" {
		t.Errorf("host: %+v", l.Heads[1])
	}
	if l.Prev != "/services?filter=host%3Da+b&sort=-state" || !strings.Contains(l.Next, "page=3") {
		t.Errorf("pages: %s, %s", l.Prev, l.Next)
	}
	if hosts := NewList(Chrome{}, ListRequest{Kind: object.Host, Page: 1}, nil, 0, sample.Now); len(hosts.Heads) != 5 || hosts.Empty == "" {
		t.Errorf("hosts have the heads %v, %q", hosts.Heads, hosts.Empty)
	}
}

func TestPerfdataBecomesBars(t *testing.T) {
	p := NewPerf(`/=87%;80;90 'a ''b'' c'=6442450944B;;;0;8589934592 time=0.0123s load=0.92;4;8;0 bad=x ok=5c;@1:2;~:7 nan=NaN none=U in=1;@0:2;3:`)
	want := []Perf{
		{Label: "/", Value: "87 %", Warn: "80 %", Crit: "90 %", Bar: true, Width: 870, WarnX: 800, CritX: 900, Tone: "warn"},
		{Label: "a 'b' c", Value: "6 GiB", Bar: true, Width: 750, WarnX: -1, CritX: -1, Tone: "ok"},
		{Label: "time", Value: "12.3 ms", WarnX: -1, CritX: -1, Tone: "ok"},
		{Label: "load", Value: "0.92", Warn: "4", Crit: "8", Bar: true, Width: 92, WarnX: 400, CritX: 800, Tone: "ok"},
		{Label: "ok", Value: "5 c", Warn: "1 c to 2 c", Crit: "above 7 c", Bar: true, Width: 571, WarnX: -1, CritX: 800, Tone: "ok"},
		{Label: "none", Value: "not known", WarnX: -1, CritX: -1, Tone: "unknown"},
		{Label: "in", Value: "1", Warn: "0 to 2", Crit: "below 3", WarnX: -1, CritX: -1, Tone: "crit"},
	}
	if len(p) != len(want) {
		t.Fatalf("%+v", p)
	}
	for i := range want {
		if p[i] != want[i] {
			t.Errorf("got %+v, want %+v", p[i], want[i])
		}
	}
}

func FuzzPerf(f *testing.F) {
	for _, s := range []string{"a=1", "'a''b'=1;2;3;4;5", "'open", "=1", "a= b=1e309", "a=1;;;5;5", "a=-1%;;;;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, p := range NewPerf(s) {
			if p.Width < 0 || p.Width > 1000 || p.WarnX > 1000 || p.CritX > 1000 || p.Label == "" {
				t.Fatalf("%q: %+v", s, p)
			}
		}
	})
}

func TestTimelineFollowsTheHistory(t *testing.T) {
	s := sample.Office()
	events, err := s.History(t.Context(), historyOf("web03!http"))
	if err != nil {
		t.Fatal(err)
	}
	item, _ := s.Get("web03!http")
	line := NewTimeline(object.Service, NewBadge(item), &History{Events: events}, sample.Now.Add(-Window), sample.Now)
	var got []string
	for _, st := range line {
		got = append(got, fmt.Sprintf("%s %d+%d %s", st.Badge.Name, st.X, st.Width, st.Span))
	}
	want := "OK 0+625 15 h, WARNING 625+41 1 h, OK 666+334 8 h"
	if strings.Join(got, ", ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if pending := NewTimeline(object.Host, Badge{Name: "PENDING"}, &History{}, sample.Now.Add(-Window), sample.Now); len(pending) != 1 || pending[0].Width != 1000 {
		t.Errorf("without history: %+v", pending)
	}
}

func TestLinesSayWhatHappened(t *testing.T) {
	e := event.Event{
		Kind: event.CheckResult, Also: []event.Kind{event.FlappingStarted}, Object: "a!b", Transition: true, Author: "maria",
		Was: &event.Was{Checked: true, State: object.Critical, Type: object.Soft}, Time: object.At(sample.Now),
		Status:  &event.Status{Checked: true, State: object.Critical, Type: object.Hard, Attempt: 3, MaxAttempts: 3},
		Measure: &event.Measure{Output: "broken", Passive: true},
	}
	l := NewLine(&e, sample.Now)
	if l.What != "submitted result, started flapping, hard 3/3, by maria" || l.Was != "soft" || l.Text != "broken" || l.URL != "/services/a/b" {
		t.Errorf("%+v", l)
	}
	l = NewLine(&event.Event{Kind: "new.kind", Facts: map[string]string{"b": "2", "a": "1"}}, sample.Now)
	if l.What != "new.kind" || l.Text != "a: 1, b: 2" || l.URL != "" || l.Badge.Name != "" {
		t.Errorf("%+v", l)
	}
}

func TestDetailSaysWhoTakesCare(t *testing.T) {
	s := sample.Office()
	lookup := func(id object.ID) projection.Item { i, _ := s.Get(id); return i }
	detail := func(id object.ID) Detail {
		return NewDetail(Chrome{}, Sources{Item: lookup(id), Lookup: lookup}, sample.Now)
	}
	ack := detail("db01!replication").Handling.Ack
	if ack == nil || ack.Author != "maria" || ack.Text != "restored after the import, watching it" || ack.Until != "until it has recovered" {
		t.Errorf("acknowledged: %+v", ack)
	}
	down := detail("web02!load").Handling.Downtimes
	if len(down) != 1 || down[0].Badge.Name != "RUNNING" || down[0].Start.Text != "2026-03-01 11:25:00 UTC" || down[0].Text != "disk is being replaced" {
		t.Errorf("in downtime: %+v", down)
	}
	d := detail("web01")
	if len(d.Services) != 3 || len(d.Parents) != 1 || d.Check.Action != "/hosts/web01/check" || len(d.Groups) != 1 {
		t.Errorf("host: %d services, %d parents, %q, %v", len(d.Services), len(d.Parents), d.Check.Action, d.Groups)
	}
	if d := detail("db01!backup"); d.Row.Output != "waiting for the first submitted result" || d.Row.Badge.Name != "PENDING" {
		t.Errorf("pending: %+v", d.Row)
	}
}

func TestLatenessIsJudged(t *testing.T) {
	bars := NewLateness([]string{"a", "b", "c"}, []float64{0.01, 0.3, 2})
	if bars[0].Tone != "ok" || bars[1].Tone != "warn" || bars[2].Tone != "crit" || bars[2].Width != 1000 || bars[1].Value != "300 ms" {
		t.Errorf("%+v", bars)
	}
}

func TestTitlesCountTheProblems(t *testing.T) {
	if got := Title("Hosts", 3); got != "(3) Hosts · jaque" {
		t.Errorf("got %q", got)
	}
	if Title("", 0) != "Problems · jaque" || Summary(1) != "1 problem is unhandled" || Summary(0) != "nothing needs you" {
		t.Error("texts without problems")
	}
	for theme, want := range map[string]string{"": "light", "light": "dark", "dark": "auto"} {
		if got := (Chrome{Theme: theme}).NextTheme(); got != want {
			t.Errorf("after %q comes %q", theme, got)
		}
	}
}

func historyOf(id object.ID) journal.Query { return journal.Query{Object: id} }
