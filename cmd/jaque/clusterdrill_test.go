package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/cluster"
)

// drilled drills the failover of each member, one asked for at another one, and wants
// every check that fell due to have been run.
func (x *clusterRig) drilled(asked string, members ...string) {
	x.t.Helper()
	seen := 0
	for _, id := range members {
		args := []string{"cluster", "drill", "failover", "-member", id, "-hold", "10s", "-o", "json", "-data", x.data[asked]}
		code, out, errs := finish(x.t, command(x.t, args...))
		var r struct {
			cluster.DrillReport
			Away, Return cluster.DrillSummary
		}
		if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
			x.t.Fatalf("drill of %s: exit %d, %v: %s%s", id, code, err, out, errs)
		}
		x.t.Logf("drill of %s: out for %v; to the others %d objects, %d checked, at most %v late; back %d, %d checked, at most %v late",
			id, r.Back.Sub(r.Out).Round(time.Millisecond), r.Away.Objects, r.Away.Checked, r.Away.Max, r.Return.Objects, r.Return.Checked, r.Return.Max)
		if r.Away.Objects != r.Return.Objects || max(r.Away.Max, r.Return.Max) > 5*time.Second {
			x.t.Errorf("drill of %s: %s", id, out)
		}
		seen += r.Away.Objects
		x.ready(id)
	}
	if seen != 2 {
		x.t.Errorf("%d objects moved in all, want each once", seen)
	}
	x.members[members[0]].until("/api/v1/events?limit=100", `"why":"drill"`)
}

// What cannot be drilled is refused with what to write instead.
func TestWhatIsNotDrilled(t *testing.T) {
	engines := func(ids ...string) *cluster.Engines {
		e := &cluster.Engines{Epoch: 7}
		for _, id := range ids {
			e.Members = append(e.Members, cluster.Engine{ID: id, Live: true, Objects: 10})
		}
		return e
	}
	members := func(change func(*cluster.Report)) *cluster.Report {
		r := &cluster.Report{Cluster: "site", Self: "a", Quorum: true, Engines: engines("a", "b"), Streams: []cluster.StreamReport{{Name: "JAQUE_LOG", Whole: true}}}
		r.Members = []cluster.MemberReport{{ID: "a", Online: true}, {ID: "b", Online: true}, {ID: "w", Online: true, Witness: true}}
		change(r)
		return r
	}
	cases := map[string]struct {
		member string
		yes    bool
		change func(*cluster.Report)
		want   string // "" = it may be
	}{
		"a member of a cluster in which all is well": {"a", false, func(*cluster.Report) {}, ""},
		"a witness":             {"w", false, func(*cluster.Report) {}, "is a witness"},
		"nobody's id":           {"z", false, func(*cluster.Report) {}, `no member "z"; name one of a, b with -member`},
		"a member that is away": {"b", false, func(r *cluster.Report) { r.Members[1].Online = false }, "b is away"},
		"without a quorum":      {"a", true, func(r *cluster.Report) { r.Quorum = false }, "no quorum"},
		"the only engine":       {"a", true, func(r *cluster.Report) { r.Engines = engines("a") }, "jaque cluster token"},
		"while the only other engine is out for one":   {"a", true, func(r *cluster.Report) { r.Engines, r.Members[1].Drill = engines("a"), true }, "b is out for a drill; wait"},
		"one that is out already":                      {"a", true, func(r *cluster.Report) { r.Engines = engines("b") }, "out for a drill already"},
		"while another member is away":                 {"a", false, func(r *cluster.Report) { r.Members[2].Online = false }, "add -yes"},
		"while another member is away, all the same":   {"a", true, func(r *cluster.Report) { r.Members[2].Online = false }, ""},
		"while a copy is not filled":                   {"a", false, func(r *cluster.Report) { r.Streams[0].Whole = false }, "JAQUE_LOG"},
		"while a copy is not filled, all the same":     {"a", true, func(r *cluster.Report) { r.Streams[0].Whole = false }, ""},
		"while nobody says how the objects are shared": {"a", true, func(r *cluster.Report) { r.Engines = nil }, "is starting"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := clusterOptions{member: c.member, yes: c.yes, hold: drillHold}
			err := o.mayDrill(members(c.change))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	for _, args := range [][]string{{"drill"}, {"drill", "everything"}, {"drill", "failover", "-hold", "1s"}, {"drill", "failover", "-hold", "1h"}} {
		if err := clusterCommand(args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "cluster: ") {
			t.Errorf("%q: %v", args, err)
		}
	}
	t.Logf("%d cases", len(cases))
}

// A report names the worst objects and fails where a check was not run.
func TestTheReportOfADrill(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(1_700_000_000_000 + int64(ms)) }
	d := &cluster.DrillReport{Member: "a", Hold: drillHold, Began: at(0), Out: at(100), Back: at(20_100), Ended: at(30_000)}
	for i := range 100 {
		d.Moves = append(d.Moves, cluster.Move{Object: fmt.Sprintf("h%02d", i), Due: at(1000 * i), First: at(1000*i + 10*i), By: "b"})
	}
	d.Moves = append(d.Moves, cluster.Move{Object: "lost", Due: at(500), Missed: true}, cluster.Move{Object: "later", Due: at(100_000)},
		cluster.Move{Object: "h00", Return: true, Due: at(21_000), First: at(20_990), By: "a"})
	s := d.Summary(false, 3)
	if s.Objects != 102 || s.Checked != 100 || s.Missed != 1 || s.P50 != 500*time.Millisecond || s.P99 != 990*time.Millisecond || s.Max != 990*time.Millisecond {
		t.Errorf("to the others: %+v", s)
	}
	if len(s.Worst) != 3 || s.Worst[0].Object != "lost" || s.Worst[1].Object != "h99" {
		t.Errorf("the worst: %+v", s.Worst)
	}
	if s := d.Summary(true, 3); s.Objects != 1 || s.Max != 0 || len(s.Worst) != 0 {
		t.Errorf("back: %+v", s)
	}
	var out strings.Builder
	o := clusterOptions{form: "text", hold: drillHold}
	if err := o.printDrill(&out, d); err != nil || !strings.Contains(out.String(), "to the others  102") || !strings.Contains(out.String(), "lost") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	out.Reset()
	d.Hold = 5 * time.Second
	if err := o.printDrill(&out, d); err != nil || !strings.Contains(out.String(), "that is 15s longer than -hold 5s") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	out.Reset()
	if err := o.printDrill(&out, &cluster.DrillReport{Member: "a", Out: at(0)}); err != nil || !strings.Contains(out.String(), "member a did not come back\n") {
		t.Errorf("%v:\n%s", err, out.String())
	}
	if err := judgeDrill(d); err == nil || !strings.Contains(err.Error(), "1 checks") {
		t.Errorf("the judgement: %v", err)
	}
}
