package engine_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

// runner answers checks from a function and remembers when they ran.
type runner struct {
	mu     sync.Mutex
	answer func(engine.Job) fold.Result
	ran    map[object.ID][]time.Time
	takes  time.Duration
}

func (r *runner) Run(ctx context.Context, j engine.Job) fold.Result {
	start := time.Now()
	if r.takes > 0 {
		select {
		case <-time.After(r.takes):
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ran == nil {
		r.ran = map[object.ID][]time.Time{}
	}
	r.ran[j.Object.ID] = append(r.ran[j.Object.ID], start)
	res := fold.Result{Output: "fine"}
	if r.answer != nil {
		res = r.answer(j)
	}
	res.Start = object.At(start)
	res.Latency = start.Sub(j.Due.Std()).Microseconds()
	return res
}

func (r *runner) times(id object.ID) []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]time.Time(nil), r.ran[id]...)
}

// site makes hosts h0 … with services each; every service is checked every
// minute, retried every 10 s, and hard at the third result.
func site(hosts, services int) *object.Set {
	hostRule := &object.Rule{Name: "hosts", Check: object.Check{Kind: object.CheckNone}, Attempts: 1, Passive: true}
	rule := &object.Rule{
		Name: "services", Check: object.Check{Kind: object.CheckDummy, Dummy: &object.DummyCheck{}},
		Interval: time.Minute, Retry: 10 * time.Second, Timeout: 10 * time.Second, Attempts: 3,
		Active: true, Passive: true,
	}
	var all []*object.Object
	for h := range hosts {
		host := &object.Object{ID: object.HostID(fmt.Sprintf("h%d", h)), Name: fmt.Sprintf("h%d", h), Rule: hostRule, Zone: "default"}
		all = append(all, host)
		for s := range services {
			name := fmt.Sprintf("s%d", s)
			all = append(all, &object.Object{ID: object.ServiceID(host.Name, name), Name: name, Host: host, Rule: rule, Zone: "default"})
		}
	}
	return object.NewSet("g1", object.DefaultSettings(), all)
}

// rig is a running engine.
type rig struct {
	t    *testing.T
	e    *engine.Engine
	p    *projection.Projection
	j    journal.Journal
	run  *runner
	stop context.CancelFunc
	done chan error
}

func newJournal() journal.Journal { return journal.NewMemory(journal.Options{}) }

func start(t *testing.T, set *object.Set, j journal.Journal, r *runner, change ...func(*engine.Options)) *rig {
	t.Helper()
	p := projection.New(set)
	o := engine.Options{
		ID: "e1", Instance: "run-" + rand.Text(), Journal: j, Projection: p, Runner: r,
		Coordinator: &coordination.Memory{}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Registerer: prometheus.NewRegistry(),
	}
	for _, f := range change {
		f(&o)
	}
	e, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &rig{t: t, e: e, p: p, j: j, run: r, stop: stop, done: make(chan error, 1)}
	ready := make(chan struct{})
	go func() { g.done <- e.Service().Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-g.done:
		t.Fatalf("engine ended before it was ready: %v", err)
	}
	return g
}

// end stops the engine and returns what its Run returned.
func (g *rig) end() error {
	g.t.Helper()
	g.stop()
	return <-g.done
}

// do carries out commands for one object each and returns the report.
func (g *rig) do(actions ...operate.Action) operate.Report {
	g.t.Helper()
	report, err := g.e.Do(g.t.Context(), actions)
	if err != nil {
		g.t.Fatal(err)
	}
	return report
}

// one carries out one command and returns its error.
func (g *rig) one(id object.ID, c fold.Command) error {
	report, err := g.e.Do(g.t.Context(), []operate.Action{{Object: id, Command: c}})
	if err != nil {
		return err
	}
	return report.Results[0].Err
}

// must carries out commands about one object or, for "", the program, and fails
// the test if one is refused.
func (g *rig) must(id object.ID, commands ...any) {
	g.t.Helper()
	var actions []operate.Action
	for _, c := range commands {
		a := operate.Action{Object: id}
		if p, ok := c.(program.Command); ok {
			a.Program = p
		} else {
			a.Command = c.(fold.Command)
		}
		actions = append(actions, a)
	}
	for i, r := range g.do(actions...).Results {
		if r.Err != nil {
			g.t.Fatalf("%T for %q: %v", commands[i], id, r.Err)
		}
	}
}

