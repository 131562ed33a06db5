package view

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/web/sample"
)

func TestBadgesSayTheState(t *testing.T) {
	for name, c := range map[string]struct {
		kind   object.Kind
		status event.Status
		want   Badge
	}{
		"a service before its first check is pending": {object.Service, event.Status{State: object.Critical}, Badge{Name: "PENDING", Tone: "pending"}},
		"a host before its first check is pending":    {object.Host, event.Status{}, Badge{Name: "PENDING", Tone: "pending"}},
		"a fine service is OK":                        {object.Service, event.Status{Checked: true}, Badge{Name: "OK", Tone: "ok"}},
		"a warning":                                   {object.Service, event.Status{Checked: true, State: object.Warning}, Badge{Name: "WARNING", Tone: "warn"}},
		"a soft problem is marked":                    {object.Service, event.Status{Checked: true, State: object.Critical, Type: object.Soft}, Badge{Name: "CRITICAL", Tone: "crit", Soft: true}},
		"a soft recovery is no soft problem":          {object.Service, event.Status{Checked: true, Type: object.Soft}, Badge{Name: "OK", Tone: "ok"}},
		"an unknown service has a tone of its own":    {object.Service, event.Status{Checked: true, State: object.Unknown}, Badge{Name: "UNKNOWN", Tone: "unknown"}},
		"a host that answers is UP":                   {object.Host, event.Status{Checked: true}, Badge{Name: "UP", Tone: "ok"}},
		"a host that does not answer is critical":     {object.Host, event.Status{Checked: true, State: object.Down}, Badge{Name: "DOWN", Tone: "crit"}},
		"a host behind a broken one is not to blame":  {object.Host, event.Status{Checked: true, State: object.Unreachable}, Badge{Name: "UNREACHABLE", Tone: "unknown"}},
		"a state from another version does not panic": {object.Service, event.Status{Checked: true, State: 9}, Badge{Name: "STATE(9)", Tone: "unknown"}},
		"nor does one of a host from another version": {object.Host, event.Status{Checked: true, State: 9}, Badge{Name: "STATE(9)", Tone: "unknown"}},
	} {
		if got := badge(c.kind, &c.status); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func TestMarksSayWhoTakesCare(t *testing.T) {
	user, own := event.Comment{Kind: event.CommentUser}, event.Comment{Kind: event.CommentAcknowledgement}
	for name, c := range map[string]struct {
		status  event.Status
		want    string
		config  object.Switches
		passive bool
	}{
		"nothing is known":                   {event.Status{}, "", 0, false},
		"an acknowledgement":                 {event.Status{Ack: object.AckSticky}, "acknowledged", 0, false},
		"two downtimes are one mark":         {event.Status{DowntimeDepth: 2}, "in downtime", 0, false},
		"flapping":                           {event.Status{Flapping: true}, "flapping", 0, false},
		"all at once, in a constant order":   {event.Status{Flapping: true, DowntimeDepth: 1, Ack: object.AckNormal}, "acknowledged, in downtime, flapping", 0, false},
		"checks that somebody turned off":    {event.Status{Off: object.SwitchActive}, "checks off", 0, false},
		"notifications that the config has":  {event.Status{}, "notifications off", object.SwitchNotifications, false},
		"and that somebody turned on again":  {event.Status{On: object.SwitchNotifications}, "", object.SwitchNotifications, false},
		"a passive object needs no checks":   {event.Status{Off: object.SwitchActive}, "", 0, true},
		"but it needs results":               {event.Status{Off: object.SwitchPassive}, "results refused", 0, true},
		"one remark":                         {event.Status{Extra: &event.Extra{Comments: []event.Comment{user, own}}}, "1 comment", 0, false},
		"two remarks":                        {event.Status{Extra: &event.Extra{Comments: []event.Comment{user, user}}}, "2 comments", 0, false},
		"the text of an acknowledgement not": {event.Status{Extra: &event.Extra{Comments: []event.Comment{own}}}, "", 0, false},
	} {
		rule := object.Rule{Active: true, Passive: true, Check: object.Check{Kind: object.CheckTCP}, Off: c.config}
		if c.passive {
			rule.Check.Kind = object.CheckPassive
		}
		item := projection.Item{Object: &object.Object{ID: "a", Rule: &rule}, State: &fold.State{Status: c.status}}
		if got := strings.Join(Marks(item), ", "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRowsSayWhyThereIsNoOutput(t *testing.T) {
	for name, c := range map[string]struct {
		kind    object.CheckKind
		checked bool
		output  string
		want    string
	}{
		"the output itself":                      {object.CheckTCP, true, "refused", "refused"},
		"a check that wrote nothing":             {object.CheckPlugin, true, "", "the check wrote nothing"},
		"a check that is still to come":          {object.CheckPlugin, false, "", "waiting for the first check"},
		"a result that somebody else submits":    {object.CheckPassive, false, "", "waiting for the first submitted result"},
		"an object that is never checked":        {object.CheckNone, false, "", "has no check of its own"},
		"an object without any check configured": {"", false, "", "has no check of its own"},
	} {
		o := &object.Object{ID: "a", Name: "a", Rule: &object.Rule{Check: object.Check{Kind: c.kind}}}
		s := &fold.State{Status: event.Status{Checked: c.checked}, Measure: event.Measure{Output: c.output}}
		if got := NewRow(projection.Item{Object: o, State: s}, sample.Now).Output; got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestRowsTellAttemptsOfProblemsOnly(t *testing.T) {
	o := &object.Object{ID: "a", Name: "a", Alias: "a", Rule: &object.Rule{}}
	row := func(s event.Status) Row {
		return NewRow(projection.Item{Object: o, State: &fold.State{Status: s}}, sample.Now)
	}
	if got := row(event.Status{Checked: true, State: object.Down, Attempt: 2, MaxAttempts: 5}); got.Attempt != "2/5" {
		t.Errorf("a problem has attempt %q, want 2/5", got.Attempt)
	}
	for _, s := range []event.Status{{Checked: true, Attempt: 1, MaxAttempts: 5}, {State: object.Down, Attempt: 1, MaxAttempts: 5}} {
		if got := row(s); got.Attempt != "" || got.Alias != "" {
			t.Errorf("%+v has attempt %q and alias %q, want none", s, got.Attempt, got.Alias)
		}
	}
}

func TestWordsAreKnownForEveryKindOfEvent(t *testing.T) {
	for k, word := range words {
		if word == "" || strings.Contains(word, ".") || Word(k) != word {
			t.Errorf("%s is called %q", k, word)
		}
	}
	if got := Word("weather.changed"); got != "weather.changed" {
		t.Errorf("a kind of a newer version is called %q, want its own name", got)
	}
}

func TestLinesNameWhatWasBefore(t *testing.T) {
	for name, c := range map[string]struct {
		was  event.Was
		want string
	}{
		"the first result came after nothing":      {event.Was{}, "PENDING"},
		"another state is named":                   {event.Was{Checked: true, State: object.Warning}, "WARNING"},
		"of the same state the type has changed":   {event.Was{Checked: true, State: object.Critical, Type: object.Soft}, "soft"},
		"a hard state that is counted again is so": {event.Was{Checked: true, State: object.Critical}, "hard"},
	} {
		e := event.Event{
			Kind: event.CheckResult, Object: "a!b", Transition: true, Was: &c.was,
			Status: &event.Status{Checked: true, State: object.Critical, Attempt: 1, MaxAttempts: 1},
		}
		if got := NewLine(&e, sample.Now); got.Was != c.want || got.What != "check result" {
			t.Errorf("%s: got %q and %q, want %q", name, got.Was, got.What, c.want)
		}
		e.Transition = false
		if got := NewLine(&e, sample.Now); got.Was != "" {
			t.Errorf("%s: without a transition got %q", name, got.Was)
		}
	}
}

func TestAMeasurementAloneHasABadge(t *testing.T) {
	e := event.Event{Stream: event.Results, Kind: event.CheckResult, Object: "a", Measure: &event.Measure{State: object.Down, Output: "no"}}
	if got := NewLine(&e, sample.Now); got.Badge != (Badge{Name: "DOWN", Tone: "crit"}) || got.Text != "no" {
		t.Errorf("got %+v, %q", got.Badge, got.Text)
	}
}

func TestFiguresAreShort(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0, "s", "0 s"},
		{0.0000021, "s", "2.1 µs"},
		{0.5, "s", "500 ms"},
		{1.5, "s", "1.5 s"},
		{-0.25, "s", "-250 ms"},
		{1023, "B", "1023 B"},
		{1024, "B", "1 KiB"},
		{1.5 * 1024 * 1024, "B", "1.5 MiB"},
		{2048, "KB", "2 MiB"},
		{2048, "MB", "2 GiB"},
		{1e300, "B", "8.882e+284 PiB"},
		{12, "%", "12 %"},
		{3, "c", "3 c"},
		{42, "", "42"},
		{1.23456789012, "", "1.23457"},
		{123456, "", "123456"},
	} {
		if got := figure(c.v, c.unit); got != c.want {
			t.Errorf("%v %q is %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// Whatever happened, the stretches of a timeline are in order and inside the
// bar, and two neighbours are never in the same state.
func TestTimelinesAreInOrder(t *testing.T) {
	since := sample.Now.Add(-Window)
	rapid.Check(t, func(t *rapid.T) {
		var events []event.Event
		at, last := since.Add(-time.Hour), object.State(0)
		for range rapid.IntRange(0, 30).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 5000).Draw(t, "s")) * time.Second)
			next := object.State(rapid.IntRange(0, 3).Draw(t, "state"))
			events = append(events, event.Event{
				Kind: event.CheckResult, Object: "a!b", Time: object.At(at),
				Was: &event.Was{Checked: true, State: last}, Status: &event.Status{Checked: true, State: next},
			})
			last = next
		}
		slices.Reverse(events)
		present := badge(object.Service, &event.Status{Checked: true, State: last})
		line := NewTimeline(object.Service, present, &History{Events: events}, since, sample.Now)
		for i, s := range line {
			if s.X < 0 || s.X > 1000 || s.Width < 3 || (i > 0 && (s.X < line[i-1].X || s.Badge.Name == line[i-1].Badge.Name)) {
				t.Fatalf("stretch %d of %+v", i, line)
			}
		}
		if line[0].X != 0 || (at.Before(sample.Now) && line[len(line)-1].Badge.Name != present.Name) {
			t.Fatalf("the line goes from %+v to %+v, the state is %+v", line[0], line[len(line)-1], present)
		}
	})
}

// A list's addresses keep all that the list was asked for.
func TestListAddressesKeepWhatWasAskedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := ListRequest{
			Kind: object.Kind(rapid.IntRange(0, 1).Draw(t, "kind")), Filter: rapid.String().Draw(t, "filter"),
			Sort: rapid.SampledFrom([]string{"", "host", "-state"}).Draw(t, "sort"), Page: rapid.IntRange(1, 9).Draw(t, "page"),
			At: object.Time(rapid.SampledFrom([]int64{0, 1_700_000_000_123}).Draw(t, "at")),
		}
		now := sample.Now
		l := NewList(Chrome{}, q, make([]projection.Item, 0), 1000, now)
		want := []string{}
		if q.Filter != "" {
			want = append(want, "filter="+strings.ReplaceAll(escape(q.Filter), "%20", "+"))
		}
		if q.At != 0 {
			want = append(want, "at=2023-11-14T22%3A13%3A20.123Z")
		}
		urls := []string{l.Next}
		for _, h := range l.Heads {
			if h.URL != "" {
				urls = append(urls, h.URL)
			}
		}
		for _, u := range urls {
			for _, part := range want {
				if !strings.Contains(u, part) {
					t.Fatalf("%s lacks %s", u, part)
				}
			}
		}
		if (l.At == "") != (q.At == 0) || (l.Present == "") != (q.At == 0) || strings.Contains(l.Present, "at=") {
			t.Fatalf("at %q, present %q", l.At, l.Present)
		}
	})
}

func TestQuickFiltersMarkTheOneInUse(t *testing.T) {
	for filter, label := range map[string]string{"": "all", "unhandled": "unhandled", "state=CRITICAL": "critical", "downtime": "in downtime"} {
		var current []string
		for _, l := range NewList(Chrome{}, ListRequest{Kind: object.Service, Filter: filter, Page: 1}, nil, 0, sample.Now).Quick {
			if l.Current {
				current = append(current, l.Label)
			}
		}
		if len(current) != 1 || current[0] != label {
			t.Errorf("with filter %q marked %v, want %s", filter, current, label)
		}
	}
	for _, l := range NewList(Chrome{}, ListRequest{Kind: object.Host, Page: 1}, nil, 0, sample.Now).Quick {
		if l.Label == "critical" || l.Label == "warning" {
			t.Errorf("hosts are never %s", l.Label)
		}
	}
}

func TestEmptyListsSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		q    ListRequest
		want string
	}{
		"a filter that nothing matches":    {ListRequest{Kind: object.Host, Filter: "down", Page: 1}, "Nothing matches this filter."},
		"a configuration without hosts":    {ListRequest{Kind: object.Host, Page: 1}, "The configuration declares no hosts yet."},
		"a configuration without services": {ListRequest{Kind: object.Service, Page: 1}, "The configuration declares no services yet."},
		"an error speaks for itself":       {ListRequest{Kind: object.Service, Page: 1, Error: "no field"}, ""},
	} {
		if got := NewList(Chrome{}, c.q, nil, 0, sample.Now); got.Empty != c.want || got.Range != "" || got.Next != "" {
			t.Errorf("%s: got %q, range %q, next %q, want %q", name, got.Empty, got.Range, got.Next, c.want)
		}
	}
}

