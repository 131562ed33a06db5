package filter

import (
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

func matches(t *testing.T, text string, o *object.Object, s *fold.State) bool {
	t.Helper()
	f, err := Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f.Match(o, s)
}

// TestWhatOperatorsLeftCanBeAskedFor asks for comments, downtimes, settings and
// the root of a problem, of an object that has them and of one that has none.
func TestWhatOperatorsLeftCanBeAskedFor(t *testing.T) {
	o, handled := sample()
	_, bare := sample()
	handled.Status.Root = "sw1"
	handled.Status.Ack = object.AckNormal
	handled.Status.Off = object.SwitchNotifications
	handled.Status.Extra = &event.Extra{
		AckText:   "ticket 4711",
		Comments:  []event.Comment{{ID: "c1", Text: "ordered a new Disk"}, {ID: "c2", Text: "second"}},
		Downtimes: []event.Downtime{{ID: "d1", Text: "replacing it"}},
		Settings:  []event.Setting{{Name: event.SettingNotifications, Value: "off"}, {Name: "var.PORT", Value: "81"}},
	}
	for _, c := range []struct {
		text          string
		handled, bare bool
	}{
		{"root=sw1", true, false},
		{"root=SW1", true, false},
		{"root!=sw1", false, true},
		{`root~""`, true, false},
		{"comments=2", true, false},
		{"comments!=0", true, false},
		{"comments=0", false, true},
		{"downtimes=1", true, false},
		{"downtimes=0", false, true},
		{"comment~disk", true, false},
		{"comment~4711", true, false},
		{"comment~replacing", true, false},
		{"comment!~disk", false, true},
		{"disabled=notifications", true, false},
		{"disabled!=Notifications", false, true},
		{"disabled~notif", true, false},
		{"setting=notifications", true, false},
		{"setting=var.port", true, false},
		{"setting~var.", true, false},
		{"overridden", true, false},
		{"caused", true, false},
	} {
		if got := matches(t, c.text, o, handled); got != c.handled {
			t.Errorf("%s matches the handled one: %v", c.text, got)
		}
		if got := matches(t, c.text, o, bare); got != c.bare {
			t.Errorf("%s matches the bare one: %v", c.text, got)
		}
	}
	handled.Status.Ack = object.AckNone
	if matches(t, "comment~4711", o, handled) {
		t.Error("the text of an acknowledgement that is gone still matches")
	}
}

// TestADowntimeOfTheHostReachesItsServices needs the state of another object.
func TestADowntimeOfTheHostReachesItsServices(t *testing.T) {
	o, s := sample()
	f, err := Parse("in_downtime")
	if err != nil {
		t.Fatal(err)
	}
	host := &fold.State{}
	look := func(id object.ID) *fold.State {
		if id != o.Host.ID {
			t.Errorf("looked at %s", id)
		}
		return host
	}
	if f.MatchIn(o, s, look) {
		t.Error("nothing is in a downtime")
	}
	host.Status.DowntimeDepth = 1
	if !f.MatchIn(o, s, look) || !f.MatchIn(o.Host, host, look) {
		t.Error("the host is in a downtime, and so are its services")
	}
	if f.Match(o, s) || f.MatchIn(o, s, func(object.ID) *fold.State { return nil }) {
		t.Error("nothing is known of the host")
	}
	if not, _ := Parse("downtime"); not.MatchIn(o, s, look) {
		t.Error("downtime asks for the object's own")
	}
}

func TestValuesThatNoFieldHasAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"kind=router":            `column 6: "router" is no kind; write one of host, service`,
		"state_type=medium":      `"medium" is no state_type; write one of soft, hard`,
		"problem disabled=pager": `column 18: "pager" is no disabled; write one of active_checks, passive_checks,`,
		"comments=some":          `"some" is no number of comments; write digits, as in comments=0`,
		"downtimes!=-1":          `"-1" is no number of downtimes`,
		"downtimes=9999999999":   "",
		"kind~router":            "",
	} {
		_, err := Parse(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// The look-up must not cost memory for each object of a list.
func TestMatchingAllocatesNothing(t *testing.T) {
	o, s := sample()
	f, err := Parse("!(in_downtime or overridden or caused) and *")
	if err != nil {
		t.Fatal(err)
	}
	look := Look(func(object.ID) *fold.State { return s })
	if n := testing.AllocsPerRun(100, func() { f.MatchIn(o, s, look) }); n > 0 {
		t.Errorf("%v allocations for one match", n)
	}
}
