package probe

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/object"
)

func TestDummy(t *testing.T) {
	r := open(t, Options{})
	check := func(c *object.DummyCheck) object.Check { return object.Check{Kind: object.CheckDummy, Dummy: c} }
	expect(t, do(t, r, check(&object.DummyCheck{State: object.Warning, Text: "as told"})), object.Warning, "as told")
	expect(t, do(t, r, check(&object.DummyCheck{})), object.OK, "dummy check, OK")
	expect(t, do(t, r, check(nil)), object.Unknown, "write for example")
	expect(t, do(t, r, check(&object.DummyCheck{States: []object.State{1, 2}, Period: "soon"})), object.Unknown, `"soon" is not a duration`)
	host := r.Do(t.Context(), Request{Object: testHost, Check: check(&object.DummyCheck{State: object.Unreachable})})
	if host.State != object.Down {
		t.Errorf("an unreachable host is down to itself: %+v", host)
	}
}

func TestDummyStepsByTheWallClock(t *testing.T) {
	req := &Request{Object: testSvc, Check: object.Check{Dummy: &object.DummyCheck{
		States: []object.State{object.OK, object.Critical, object.Unknown}, Period: "10s",
	}}}
	start, got := time.Unix(1_800_000_000, 0), ""
	for i := range 7 {
		got += dummy(req, start.Add(time.Duration(i)*5*time.Second)).state.Name(object.Service) + " "
	}
	if want := "OK OK CRITICAL CRITICAL UNKNOWN UNKNOWN OK "; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAggregate(t *testing.T) {
	states := map[object.ID]object.State{"a": object.Up, "b": object.Down, "c!web": object.Warning, "d": object.Up}
	r := open(t, Options{States: func(id object.ID) (object.State, bool) { s, ok := states[id]; return s, ok }})
	for _, c := range []struct {
		name  string
		check object.AggregateCheck
		state object.State
		parts []string
	}{
		{"all are fine", object.AggregateCheck{Members: []object.ID{"a", "d"}}, object.OK, []string{"OK - 2 of 2 members are fine", "|bad=0;;;0;2"}},
		{"one is bad", object.AggregateCheck{Members: []object.ID{"a", "b", "d"}}, object.Warning, []string{"2 of 3 members are fine: b is DOWN"}},
		{"all are bad", object.AggregateCheck{Members: []object.ID{"b", "c!web"}}, object.Critical, []string{"b is DOWN, c!web is WARNING"}},
		{"a threshold that holds", object.AggregateCheck{Members: []object.ID{"a", "b"}, Crit: "1"}, object.OK, []string{"bad=1;;1;0;2"}},
		{"a threshold that does not", object.AggregateCheck{Members: []object.ID{"a", "b", "c!web"}, Warn: "0", Crit: "1"}, object.Critical, nil},
		{"one without a state is left out", object.AggregateCheck{Members: []object.ID{"a", "new"}}, object.OK, []string{"1 of 2 members are fine, 1 not checked yet"}},
		{"none has a state", object.AggregateCheck{Members: []object.ID{"new"}}, object.Unknown, []string{"none of the 1 members"}},
		{"no members", object.AggregateCheck{}, object.Unknown, []string{"has no members; name"}},
		{"a threshold that is none", object.AggregateCheck{Members: []object.ID{"a"}, Warn: "x"}, object.Unknown, []string{"threshold of the aggregate"}},
		{"many are bad", object.AggregateCheck{Members: strings2IDs("b b b b b b b")}, object.Critical, []string{"and 2 more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, do(t, r, object.Check{Kind: object.CheckAggregate, Aggregate: &c.check}), c.state, c.parts...)
		})
	}
	worker := open(t, Options{})
	expect(t, do(t, worker, object.Check{Kind: object.CheckAggregate, Aggregate: &object.AggregateCheck{Members: []object.ID{"a"}}}),
		object.Unknown, "runs in an engine")
}

func strings2IDs(s string) (ids []object.ID) {
	for w := range strings.FieldsSeq(s) {
		ids = append(ids, object.ID(w))
	}
	return ids
}

func TestAKindThatCannotBeExecuted(t *testing.T) {
	r := open(t, Options{})
	for _, c := range []object.Check{{Kind: object.CheckPassive}, {Kind: "snmp"}, {Kind: object.CheckTCP}} {
		expect(t, do(t, r, c), object.Unknown, string(c.Kind), "cannot be executed here")
	}
}

func TestTheGateBoundsWhatRuns(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	r := open(t, Options{Concurrency: 2, Registerer: reg})
	var wg sync.WaitGroup
	start := time.Now()
	for range 4 {
		wg.Go(func() { expect(t, do(t, r, plugin("/bin/sleep", "0.2")), object.OK) })
	}
	wg.Wait()
	if took := time.Since(start); took < 400*time.Millisecond {
		t.Errorf("4 checks of 0.2 s, 2 at once, took %s", took)
	}
	if waited := gather(t, reg)["jaque_probe_wait_seconds_total"]; waited < 0.3 {
		t.Errorf("waited %f s", waited)
	}
	r.gate <- struct{}{}
	r.gate <- struct{}{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	got := r.Do(ctx, Request{Object: testSvc, Check: plugin("/bin/true")})
	expect(t, got, object.Unknown, "not started", "raise the number of concurrent checks")
	<-r.gate
	<-r.gate
}

func TestMetricsCountWhatHappened(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	r := open(t, Options{Registerer: reg})
	do(t, r, plugin("/bin/true"))
	do(t, r, plugin("/bin/false"))
	do(t, r, plugin("/nonexistent"))
	do(t, r, plugin("/bin/sh", "-c", "head -c 70000 /dev/zero"))
	r.Do(t.Context(), Request{Object: testSvc, Check: plugin("/bin/sleep", "60"), Timeout: 20 * time.Millisecond})
	got := gather(t, reg)
	for name, want := range map[string]float64{
		"jaque_probe_checks_total plugin ok":        2,
		"jaque_probe_checks_total plugin problem":   1,
		"jaque_probe_checks_total plugin error":     1,
		"jaque_probe_checks_total plugin timeout":   1,
		"jaque_probe_checks_total plugin cancelled": 0,
		"jaque_probe_check_seconds plugin":          5,
		"jaque_probe_spawn_errors_total":            1,
		"jaque_probe_timeout_kills_total":           1,
		"jaque_probe_truncated_outputs_total":       1,
		"jaque_probe_running":                       0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: got %v, want %v", name, v, want)
		}
	}
}

// gather returns every metric by its name and label values; of a histogram how
// many values it has seen.
func gather(t *testing.T, reg prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			all[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return all
}

func TestLatencyIsFromDueToStart(t *testing.T) {
	r := open(t, Options{})
	got := r.Do(t.Context(), Request{Object: testSvc, Check: plugin("/bin/true"), Due: object.At(time.Now().Add(-3 * time.Second))})
	if got.Latency < 2_900_000 || got.Latency > 30_000_000 {
		t.Errorf("got %d µs", got.Latency)
	}
	got = r.Do(t.Context(), Request{Object: testSvc, Check: plugin("/bin/true"), Due: object.At(time.Now().Add(time.Hour))})
	if got.Latency != 0 {
		t.Errorf("before it was due: got %d µs", got.Latency)
	}
}

func TestAfterCloseChecksSayThatJaqueStops(t *testing.T) {
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	expect(t, do(t, r, plugin("/bin/true")), object.Unknown, "jaque is stopping")
}
