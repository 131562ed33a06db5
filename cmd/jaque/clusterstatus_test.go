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

// Whether a member of a cluster with a quorum is removed as gone for good is told by the
// one that is asked, who knows whether a stream needs it.
func TestWhoIsGoneForGoodIsRemovedWithAQuorumTooUnlessItRuns(t *testing.T) {
	t.Parallel()
	r := &cluster.Report{Cluster: "site", Self: "a", Quorum: true, Members: []cluster.MemberReport{{ID: "a", Online: true}, {ID: "b", Online: true}, {ID: "c"}}}
	o := &clusterOptions{lost: true}
	if err := o.mayRemove(r, "c"); err != nil {
		t.Errorf("one that is away: %v", err)
	}
	if err := o.mayRemove(r, "b"); err == nil || !strings.Contains(err.Error(), "is running") {
		t.Errorf("one that runs: %v", err)
	}
}

// Every object is in somebody's row, also where its engine is no member of the cluster.
func TestTheSharesOfTheStatusAddUp(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 9, 51, 7, 0, time.Local)
	text := reported(t, &cluster.Report{
		Cluster: "site", Self: "a", Leader: "a", Quorum: true, Members: []cluster.MemberReport{{ID: "a", Address: "10.0.0.1:4248", Online: true}},
		Engines: &cluster.Engines{Epoch: 7, Members: []cluster.Engine{
			{ID: "a", Live: true, Objects: 5, Generation: "0123456789"},
			{ID: "far", Live: true, Objects: 3, Generation: "0123456789"},
			{ID: "old", Live: true, Objects: 2, Expires: at},
			{ID: "dead"},
		}},
	})
	for _, want := range []string{"5 of 10", "no member, an engine that reaches the log  3 of 10  01234567", "no member, not heard", "2 of 10"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "dead") {
		t.Errorf("an engine that owns nothing is shown in\n%s", text)
	}
}
