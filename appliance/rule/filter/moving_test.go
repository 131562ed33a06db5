package filter

import (
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
)

func TestFiltersThatAskForWhatChangesByItself(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		"*":                                   "",
		"host=h09 and service~disk":           "",
		"not (group=web or label.role!=db)":   "",
		"zone=dmz kind=host id=h09 parent=gw": "",
		"check_kind=http address=192.0.2.1":   "",
		"problem and host=h09":                "problem",
		"host=h09 and !problem":               "problem",
		"host=a or (group=b and state=DOWN)":  "state",
		"state_type!=hard":                    "state_type",
		"host=a web":                          "output",
		`"disk full"`:                         "output",
		"output~full":                         "output",
		"comments>0":                          "comments",
		"host=h09 Downtimes=0":                "downtimes",
		"root=gw":                             "root",
		"setting=interval":                    "setting",
		"disabled=notifications":              "disabled",
		"comment~disk":                        "comment",
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		field, column, yes := f.Stateful()
		if field != want || yes != (want != "") || yes != (column > 0) {
			t.Errorf("%s: %q at %d, want %q", text, field, column, want)
		}
	}
	for word := range flags {
		f, err := Parse("host=a " + word)
		if err != nil {
			t.Fatal(err)
		}
		if field, column, yes := f.Stateful(); field != word || column != 8 || !yes {
			t.Errorf("%s: %q at %d", word, field, column)
		}
	}
}

func TestCountsAreCompared(t *testing.T) {
	o, s := sample()
	s.Status.Extra = &event.Extra{Comments: make([]event.Comment, 2), Downtimes: make([]event.Downtime, 12)}
	for text, want := range map[string]bool{
		"comments>0": true, "comments>2": false, "comments>=2": true, "comments<2": false, "comments<=2": true, "comments < 3": true,
		"downtimes>9": true, "Downtimes > 11 comments=2": true, "!downtimes>11": false, "(comments<1)or downtimes>=12": true,
		"a>b": false, `label.x="<b>"`: false, "label.x!=<b>": true, "HTTP >5": false,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if f.Match(o, s) != want {
			t.Errorf("%s: want %v", text, want)
		}
	}
	none := fold.New(o)
	if f, _ := Parse("comments>0 or downtimes>0"); f.Match(o, &none) {
		t.Error("nothing is more than 0")
	}
	for text, want := range map[string]string{
		"state>1":                         "column 6: state has no order; only comments and downtimes",
		"label.x<3":                       "column 8: label.x has no order",
		"comments>":                       "column 10: comments> needs a value",
		"comments>many":                   `column 10: "many" is no number`,
		"comments>9999999999999999999999": "is too large a number",
		">0":                              "",
	} {
		_, err := Parse(text)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