func TestNavigationMarksOneSection(t *testing.T) {
	for _, section := range []string{"home", "hosts", "services", "notifications", "events", "engine"} {
		n := 0
		for _, l := range (Chrome{Section: section, Trouble: 1200}).Nav() {
			if l.Current {
				n++
				if l.Key != section {
					t.Errorf("in %s the entry %s is marked", section, l.Key)
				}
			}
			if (l.Count != "") != (l.Key == "home") {
				t.Errorf("entry %s counts %q", l.Key, l.Count)
			}
		}
		if n != 1 {
			t.Errorf("in %s %d entries are marked", section, n)
		}
	}
	if c := (Chrome{}).Nav()[0].Count; c != "" {
		t.Errorf("without trouble the count is %q", c)
	}
	if got := (Chrome{Here: "/hosts?filter=a b&x=1"}).SignInURL(); got != "/sign-in?back=%2Fhosts%3Ffilter%3Da+b%26x%3D1" {
		t.Errorf("sign-in leads to %s", got)
	}
}

func TestEventPagesMarkTheKindInUse(t *testing.T) {
	v := NewEvents(Chrome{}, "a!b", string(event.AckSet), []event.Event{{Kind: event.AckSet, Object: "a!b", Author: "maria"}}, sample.Now)
	var marked []string
	for _, l := range v.Kinds {
		if l.Current {
			marked = append(marked, l.Label)
		}
	}
	if !slices.Equal(marked, []string{"acknowledged"}) || len(v.Lines) != 1 || v.Lines[0].What != "acknowledged, by maria" {
		t.Errorf("marked %v, lines %+v", marked, v.Lines)
	}
	if all := NewEvents(Chrome{}, "", "", nil, sample.Now); !all.Kinds[0].Current || all.Lines != nil {
		t.Errorf("without a kind: %+v, %v", all.Kinds[0], all.Lines)
	}
}

func TestThresholdsAreInTheUnitOfTheValue(t *testing.T) {
	for in, want := range map[string][2]string{
		"/=17781030912B;243497277849;256312923999": {"226.8 GiB", "238.7 GiB"},
		"free=1073741824B;2147483648:;1048576:":    {"below 2 GiB", "below 1 MiB"},
		"time=0.012s;0.5;1":                        {"500 ms", "1 s"},
		"t=5;10:20;@30:40":                         {"outside 10 to 20", "30 to 40"},
		"t=5%;~:20;@~:40":                          {"above 20 %", "up to 40 %"},
		"t=5;~:;@5:":                               {"never", "from 5"},
		"t=5;@~:;-3:4":                             {"always", "outside -3 to 4"},
		"t=5;;":                                    {"", ""},
	} {
		got := NewPerf(in)
		if len(got) != 1 || got[0].Warn != want[0] || got[0].Crit != want[1] {
			t.Errorf("%s: %+v, want %q", in, got, want)
		}
	}
}
