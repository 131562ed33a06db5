package engine_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/roles/engine"
)

// handlers remembers what it ran.
type handlers struct {
	mu     sync.Mutex
	ran    []string
	takes  time.Duration
	answer engine.HandlerResult
	now    int // that run
	most   int
}

func (h *handlers) Handle(ctx context.Context, j engine.HandlerJob) engine.HandlerResult {
	h.mu.Lock()
	h.now++
	h.most = max(h.most, h.now)
	st := &j.State.Status
	h.ran = append(h.ran, fmt.Sprintf("%s %s %s %s %d", j.Handler.Name, j.Object.ID, st.State.Name(j.Object.Kind()), st.Type, st.Attempt))
	h.mu.Unlock()
	select {
	case <-time.After(h.takes):
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now--
	return h.answer
}

func (h *handlers) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ran)
}

// startWith runs an engine with options of its own.
func startWith(t *testing.T, set *object.Set, j journal.Journal, r *runner, change func(*engine.Options)) *rig {
	t.Helper()
	p := projection.New(set)
	opt := engine.Options{
		ID: "e1", Instance: "run-" + rand.Text(), Journal: j, Projection: p, Runner: r,
		Coordinator: &coordination.Memory{}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Registerer: prometheus.NewRegistry(),
	}
	change(&opt)
	e, err := engine.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	g := &rig{t: t, e: e, p: p, j: j, run: r, stop: stop, done: make(chan error, 1)}
	ready := make(chan struct{})
	go func() { g.done <- e.Service().Run(ctx, func() { close(ready) }) }()
	<-ready
	return g
}

// handled is a site of one service with a handler of its own and one for all.
func handled() *object.Set {
	set := site(1, 1)
	set.ServiceHandler = &object.Handler{Name: "all", Shell: "true"}
	set.Get("h0!s0").Rule.Handler = &object.Handler{Name: "own", Plugin: []string{"restart"}}
	return set
}

func TestHandlersRunForProblemsAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bad failing
		h := &handlers{answer: engine.HandlerResult{Output: "restarted", Took: time.Second}}
		r := &runner{answer: func(engine.Job) fold.Result {
			return fold.Result{State: map[bool]object.State{true: object.Critical}[bad.http.Load()], Output: "x"}
		}}
		g := startWith(t, handled(), newJournal(), r, func(o *engine.Options) { o.Handlers = h })
		time.Sleep(2 * time.Minute)
		bad.http.Store(true)
		time.Sleep(2 * time.Minute)
		bad.http.Store(false)
		time.Sleep(2 * time.Minute)
		want := []string{
			"all h0!s0 CRITICAL soft 1", "own h0!s0 CRITICAL soft 1",
			"all h0!s0 CRITICAL soft 2", "own h0!s0 CRITICAL soft 2",
			"all h0!s0 CRITICAL hard 3", "own h0!s0 CRITICAL hard 3",
			"all h0!s0 OK hard 1", "own h0!s0 OK hard 1",
		}
		if got := h.list(); !slices.Equal(got, want) {
			t.Errorf("ran\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		// What became of them stands in the object's history and moves nothing.
		events, err := g.j.History(t.Context(), journal.Query{Object: "h0!s0"})
		outcomes := ofKind(events, event.HandlerRan)
		if err != nil || len(outcomes) != 8 || len(events) != 13 {
			t.Fatalf("%d outcomes among %d events, %v", len(outcomes), len(events), err)
		}
		newest := outcomes[0]
		if newest.Text != "own: restarted" || newest.Facts["handler"] != "own" || newest.Facts["scope"] != "object" ||
			newest.Facts["outcome"] != "ok" || newest.Facts["for"] != "OK;HARD;1" || outcomes[1].Facts["scope"] != "program" {
			t.Errorf("%+v", newest)
		}
		if g.p.Outcome(fold.Conflict) != 0 {
			t.Error("an outcome disturbed the fold")
		}
		g.end()
	})
}

func ofKind(events []event.Event, k event.Kind) (found []event.Event) {
	for i := range events {
		if events[i].Kind == k {
			found = append(found, events[i])
		}
	}
	return found
}

