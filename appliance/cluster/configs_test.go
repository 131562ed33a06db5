package cluster

import (
	"strings"
	"testing"

	"jaque.sh/jaque/appliance/bus"
)

func TestAReportNamesTheEnginesWhoseConfigsDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		engines *Engines
		want    string // "" = nothing is wrong
	}{
		{"no engine", nil, ""},
		{"the same everywhere", &Engines{Members: []Engine{{ID: "a", Live: true, Generation: "g1"}, {ID: "b", Live: true, Generation: "g1"}}}, ""},
		{"one that died had another one", &Engines{Members: []Engine{{ID: "a", Live: true, Generation: "g1"}, {ID: "b", Generation: "g2"}}}, ""},
		{"one has not said its own yet", &Engines{Members: []Engine{{ID: "a", Live: true, Generation: "g1"}, {ID: "b", Live: true}}}, ""},
		{
			"one of three differs",
			&Engines{Members: []Engine{{ID: "a", Live: true, Generation: "0123456789"}, {ID: "b", Live: true, Generation: "g2"}, {ID: "c", Live: true, Generation: "0123456789"}}},
			"01234567 of a, c; g2 of b; an object is not checked while the engine that owns it does not have it",
		},
	} {
		st := bus.Status{Self: "a", Members: []bus.Member{{Name: "a", Online: true}}}
		got := strings.Join(newReport(&st, map[string]self{"a": {ID: "a", Engines: c.engines}}).Trouble, " ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
