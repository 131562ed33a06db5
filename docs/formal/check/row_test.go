package main

import (
	"slices"
	"strings"
	"testing"
)

func TestFirstLineDeclares(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       row
		err        bool
	}{
		{"holds", "\\* holds\n", row{}, false},
		{"violated in some steps", "\\* violates Agree in 7 steps\n\\* reference: 896 distinct states, depth 8\n", row{declared: verdict{"Agree", 7}, distinct: 896, depth: 8}, false},
		{"violated without a length", "\\* violates NeverStuck\n\\* reference: 72003 distinct states\nPROPERTY NeverStuck\n", row{declared: verdict{"NeverStuck", 0}, distinct: 72003, live: []string{"NeverStuck"}}, false},
		{"several properties", "\\* holds\n\\* words\nPROPERTY NoneLost\nPROPERTY EveryOutcome\n", row{live: []string{"NoneLost", "EveryOutcome"}}, false},
		{"no verdict", "SPECIFICATION Spec\n", row{}, true},
		{"words behind the verdict", "\\* holds, mostly\n", row{}, true},
		{"nothing", "", row{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseRow("x", c.text)
			if c.err {
				if err == nil {
					t.Fatalf("%q was taken: %+v", c.text, got)
				}
				return
			}
			if err != nil || got.declared != c.want.declared || got.distinct != c.want.distinct || got.depth != c.want.depth || !slices.Equal(got.live, c.want.live) {
				t.Fatalf("got %+v, %v; want %+v", got, err, c.want)
			}
		})
	}
}

func TestVerdictsAreWrittenAsDeclared(t *testing.T) {
	for _, line := range []string{"holds", "violates Agree in 7 steps", "violates NeverStuck"} {
		r, err := parseRow("x", "\\* "+line+"\n")
		if err != nil || r.declared.String() != line {
			t.Errorf("%q became %q, %v", line, r.declared, err)
		}
	}
}

// The table of the reference has a row for every name here; a configuration that
// got lost would not be missed otherwise.
func TestEveryConfigurationIsThere(t *testing.T) {
	rows, err := readRows("..")
	if err != nil {
		t.Fatal(err)
	}
	violated := 0
	for _, r := range rows {
		if r.declared.violated != "" {
			violated++
		}
		if !strings.Contains(r.text, "\nSPECIFICATION ") || !strings.Contains(r.text, "\nCHECK_DEADLOCK FALSE\n") {
			t.Errorf("%s: SPECIFICATION or CHECK_DEADLOCK FALSE is missing", r.name)
		}
	}
	t.Logf("%d configurations, %d of them show a violation", len(rows), violated)
	if len(rows) != 58 || violated != 24 {
		t.Errorf("got %d configurations, %d violations; want 58, 24", len(rows), violated)
	}
	if rows[0].module != "Handover" || rows[len(rows)-1].module != "Delivery" {
		t.Errorf("from %s to %s; want the handover first", rows[0].module, rows[len(rows)-1].module)
	}
}

func TestRowsAreChosenByName(t *testing.T) {
	rows := []row{{name: "a"}, {name: "b"}, {name: "c"}}
	for _, c := range []struct {
		name  string
		names []string
		want  string
		err   bool
	}{
		{"no name is all", nil, "abc", false},
		{"names are found in the order of the files", []string{"c", "a"}, "ac", false},
		{"an unknown name is an error", []string{"a", "d"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := choose(rows, c.names)
			names := ""
			for _, r := range got {
				names += r.name
			}
			if names != c.want || (err != nil) != c.err {
				t.Fatalf("got %q, %v", names, err)
			}
		})
	}
}

func TestAFolderWithoutConfigurationsIsAnError(t *testing.T) {
	if _, err := readRows(t.TempDir()); err == nil || !strings.Contains(err.Error(), "-dir") {
		t.Fatalf("got %v", err)
	}
}
