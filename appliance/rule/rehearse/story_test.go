package rehearse_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/rehearse"
)

// play plays a story and returns what ann is told or not told, a line each, with the
// seconds since the beginning.
func play(t *testing.T, s rehearse.Story) (lines []string, out *rehearse.Outcome) {
	t.Helper()
	s.At = begin
	scene, err := s.Scene()
	if err != nil {
		t.Fatal(err)
	}
	out = rehearse.Run(scene, deliver.Limits{})
	for _, e := range out.Entries {
		if e.Contact != "ann" {
			continue
		}
		verdict := e.Gate
		if e.Told {
			verdict = "told over " + e.Channel
		}
		lines = append(lines, fmt.Sprintf("%.0f %s %s %d %s", e.Time.Sub(begin).Seconds(), e.Object, e.Kind, e.Number, verdict))
	}
	return lines, out
}

func TestAStoryIsFoundAtOnceAndEnds(t *testing.T) {
	well := object.OK
	for _, tt := range []struct {
		name  string
		story rehearse.Story
		want  []string
	}{
		{"soft, soft, hard and over", rehearse.Story{Object: "h0000!http", State: object.Critical, For: 30 * time.Minute, Then: &well}, []string{
			"0 h0000!http PROBLEM 1 hard", "15 h0000!http PROBLEM 1 hard", "30 h0000!http PROBLEM 1 told over email", "1800 h0000!http RECOVERY 1 told over email",
		}},
		{"told again every hour", rehearse.Story{Object: "h0000!http", State: object.Warning, For: 2 * time.Hour}, []string{
			"0 h0000!http PROBLEM 1 hard", "15 h0000!http PROBLEM 1 hard", "30 h0000!http PROBLEM 1 told over email", "3630 h0000!http PROBLEM 2 told over email",
		}},
		{"acknowledged", rehearse.Story{Object: "h0000!http", State: object.Warning, For: 2 * time.Hour, Ack: time.Minute}, []string{
			"0 h0000!http PROBLEM 1 hard", "15 h0000!http PROBLEM 1 hard", "30 h0000!http PROBLEM 1 told over email", "60 h0000!http ACKNOWLEDGEMENT 1 told over email",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.story.Set = shop(1, 0)
			lines, out := play(t, tt.story)
			if got, want := strings.Join(lines, "\n"), strings.Join(tt.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if len(out.Refused) > 0 {
				t.Errorf("refused %+v", out.Refused)
			}
		})
	}
}

func TestWhoIsToldNextIsLookedForBeyondTheEnd(t *testing.T) {
	story := rehearse.Story{Set: shop(1, 0), Object: "h0000!http", State: object.Critical, For: 10 * time.Minute, Beyond: 2 * time.Hour}
	_, out := play(t, story)
	if len(out.Next) != 3 || out.Next[0].Number != 2 || out.Next[0].Time.Sub(begin).Round(time.Second) != time.Hour+30*time.Second {
		t.Errorf("next is %+v, want the second notification after an hour", out.Next)
	}
	for _, e := range out.Entries {
		if e.Time > begin.Add(10*time.Minute) {
			t.Errorf("%+v is behind the end", e)
		}
	}
	story.Beyond = 0
	if _, out := play(t, story); out.Next != nil {
		t.Errorf("next is %+v although nobody asked", out.Next)
	}
}

func TestAnOutageTakesAlongWhatIsBehindItAlone(t *testing.T) {
	set := shop(2, 1)
	story := rehearse.Story{Set: set, Object: "h0000!http", State: object.Critical, For: 5 * time.Minute, HostDown: true, Behind: true}
	_, out := play(t, story)
	for _, e := range out.Entries {
		if e.Object.Host() != "h0000" {
			t.Errorf("%s failed, which is not behind h0000", e.Object)
		}
	}
	for i := range out.Messages {
		m := &out.Messages[i]
		if m.Root != "" && m.Root != "h0000" || m.Number != i+1 {
			t.Errorf("message %+v", m)
		}
	}
	story = rehearse.Story{Set: set, Object: "sw1", State: object.Down, For: 8 * time.Minute, Behind: true}
	if _, out = play(t, story); len(out.Messages) == 0 || out.Messages[0].Root != "sw1" {
		t.Errorf("messages %+v, want one about sw1 with what is behind it", out.Messages)
	}
}

func TestAStoryThatMakesNoSenseIsRefused(t *testing.T) {
	for name, s := range map[string]rehearse.Story{
		"an object that there is not": {Object: "nobody", State: object.Down, For: time.Hour},
		"no problem":                  {Object: "sw1", State: object.Up, For: time.Hour},
		"no time":                     {Object: "sw1", State: object.Down},
		"the host of a host":          {Object: "sw1", State: object.Down, For: time.Hour, HostDown: true},
		"what is behind a service":    {Object: "h0000!http", State: object.Critical, For: time.Hour, Behind: true},
	} {
		t.Run(name, func(t *testing.T) {
			s.Set = shop(1, 0)
			if _, err := s.Scene(); err == nil {
				t.Error("there is a scene")
			}
		})
	}
}

func TestActsThatTheCoreRefusesAreTold(t *testing.T) {
	s := &rehearse.Scene{Set: shop(1, 0), Start: begin, End: begin.Add(time.Minute), Cast: []object.ID{"sw1"}, Acts: []rehearse.Act{
		{At: begin + 1, Object: "sw1", Command: fold.Acknowledge{Kind: object.AckNormal, Author: "op", Text: "of nothing"}},
		{At: begin + 2, Object: "h0000", Command: fold.Tick{}},
		{At: begin + 3, Program: program.SwitchContact{Name: "nobody", Hosts: true, Author: "op"}},
	}}
	out := rehearse.Run(s, deliver.Limits{})
	if len(out.Refused) != 3 {
		t.Errorf("refused %+v, want all three acts", out.Refused)
	}
}
