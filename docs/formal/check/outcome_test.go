package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestOutputOfTLC(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       outcome
		err        string
	}{
		{"no error is a verdict with the counts of the end", "holds.txt", outcome{distinct: 101242, depth: 23}, ""},
		{"an invariant is violated after as many steps as states less one", "invariant.txt", outcome{verdict: verdict{"Linear", 4}, distinct: 91, depth: 5}, ""},
		{"an invariant may be violated at the start", "initial.txt", outcome{verdict: verdict{"Agree", 0}, distinct: 1}, ""},
		{"a violated property has no length", "property.txt", outcome{temporal: true, distinct: 19521, depth: 9}, ""},
		{"a module that does not parse has no verdict", "parse.txt", outcome{}, `***Parse Error*** Was expecting "==== or more Module body"`},
		{"a wrong configuration has no verdict", "configuration.txt", outcome{}, "The invariant Agre specified in the configuration file is not defined"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseOutput(recorded(t, c.file))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v, want an error with %q", err, c.err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestOtherWordsOfTLC(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       outcome
		err        string
	}{
		{"a property that is named", "Error: Temporal property NeverStuck was violated.\n", outcome{verdict: verdict{"NeverStuck", 0}, temporal: true}, ""},
		{"progress is no result", "Progress(3) at 2026-11-30 06:00:04: 9 states generated, 7 distinct states found, 1 states left on queue.\n", outcome{}, "no verdict: Progress"},
		{"no memory", "Error: Java heap space\n", outcome{}, "no verdict: Error: Java heap space"},
		{"no such class", "Error: Could not find or load main class tlc2.TLC\nCaused by: java.lang.ClassNotFoundException: tlc2.TLC\n", outcome{}, "Could not find or load main class"},
		{"nothing at all", "", outcome{}, "no verdict"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseOutput(c.text)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("got %v, want an error with %q", err, c.err)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestVerdictsAreCompared(t *testing.T) {
	holds := row{declared: verdict{}, live: []string{"NeverStuck"}}
	agree := row{declared: verdict{"Agree", 7}}
	stuck := row{declared: verdict{"NeverStuck", 0}, live: []string{"NeverStuck"}}
	for _, c := range []struct {
		name   string
		row    row
		got    outcome
		want   string
		length bool
	}{
		{"holds as declared", holds, outcome{}, "", false},
		{"holds is declared and an invariant is violated", holds, outcome{verdict: verdict{"Agree", 7}}, "declared to hold, but Agree is violated", false},
		{"holds is declared and some property is violated", holds, outcome{temporal: true}, "declared to hold, but a property is violated", false},
		{"violated as declared", agree, outcome{verdict: verdict{"Agree", 7}}, "", false},
		{"a violation is declared and all holds", agree, outcome{}, "but it holds", false},
		{"another invariant is violated", agree, outcome{verdict: verdict{"Truth", 7}}, "but Truth was", false},
		{"the counterexample is shorter", agree, outcome{verdict: verdict{"Agree", 6}}, "6 steps, shorter than the declared 7", true},
		{"the counterexample is longer", agree, outcome{verdict: verdict{"Agree", 9}}, "9 steps, longer than the declared 7", true},
		{"a property without a name is the declared one", stuck, outcome{temporal: true}, "", false},
		{"a named property is violated as declared", stuck, outcome{verdict: verdict{"NeverStuck", 0}}, "", false},
		{"a property is declared to be violated and holds", stuck, outcome{}, "but it holds", false},
		{"a property is violated where an invariant was declared", agree, outcome{temporal: true}, "but a property was", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, length := compare(c.row, c.got)
			if length != c.length || (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Fatalf("got %q, %v; want %q, %v", got, length, c.want, c.length)
			}
		})
	}
}
