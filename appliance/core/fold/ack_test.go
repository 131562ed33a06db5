package fold_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// ailing is a service with a soft problem.
func ailing(t *testing.T) (*fold.Env, *fold.State) {
	env, s := probed()
	env.Comment, env.ID = 5, "d"
	must(t, env, s, result(object.Warning), started)
	return env, s
}

func TestAnAcknowledgementIsNoted(t *testing.T) {
	env, s := ailing(t)
	d := must(t, env, s, fold.Acknowledge{
		Kind: object.AckSticky, Notify: true, Author: "ann", Text: "on it; back soon", Expires: started + 99, Entry: started - 3,
	}, started+10)
	x := s.Status.Extra
	if s.Status.Ack != object.AckSticky || s.Status.AckExpires != started+99 || x.AckAuthor != "ann" || x.AckText != "on it; back soon" || x.AckTime != started-3 {
		t.Errorf("%+v with %+v", s.Status, x)
	}
	want := event.Comment{ID: "d.1", Number: 5, Kind: "acknowledgement", Author: "ann", Text: "on it; back soon", Time: started - 3}
	if len(x.Comments) != 1 || x.Comments[0] != want {
		t.Errorf("comments %+v", x.Comments)
	}
	if e := &d.Log; e.Kind != event.AckSet || e.Author != "ann" || e.Facts["notify"] != "true" || e.Facts["kind"] != "sticky" || d.HasResult || e.Transition {
		t.Errorf("event %+v", e)
	}
	// Another one takes its place; what was said stays until it ends.
	d = must(t, env, s, fold.Acknowledge{Kind: object.AckNormal, Author: "bob", Text: "my turn", Persistent: true}, started+20)
	x = s.Status.Extra
	if s.Status.Ack != object.AckNormal || s.Status.AckExpires != 0 || x.AckAuthor != "bob" || x.AckTime != started+20 || len(x.Comments) != 2 {
		t.Errorf("%+v with %+v", s.Status, x)
	}
	if d.Log.Facts["notify"] != "" || d.Log.Facts["kind"] != "normal" {
		t.Errorf("facts %v", d.Log.Facts)
	}
	must(t, env, s, fold.RemoveAcknowledgement{Author: "bob"}, started+30)
	if x = s.Status.Extra; s.Status.Ack != object.AckNone || x.AckAuthor != "" || len(x.Comments) != 1 || x.Comments[0].Text != "my turn" {
		t.Errorf("taken back, and yet %+v with %+v", s.Status, x)
	}
	if d = must(t, env, s, fold.RemoveAcknowledgement{}, started+40); d.HasLog {
		t.Error("it was taken back twice")
	}
}

func TestHowAcknowledgementsEnd(t *testing.T) {
	for _, tt := range []struct {
		name    string
		kind    object.AckKind
		expires object.Time // after the start
		then    fold.Command
		ends    bool
	}{
		{"a normal one with another problem", object.AckNormal, 0, result(object.Critical), true},
		{"a normal one with a soft recovery", object.AckNormal, 0, result(object.OK), true},
		{"a normal one stays with the same problem", object.AckNormal, 0, result(object.Warning), false},
		{"a sticky one stays with another problem", object.AckSticky, 0, result(object.Critical), false},
		{"a sticky one with the recovery", object.AckSticky, 0, result(object.OK), true},
		{"one that expires", object.AckSticky, 20, fold.Tick{}, true},
		{"one that expires later", object.AckSticky, 21, fold.Tick{}, false},
		{"one without a time is not ended by time", object.AckNormal, 0, fold.Tick{}, false},
		{"one that is taken back", object.AckNormal, 0, fold.RemoveAcknowledgement{}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			env, s := ailing(t)
			c := fold.Acknowledge{Kind: tt.kind, Text: "x"}
			if tt.expires != 0 {
				c.Expires = started + tt.expires
			}
			must(t, env, s, c, started+10)
			d := must(t, env, s, tt.then, started+20)
			if ended := s.Status.Ack == object.AckNone; ended != tt.ends || ended != (s.Status.Extra == nil) || ended != d.Log.Has(event.AckCleared) {
				t.Errorf("ended %t, extra %+v, event %s with %v", ended, s.Status.Extra, d.Log.Kind, d.Log.Also)
			}
		})
	}
}

