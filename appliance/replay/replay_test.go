package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"pgregory.net/rapid"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
)

var noon = object.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))

func set(services int) *object.Set {
	rule := &object.Rule{Name: "r", Attempts: 3, Check: object.Check{Kind: object.CheckPassive}}
	h := &object.Object{ID: "h", Name: "h", Rule: rule}
	all := []*object.Object{h}
	for i := range services {
		name := fmt.Sprint("s", i)
		all = append(all, &object.Object{ID: object.ServiceID("h", name), Name: name, Host: h, Rule: rule})
	}
	return object.NewSet("g", object.DefaultSettings(), all)
}

// world is a live installation: a log and the projection that follows it.
type world struct {
	journal.Journal
	live *projection.Projection
	n    int
}

func newWorld(j journal.Journal, services int) *world {
	return &world{Journal: j, live: projection.New(set(services))}
}

type failer interface {
	Helper()
	Fatal(args ...any)
}

// decide puts a decision on the log and folds it. A prev that is not the
// object's makes it a conflict.
func (w *world) decide(t failer, id object.ID, state object.State, at object.Time, change func(*event.Event)) {
	t.Helper()
	w.n++
	old := w.live.State(id)
	e := &event.Event{
		Version: 1, ID: fmt.Sprint("d", w.n), Kind: event.CheckResult, Object: id, Epoch: 7, Prev: old.Last, Time: at,
		Status:  &event.Status{State: state, Type: object.StateType(w.n % 2), Checked: true, Attempt: int32(w.n%3 + 1), MaxAttempts: 3, LastChange: at},
		Measure: &event.Measure{Epoch: 7, N: old.Measure.N + 1, State: state, Output: fmt.Sprint("out ", w.n), LastCheck: at},
	}
	if change != nil {
		change(e)
	}
	type outcome struct {
		seq uint64
		err error
	}
	done := make(chan outcome, 1)
	w.Append(e, old.Sub, func(seq uint64, err error) { done <- outcome{seq, err} })
	got := <-done
	if got.err != nil {
		t.Fatal(got.err)
	}
	e.Stream, e.Seq = event.Log, got.seq
	w.live.Apply(e)
}

// measure records a result that changes nothing.
func (w *world) measure(t failer, id object.ID, at object.Time) {
	t.Helper()
	w.n++
	old := w.live.State(id)
	e := &event.Event{
		Version: 1, ID: fmt.Sprint("m", w.n), Kind: event.CheckResult, Object: id, Epoch: 7, Time: at,
		Measure: &event.Measure{Epoch: 7, N: old.Measure.N + 1, Output: fmt.Sprint("measured ", w.n), LastCheck: at},
	}
	done := make(chan uint64, 1)
	if err := w.Record(context.Background(), e, func(seq uint64, _ error) { done <- seq }); err != nil {
		t.Fatal(err)
	}
	e.Stream, e.Seq = event.Results, <-done
	w.live.Apply(e)
}

// states copies what a projection says about every object.
func states(p *projection.Projection) map[object.ID]fold.State {
	out := map[object.ID]fold.State{}
	for _, o := range p.Set().Objects {
		out[o.ID] = *p.State(o.ID)
	}
	return out
}

// differ says which object is told another way, "" = none.
func differ(got *projection.Projection, want map[object.ID]fold.State) string {
	for id, s := range want {
		a, b := *got.State(id), s
		if string(fold.AppendState(nil, &a)) != string(fold.AppendState(nil, &b)) {
			return fmt.Sprintf("%s was %+v, told %+v", id, b, a)
		}
	}
	return ""
}

func memory() journal.Journal {
	return journal.NewMemory(journal.Options{Registerer: prometheus.NewRegistry()})
}

func (w *world) replayer() *Replayer {
	return New(Options{Log: w, Set: w.live.Set, Now: func() time.Time { return noon.Add(24 * time.Hour).Std() }})
}

