package filter

import (
	"errors"
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

func sample() (*object.Object, *fold.State) {
	rule := &object.Rule{Labels: map[string]string{"team": "shop"}, Check: object.Check{Kind: object.CheckHTTP}}
	sw := &object.Object{ID: "sw1", Name: "sw1", Rule: &object.Rule{}}
	host := &object.Object{
		ID: "web01", Name: "web01", Alias: "Shop front", Address: "192.0.2.10", Rule: &object.Rule{},
		Labels: map[string]string{"role": "web"}, Groups: []string{"front"}, Parents: []*object.Object{sw}, Zone: "dmz",
	}
	o := &object.Object{ID: "web01!http", Name: "http", Host: host, Rule: rule, Zone: "dmz", Groups: []string{"urls"}}
	s := fold.New(o)
	s.Status.Checked = true
	s.Status.State = object.Critical
	s.Measure.Output = "HTTP 500 Größe: ÜBER"
	return o, &s
}

func TestMatch(t *testing.T) {
	o, s := sample()
	for text, want := range map[string]bool{
		"":                                 true,
		"state=CRITICAL":                   true,
		"state=critical":                   true,
		"state!=CRITICAL":                  false,
		"state~crit":                       true,
		"state=OK or host~WEB":             true,
		"label.role=web":                   true,
		"label.team=shop":                  true,
		"label.role=db":                    false,
		"label.none!=x":                    true,
		"group=front group=urls":           true,
		"group=back":                       false,
		"parent=sw1":                       true,
		"zone=dmz and check_kind=http":     true,
		"service=http address=192.0.2.10":  true,
		"unhandled":                        true,
		"!unhandled":                       false,
		"not (acknowledged or flapping)":   true,
		"problem and !downtime":            true,
		"hard":                             true,
		"soft or pending":                  false,
		"web01!http":                       true,
		`"shop FRONT"`:                     true,
		"größe über":                       true,
		"nowhere":                          false,
		"host=db or host=web01 state=OK":   false,
		"(host=db or host=web01) hard":     true,
		"output~500":                       true,
		`output!~"500"`:                    false,
		"state_type=hard host!~db":         true,
		"'and' or nowhere":                 false,
		`"http 500"`:                       true,
		"host=db or unhandled and problem": true,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		if got := f.Match(o, s); got != want {
			t.Errorf("%q matches %v, want %v", text, got, want)
		}
	}
}

func TestAPendingObjectIsNoProblem(t *testing.T) {
	o, _ := sample()
	s := fold.New(o)
	for text, want := range map[string]bool{"pending": true, "state=PENDING": true, "problem": false, "state=OK": false} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(o, &s); got != want {
			t.Errorf("%q matches %v, want %v", text, got, want)
		}
	}
}

func TestErrorsNameTheColumn(t *testing.T) {
	for text, want := range map[string]string{
		"state=":                      `column 7: state= needs a value`,
		"stat=OK":                     `column 1: no field is called "stat"; write one of`,
		"host=a state=OKAY":           `column 14: "OKAY" is no state; write one of OK,`,
		"(host=a":                     `column 8: the parenthesis of column 1 is never closed; add ")"`,
		"host=a)":                     `column 7: ")" has no opening parenthesis; remove it`,
		`host="a`:                     `column 6: the quote is never closed; add " at the end`,
		"=a":                          `column 1: "=" needs a field on its left`,
		"a or":                        `column 5: something is missing at the end`,
		"or a":                        `column 1: "or" needs a condition on its left`,
		"and a":                       `column 1: "and" needs a condition on its left`,
		"a or or b":                   `column 6: "or" needs a condition on its left`,
		"()":                          `column 2: ")" stands where a condition should`,
		"!":                           `column 2: something is missing at the end`,
		"a and":                       `column 6: something is missing at the end`,
		"ä state=X":                   `column 9: "X" is no state`,
		strings.Repeat("!", 80) + "a": `nested deeper than 64 levels`,
	} {
		_, err := Parse(text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("Parse(%q) = %v, want an *Error", text, err)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q) = %q, want %q in it", text, err, want)
		}
	}
}

func TestNeedsProblemTellsWhetherTheProblemListIsEnough(t *testing.T) {
	for text, want := range map[string]bool{
		"": false, "problem": true, "unhandled host=a": true, "unhandled or host=a": false,
		"problem or unhandled": true, "!problem": false, "host=a": false, "(problem x) or unhandled": true,
	} {
		f, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.NeedsProblem(); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestEveryFieldIsListed(t *testing.T) {
	if got := strings.Join(Fields(), " "); !strings.Contains(got, "label.NAME") || len(Fields()) != len(fields)+1 {
		t.Errorf("fields are %s", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "state=CRITICAL", `host~"a b" or !(unhandled and label.x!=y)`, "((a))", "!!!a", `"\"`, "a!=b", "a!b", "or=1", "é\"ü\"",
	} {
		f.Add(s)
	}
	o, s := sample()
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%T is no *Error", err)
			}
			if n := len([]rune(text)); e.Column < 1 || e.Column > n+1 {
				t.Fatalf("column %d of a text of %d characters", e.Column, n)
			}
			return
		}
		inverse, err := Parse("!(" + text + ")")
		if err != nil || strings.TrimSpace(text) == "" {
			return // one level too deep, or nothing to negate
		}
		if parsed.Match(o, s) == inverse.Match(o, s) {
			t.Fatalf("%q and its negation agree", text)
		}
	})
}