func TestAcknowledgementsThatAreRefused(t *testing.T) {
	env, s := probed()
	for name, tt := range map[string]struct {
		give   fold.Acknowledge
		reason fold.Reason
		text   string
	}{
		"without a problem": {fold.Acknowledge{Kind: object.AckNormal, Text: "x"}, fold.NoProblem, "the service is OK; only a problem"},
		"of no kind":        {fold.Acknowledge{Text: "x"}, fold.BadCommand, "use 1 (normal) or 2 (sticky)"},
	} {
		_, err := fold.Decide(env, s, tt.give, started)
		var refusal *fold.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != tt.reason || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %q", name, err, tt.text)
		}
	}
	env, s = ailing(t)
	for name, tt := range map[string]struct {
		give fold.Acknowledge
		text string
	}{
		"that has expired": {fold.Acknowledge{Kind: object.AckNormal, Text: "x", Expires: started}, "would have expired"},
		"without a text":   {fold.Acknowledge{Kind: object.AckNormal}, "an acknowledgement needs a text"},
	} {
		if _, err := fold.Decide(env, s, tt.give, started); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %q", name, err, tt.text)
		}
	}
}

func TestComments(t *testing.T) {
	env, s := probed()
	env.Comment, env.ID = 5, "d1"
	d := must(t, env, s, fold.AddComment{Author: "ann", Text: "new disk", Persistent: true, Entry: started - 3}, started)
	want := event.Comment{ID: "d1.1", Number: 5, Kind: "user", Author: "ann", Text: "new disk", Time: started - 3, Persistent: true}
	if got := s.Status.Extra.Comments; len(got) != 1 || got[0] != want || d.Log.Kind != event.CommentAdded || d.Log.Facts["comment"] != "d1.1" {
		t.Errorf("%+v, %+v", got, d.Log)
	}
	earlier := s.Status.Extra
	for i, c := range []fold.AddComment{{Text: "b", Expires: started + 10}, {Text: "c"}, {Text: "d"}} {
		env.ID, env.Comment = "d"+string(rune('2'+i)), uint64(6+i)
		must(t, env, s, c, started+1)
	}
	if len(earlier.Comments) != 1 {
		t.Error("an earlier state was changed in place")
	}
	texts := func() (all string) {
		if s.Status.Extra != nil {
			for _, c := range s.Status.Extra.Comments {
				all += c.Text
			}
		}
		return all
	}
	for _, st := range []struct {
		do   fold.Command
		at   object.Time
		want string
		gone string
	}{
		{fold.Tick{}, 9, "new diskbcd", ""},
		{fold.Tick{}, 10, "new diskcd", "d2.1"},
		{fold.RemoveComments{ID: "d3.1", Author: "ann"}, 11, "new diskd", "d3.1"},
		{fold.RemoveComments{Number: 5}, 12, "d", "d1.1"},
		{fold.RemoveComments{}, 13, "", "d4.1"},
		{fold.RemoveComments{}, 14, "", ""},
	} {
		d := must(t, env, s, st.do, started+st.at)
		if texts() != st.want || d.HasLog != (st.gone != "") || d.Log.Facts["comments"] != st.gone || d.HasLog && d.Log.Kind != event.CommentRemoved {
			t.Errorf("%+v at %d leaves %q, event %s with %v", st.do, st.at, texts(), d.Log.Kind, d.Log.Facts)
		}
	}
	if s.Status.Extra != nil {
		t.Errorf("left: %+v", s.Status.Extra)
	}
	for name, tt := range map[string]struct {
		give fold.Command
		text string
	}{
		"one without a text":   {fold.AddComment{}, "a comment needs a text"},
		"one that has expired": {fold.AddComment{Text: "x", Expires: started}, "would have expired"},
		"an unknown number":    {fold.RemoveComments{Number: 9}, "has no comment number 9"},
		"an unknown identity":  {fold.RemoveComments{ID: "z"}, `has no comment "z"`},
	} {
		if _, err := fold.Decide(env, s, tt.give, started); err == nil || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: %v, want %q", name, err, tt.text)
		}
	}
}