var now = fold.Reschedule{Forced: true}

func (g *rig) status(id object.ID) event.Status { return g.p.State(id).Status }

func TestEveryServiceRunsOnceAMinuteAtItsOwnPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(20, 10), newJournal(), &runner{})
		time.Sleep(10 * time.Minute)
		perSecond := map[int64]int{}
		for h := range 20 {
			for s := range 10 {
				id := object.ServiceID(fmt.Sprint("h", h), fmt.Sprint("s", s))
				times := g.run.times(id)
				if len(times) != 10 {
					t.Fatalf("%s ran %d times in 10 minutes, want 10", id, len(times))
				}
				for i := 1; i < len(times); i++ {
					if d := times[i].Sub(times[i-1]); d.Round(time.Millisecond) != time.Minute {
						t.Fatalf("%s ran after %s, want 1m0s", id, d)
					}
				}
				perSecond[times[0].Unix()/6]++
			}
		}
		if len(perSecond) < 9 {
			t.Errorf("200 services start within %d of 10 slots of 6 s, want them spread", len(perSecond))
		}
		if err := g.end(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
}

func TestAProblemIsRetriedUntilItIsHardAndRecovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := true
		r := &runner{}
		r.answer = func(engine.Job) fold.Result {
			if bad {
				return fold.Result{State: object.Critical, Output: "broken"}
			}
			return fold.Result{Output: "fine"}
		}
		g := start(t, site(1, 1), newJournal(), r)
		time.Sleep(2*time.Minute + time.Second)
		st := g.status("h0!s0")
		if st.State != object.Critical || st.Type != object.Hard || st.Attempt != 3 {
			t.Fatalf("after two minutes of failures: %+v, want hard CRITICAL at attempt 3", st)
		}
		times := r.times("h0!s0")
		for i := 1; i < 3; i++ {
			if d := times[i].Sub(times[i-1]); d.Round(time.Second) != 10*time.Second {
				t.Errorf("retry %d came after %s, want 10 s", i, d)
			}
		}
		r.mu.Lock()
		bad = false
		r.mu.Unlock()
		time.Sleep(time.Minute + time.Second)
		if st := g.status("h0!s0"); st.State != object.OK || st.Attempt != 1 {
			t.Errorf("after the recovery: %+v, want OK at attempt 1", st)
		}
		events, err := g.j.History(t.Context(), journal.Query{Object: "h0!s0"})
		if err != nil || len(events) != 4 {
			t.Fatalf("history has %d events (%v), want soft 1, soft 2, hard, recovery", len(events), err)
		}
		for i, ev := range events {
			if ev.Writer != "e1" || ev.Epoch != g.e.View().Epoch { // S115, S116
				t.Errorf("event %d: %+v, want one by e1 under the engine's epoch", i, ev)
			}
			if ev.Transition != (i != 2) {
				t.Errorf("event %d, newest first: transition %t; only the second soft attempt is none", i, ev.Transition)
			}
		}
		g.end()
	})
}

func TestACommandRunsTheCheckAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		if report := g.do(operate.Action{Object: "h0!s0", Command: now}); report.ID == "" || report.Failed() > 0 {
			t.Fatalf("check now: %+v", report)
		}
		synctest.Wait()
		if n := len(g.run.times("h0!s0")); n != 1 {
			t.Errorf("the check ran %d times at once, want 1", n)
		}
		if err := g.one("h0!nope", now); !errors.Is(err, engine.ErrNotFound) {
			t.Errorf("a check of an unknown object: %v, want ErrNotFound", err)
		}
		if err := g.one("h0", now); !errors.Is(err, engine.ErrRefused) {
			t.Errorf("a check of a host without one: %v, want ErrRefused", err)
		}
		g.end()
		if err := g.one("h0!s0", now); !errors.Is(err, engine.ErrStopping) {
			t.Errorf("a check after the stop: %v, want ErrStopping", err)
		}
	})
}

