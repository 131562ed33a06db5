package access

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/forward"
	"jaque.sh/jaque/appliance/ingress"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/appliance/sink/position"
)

// TestEveryRoleWorksWithItsRights has each role do what it does, through the packages
// that it does it with. Nothing of it may be refused.
func TestEveryRoleWorksWithItsRights(t *testing.T) {
	t.Parallel()
	for name, start := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			engine := p.join(t, "engine", bus.Options{})
			at := writes(t, engine)
			handsOut(t, p, engine)
			ui := p.join(t, "ui", bus.Options{Attach: true})
			reads(t, ui, at)
			submits(t, engine, ui)
			forwards(t, engine, p.join(t, "engine", bus.Options{Bare: true}))
			sees(t, p, ui)
			sink := p.join(t, "sink", bus.Options{Attach: true})
			reads(t, sink, at)
			keeps(t, sink, "graphite")
			keeps(t, engine, "audit") // it runs the sinks of events
			belongs(t, engine, coordination.Engines)
			belongs(t, sink, coordination.Sinks)
			notifier := p.join(t, "notifier", bus.Options{Attach: true})
			reads(t, notifier, at)
			belongs(t, notifier, coordination.Notifiers)
			notifies(t, notifier)
			if text := p.log.String(); strings.Contains(strings.ToLower(text), "permissions violation") {
				t.Errorf("something that a role needs was refused:\n%s", text)
			}
		})
	}
}

func decision(kind event.Kind, id object.ID, n int) *event.Event {
	return &event.Event{
		Version: event.Version, ID: id.Token() + "-" + string(rune('a'+n)) + "-" + string(kind), Kind: kind, Object: id, Epoch: 1, Writer: "engine",
		Time: object.At(time.Now()), Status: &event.Status{State: object.Warning, Attempt: 1, MaxAttempts: 3, Checked: true},
		Measure: &event.Measure{Epoch: 1, N: uint64(n), Output: "text"},
	}
}