// What is told of an instant is what the projection was at that instant.
func TestAnInstantIsToldAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(memory(), 3)
		at := noon
		was := map[object.Time]map[object.ID]fold.State{noon - 1: states(w.live)}
		for range rapid.IntRange(0, 40).Draw(t, "events") {
			at = at.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "step")) * time.Second)
			id := object.ServiceID("h", fmt.Sprint("s", rapid.IntRange(0, 3).Draw(t, "service"))) // s3 is not configured
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				w.measure(t, id, at)
			case 2:
				w.decide(t, id, object.Critical, at, func(e *event.Event) { e.Prev += 9 }) // refused by every fold
			case 3:
				w.decide(t, id, object.Critical, at, func(e *event.Event) { e.Epoch = 6 }) // refused once 7 was seen
			default:
				w.decide(t, id, object.State(rapid.IntRange(0, 3).Draw(t, "state")), at, nil)
			}
			was[at] = states(w.live) // the last one of an instant counts
		}
		r := w.replayer()
		for instant, want := range was {
			p, err := r.At(context.Background(), instant)
			if err != nil {
				t.Fatal(err)
			}
			if d := differ(p, want); d != "" {
				t.Fatalf("at %s: %s", instant.Std(), d)
			}
		}
	})
}

func TestTheStoredLogTellsItToo(t *testing.T) {
	b, err := bus.Open(t.Context(), bus.Options{Data: t.TempDir(), Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close(context.Background()) })
	j, err := journal.OpenJetStream(t.Context(), b, journal.Options{Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	w := newWorld(j, 3)
	was := map[object.Time]map[object.ID]fold.State{noon - 1: states(w.live)}
	for i := range 30 {
		at := noon.Add(time.Duration(i) * 20 * time.Second)
		id := object.ServiceID("h", fmt.Sprint("s", i%3))
		if i%4 == 3 {
			w.measure(t, id, at)
		} else {
			w.decide(t, id, object.State(i%4), at, nil)
		}
		was[at] = states(w.live)
	}
	r := w.replayer()
	for instant, want := range was {
		p, err := r.At(t.Context(), instant)
		if err != nil {
			t.Fatal(err)
		}
		if d := differ(p, want); d != "" {
			t.Errorf("at %s: %s", instant.Std(), d)
		}
	}
}

func TestBeforeTheFirstEventEverythingIsPending(t *testing.T) {
	w := newWorld(memory(), 2)
	w.decide(t, "h!s0", object.Critical, noon, nil)
	p, err := w.replayer().At(t.Context(), noon-1)
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Counts(); c.PendingHosts != 1 || c.PendingServices != 2 {
		t.Errorf("counted %+v, want one host and two services pending", c)
	}
}

func TestAMeasurementOutOfReachGivesWayToTheDecision(t *testing.T) {
	w := newWorld(memory(), 2)
	w.decide(t, "h!s0", object.OK, noon, nil)
	w.decide(t, "h!s1", object.OK, noon, nil)
	w.measure(t, "h!s0", noon.Add(time.Second))
	w.measure(t, "h!s1", noon.Add(Reach))
	p, err := w.replayer().At(t.Context(), noon.Add(Reach+2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.State("h!s0").Measure.Output; got != "out 1" {
		t.Errorf("the old measurement is told as %q, want the decision's", got)
	}
	if got := p.State("h!s1").Measure.Output; got != "measured 4" {
		t.Errorf("the newer measurement is told as %q", got)
	}
}

// trimmed is a log whose first decisions are not kept any more.
type trimmed struct {
	*world
	first uint64
}

func (l trimmed) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error {
	from.Log = max(from.Log, l.first-1)
	return l.world.Follow(ctx, from, fn, caughtUp)
}

func TestALogWithoutItsBeginningTellsTheRest(t *testing.T) {
	w := newWorld(memory(), 2)
	for i := range 6 {
		w.decide(t, object.ServiceID("h", fmt.Sprint("s", i%2)), object.State(i%4), noon.Add(time.Duration(i)*time.Minute), nil)
	}
	want := states(w.live)
	r := New(Options{Log: trimmed{w, 4}, Set: w.live.Set})
	p, err := r.At(t.Context(), noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if d := differ(p, want); d != "" {
		t.Error(d)
	}
}

// counted counts replays and can be made slow or broken.
type counted struct {
	*world
	reads int
	wait  chan struct{}
	err   error
}

func (l *counted) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error {
	l.reads++
	if l.err != nil {
		return l.err
	}
	if l.wait != nil {
		select {
		case <-l.wait:
		case <-ctx.Done():
			return nil
		}
	}
	return l.world.Follow(ctx, from, fn, caughtUp)
}

func TestAnInstantIsReadOnceUntilTheObjectsChange(t *testing.T) {
	w := newWorld(memory(), 2)
	w.decide(t, "h!s0", object.Critical, noon, nil)
	log := &counted{world: w}
	r := New(Options{Log: log, Set: w.live.Set, Now: func() time.Time { return noon.Add(time.Hour).Std() }})
	ask := func(at object.Time) int {
		t.Helper()
		before := log.reads
		if _, err := r.At(t.Context(), at); err != nil {
			t.Fatal(err)
		}
		return log.reads - before
	}
	if ask(noon) == 0 || ask(noon) != 0 {
		t.Error("the second question read the log again")
	}
	for i := range mostInstants {
		ask(noon.Add(time.Duration(i+1) * time.Minute))
	}
	if ask(noon) == 0 {
		t.Error("the oldest of many instants is still remembered")
	}
	fresh := noon.Add(time.Hour - skew/2)
	ask(fresh)
	if ask(fresh) == 0 {
		t.Error("an instant that late events may still belong to was remembered")
	}
	w.live.Replace(set(3))
	if ask(noon) == 0 {
		t.Error("another config generation got what was told of the one before")
	}
}

func TestASlowReplayEndsAndSoDoThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(memory(), 1)
		log := &counted{world: w, wait: make(chan struct{})}
		r := New(Options{Log: log, Set: w.live.Set})
		start := time.Now()
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := r.At(t.Context(), noon)
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, ErrTooLong) {
				t.Errorf("ended with %v, want ErrTooLong", err)
			}
		}
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("ended after %s, want 20 s", took)
		}
		close(log.wait)
		if _, err := r.At(t.Context(), noon); err != nil {
			t.Errorf("after that the turn is lost: %v", err)
		}
	})
}

func TestOneReplayRunsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(memory(), 1)
		log := &counted{world: w, wait: make(chan struct{})}
		r := New(Options{Log: log, Set: w.live.Set})
		done := make(chan error, 3)
		for i := range 3 {
			go func() {
				_, err := r.At(t.Context(), noon.Add(time.Duration(i)*time.Hour))
				done <- err
			}()
		}
		synctest.Wait()
		if log.reads != 1 {
			t.Errorf("%d replays run at once", log.reads)
		}
		close(log.wait)
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestWhatTheLogFailsWithIsTold(t *testing.T) {
	w := newWorld(memory(), 1)
	broken := errors.New("disk is gone")
	r := New(Options{Log: &counted{world: w, err: broken}, Set: w.live.Set})
	if _, err := r.At(t.Context(), noon); !errors.Is(err, broken) || errors.Is(err, ErrTooLong) {
		t.Errorf("failed with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.replayer().At(ctx, noon); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that has gone gets %v", err)
	}
}

func TestManyObjectsAreRememberedForFewInstants(t *testing.T) {
	objects := set(kept/2 + 10)
	var c recent
	for i := range 3 {
		c.put(noon+object.Time(i), projection.New(objects))
	}
	var at []object.Time
	for _, x := range c.list {
		at = append(at, x.at)
	}
	if !slices.Equal(at, []object.Time{noon + 2}) {
		t.Errorf("remembered %v, want the newest alone", at)
	}
}
