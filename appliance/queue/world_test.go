package queue

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// implementations opens every queue for a test in a bubble of its own time.
var implementations = map[string]func(t *testing.T) Queue{
	"memory":    func(*testing.T) Queue { return NewMemory(MemoryOptions{Registerer: prometheus.NewRegistry()}) },
	"jetstream": func(t *testing.T) Queue { return openJetStream(t, openBus(t)) },
}

func openBus(t testing.TB) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatalf("open bus: %v", err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

func openJetStream(t testing.TB, b *bus.Bus) *JetStream {
	t.Helper()
	q, err := NewJetStream(b.Conn(), JetStreamOptions{Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// bubble runs a test in its own time. The client keeps timers in a pool for the
// whole process; one of an earlier bubble would end this one when it reconnects,
// and collections empty the pool.
func bubble(t *testing.T, run func(t *testing.T)) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	synctest.Test(t, run)
}

// inBubbles runs a test with every implementation.
func inBubbles(t *testing.T, run func(t *testing.T, q Queue)) {
	t.Helper()
	for name, open := range implementations {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) { run(t, open(t)) })
		})
	}
}

func dispatcher(t *testing.T, q Queue, engine string) Dispatcher {
	t.Helper()
	d, err := q.Dispatcher(t.Context(), engine)
	if err != nil {
		t.Fatalf("dispatcher: %v", err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func source(t *testing.T, q Queue, w Worker) Source {
	t.Helper()
	s, err := q.Source(t.Context(), w)
	if err != nil {
		t.Fatalf("source: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// inZone describes a worker of one zone.
func inZone(id, zone string, capacity int) Worker {
	return Worker{ID: id, Version: "1.0", Zones: []string{zone}, Capacity: capacity}
}

// item makes a check that is checked once a minute.
func item(zone string, n int) *Item {
	return &Item{
		Object: object.ServiceID(fmt.Sprintf("web%02d", n), "http"), Zone: zone, Timeout: 30 * time.Second, Life: 30 * time.Second,
		Check: object.Check{Kind: object.CheckPlugin, Plugin: []string{"check_http", fmt.Sprint(n)}},
	}
}

// diary counts the executions of items.
type diary struct {
	mu   sync.Mutex
	runs map[string]int    // by item id
	who  map[string]string // the last worker, by item id
}

func newDiary() *diary { return &diary{runs: map[string]int{}, who: map[string]string{}} }

func (b *diary) add(id, worker string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.runs[id]++
	b.who[id] = worker
}

func (b *diary) times(id string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[id]
}

// work executes what a source delivers, each item for so long.
func work(s Source, id string, took time.Duration, b *diary) {
	for d := range s.Items() {
		go func() {
			b.add(d.Item().ID, id)
			time.Sleep(took)
			_ = d.Answer(context.Background(), &Result{Result: fold.Result{State: object.Warning, Output: "by " + id, Took: took.Microseconds()}})
		}()
	}
}

// outcome of a Do.
type outcome struct {
	item   *Item
	result *Result
	err    error
}

// ask sends items and returns where their outcomes arrive.
func ask(ctx context.Context, d Dispatcher, items ...*Item) <-chan outcome {
	out := make(chan outcome, len(items))
	for _, it := range items {
		go func() {
			r, err := d.Do(ctx, it)
			out <- outcome{it, r, err}
		}()
	}
	return out
}
