package wire

import (
	"encoding/json"
	"maps"
	"strconv"
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

// The fast ways of writing give what the standard library gives.
func TestTimesAndNumbersAreWrittenAsTheStandardLibraryDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := object.Time(rapid.Int64Range(-1<<44, 1<<48).Draw(t, "ms"))
		want := "null"
		if at != 0 {
			want = at.Std().Format(`"2006-01-02T15:04:05.000Z07:00"`)
		}
		if got := string(AppendTime(nil, at)); got != want {
			t.Fatalf("%d is %s, want %s", at, got, want)
		}
		us := rapid.Int64Range(-1<<50, 1<<50).Draw(t, "us")
		if got, want := string(AppendMicros(nil, us)), strconv.FormatFloat(float64(us)/1e6, 'f', -1, 64); got != want {
			t.Fatalf("%d µs are %s, want %s", us, got, want)
		}
	})
	for day := range int64(400 * 366) { // every day of an era
		want := time.Unix(day*86400, 0).UTC()
		if y, m, d := date(day); int(y) != want.Year() || int(m) != int(want.Month()) || int(d) != want.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", day, y, m, d, want)
		}
	}
}

// Whatever rules, hosts and services say, the labels are those of AllLabels.
func TestLabelsAreThoseThatTheObjectAnswersTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.MapOfN(rapid.StringMatching(`[a-d"<]{1,2}`), rapid.StringN(0, 3, -1), 0, 4)
		var rules []*object.Rule
		for range 3 {
			rules = append(rules, &object.Rule{Labels: set.Draw(t, "rule")})
		}
		rule := rapid.SampledFrom(rules)
		c := &Context{}
		for range 4 {
			host := &object.Object{Rule: rule.Draw(t, "host rule"), Labels: set.Draw(t, "host")}
			all := []*object.Object{host}
			for range rapid.IntRange(0, 3).Draw(t, "services") {
				s := &object.Object{Host: host, Rule: rule.Draw(t, "service rule")}
				if rapid.Bool().Draw(t, "own") {
					s.Labels = set.Draw(t, "service")
				}
				all = append(all, s)
			}
			for _, o := range all {
				want, err := json.Marshal(o.AllLabels())
				if err != nil {
					t.Fatal(err)
				}
				var a, b map[string]string
				text := c.labels.append(nil, o)
				if json.Unmarshal(text, &a) != nil || json.Unmarshal(want, &b) != nil || !maps.Equal(a, b) {
					t.Fatalf("labels are %s, want %s", text, want)
				}
				if n := strings.Count(string(text), `":"`); n < len(b) || (len(b) == 0 && string(text) != "{}") {
					t.Fatalf("labels are %s, want %s", text, want)
				}
			}
		}
	})
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