func open(t *testing.T, b *bus.Bus, o journal.Options) journal.Journal {
	t.Helper()
	o.Registerer = prometheus.NewRegistry()
	o.Zone = func(object.ID) string { return "dmz" }
	j, err := journal.OpenJetStream(t.Context(), b, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return j
}

// put appends and waits.
func put(t *testing.T, j journal.Journal, e *event.Event, expect uint64) uint64 {
	t.Helper()
	seq, err := landed(func(done func(uint64, error)) { j.Append(e, expect, done) })
	if err != nil {
		t.Fatalf("append %s: %v", e.Kind, err)
	}
	return seq
}

// landed writes until it is known whether that worked, as every writer does: a machine that
// is busy answers too late, and an event is on the log once however often it is written.
func landed(write func(done func(uint64, error))) (seq uint64, err error) {
	for began := time.Now(); ; {
		over := make(chan struct{})
		write(func(n uint64, e error) { seq, err = n, e; close(over) })
		<-over
		if !errors.Is(err, journal.ErrUnknown) || time.Since(began) > time.Minute {
			return seq, err
		}
	}
}

// writes is what an engine does with the log. Six snapshots push old ones out.
func writes(t *testing.T, b *bus.Bus) journal.Position {
	t.Helper()
	j := open(t, b, journal.Options{})
	last := put(t, j, decision(event.CheckResult, "web01", 0), 0)
	if seq, _, err := j.LastOf(t.Context(), "web01"); err != nil || seq != last {
		t.Fatalf("last position = %d, %v", seq, err)
	}
	appends := make(chan error, 40)
	for n := range cap(appends) { // in batches
		e := decision(event.CheckResult, object.ServiceID("web01", string(rune('a'+n))), n)
		go func() {
			_, err := landed(func(done func(uint64, error)) { j.Append(e, 0, done) })
			appends <- err
		}()
	}
	for range cap(appends) {
		if err := <-appends; err != nil {
			t.Fatal(err)
		}
	}
	e := decision(event.CheckResult, "web01", 1)
	if _, err := landed(func(done func(uint64, error)) {
		if err := j.Record(t.Context(), e, done); err != nil {
			done(0, err)
		}
	}); err != nil {
		t.Fatal(err)
	}
	at, err := j.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := range uint64(6) {
		if err := j.SaveSnapshot(t.Context(), journal.Position{Log: at.Log - 5 + n, Results: at.Results}, []byte("state")); err != nil {
			t.Fatal(err)
		}
	}
	reads(t, b, at)
	return at
}

// reads is what everybody who follows the log does.
func reads(t *testing.T, b *bus.Bus, want journal.Position) {
	t.Helper()
	j := open(t, b, journal.Options{ReadOnly: true})
	if at, data, err := j.LoadSnapshot(t.Context()); err != nil || string(data) != "state" || at.Log != want.Log {
		t.Fatalf("load snapshot: %+v, %v", at, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	n := 0
	caughtUp := false
	err := j.Follow(ctx, journal.Position{}, func(events []event.Event) error { n += len(events); return nil }, func() { caughtUp = true; cancel() })
	if !caughtUp || n < 41 {
		t.Fatalf("%d events followed, caught up %v: %v", n, caughtUp, err)
	}
}

// handsOut passes an item through a zone.
func handsOut(t *testing.T, p *place, b *bus.Bus) {
	t.Helper()
	engine, err := openQueue(b).Dispatcher(t.Context(), "engine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	for _, zone := range []string{"dmz", "lan"} {
		worker := p.join(t, "worker-"+zone, bus.Options{Bare: true})
		s, err := openQueue(worker).Source(t.Context(), queue.Worker{ID: "w-" + zone, Zones: []string{zone}, Capacity: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		go func() {
			for d := range s.Items() {
				_ = d.Answer(t.Context(), &queue.Result{Result: fold.Result{State: object.OK, Output: "from " + zone}})
			}
		}()
		r, err := engine.Do(t.Context(), &queue.Item{Object: "web01", Zone: zone, Timeout: 5 * time.Second, Life: time.Minute, Check: object.Check{Kind: object.CheckPlugin, Plugin: []string{"x"}}})
		if err != nil || r.Output != "from "+zone {
			t.Fatalf("work of zone %s: %+v, %v", zone, r, err)
		}
	}
}

func openQueue(b *bus.Bus) *queue.JetStream {
	q, err := queue.NewJetStream(b.Conn(), queue.JetStreamOptions{Registerer: prometheus.NewRegistry()})
	if err != nil {
		panic(err) // only for options that do not exist
	}
	return q
}

// sees is the view that a dashboard has of the workers.
func sees(t *testing.T, _ *place, b *bus.Bus) {
	t.Helper()
	w, err := openQueue(b).Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	for began := time.Now(); len(w.Fleet().Workers()) < 2; time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d workers are seen, want 2", len(w.Fleet().Workers()))
		}
	}
}

// taker is an engine that carries out everything.
type taker struct{}

func (taker) Take(context.Context, *ingress.Command) []ingress.Failure { return nil }

func submits(t *testing.T, engine, ui *bus.Bus) {
	t.Helper()
	s, err := ingress.NewServer(engine.Conn(), ingress.ServerOptions{ID: "engine", Engine: taker{}})
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() { _ = s.Run(t.Context(), func() { close(ready) }) }()
	<-ready
	c, err := ingress.NewClient(ui.Conn(), ingress.ClientOptions{From: "ui"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Submit(t.Context(), "abcdefgh12345678", []operate.Action{{Object: "web01", Command: fold.Acknowledge{Author: "ann"}}}); err != nil {
		t.Fatal(err)
	}
}

// otherEngine is one that carries out what others forward to it.
type otherEngine struct{}

func (otherEngine) Take(context.Context, forward.Command) (journal.Position, *forward.Failure) {
	return journal.Position{}, nil
}

func forwards(t *testing.T, to, from *bus.Bus) {
	t.Helper()
	s, err := forward.NewServer(to.Conn(), forward.ServerOptions{ID: "engine", Engine: otherEngine{}})
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan struct{})
	go func() { _ = s.Run(t.Context(), func() { close(ready) }) }()
	<-ready
	c, err := forward.NewClient(from.Conn(), forward.ClientOptions{From: "e2"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	action := operate.Action{Object: "web01", Command: fold.Acknowledge{Author: "ann"}}
	if _, err := c.Forward(ctx, "engine", forward.Command{ID: "abcd.1", Action: action}); err != nil {
		t.Fatal(err)
	}
}

// keeps is how a sink keeps its position.
func keeps(t *testing.T, b *bus.Bus, name string) {
	t.Helper()
	k, err := position.New(b.Conn(), b.Names().State, position.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Load(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := k.Save(t.Context(), name, journal.Position{Log: 3}); err != nil {
		t.Fatal(err)
	}
	if at, _, err := k.Load(t.Context(), name); err != nil || at.Log != 3 {
		t.Fatalf("position = %+v, %v", at, err)
	}
}

// belongs joins, stays and leaves.
func belongs(t *testing.T, b *bus.Bus, path string) {
	t.Helper()
	s, err := coordination.OpenJetStream(b.Conn(), coordination.Options{Bucket: b.Names().Members, Path: path, TTL: 6 * time.Second, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	m := membership.Member{ID: "one", Instance: "i"}
	if _, err := s.Register(t.Context(), m, 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond) // a heartbeat comes after two seconds
	defer cancel()
	if err := s.Run(ctx, func() {}); err != nil {
		t.Fatal(err)
	}
	if err := s.Leave(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
}

// notifies writes what became of a notification.
func notifies(t *testing.T, b *bus.Bus) {
	t.Helper()
	j := open(t, b, journal.Options{})
	e := decision(event.NotificationDelivered, "web01", 0)
	e.Status, e.Measure = nil, nil
	put(t, j, e, 0)
}
