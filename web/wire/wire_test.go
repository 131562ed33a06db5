package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/web/sample"
)

func TestStringsAreWhatEncodingJSONReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		// A run of bad bytes becomes one mark for each of them.
		var want strings.Builder
		for _, r := range s {
			want.WriteRune(r)
		}
		if got != want.String() || !utf8.ValidString(got) {
			t.Fatalf("%q reads as %q", s, got)
		}
	})
}

func TestStringsCannotEndAScript(t *testing.T) {
	got := string(AppendString(nil, "</script>&\u2028\x00\x7f"))
	if want := `"\u003c/script\u003e\u0026\u2028\u0000\u007f"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestTimesAndDurations(t *testing.T) {
	at := object.At(time.Date(2026, 3, 1, 12, 0, 0, 5_000_000, time.FixedZone("CET", 3600)))
	if got := string(AppendTime(nil, at)); got != `"2026-03-01T11:00:00.005Z"` {
		t.Errorf("got %s", got)
	}
	if got := string(AppendTime(nil, 0)); got != "null" {
		t.Errorf("never is %s", got)
	}
	for us, want := range map[int64]string{0: "0", 1: "0.000001", 1_500_000: "1.5", 812_000: "0.812"} {
		if got := string(AppendMicros(nil, us)); got != want {
			t.Errorf("%d µs are %s, want %s", us, got, want)
		}
	}
	data, err := json.Marshal(Stamp(time.Time{}))
	if err != nil || string(data) != "null" {
		t.Errorf("no time is %s, %v", data, err)
	}
}

func TestItemsAreJSONWithAnyColumns(t *testing.T) {
	site := sample.Office()
	for _, o := range site.Set().Objects {
		item, _ := site.Get(o.ID)
		for _, list := range []string{"", "state", "host,state,output,labels"} {
			cols, err := Pick(o.Kind(), list)
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal(AppendItem(nil, &item, cols, &Context{}), &got); err != nil || len(got) != len(cols) {
				t.Errorf("%s, %q: %v, %v", o.ID, list, got, err)
			}
		}
	}
	if _, err := Pick(object.Host, "service"); err == nil {
		t.Error("a host has a field service")
	}
}

func TestEventsSayWhatWasAndIs(t *testing.T) {
	e := event.Event{
		Stream: event.Log, Seq: 7, Kind: event.CheckResult, Object: "a!b", Transition: true,
		Was:     &event.Was{},
		Status:  &event.Status{Checked: true, State: object.Critical, Type: object.Soft, Attempt: 1},
		Measure: &event.Measure{Output: "broken", Passive: true},
	}
	w := FromEvent(&e)
	if w.Was.State != "PENDING" || *w.Now != (Condition{"CRITICAL", "soft", 1}) || w.Output != "broken" || !w.Passive {
		t.Errorf("%+v", w)
	}
	e = event.Event{Stream: event.Results, Kind: event.CheckResult, Object: "a", Measure: &event.Measure{State: object.Down}}
	if w := FromEvent(&e); w.Stream != "results" || w.Now.State != "DOWN" {
		t.Errorf("%+v", w)
	}
	e = event.Event{Kind: event.CommentAdded, Object: "a", Measure: &event.Measure{Output: "old"}, Text: "new"}
	if w := FromEvent(&e); w.Output != "" || w.Text != "new" {
		t.Errorf("an event without a result tells the last one: %+v", w)
	}
}
