package engine_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/roles/engine"
)

// sharedStore is a membership on a server that other engines could reach.
func sharedStore(t *testing.T) engine.Coordinator {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	s, err := coordination.OpenJetStream(b.Conn(), coordination.Options{Bucket: b.Names().Members, Path: coordination.Engines, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, func() {}) }()
	t.Cleanup(func() { stop(); <-ended })
	return s
}

// aWhile is what one engine writes within 20 minutes of problems and recoveries, without
// what names the run or the epoch.
func aWhile(t *testing.T, shared bool) (all []string) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 1, 0, 0, time.UTC)))
		store := engine.Coordinator(&coordination.Memory{})
		if shared {
			store = sharedStore(t)
		}
		time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 2, 0, 0, time.UTC)))
		r := &runner{answer: func(engine.Job) fold.Result { return fold.Result{State: object.State(time.Now().Minute() / 3 % 3)} }}
		g := start(t, site(5, 4), newJournal(), r, func(o *engine.Options) { o.Instance, o.Coordinator = "run", store })
		time.Sleep(20 * time.Minute)
		g.must("h0!s0", fold.AddComment{Author: "m", Text: "x", Persistent: true})
		if err := g.end(); err != nil {
			t.Error(err)
		}
		events, err := g.j.History(t.Context(), journal.Query{Limit: 1 << 20, Results: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range events {
			ev := &events[i]
			ev.ID, ev.Epoch, ev.Prev = "", 0, 0 // within a millisecond the order may be another
			if ev.Measure != nil {
				m := *ev.Measure
				m.Epoch, ev.Measure = 0, &m
			}
			all = append(all, string(event.AppendJSON(nil, ev)))
		}
	})
	slices.Sort(all)
	return all
}

// S104: with one engine nothing of the membership shows: it writes the same with a store
// of its own and with one that others could join.
func TestOneEngineWritesTheSameWithEitherStore(t *testing.T) {
	alone, shared := aWhile(t, false), aWhile(t, true)
	if len(alone) < 300 || len(alone) != len(shared) {
		t.Errorf("%d and %d events", len(alone), len(shared))
	}
	for i := range min(len(alone), len(shared)) {
		if alone[i] != shared[i] {
			t.Fatalf("the first that differ:\n%s\n%s", alone[i], shared[i])
		}
	}
	t.Logf("%d events each", len(alone))
}
