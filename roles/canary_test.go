package roles

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/canary"
	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/config"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/message"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
)

// aviary is everything that a round of the canary goes through, each part of which
// can be broken, in a bubble of fake time.
type aviary struct {
	t     *testing.T
	e     *engine.Engine
	watch *canaryWatch
	reg   *prometheus.Registry

	hangs, mute, refuses atomic.Bool
	pings                atomic.Int64
}

// Run is a check that may never come to an end.
func (a *aviary) Run(ctx context.Context, j engine.Job) fold.Result {
	for a.hangs.Load() && ctx.Err() == nil {
		time.Sleep(time.Second)
	}
	return fine{}.Run(ctx, j)
}

// Send is the address outside.
func (a *aviary) Send(context.Context, *message.Message) error {
	if a.refuses.Load() {
		return errors.New("connection refused")
	}
	a.pings.Add(1)
	return nil
}

// mutedJournal takes what it is given and keeps it to itself while it is mute.
type mutedJournal struct {
	journal.Journal
	mute *atomic.Bool
}

func (m mutedJournal) Append(e *event.Event, expect uint64, done journal.Done) {
	if m.mute.Load() {
		go done(0, journal.ErrUnknown)
		return
	}
	m.Journal.Append(e, expect, done)
}

func canarySet(t *testing.T, every string) *object.Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	text := `package site
delivery: canary: {every: "` + every + `", url: "http://127.0.0.1:1/ping"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(path, config.Options{AllZonesLocal: true})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return c.Set
}

// newAviary starts everything; the test ends it.
func newAviary(t *testing.T, set *object.Set) *aviary {
	t.Helper()
	a := &aviary{t: t, reg: prometheus.NewRegistry()}
	log := mutedJournal{journal.NewMemory(journal.Options{}), &a.mute}
	p := projection.New(set)
	a.watch = newCanaryWatch(p, log, a.reg)
	var err error
	a.e, err = engine.New(engine.Options{
		ID: "e1", Instance: "run1", Journal: log, Projection: p, Runner: canaryRunner{a, a.watch},
		Coordinator: &coordination.Memory{}, Logger: quiet(), Registerer: prometheus.NewRegistry(), Grace: time.Nanosecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := delivery.New(delivery.Options{
		Projection: p, Journal: log, Logger: quiet(), Writer: "e1", Instance: "run1",
		Resolve: func(string, string) (channel.Channel, error) { return a, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 3)
	for _, run := range []func(context.Context, func()) error{a.e.Service().Run, a.watch.run, d.Service().Run} {
		ready := make(chan struct{})
		go func() { ended <- run(ctx, func() { close(ready) }) }()
		<-ready
	}
	t.Cleanup(func() {
		a.hangs.Store(false)
		a.mute.Store(false)
		stop()
		for range 3 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	return a
}

// do carries out an operator's wish.
func (a *aviary) do(action operate.Action) {
	a.t.Helper()
	report, err := a.e.Do(context.Background(), []operate.Action{action})
	if err != nil {
		a.t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Err != nil {
			a.t.Fatal(r.Err)
		}
	}
}

// A fault at any hop silences the outside within a period, and the hop is named.
func TestAFaultAtAnyHopOfTheCanaryIsNamed(t *testing.T) {
	active := func(a *aviary, on bool) {
		a.do(operate.Action{Object: "jaque!canary", Command: fold.Switch{What: object.SwitchActive, On: on}})
	}
	told := func(a *aviary, on bool) {
		a.do(operate.Action{Program: program.Switch{What: object.ProgramNotifications, On: on}})
	}
	faults := []struct {
		hop    canary.Hop
		set    func(a *aviary, broken bool)
		reason string
	}{
		{canary.Scheduled, func(a *aviary, broken bool) { active(a, !broken) }, "its check was not started"},
		{canary.Executed, func(a *aviary, broken bool) { a.hangs.Store(broken) }, "has given no result"},
		{canary.Folded, func(a *aviary, broken bool) { a.mute.Store(broken) }, "has not come back from the log"},
		{canary.Decided, func(a *aviary, broken bool) { told(a, !broken) }, "notifications are off for the whole program"},
		{canary.Delivered, func(a *aviary, broken bool) { a.refuses.Store(broken) }, "connection refused"},
	}
	for _, f := range faults {
		t.Run(string(f.hop), func(t *testing.T) {
			set := canarySet(t, "1m")
			synctest.Test(t, func(t *testing.T) {
				a := newAviary(t, set)
				time.Sleep(5*time.Minute + 30*time.Second)
				if n := a.pings.Load(); n < 5 || n > 6 {
					t.Fatalf("%d pings in five minutes", n)
				}
				if s := a.watch.web(); !s.Enabled || s.Hop != "" || time.Since(s.Last) > time.Minute {
					t.Fatalf("while all is well: %+v", s)
				}
				f.set(a, true)
				time.Sleep(time.Minute) // the round that is under way may still be told
				before := a.pings.Load()
				time.Sleep(4 * time.Minute)
				if n := a.pings.Load(); n != before {
					t.Errorf("%d pings with a fault", n-before)
				}
				s := a.watch.web()
				if s.Hop != string(f.hop) || !strings.Contains(s.Reason, f.reason) {
					t.Errorf("stopped at %q because %q, want %q, %q", s.Hop, s.Reason, f.hop, f.reason)
				}
				if v := metricOf(t, a.reg, "jaque_canary_stopped", string(f.hop)); v != 1 {
					t.Errorf("the metric of the hop is %v", v)
				}
				f.set(a, false)
				time.Sleep(5 * time.Minute)
				if s := a.watch.web(); s.Hop != "" || a.pings.Load() <= before || time.Since(s.Last) > 2*time.Minute {
					t.Errorf("after the repair: %+v, %d pings more", s, a.pings.Load()-before)
				}
			})
		})
	}
}

// metricOf returns the gauge of a hop.
func metricOf(t *testing.T, reg *prometheus.Registry, name, hop string) float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && m.GetLabel()[0].GetValue() == hop {
				return m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s of %s", name, hop)
	return 0
}

func TestWithoutACanaryThereIsNothingToTell(t *testing.T) {
	reg := prometheus.NewRegistry()
	w := newCanaryWatch(projection.New(object.NewSet("1", object.DefaultSettings(), nil)), journal.NewMemory(journal.Options{}), reg)
	if s := w.web(); s.Enabled || s.Hop != "" {
		t.Errorf("%+v", s)
	}
	if all, err := reg.Gather(); err != nil || len(all) != 0 {
		t.Errorf("metrics %v, %v", all, err)
	}
}