// A soft recovery is stored as hard; its handlers are told that it is soft.
func TestHandlersOfASoftRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		h := &handlers{}
		r := &runner{answer: func(engine.Job) fold.Result {
			n++
			return fold.Result{State: map[bool]object.State{true: object.Critical}[n == 2]}
		}}
		g := startWith(t, handled(), newJournal(), r, func(o *engine.Options) { o.Handlers = h })
		time.Sleep(3 * time.Minute)
		if got := h.list(); len(got) != 4 || got[3] != "own h0!s0 OK soft 2" {
			t.Errorf("ran %q", got)
		}
		g.end()
	})
}

func TestHandlersAreSwitched(t *testing.T) {
	for name, change := range map[string]func(*object.Set){
		"off for the program":   func(s *object.Set) { s.Settings.On &^= object.ProgramEventHandlers },
		"off for the object":    func(s *object.Set) { s.Get("h0!s0").Rule.Off = object.SwitchEventHandler },
		"outside of its period": func(s *object.Set) { s.Get("h0!s0").Rule.HandlerPeriod = closed{} },
		"there are none":        func(s *object.Set) { s.ServiceHandler, s.Get("h0!s0").Rule.Handler = nil, nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, h := handled(), &handlers{}
				change(set)
				g := startWith(t, set, newJournal(), &runner{answer: critical}, func(o *engine.Options) { o.Handlers = h })
				time.Sleep(2 * time.Minute)
				if got := h.list(); got != nil {
					t.Errorf("ran %q", got)
				}
				g.end()
			})
		})
	}
}

// closed is a period without any window.
type closed struct{}

func (closed) Name() string                           { return "never" }
func (closed) String() string                         { return "" }
func (closed) Window(object.Time) (bool, object.Time) { return false, 0 }

// The engine that has read an event back runs its handlers; a start that reads it
// again runs nothing.
func TestAStartRunsNoHandlerAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := newJournal()
		h := &handlers{}
		use := func(o *engine.Options) { o.Handlers = h }
		g := startWith(t, handled(), j, &runner{answer: critical}, use)
		time.Sleep(2 * time.Minute)
		g.end()
		before := len(h.list())
		g = startWith(t, handled(), j, &runner{answer: critical}, use)
		time.Sleep(2 * time.Minute)
		if n := len(h.list()); before != 6 || n != before {
			t.Errorf("%d before the start, %d after it", before, n)
		}
		g.end()
	})
}

func TestWhatBecomesOfHandlersIsCounted(t *testing.T) {
	for outcome, answer := range map[string]engine.HandlerResult{
		"ok": {}, "failed": {Exit: 2}, "timeout": {Exit: -1, TimedOut: true, Problem: "killed"}, "not_run": {Exit: -1, NotRun: true, Problem: "missing"},
	} {
		t.Run(outcome, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prometheus.NewRegistry()
				g := startWith(t, handled(), newJournal(), &runner{answer: critical}, func(o *engine.Options) {
					o.Handlers, o.Registerer = &handlers{answer: answer}, registry
				})
				time.Sleep(2 * time.Minute)
				if n := gathered(t, registry, "jaque_engine_handlers_total", outcome); n != 6 {
					t.Errorf("%v counted", n)
				}
				events, err := g.j.History(t.Context(), journal.Query{Object: "h0!s0"})
				want := map[string]string{"ok": "own", "failed": "own: exit code 2", "timeout": "own: killed", "not_run": "own: missing"}[outcome]
				if ran := ofKind(events, event.HandlerRan); err != nil || ran[0].Text != want || ran[0].Facts["outcome"] != outcome {
					t.Errorf("%v, %+v", err, ran[0])
				}
				g.end()
			})
		})
	}
}

// gathered returns the value of a metric with a label's value.
func gathered(t *testing.T, registry *prometheus.Registry, name string, label ...string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == name && (label == nil || m.GetLabel()[0].GetValue() == label[0]) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	t.Fatalf("no metric %s %v", name, label)
	return 0
}
