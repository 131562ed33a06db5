package roles

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	unheard              atomic.Bool // the contact of the canary cannot be reached
	pings, letters       atomic.Int64
	lines                logged
}

// logged is what the watch has logged.
type logged struct {
	mu  sync.Mutex
	all []string
}

func (l *logged) Enabled(context.Context, slog.Level) bool { return true }
func (l *logged) WithAttrs([]slog.Attr) slog.Handler       { return l }
func (l *logged) WithGroup(string) slog.Handler            { return l }

// Handle keeps the level and the message.
func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	l.all = append(l.all, text)
	return nil
}

// take returns what was logged since the last time.
func (l *logged) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

// Run is a check that may never come to an end.
func (a *aviary) Run(ctx context.Context, j engine.Job) fold.Result {
	for a.hangs.Load() && ctx.Err() == nil {
		time.Sleep(time.Second)
	}
	return fine{}.Run(ctx, j)
}

// Send is the address outside.
func (a *aviary) Send(_ context.Context, m *message.Message) error {
	if m.Contact.Name != config.CanaryContact {
		if a.unheard.Load() {
			return errors.New("answered 500")
		}
		a.letters.Add(1)
		return nil
	}
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

func canarySet(t *testing.T, every, contact string) *object.Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "site.cue")
	text := `package site
delivery: canary: {every: "` + every + `", url: "http://127.0.0.1:1/ping"}
`
	if contact != "" {
		text += "contacts: " + contact + ": webhook: url: \"http://127.0.0.1:1/hook\"\ndelivery: canary: contact: \"" + contact + "\"\n"
	}
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
	a.watch = newCanaryWatch(p, log, a.reg, slog.New(&a.lines))
	var err error
	a.e, err = engine.New(engine.Options{
		ID: "e1", Instance: "run1", Journal: log, Projection: p, Runner: canaryRunner{a, a.watch},
		Coordinator: &coordination.Memory{}, Logger: quiet(), Registerer: prometheus.NewRegistry(), Grace: time.Nanosecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := delivery.New(delivery.Options{
		Projection: p, Journal: log, Logger: quiet(), Writer: "e1", Instance: "run1", Held: a.watch.order.held,
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
			set := canarySet(t, "1m", "")
			synctest.Test(t, func(t *testing.T) {
				a := newAviary(t, set)
				time.Sleep(5*time.Minute + 30*time.Second)
				if n := a.pings.Load(); n < 5 || n > 6 {
					t.Fatalf("%d pings in five minutes", n)
				}
				if s := a.watch.web(); !s.Enabled || s.Hop != "" || time.Since(s.Last) > time.Minute {
					t.Fatalf("while all is well: %+v", s)
				}
				if said := a.lines.take(); len(said) > 0 {
					t.Errorf("while all is well the log says %q", said)
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
				said := a.lines.take()
				if len(said) != 1 || !strings.HasPrefix(said[0], "WARN the canary has stopped") || !strings.Contains(said[0], "hop="+string(f.hop)) || !strings.Contains(said[0], f.reason) {
					t.Errorf("the log says %q", said)
				}
				f.set(a, false)
				time.Sleep(5 * time.Minute)
				if s := a.watch.web(); s.Hop != "" || a.pings.Load() <= before || time.Since(s.Last) > 2*time.Minute {
					t.Errorf("after the repair: %+v, %d pings more", s, a.pings.Load()-before)
				}
				if said := a.lines.take(); len(said) != 1 || !strings.HasPrefix(said[0], "INFO the canary goes on") {
					t.Errorf("after the repair the log says %q", said)
				}
			})
		})
	}
}

// Only a round that was delivered to the contact says outside that all is well.
func TestTheOutsideIsNotAskedForARoundThatTheContactDidNotGet(t *testing.T) {
	set := canarySet(t, "10s", "ops")
	synctest.Test(t, func(t *testing.T) {
		a := newAviary(t, set)
		time.Sleep(95 * time.Second)
		if p, l := a.pings.Load(), a.letters.Load(); p < 8 || l != p {
			t.Fatalf("%d pings and %d letters in a minute and a half", p, l)
		}
		a.unheard.Store(true)
		time.Sleep(5 * time.Second)
		before := a.pings.Load()
		for range 20 {
			time.Sleep(5 * time.Second)
			if s := a.watch.web(); time.Since(s.Last) > 25*time.Second && (s.Hop != string(canary.Delivered) || !strings.Contains(s.Reason, "answered 500")) {
				t.Fatalf("stopped at %q because %q", s.Hop, s.Reason)
			}
		}
		if n := a.pings.Load(); n != before {
			t.Errorf("%d pings while the contact hears nothing", n-before)
		}
		if n := len(a.watch.proj.OpenRequests()); n > 4 {
			t.Errorf("%d requests are open: rounds that are over are not given up", n)
		}
		a.unheard.Store(false)
		time.Sleep(time.Minute)
		if s := a.watch.web(); s.Hop != "" || a.pings.Load() < before+4 {
			t.Errorf("after the repair: %+v, %d pings more", s, a.pings.Load()-before)
		}
		if said := a.lines.take(); len(said) != 2 {
			t.Errorf("the log says %q", said)
		}
	})
}

// What is submitted for the canary is no round.
func TestASubmittedResultIsNoRoundOfTheCanary(t *testing.T) {
	set := canarySet(t, "1m", "")
	synctest.Test(t, func(t *testing.T) {
		a := newAviary(t, set)
		time.Sleep(3 * time.Minute)
		a.do(operate.Action{Object: "jaque!canary", Command: fold.Switch{What: object.SwitchPassive, On: true}})
		a.do(operate.Action{Object: "jaque!canary", Command: fold.Switch{What: object.SwitchActive, On: false}})
		time.Sleep(10 * time.Second)
		before := a.pings.Load()
		for range 10 {
			time.Sleep(30 * time.Second)
			report, err := a.e.Do(context.Background(), []operate.Action{{Object: "jaque!canary", Command: fold.Result{Start: object.At(time.Now()), Passive: true}}})
			if err != nil || report.Results[0].Err == nil || !strings.Contains(report.Results[0].Err.Error(), "a submitted result proves nothing") {
				t.Fatalf("%+v, %v", report, err)
			}
		}
		if s := a.watch.web(); s.Hop != string(canary.Scheduled) || a.pings.Load() != before {
			t.Errorf("%+v, %d pings", s, a.pings.Load()-before)
		}
	})
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
	w := newCanaryWatch(projection.New(object.NewSet("1", object.DefaultSettings(), nil)), journal.NewMemory(journal.Options{}), reg, quiet())
	if s := w.web(); s.Enabled || s.Hop != "" {
		t.Errorf("%+v", s)
	}
	if all, err := reg.Gather(); err != nil || len(all) != 0 {
		t.Errorf("metrics %v, %v", all, err)
	}
}
