package filter

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"pgregory.net/rapid"
)

// TestFlagsSayWhatAStateIs walks a state from never checked to handled and
// wants exactly the flags that hold in each step.
func TestFlagsSayWhatAStateIs(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*fold.State)
		want   string
	}{
		{"never checked", func(s *fold.State) { s.Status.Checked = false }, "hard pending"},
		{"fine", func(s *fold.State) { s.Status.State = object.OK }, "hard"},
		{"a soft problem", func(s *fold.State) { s.Status.Type = object.Soft }, "problem soft"},
		{"a hard problem", func(*fold.State) {}, "hard problem unhandled"},
		{"acknowledged", func(s *fold.State) { s.Status.Ack = object.AckNormal }, "acknowledged hard problem"},
		{"acknowledged until it is over", func(s *fold.State) { s.Status.Ack = object.AckSticky }, "acknowledged hard problem"},
		{"in a downtime", func(s *fold.State) { s.Status.DowntimeDepth = 1 }, "downtime hard in_downtime problem"},
		{"flapping", func(s *fold.State) { s.Status.Flapping = true }, "flapping hard problem unhandled"},
		{"fine and in a downtime", func(s *fold.State) { s.Status.State, s.Status.DowntimeDepth = object.OK, 2 }, "downtime hard in_downtime"},
		{"explained by a host", func(s *fold.State) { s.Status.Root = "sw1" }, "caused hard problem unhandled"},
		{"fine behind a host that is down", func(s *fold.State) { s.Status.State, s.Status.Root = object.OK, "sw1" }, "hard"},
		{"set by an operator", func(s *fold.State) {
			s.Status.Extra = &event.Extra{Settings: []event.Setting{{Name: event.SettingInterval, Value: "1m"}}}
		}, "hard overridden problem unhandled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, s := sample()
			c.change(s)
			var got []string
			for _, name := range slices.Sorted(maps.Keys(flags)) {
				f, err := Parse(strings.ToUpper(name))
				if err != nil {
					t.Fatal(err)
				}
				if f.Match(o, s) {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestFieldsOfHostsAndServices asks both kinds for each field. A service has
// what its host has, but not the other way round.
func TestFieldsOfHostsAndServices(t *testing.T) {
	service, s := sample()
	for _, c := range []struct {
		text          string
		service, host bool
	}{
		{"host=web01", true, true},
		{"service=http", true, false},
		{"service~h", true, false},
		{`service=""`, false, false},
		{"address=192.0.2.10", true, true},
		{"group=front", true, true},
		{"group=urls", true, false},
		{"group!=urls", false, true},
		{"parent=sw1", true, true},
		{"zone=dmz", true, true},
		{"check_kind=http", true, false},
		{"label.role=WEB", true, true},
		{"label.Role=web", false, false},
		{"label.team=shop", true, false},
		{"label.team!=shop", false, true},
		{"label.team~sho", true, false},
		{"output~500", true, true},
		{"state=CRITICAL", true, false},
		{"state=UNREACHABLE", false, true},
		{"state~un", false, true},
		{"id=web01!http", true, false},
		{`id="web01"`, false, true},
		{"id=WEB01", false, false},
		{"id~WEB01", true, true},
		{"kind=host", false, true},
		{"kind!=HOST", true, false},
		{"*", true, true},
		{"* and kind=service", true, false},
		{"!*", false, false},
		{`"*"`, false, false},
		{"id~*", false, false},
		{"HOST=web01", true, true},
		{"Shop", true, true},
		{"!http", false, false},
		{"web01!http", true, false},
	} {
		f, err := Parse(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if got := f.Match(service, s); got != c.service {
			t.Errorf("%s matches the service: %v", c.text, got)
		}
		if got := f.Match(service.Host, s); got != c.host {
			t.Errorf("%s matches the host: %v", c.text, got)
		}
	}
}

// TestLongOutputIsSearchedToo looks beyond the first line.
func TestLongOutputIsSearchedToo(t *testing.T) {
	o, s := sample()
	s.Measure.Long = "stack trace\nline two"
	for text, want := range map[string]bool{"output~trace": true, "output~TWO": true, `output="HTTP 500 größe: über"`: true, "output=trace": false, "trace": false} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(o, s); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// expression is a filter as a text and what it must say.
type expression struct {
	text string
	want bool
}

// drawn makes an expression of known truth: "problem" and "downtime" stand for
// true and false, and each operator is worked out beside the text.
func drawn(t *rapid.T, depth int) expression {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind %= 2
	}
	switch kind {
	case 0:
		return expression{"problem", true}
	case 1:
		return expression{"downtime", false}
	case 2:
		x := drawn(t, depth-1)
		return expression{fmt.Sprintf("not (%s)", x.text), !x.want}
	case 3:
		x, y := drawn(t, depth-1), drawn(t, depth-1)
		return expression{fmt.Sprintf("(%s or %s)", x.text, y.text), x.want || y.want}
	case 4:
		x, y := drawn(t, depth-1), drawn(t, depth-1)
		return expression{fmt.Sprintf("(%s) and (%s)", x.text, y.text), x.want && y.want}
	}
	x, y := drawn(t, depth-1), drawn(t, depth-1)
	return expression{fmt.Sprintf("(%s) (%s)", x.text, y.text), x.want && y.want}
}

// TestOperatorsAreThoseOfLogic compares parsed filters with the logic they were
// made from.
func TestOperatorsAreThoseOfLogic(t *testing.T) {
	o, s := sample()
	rapid.Check(t, func(t *rapid.T) {
		x := drawn(t, 4)
		f, err := Parse(x.text)
		if err != nil {
			t.Fatalf("%s: %v", x.text, err)
		}
		if got := f.Match(o, s); got != x.want {
			t.Fatalf("%s says %v, want %v", x.text, got, x.want)
		}
		// What needs a problem must not match what is fine.
		if fine := fold.New(o); f.NeedsProblem() && f.Match(o, &fine) {
			t.Fatalf("%s needs a problem and matches an object that has none", x.text)
		}
	})
}

// "and" binds closer than "or", and "not" closer than both.
func TestPrecedence(t *testing.T) {
	o, s := sample()
	for text, want := range map[string]bool{
		"problem or problem and downtime":       true,
		"(problem or problem) and downtime":     false,
		"downtime and problem or problem":       true,
		"downtime and (problem or problem)":     false,
		"not downtime and problem":              true,
		"not (downtime or problem)":             false,
		"not not problem":                       true,
		"! ! downtime":                          false,
		"downtime or not downtime and problem":  true,
		"problem problem or downtime downtime":  true,
		"downtime problem or downtime problem":  false,
		"PROBLEM AND NOT DOWNTIME OR DOWNTIME":  true,
		"problem and not downtime and not soft": true,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := f.Match(o, s); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
