package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// Both implementations pass the same contract.
func TestJournal(t *testing.T) {
	implementations := map[string]func(t *testing.T) Journal{
		"memory":    func(*testing.T) Journal { return NewMemory(Options{Registerer: prometheus.NewRegistry()}) },
		"jetstream": func(t *testing.T) Journal { return openJournal(t, openBus(t, t.TempDir())) },
	}
	for name, open := range implementations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range contract {
				t.Run(c.name, func(t *testing.T) {
					j := open(t)
					t.Cleanup(func() { _ = j.Close(context.Background()) })
					c.run(t, j)
				})
			}
		})
	}
}

var contract = []struct {
	name string
	run  func(t *testing.T, j Journal)
}{
	{"appends get positions in order and come back as they were", appendsComeBack},
	{"an append on another position is refused", conflict},
	{"a retry of an append that landed is a conflict or the same position", retry},
	{"appends to many objects at once all land once", concurrent},
	{"what belongs to no object needs a topic", topics},
	{"outcomes of notifications and handlers do not move the object's position", outcomes},
	{"a follower begins in the middle", fromTheMiddle},
	{"a follower sees what comes later and is told once that it caught up", live},
	{"a follower that is ahead of the measurements goes on at their end", ahead},
	{"opened stays where the streams ended at first", opened},
	{"a follower of empty streams has caught up at once", emptyStreams},
	{"a follower ends with the error of its caller", followerFails},
	{"history is newest first, filtered and bounded", history},
	{"history leaves out a measurement whose decision it shows", twins},
	{"snapshots come back, newest first", snapshots},
	{"close waits for what is in flight and refuses the rest", closing},
}

func openBus(t testing.TB, data string) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Data: data, Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatalf("open bus: %v", err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	return b
}

func openJournal(t testing.TB, b *bus.Bus) Journal {
	t.Helper()
	j, err := OpenJetStream(t.Context(), b, Options{Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatalf("open journal: %v", err)
	}
	return j
}

// decision returns an event as the engine writes them.
func decision(id object.ID, n int, prev uint64) *event.Event {
	return &event.Event{
		Version: event.Version, ID: fmt.Sprintf("%s-%d", id, n), Kind: event.CheckResult, Object: id, Epoch: 1, Writer: "a",
		Prev: prev, Time: object.Time(1_800_000_000_000 + int64(n)*1000), Transition: true,
		Status:  &event.Status{State: object.State(n % 3), Attempt: 1, MaxAttempts: 3, Checked: true},
		Measure: &event.Measure{Epoch: 1, N: uint64(n), Output: "text of the check"},
	}
}

func measurement(id object.ID, n int) *event.Event {
	e := decision(id, n, 0)
	e.ID, e.Status, e.Transition = "", nil, false
	return e
}

// put appends and waits for the outcome.
func put(t testing.TB, j Journal, e *event.Event, expect uint64) (uint64, error) {
	t.Helper()
	type outcome struct {
		seq uint64
		err error
	}
	got := make(chan outcome, 1)
	j.Append(e, expect, func(seq uint64, err error) { got <- outcome{seq, err} })
	select {
	case o := <-got:
		return o.seq, o.err
	case <-t.Context().Done():
		t.Fatal("no outcome of an append")
		return 0, nil
	}
}

func mustPut(t testing.TB, j Journal, e *event.Event, expect uint64) uint64 {
	t.Helper()
	seq, err := put(t, j, e, expect)
	if err != nil {
		t.Fatalf("append %s: %v", e.ID, err)
	}
	return seq
}

func mustRecord(t testing.TB, j Journal, e *event.Event) uint64 {
	t.Helper()
	got := make(chan uint64, 1)
	err := j.Record(t.Context(), e, func(seq uint64, err error) {
		if err != nil {
			t.Errorf("record: %v", err)
		}
		got <- seq
	})
	if err != nil {
		t.Fatalf("record: %v", err)
	}
	return <-got
}

// readAll follows from a position until it has caught up.
func readAll(t testing.TB, j Journal, from Position) []event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var all []event.Event
	done := false
	err := j.Follow(ctx, from, func(events []event.Event) error {
		all = append(all, events...)
		return nil
	}, func() { done = true; cancel() })
	if err != nil || !done {
		t.Fatalf("follow: caught up %v, error %v", done, err)
	}
	return all
}

