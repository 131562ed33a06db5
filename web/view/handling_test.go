package view

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/web/sample"
)

// shift returns what people did about an object of a day.
func shift(t *testing.T, id object.ID) Handling {
	t.Helper()
	s := sample.Shift()
	lookup := func(id object.ID) projection.Item { i, _ := s.Get(id); return i }
	return NewHandling(lookup(id), lookup, sample.Now)
}

func TestAnAcknowledgementSaysWhoAndUntilWhen(t *testing.T) {
	a := shift(t, "db01!replication").Ack
	if a == nil || a.Author != "maria" || a.When.Rel != "48 min ago" || !strings.Contains(a.Until, "until it has recovered, at most until 2026-03-01 14:00:00 UTC (in 2 h)") {
		t.Errorf("%+v", a)
	}
	if a := shift(t, "web01!http").Ack; a != nil {
		t.Errorf("nobody acknowledged, but %+v", a)
	}
	s := sample.Office()
	s.Result("web04!http", object.Critical, "x", 0, func(e *event.Event) { e.Status.Ack = object.AckNormal })
	i, _ := s.Get("web04!http")
	if a := newAck(i, sample.Now); a == nil || a.Author != "somebody" || a.Until != "until the state changes" || a.When.Machine != "" {
		t.Errorf("without an author: %+v", a)
	}
}

func TestDowntimesSayHowTheyStand(t *testing.T) {
	at := func(d time.Duration) object.Time { return object.At(sample.Now.Add(d)) }
	hour := object.Time(time.Hour.Milliseconds())
	for name, c := range map[string]struct {
		d     event.Downtime
		badge string
		how   string
		end   string
	}{
		"one that is to come":          {event.Downtime{Start: at(time.Hour), End: at(2 * time.Hour)}, "COMING", "", "in 2 h"},
		"one that runs":                {event.Downtime{Start: at(-time.Hour), Started: at(-time.Hour), End: at(time.Hour)}, "RUNNING", "", "in 1 h"},
		"a flexible one that waits":    {event.Downtime{Start: at(-time.Hour), End: at(time.Hour), Duration: hour}, "WAITING", "flexible: 1 h from the first problem", "in 1 h"},
		"a flexible one that runs":     {event.Downtime{Start: at(-time.Hour), Started: at(-30 * time.Minute), End: at(time.Hour), Duration: hour}, "RUNNING", "flexible: 1 h from the first problem", "in 30 min"},
		"one that another one starts":  {event.Downtime{Start: at(time.Hour), End: at(2 * time.Hour), Trigger: "d1"}, "COMING", "begins with downtime d1", "in 2 h"},
		"one that runs with its cause": {event.Downtime{Start: at(-time.Hour), Started: at(-time.Hour), End: at(time.Hour), Trigger: "d1"}, "RUNNING", "begins with downtime d1", "with its trigger"},
	} {
		got := NewDowntime("a!b", &c.d, "/", sample.Now)
		if got.Badge.Name != c.badge || strings.Join(got.How, ", ") != c.how || got.End.Rel != c.end {
			t.Errorf("%s: %+v", name, got)
		}
	}
	own := NewDowntime("a!b", &event.Downtime{ID: "d 1"}, "/downtimes", sample.Now)
	if own.Cancel != "/do?command=cancel-downtime&id=d+1&back=%2Fdowntimes" {
		t.Errorf("one of its own is cancelled by %s", own.Cancel)
	}
	made := NewDowntime("a!b", &event.Downtime{ID: "r@1", Rule: "r", Start: at(0)}, "/downtimes", sample.Now)
	if made.Cancel != "/do?command=cancel-downtime&object=a%21b&back=%2Fdowntimes&start=2026-03-01T12%3A00%3A00Z" || made.Rule.URL != "/downtimes#rule-r" {
		t.Errorf("one that a rule made is cancelled by %s, leads to %+v", made.Cancel, made.Rule)
	}
}

func TestAnObjectSaysWhyItIsQuiet(t *testing.T) {
	if h := shift(t, "web03!http"); len(h.Links) != 1 || h.Links[0].URL != "/hosts/web03" || h.Links[0].Count != " is in downtime until 2026-03-01 12:40:00 UTC (in 40 min)" {
		t.Errorf("a service of a host in downtime: %+v", h.Links)
	}
	if h := shift(t, "mail01!imap"); len(h.Links) != 1 || h.Links[0].Key != "Behind" || h.Links[0].Label != "mail01" || h.Links[0].Count != ", which is DOWN" {
		t.Errorf("a service behind a host that is down: %+v", h.Links)
	}
	if h := shift(t, "mail01!queue"); len(h.Sentences) != 1 || !strings.HasPrefix(h.Sentences[0], "Flapping") {
		t.Errorf("one that flaps: %v", h.Sentences)
	}
}

func TestCommentsSayHowLongTheyStay(t *testing.T) {
	c := shift(t, "web01!http").Comments
	if len(c) != 2 || c[0].Until != "" || c[1].Until != "goes in 1 h" || c[0].Delete != "/do?command=delete-comment&id=c-1&back=%2Fservices%2Fweb01%2Fhttp" {
		t.Errorf("%+v", c)
	}
	for until, c := range map[string]event.Comment{
		"until jaque restarts":   {Kind: event.CommentUser},
		"of the acknowledgement": {Kind: event.CommentAcknowledgement, Persistent: true},
	} {
		if got := NewComment("a", &c, "/", sample.Now); got.Until != until {
			t.Errorf("%+v: %q", c, got.Until)
		}
	}
}

func TestWhatDiffersCanBeSetBack(t *testing.T) {
	h := shift(t, "web04!disk")
	if len(h.Settings) != 3 || h.Settings[1].Label != "Check interval" || h.Settings[1].Value != "10m0s" || h.Settings[1].Author != "maria" {
		t.Fatalf("%+v", h.Settings)
	}
	back := map[string]string{}
	for _, p := range h.Settings[1].Back {
		back[p.Name] = p.Value
	}
	if back["command"] != "set" || back["setting"] != "interval" || back["value"] != "" || back["object"] != "web04!disk" {
		t.Errorf("the interval goes back with %v", back)
	}
	if first := h.Settings[0].Back[0]; first.Value != "enable" || h.Settings[0].Back[1].Value != "active_checks" {
		t.Errorf("a switch goes back with %v", h.Settings[0].Back)
	}
	var changed []string
	for _, s := range h.Switches {
		if s.Changed {
			changed = append(changed, s.Label+" by "+s.Author)
		}
		if (s.Back != nil) != s.Changed || s.On == s.Changed {
			t.Errorf("%+v", s)
		}
	}
	if got := strings.Join(changed, ", "); got != "Active checks by jo, Notifications by jo" {
		t.Errorf("changed are %s", got)
	}
	v := NewSetting("a", &event.Setting{Name: event.SettingVar + "OWNER", Value: "jo"}, sample.Now)
	if v.Label != "Variable OWNER" {
		t.Errorf("a variable is called %q", v.Label)
	}
}
