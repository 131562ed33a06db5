package main

import (
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/cluster"
)

// reported is what people read of a report.
func reported(t *testing.T, r *cluster.Report) string {
	t.Helper()
	var b strings.Builder
	if err := printReport(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTheStatusSaysWhatAnAbsentMemberIsAndInWhichZoneItsTimesAre(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 9, 51, 7, 0, time.Local)
	text := reported(t, &cluster.Report{
		Cluster: "site", Self: "a", Leader: "a", Quorum: true,
		Members: []cluster.MemberReport{{ID: "a", Address: "10.0.0.1:4248", Online: true, Leader: true, Drill: true}, {ID: "w", Address: "10.0.0.9:4248", Witness: true}},
		Tokens:  []cluster.Out{{Address: "10.0.0.1:4249", Expires: at}},
	})
	for _, want := range []string{"online, leader, out for a drill", "w       10.0.0.9:4248  AWAY, witness", "until 09:51:07 " + at.Format("MST")} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