func appendsComeBack(t *testing.T, j Journal) {
	a := mustPut(t, j, decision("web01!http", 1, 0), 0)
	b := mustPut(t, j, decision("web01", 2, 0), 0)
	c := mustPut(t, j, decision("web01!http", 3, a), a)
	if a >= b || b >= c {
		t.Fatalf("positions %d, %d, %d are not in order", a, b, c)
	}
	r := mustRecord(t, j, measurement("web01!http", 4))
	var ids []string
	for _, e := range readAll(t, j, Position{}) {
		ids = append(ids, fmt.Sprintf("%s %d %s", e.Stream, e.Seq, e.ID))
		if e.Stream == event.Log && (e.Status == nil || e.Measure.Output != "text of the check") {
			t.Errorf("decision came back without its state: %+v", e)
		}
	}
	if len(ids) != 4 {
		t.Fatalf("got %q, want 4 events", ids)
	}
	end, err := j.End(t.Context())
	if err != nil || end != (Position{Log: c, Results: r}) {
		t.Errorf("end = %+v, %v; want %d and %d", end, err, c, r)
	}
	last, _, err := j.LastOf(t.Context(), "web01!http")
	if err != nil || last != c {
		t.Errorf("last of web01!http = %d, %v; want %d", last, err, c)
	}
	if last, _, err := j.LastOf(t.Context(), "nobody"); err != nil || last != 0 {
		t.Errorf("last of an object without events = %d, %v; want 0", last, err)
	}
}

func conflict(t *testing.T, j Journal) {
	first := mustPut(t, j, decision("db", 1, 0), 0)
	if _, err := put(t, j, decision("db", 2, 0), 0); !errors.Is(err, ErrConflict) {
		t.Fatalf("second append on position 0: %v, want ErrConflict", err)
	}
	if _, err := put(t, j, decision("db", 3, 77), 77); !errors.Is(err, ErrConflict) {
		t.Fatalf("append on a position of the future: %v, want ErrConflict", err)
	}
	mustPut(t, j, decision("db", 4, first), first)
}

// T12: the acknowledgement was lost, the identical append is sent again.
func retry(t *testing.T, j Journal) {
	e := decision("db", 1, 0)
	first := mustPut(t, j, e, 0)
	if seq, err := put(t, j, e, 0); !errors.Is(err, ErrConflict) && (err != nil || seq != first) {
		t.Fatalf("retry = %d, %v; want ErrConflict or %d", seq, err, first)
	}
	if n := len(readAll(t, j, Position{})); n != 1 {
		t.Fatalf("%d events on the log, want 1", n)
	}
}

func concurrent(t *testing.T, j Journal) {
	const objects, each = 100, 5
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[uint64]bool{}
	for o := range objects {
		wg.Add(1)
		id := object.HostID(fmt.Sprintf("h%d", o))
		var next func(n int, at uint64)
		next = func(n int, at uint64) {
			if n == each {
				wg.Done()
				return
			}
			j.Append(decision(id, n, at), at, func(seq uint64, err error) {
				if err != nil {
					t.Errorf("append %s %d on %d: %v", id, n, at, err)
					wg.Done()
					return
				}
				mu.Lock()
				if seen[seq] {
					t.Errorf("position %d was given twice", seq)
				}
				seen[seq] = true
				mu.Unlock()
				next(n+1, seq)
			})
		}
		next(0, 0)
	}
	wg.Wait()
	last := map[object.ID]uint64{}
	all := readAll(t, j, Position{})
	for _, e := range all {
		if e.Prev != last[e.Object] {
			t.Fatalf("event %d of %s is based on %d, but %d came before it", e.Seq, e.Object, e.Prev, last[e.Object])
		}
		last[e.Object] = e.Seq
	}
	if len(all) != objects*each {
		t.Fatalf("%d events, want %d", len(all), objects*each)
	}
}

func topics(t *testing.T, j Journal) {
	e := &event.Event{ID: "x", Kind: event.ConfigLoaded}
	if _, err := put(t, j, e, 0); err == nil {
		t.Fatal("an event without object and topic was appended")
	}
	e.Facts = map[string]string{"topic": "config"}
	first := mustPut(t, j, e, 0)
	if again := mustPut(t, j, e, 99); again != first {
		t.Errorf("the same event of the system landed twice, at %d and %d", first, again)
	}
	if err := j.Record(t.Context(), &event.Event{Kind: event.CheckResult}, nil); err == nil {
		t.Error("a measurement without an object was recorded")
	}
}

func outcomes(t *testing.T, j Journal) {
	first := mustPut(t, j, decision("db", 1, 0), 0)
	o := &event.Event{ID: "outcome/1", Kind: event.NotificationDelivered, Object: "db", Time: object.Time(1_800_000_001_500)}
	mustPut(t, j, o, 0)
	if last, _, err := j.LastOf(t.Context(), "db"); err != nil || last != first {
		t.Fatalf("last of db = %d, %v; want %d", last, err, first)
	}
	mustPut(t, j, &event.Event{ID: "ran/1", Kind: event.HandlerRan, Object: "db", Text: "restarted", Time: o.Time}, 0)
	mustPut(t, j, decision("db", 2, first), first)
	got, err := j.History(t.Context(), Query{Object: "db"})
	if err != nil || len(got) != 4 || got[1].Kind != event.HandlerRan || got[2].Kind != event.NotificationDelivered {
		t.Errorf("history = %v, %v; want decision, outcomes, decision", kinds(got), err)
	}
}