func TestSubmittedResultsAreFoldedInOrderAndNoneIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(1, 1), newJournal(), &runner{})
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				r := fold.Result{State: object.State(i % 4), Output: fmt.Sprint("r", i), Start: object.At(time.Now())}
				if err := g.one("h0!s0", r); err != nil {
					t.Errorf("submit %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if n := g.p.State("h0!s0").Measure.N; n != 50 {
			t.Errorf("50 results were submitted and %d were folded", n)
		}
		g.end()
	})
}

func TestARestartContinuesAttemptsAndDoesNotBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		r := &runner{answer: func(engine.Job) fold.Result { return fold.Result{State: object.Warning, Output: "hm"} }}
		g := start(t, site(10, 10), j, r)
		time.Sleep(59 * time.Second)
		soft := 0
		for h := range 10 {
			for s := range 10 {
				if g.status(object.ServiceID(fmt.Sprint("h", h), fmt.Sprint("s", s))).Type == object.Soft {
					soft++
				}
			}
		}
		if soft == 0 {
			t.Fatal("no service is soft after 59 s, the test proves nothing")
		}
		before := map[object.ID]fold.State{}
		for _, o := range g.p.Set().Objects {
			before[o.ID] = *g.p.State(o.ID)
		}
		if err := g.end(); err != nil {
			t.Fatal(err)
		}
		epoch := g.e.View().Epoch
		time.Sleep(time.Hour)
		r2 := &runner{answer: r.answer}
		g2 := start(t, site(10, 10), j, r2)
		for id, want := range before {
			got := *g2.p.State(id)
			if got.Status != want.Status || got.Last != want.Last {
				t.Fatalf("%s after the restart: %+v, want %+v", id, got, want)
			}
		}
		if g2.e.View().Epoch <= epoch { // S114
			t.Errorf("epoch %d after the restart, was %d", g2.e.View().Epoch, epoch)
		}
		time.Sleep(2 * time.Second)
		n := 0
		for id := range before {
			n += len(r2.times(id))
		}
		if n > 40 {
			t.Errorf("%d of 100 checks ran within 2 s of the restart, want them spread", n)
		}
		g2.end()
	})
}

func TestAReloadKeepsUnchangedObjectsInTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := start(t, site(3, 2), newJournal(), &runner{})
		time.Sleep(5 * time.Minute)
		next := site(4, 2) // h3 is new
		if err := g.e.Reload(t.Context(), next, engine.Change{Added: []object.ID{"h3", "h3!s0", "h3!s1"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		for h := range 3 {
			id := object.ServiceID(fmt.Sprint("h", h), "s0")
			times := g.run.times(id)
			for i := 1; i < len(times); i++ {
				if d := times[i].Sub(times[i-1]); d.Round(time.Millisecond) != time.Minute {
					t.Errorf("%s ran after %s across the reload, want 1m0s", id, d)
				}
			}
		}
		if n := len(g.run.times("h3!s0")); n != 5 {
			t.Errorf("the added service ran %d times in 5 minutes, want 5", n)
		}
		if err := g.e.Reload(t.Context(), site(2, 2), engine.Change{Removed: []object.ID{"h2", "h2!s0", "h2!s1", "h3", "h3!s0", "h3!s1"}}); err != nil {
			t.Fatal(err)
		}
		n := len(g.run.times("h3!s0"))
		time.Sleep(5 * time.Minute)
		if m := len(g.run.times("h3!s0")); m != n {
			t.Errorf("the removed service ran %d more times", m-n)
		}
		g.end()
	})
}

func TestAStopWaitsForRunningChecksAndKeepsTheirResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		g := start(t, site(1, 1), j, &runner{takes: 3 * time.Second})
		g.must("h0!s0", now)
		synctest.Wait()
		if err := g.end(); err != nil {
			t.Fatal(err)
		}
		g2 := start(t, site(1, 1), j, &runner{})
		if n := g2.p.State("h0!s0").Measure.N; n != 1 {
			t.Errorf("%d results after the stop, want the one that was running", n)
		}
		g2.end()
	})
}