// An acknowledgement and what else an object has end independently.
func TestWhatTimeEndsTogetherIsOneDecision(t *testing.T) {
	env, s := ailing(t)
	must(t, env, s, fold.Acknowledge{Kind: object.AckSticky, Text: "x", Expires: started + 10}, started+1)
	must(t, env, s, fold.AddComment{Text: "y", Expires: started + 10}, started+1)
	must(t, env, s, window("w", 0, 0.010, 0), started+1)
	if s.Status.DowntimeDepth != 1 {
		t.Fatal("the downtime does not run")
	}
	if work, at := fold.Due(env, s, started+2); work == fold.PassTime || at != started+10 {
		t.Errorf("due is %s, next %d", work, at-started)
	}
	d := must(t, env, s, fold.Tick{}, started+10)
	if !d.Log.Has(event.AckCleared) || !d.Log.Has(event.CommentRemoved) || !d.Log.Has(event.DowntimeEnded) || s.Status.Extra != nil || s.Status.DowntimeDepth != 0 {
		t.Errorf("%s with %v leaves %+v", d.Log.Kind, d.Log.Also, s.Status.Extra)
	}
}

// What matters most to people gives the event its name and its text; the rest
// stands beside it.
func TestWhatTimeDoesIsCalledByWhatMattersMost(t *testing.T) {
	comment := fold.AddComment{Text: "remark", Expires: started + 10}
	ack := fold.Acknowledge{Kind: object.AckSticky, Text: "seen", Expires: started + 10}
	ends, starts := window("a", 0, 0.010, 0), window("b", 0.010, 60, 0)
	ends.Downtime.Text, starts.Downtime.Text = "over", "begun"
	tests := []struct {
		name string
		give []fold.Command
		kind event.Kind
		text string
		also []event.Kind
	}{
		{"a comment", []fold.Command{comment}, event.CommentRemoved, "remark", nil},
		{"a comment and a downtime", []fold.Command{comment, starts}, event.DowntimeStarted, "begun", []event.Kind{event.CommentRemoved}},
		{"two downtimes and a comment", []fold.Command{comment, ends, starts}, event.DowntimeEnded, "over", []event.Kind{event.CommentRemoved, event.DowntimeStarted}},
		{"an acknowledgement and a comment", []fold.Command{ack, comment}, event.AckCleared, "seen", []event.Kind{event.CommentRemoved}},
		{"an acknowledgement and a downtime", []fold.Command{ack, ends}, event.DowntimeEnded, "over", []event.Kind{event.AckCleared}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env, s := ailing(t)
			for i, c := range tt.give {
				env.ID = fmt.Sprint("d", i)
				must(t, env, s, c, started+1)
			}
			log := must(t, env, s, fold.Tick{}, started+10).Log
			if log.Kind != tt.kind || log.Text != tt.text || !slices.Equal(log.Also, tt.also) {
				t.Errorf("%s with %v says %q, want %s with %v and %q", log.Kind, log.Also, log.Text, tt.kind, tt.also, tt.text)
			}
		})
	}
}

// A comment that is not persistent ends with the run of the engine in which it
// was made.
func TestACommentMayEndWithARestart(t *testing.T) {
	env, s := probed()
	env.Comment = 5
	for i, c := range []fold.AddComment{{Text: "kept", Persistent: true}, {Text: "of this run", Entry: started.Add(-time.Hour)}} {
		env.ID = fmt.Sprint("d", i)
		must(t, env, s, c, started+1)
	}
	if next := fold.NextTick(env, s, 0); next != 0 {
		t.Fatalf("something ends at %d within the run", next)
	}
	env.Started = started + 2
	if work, _ := fold.Due(env, s, started+3); work != fold.PassTime {
		t.Fatalf("after a restart %s is due", work)
	}
	d := must(t, env, s, fold.Tick{}, started+3)
	if c := s.Status.Extra.Comments; len(c) != 1 || c[0].Text != "kept" || d.Log.Kind != event.CommentRemoved || d.Log.Text != "of this run" || d.Log.Facts["restarted"] != "true" {
		t.Errorf("%+v is left by %+v", c, d.Log)
	}
}