func kinds(events []event.Event) []event.Kind {
	var ks []event.Kind
	for i := range events {
		ks = append(ks, events[i].Kind)
	}
	return ks
}

func fromTheMiddle(t *testing.T, j Journal) {
	at := uint64(0)
	for n := range 10 {
		at = mustPut(t, j, decision("db", n, at), at)
		mustRecord(t, j, measurement("db", n))
	}
	got := readAll(t, j, Position{Log: 7, Results: 9})
	if len(got) != 4 {
		t.Fatalf("%d events behind 7 and 9, want 3 and 1", len(got))
	}
	for _, e := range got {
		if e.Stream == event.Log && e.Seq <= 7 || e.Stream == event.Results && e.Seq <= 9 {
			t.Errorf("%s %d was delivered, but is not behind the position", e.Stream, e.Seq)
		}
	}
}

func live(t *testing.T, j Journal) {
	at := mustPut(t, j, decision("db", 1, 0), 0)
	ctx, cancel := context.WithCancel(t.Context())
	events, caught, ended := make(chan event.Event, 100), make(chan struct{}, 10), make(chan error, 1)
	go func() {
		ended <- j.Follow(ctx, Position{}, func(es []event.Event) error {
			for _, e := range es {
				events <- e
			}
			return nil
		}, func() { caught <- struct{}{} })
	}()
	<-caught
	if e := <-events; e.Seq != at {
		t.Fatalf("first event is %d, want %d", e.Seq, at)
	}
	for n := 2; n < 6; n++ {
		at = mustPut(t, j, decision("db", n, at), at)
		if e := <-events; e.Seq != at || e.Stream != event.Log {
			t.Fatalf("got %s %d, want log %d", e.Stream, e.Seq, at)
		}
		r := mustRecord(t, j, measurement("db", n))
		if e := <-events; e.Seq != r || e.Stream != event.Results {
			t.Fatalf("got %s %d, want results %d", e.Stream, e.Seq, r)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("follow ended with %v, want nil when its context ends", err)
	}
	if len(caught) != 0 {
		t.Error("caughtUp was called twice")
	}
}

// ahead: a client may have read measurements that a crash lost. What is recorded
// after it came back reaches it, although its position was never taken.
func ahead(t *testing.T, j Journal) {
	mustRecord(t, j, measurement("db", 1))
	ctx, cancel := context.WithCancel(t.Context())
	got, began, ended := make(chan event.Event, 10), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- j.Follow(ctx, Position{Results: 1000}, func(es []event.Event) error {
			for _, e := range es {
				got <- e
			}
			return nil
		}, func() { close(began) })
	}()
	<-began
	for n := 2; n < 5; n++ {
		at := mustRecord(t, j, measurement("db", n))
		if e := <-got; e.Seq != at || e.Stream != event.Results {
			t.Errorf("got %d of stream %v, want measurement %d", e.Seq, e.Stream, at)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := j.Follow(t.Context(), Position{Log: 1000}, nil, nil); err == nil {
		t.Error("a position beyond the end of the log was taken")
	}
}

func opened(t *testing.T, j Journal) {
	mustPut(t, j, decision("db", 1, 0), 0)
	mustRecord(t, j, measurement("db", 1))
	if at := j.Opened(); at != (Position{}) {
		t.Errorf("opened at %+v, want the beginning", at)
	}
}

func emptyStreams(t *testing.T, j Journal) {
	if got := readAll(t, j, Position{}); len(got) != 0 {
		t.Fatalf("%d events on empty streams", len(got))
	}
}

func followerFails(t *testing.T, j Journal) {
	mustPut(t, j, decision("db", 1, 0), 0)
	broken := errors.New("broken")
	if err := j.Follow(t.Context(), Position{}, func([]event.Event) error { return broken }, nil); !errors.Is(err, broken) {
		t.Fatalf("follow = %v, want the caller's error", err)
	}
	if err := j.Follow(t.Context(), Position{Log: 50}, func([]event.Event) error { return nil }, nil); err == nil {
		t.Fatal("a follower began behind the end of the log")
	}
}

func history(t *testing.T, j Journal) {
	last := map[object.ID]uint64{}
	for n := range 60 {
		id := object.HostID(fmt.Sprintf("h%d", n%3))
		e := decision(id, n, last[id])
		if n%10 == 0 {
			e.Kind, e.Also = event.AckSet, []event.Kind{event.CommentAdded}
		}
		last[id] = mustPut(t, j, e, last[id])
	}
	at := func(n int) time.Time { return object.Time(1_800_000_000_000 + int64(n)*1000).Std() }
	cases := []struct {
		name        string
		q           Query
		want        int
		first, last int // n of the events
	}{
		{"of all", Query{}, 60, 59, 0},
		{"of all, bounded", Query{Limit: 5}, 5, 59, 55},
		{"of one object", Query{Object: "h1"}, 20, 58, 1},
		{"of one object in front of a position", Query{Object: "h1", Before: Position{Log: 31}}, 10, 28, 1},
		{"of a kind, also as a side effect", Query{Kinds: []event.Kind{event.CommentAdded}}, 6, 50, 0},
		{"of a span of time", Query{Since: at(10), Until: at(20)}, 10, 19, 10},
		{"of an object that has none", Query{Object: "nobody"}, 0, 0, 0},
	}
	for _, c := range cases {
		got, err := j.History(t.Context(), c.q)
		if err != nil {
			t.Fatalf("history %s: %v", c.name, err)
		}
		if len(got) != c.want {
			t.Errorf("history %s: %d events, want %d", c.name, len(got), c.want)
			continue
		}
		if c.want > 0 && (got[0].Measure.N != uint64(c.first) || got[len(got)-1].Measure.N != uint64(c.last)) {
			t.Errorf("history %s: from %d to %d, want %d to %d", c.name, got[0].Measure.N, got[len(got)-1].Measure.N, c.first, c.last)
		}
	}
}

func twins(t *testing.T, j Journal) {
	at := uint64(0)
	for n := range 6 {
		if n%3 == 0 {
			at = mustPut(t, j, decision("db!disk", n, at), at)
		}
		mustRecord(t, j, measurement("db!disk", n))
		mustRecord(t, j, measurement("other", n))
	}
	got, err := j.History(t.Context(), Query{Object: "db!disk", Results: true})
	if err != nil || len(got) != 6 {
		t.Fatalf("history with measurements: %d events, %v; want 6", len(got), err)
	}
	for i, e := range got {
		n := 5 - i
		if e.Measure.N != uint64(n) || (e.Stream == event.Log) != (n%3 == 0) {
			t.Errorf("event %d is %s number %d", i, e.Stream, e.Measure.N)
		}
	}
	if got, _ = j.History(t.Context(), Query{Object: "db!disk"}); len(got) != 2 {
		t.Errorf("history without measurements: %d events, want 2", len(got))
	}
}

func snapshots(t *testing.T, j Journal) {
	if _, _, err := j.LoadSnapshot(t.Context()); !errors.Is(err, ErrNoSnapshot) {
		t.Fatalf("load without a snapshot: %v, want ErrNoSnapshot", err)
	}
	for n := range 5 {
		if err := j.SaveSnapshot(t.Context(), Position{Log: uint64(n), Results: uint64(2 * n)}, fmt.Appendf(nil, "state %d", n)); err != nil {
			t.Fatalf("save: %v", err)
		}
	}
	at, data, err := j.LoadSnapshot(t.Context())
	if err != nil || at != (Position{Log: 4, Results: 8}) || string(data) != "state 4" {
		t.Fatalf("load = %+v %q %v, want the fifth", at, data, err)
	}
}

func closing(t *testing.T, j Journal) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	stored := 0
	for o := range 50 {
		wg.Add(1)
		j.Append(decision(object.HostID(fmt.Sprintf("h%d", o)), 1, 0), 0, func(_ uint64, err error) {
			defer wg.Done()
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				stored++
			}
		})
	}
	follow := make(chan error, 1)
	began := make(chan struct{})
	go func() {
		follow <- j.Follow(t.Context(), Position{}, func([]event.Event) error { return nil }, func() { close(began) })
	}()
	<-began
	if err := j.Close(t.Context()); err != nil {
		t.Fatalf("close: %v", err)
	}
	wg.Wait()
	if stored != 50 {
		t.Errorf("%d of 50 appends in flight were stored, want all when close has the time", stored)
	}
	if err := <-follow; !errors.Is(err, ErrClosed) {
		t.Errorf("follow ended with %v, want ErrClosed", err)
	}
	if _, err := put(t, j, decision("late", 1, 0), 0); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v, want ErrClosed", err)
	}
	if err := j.Record(t.Context(), measurement("late", 1), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("record after close: %v, want ErrClosed", err)
	}
}
