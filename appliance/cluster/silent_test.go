package cluster

import (
	"strings"
	"testing"
	"time"
)

func TestWhoseObjectsAreNobodysIsSaid(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 18, 40, 5, 0, time.Local)
	until := "until about 18:40:05 " + at.Format("MST") + ", when the others take them over if it stays so"
	for name, c := range map[string]struct {
		engines []Engine
		want    []string
	}{
		"all are heard":               {[]Engine{{ID: "a", Live: true, Objects: 2}, {ID: "b", Live: true, Objects: 1}}, nil},
		"a member was just killed":    {[]Engine{{ID: "a", Live: true, Objects: 2}, {ID: "b", Live: true, Objects: 1, Expires: at}}, []string{"engine b is not heard: its 1 of 3 objects (33 %) are nobody's " + until}},
		"a removed one is in the way": {[]Engine{{ID: "a", Live: true, Objects: 399}, {ID: "z", Live: true, Objects: 1, Expires: at}}, []string{"engine z, which is no member of the cluster, is not heard: its 1 of 400 objects (1 %) are nobody's " + until}},
		"it owned nothing":            {[]Engine{{ID: "a", Live: true, Objects: 2}, {ID: "b", Live: true, Expires: at}}, nil},
		"they were taken over":        {[]Engine{{ID: "a", Live: true, Objects: 2}, {ID: "b", Objects: 0, Expires: at}}, nil},
	} {
		r := &Report{Quorum: true, Members: []MemberReport{{ID: "a"}, {ID: "b"}}, Engines: &Engines{Members: c.engines}}
		if got := r.nobodys(); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	alone := &Report{Engines: &Engines{Members: []Engine{{ID: "b", Live: true, Objects: 1, Expires: at}}}}
	if got := strings.Join(alone.nobodys(), "\n"); !strings.Contains(got, "nobody can take them over before there is a quorum") || strings.Contains(got, "18:40:05") {
		t.Errorf("without a quorum: %q", got)
	}
	if got := (&Report{}).nobodys(); got != nil {
		t.Errorf("without engines: %q", got)
	}
}

func TestEnginesThatAreNoMembersAreNotLeftOut(t *testing.T) {
	t.Parallel()
	r := &Report{Members: []MemberReport{{ID: "a"}}, Engines: &Engines{Members: []Engine{{ID: "a", Live: true}, {ID: "far", Live: true}, {ID: "gone"}}}}
	if got := r.Outside(); len(got) != 1 || got[0].ID != "far" {
		t.Errorf("outside are %+v", got)
	}
	if got := (&Report{}).Outside(); got != nil {
		t.Errorf("without engines: %+v", got)
	}
}
