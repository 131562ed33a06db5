package sink

import (
	"context"
	"errors"
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
	"github.com/prometheus/client_golang/prometheus/testutil"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/sample"
)

// receiver is a target that keeps what it takes.
type receiver struct {
	mu      sync.Mutex
	items   []string
	batches []int
	answer  func(b *Batch) error // nil = takes everything
	hold    chan struct{}        // not nil = each write waits for it, or for its end
}

func (r *receiver) Write(ctx context.Context, b *Batch) (int, error) {
	r.mu.Lock()
	hold, answer := r.hold, r.answer
	r.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	var err error
	if answer != nil {
		err = answer(b)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, b.Len())
	var e *Error
	partial := errors.As(err, &e) && e.Partial
	if err == nil || partial {
		for i := range b.Len() {
			if partial && (slices.Contains(e.Again, i) || slices.ContainsFunc(e.Refused, func(f Refusal) bool { return f.Index == i })) {
				continue
			}
			r.items = append(r.items, b.item(i))
		}
	}
	return 10 * b.Len(), err
}

// item names one item as the tests know it.
func (b *Batch) item(i int) string {
	if len(b.Samples) > 0 {
		return fmt.Sprintf("%s=%g", b.Samples[i].Name, b.Samples[i].Value)
	}
	return b.Events[i].Event.ID
}

func (r *receiver) Close() error { return nil }

func (r *receiver) set(f func(b *Batch) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

func (r *receiver) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.items)
}

// kept are positions in memory.
type kept struct {
	mu    sync.Mutex
	at    map[string]journal.Position
	saved time.Time // when all of them were; zero = by an earlier process
	fail  error
}

func (k *kept) Load(_ context.Context, name string) (journal.Position, time.Time, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.at[name]
	switch {
	case !ok:
		return at, time.Time{}, k.fail
	case k.saved.IsZero():
		return at, time.Unix(1, 0), k.fail
	}
	return at, k.saved, k.fail
}

func (k *kept) Save(_ context.Context, name string, at journal.Position) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail != nil {
		return k.fail
	}
	k.at[name] = at
	return nil
}

func (k *kept) set(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.fail = err
}

// world is a log with one sink.
type world struct {
	t         *testing.T
	log       journal.Journal
	receiver  *receiver
	positions *kept
	registry  *prometheus.Registry
	events    bool
	options   func(*Options)
	n         int
}

func newWorld(t *testing.T) *world {
	return &world{t: t, log: journal.NewMemory(journal.Options{}), receiver: &receiver{}, positions: &kept{at: map[string]journal.Position{}}, options: func(*Options) {}}
}

// run starts the sink; the function that it returns stops it.
func (w *world) run() (*Sink, func()) {
	w.t.Helper()
	w.registry = prometheus.NewRegistry()
	o := Options{
		Name: "vm", Source: w.reopened(), Positions: w.positions, Target: w.receiver, Metrics: NewMetrics(w.registry),
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if w.events {
		o.Encode = event.AppendJSON
	} else {
		o.Mapping = &sample.Mapping{Name: "{metric}"}
	}
	w.options(&o)
	s, err := New(o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	service := s.Service("journal")
	go func() { ended <- service.Run(ctx, func() {}) }()
	synctest.Wait()
	return s, func() {
		w.t.Helper()
		cancel()
		if err := <-ended; err != nil {
			w.t.Errorf("the sink ended with %v", err)
		}
	}
}

// opened is a log as a process finds it that opens it now.
type opened struct {
	journal.Journal
	at journal.Position
}

func (o opened) Opened() journal.Position { return o.at }

func (w *world) reopened() Follower {
	end, err := w.log.End(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return opened{w.log, end}
}

// measure records results with one value each, m1=1 and so on, and returns them.
func (w *world) measure(n int) []string {
	var all []string
	for range n {
		w.n++
		e := &event.Event{
			ID: fmt.Sprint("r", w.n), Kind: event.CheckResult, Object: "web01!http", Time: object.At(time.Now()),
			Measure: &event.Measure{Perfdata: fmt.Sprintf("m%d=%d", w.n, w.n), LastCheck: object.At(time.Now())},
		}
		if err := w.log.Record(w.t.Context(), e, nil); err != nil {
			w.t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("m%d=%d", w.n, w.n))
	}
	return all
}

func (w *world) check(want []string) {
	w.t.Helper()
	if got := w.receiver.got(); !slices.Equal(got, want) {
		w.t.Errorf("the target has %d items, want %d:\n%v\n%v", len(got), len(want), got, want)
	}
}

// Another process may have moved the position on while this one read the log for
// other sinks.
func TestASinkThatIsTakenOverGoesOnWhereTheOtherProcessWas(t *testing.T) {
	synctested(t, func(w *world) {
		w.measure(3)
		source := w.reopened() // when this process began
		opened := time.Now()
		time.Sleep(time.Hour)
		w.measure(5)
		w.positions.at["vm"], w.positions.saved = journal.Position{Results: 7}, time.Now()
		w.options = func(o *Options) { o.Source, o.Opened = source, opened }
		_, stop := w.run()
		stop()
		w.check([]string{"m8=8"})
	})
}

// synctested runs a test with a clock of its own.
func synctested(t *testing.T, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(newWorld(t)) })
}

func TestBatchesGoWhenTheyAreFullOrHaveWaited(t *testing.T) {
	synctested(t, func(w *world) {
		w.options = func(o *Options) { o.Items, o.Wait = 10, 2*time.Second }
		_, stop := w.run()
		all := w.measure(25)
		synctest.Wait()
		w.check(all[:20])
		time.Sleep(1900 * time.Millisecond)
		w.check(all[:20])
		time.Sleep(200 * time.Millisecond)
		w.check(all)
		if !slices.Equal(w.receiver.batches, []int{10, 10, 5}) {
			t.Errorf("batches of %v", w.receiver.batches)
		}
		stop()
	})
}

func TestAStopWritesWhatWaitsAndTheNextProcessGoesOn(t *testing.T) {
	synctested(t, func(w *world) {
		w.measure(3) // before the sink ever ran
		_, stop := w.run()
		all := w.measure(5)
		synctest.Wait()
		stop()
		w.check(all)
		all = append(all, w.measure(4)...)
		_, stop = w.run()
		time.Sleep(2 * time.Second)
		w.check(all)
		stop()
		if at := w.positions.at["vm"]; at.Results != 12 {
			t.Errorf("kept %+v", at)
		}
	})
}

func TestASinkMayBeginWithAllThatTheLogHolds(t *testing.T) {
	synctested(t, func(w *world) {
		w.options = func(o *Options) { o.Beginning = true }
		all := w.measure(7)
		_, stop := w.run()
		stop()
		w.check(all)
	})
}

func TestATargetThatIsGoneForAnHourMissesNothing(t *testing.T) {
	synctested(t, func(w *world) {
		w.options = func(o *Options) { o.Items = 50 }
		s, stop := w.run()
		all := w.measure(10)
		time.Sleep(5 * time.Second)
		w.receiver.set(func(*Batch) error { return errors.New("connection refused") })
		for range 60 {
			all = append(all, w.measure(100)...)
			time.Sleep(time.Minute)
		}
		trouble := strings.Join(s.Trouble(), "\n")
		if !strings.Contains(trouble, "6000 events wait on the log: connection refused") {
			t.Errorf("trouble: %q", trouble)
		}
		if got := testutil.ToFloat64(s.metrics.oldest); got < 3500 || got > 3700 {
			t.Errorf("the oldest event is %g seconds old", got)
		}
		held := s.inbox.cur.Len() + 50
		if held > 100 {
			t.Errorf("%d items are held in memory", held)
		}
		attempts := len(w.receiver.batches)
		if attempts > 100 {
			t.Errorf("%d attempts in an hour", attempts)
		}
		w.receiver.set(nil)
		time.Sleep(2 * time.Minute)
		w.check(all)
		if got := s.Trouble(); len(got) != 0 {
			t.Errorf("trouble: %q", got)
		}
		if got := testutil.ToFloat64(s.metrics.behind); got != 0 {
			t.Errorf("%g events behind", got)
		}
		stop()
	})
}

func TestAStopDoesNotWaitForATargetThatIsGone(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(r *receiver)
		most time.Duration
	}{
		{"one that refuses connections", func(r *receiver) {
			r.answer = func(*Batch) error { return errors.New("connection refused") }
		}, time.Second},
		{"one that does not answer", func(r *receiver) { r.hold = make(chan struct{}) }, 6 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctested(t, func(w *world) {
				c.make(w.receiver)
				_, stop := w.run()
				all := w.measure(5)
				time.Sleep(10 * time.Second)
				begin := time.Now()
				stop()
				if took := time.Since(begin); took > c.most {
					t.Errorf("the stop took %v", took)
				}
				w.check(nil)
				w.receiver.answer, w.receiver.hold = nil, nil
				_, stop = w.run()
				stop()
				w.check(all)
			})
		})
	}
}

func TestWhatIsRefusedForGoodIsFoundAndLeftOut(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  []int
	}{
		{"one in the middle", []int{37}},
		{"the first and the last", []int{2, 100}},
		{"neighbours", []int{50, 51, 52}},
		{"all but the first", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctested(t, func(w *world) {
				w.options = func(o *Options) { o.Items = 100 }
				wrong, want := map[string]bool{}, []string{"m1=1"}
				for i := 2; i <= 101; i++ {
					name := fmt.Sprintf("m%d=%d", i, i)
					if c.bad == nil || slices.Contains(c.bad, i) {
						wrong[name] = true
					} else {
						want = append(want, name)
					}
				}
				w.receiver.set(func(b *Batch) error {
					for i := range b.Len() {
						if wrong[b.item(i)] {
							return &Error{Err: errors.New("unable to parse"), Permanent: true}
						}
					}
					return nil
				})
				s, stop := w.run()
				w.measure(1)
				time.Sleep(2 * time.Second)
				w.measure(100)
				time.Sleep(2 * time.Second)
				stop()
				w.check(want)
				if got := testutil.ToFloat64(s.metrics.drops.WithLabelValues("refused")); int(got) != len(wrong) {
					t.Errorf("%g counted as refused, want %d", got, len(wrong))
				}
				if trouble := strings.Join(s.Trouble(), ""); !strings.Contains(trouble, fmt.Sprintf("%d of 101 items were refused", len(wrong))) || !strings.Contains(trouble, "unable to parse") {
					t.Errorf("trouble: %q", trouble)
				}
				if len(c.bad) == 1 && len(w.receiver.batches) > 2+15 {
					t.Errorf("%d attempts for one wrong item", len(w.receiver.batches))
				}
			})
		})
	}
}

func TestAnUnprovenTargetThatRefusesEverythingIsNotBelievedAtOnce(t *testing.T) {
	synctested(t, func(w *world) {
		refuse := func(*Batch) error { return &Error{Err: errors.New("org not found"), Permanent: true} }
		w.receiver.set(refuse)
		s, stop := w.run()
		all := w.measure(3)
		time.Sleep(5 * time.Minute)
		if got := s.State(); got.Refused != 0 || got.Reason != "org not found" {
			t.Errorf("state %+v", got)
		}
		w.receiver.set(nil)
		time.Sleep(2 * time.Minute)
		w.check(all)
		stop()

		w.receiver.set(refuse)
		s, stop = w.run()
		w.measure(3)
		time.Sleep(15 * time.Minute)
		if got := s.State(); got.Refused != 3 || got.Behind != 0 || len(s.Trouble()) != 1 {
			t.Errorf("after its patience the sink is at %+v", got)
		}
		time.Sleep(time.Hour)
		if got := s.Trouble(); len(got) != 0 {
			t.Errorf("what was refused long ago is still trouble: %q", got)
		}
		stop()
	})
}

func TestATargetMayJudgeEachItem(t *testing.T) {
	synctested(t, func(w *world) {
		w.events = true
		first := true
		w.receiver.set(func(b *Batch) error {
			if !first {
				return nil
			}
			first = false
			return &Error{Err: errors.New("busy"), Partial: true, Again: []int{1, 3}, Refused: []Refusal{{2, "wrong type"}}, RetryAfter: time.Minute}
		})
		s, stop := w.run()
		for i := range 5 {
			e := &event.Event{ID: fmt.Sprint("e", i), Kind: event.CommentAdded, Object: object.ID(fmt.Sprint("h", i)), Time: object.At(time.Now())}
			w.log.Append(e, 0, func(uint64, error) {})
		}
		time.Sleep(30 * time.Second)
		w.check([]string{"e0", "e4"})
		time.Sleep(40 * time.Second)
		w.check([]string{"e0", "e4", "e1", "e3"})
		stop()
		if got := s.State(); got.Refused != 1 || got.Taken != 4 || !strings.Contains(got.LastRefused, "wrong type") {
			t.Errorf("state %+v", got)
		}
	})
}

func TestEventsAreDecisionsUnlessMeasurementsAreAskedFor(t *testing.T) {
	for _, with := range []bool{false, true} {
		t.Run(fmt.Sprint("measurements ", with), func(t *testing.T) {
			synctested(t, func(w *world) {
				w.events = true
				w.options = func(o *Options) { o.Measurements = with }
				_, stop := w.run()
				w.measure(1)
				w.log.Append(&event.Event{ID: "e1", Kind: event.AckSet, Object: "h"}, 0, func(uint64, error) {})
				time.Sleep(2 * time.Second)
				stop()
				want := []string{"e1"}
				if with {
					want = append(want, "r1")
				}
				got := w.receiver.got()
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		})
	}
}

func TestMeasurementsThatACrashTookAreNotWaitedFor(t *testing.T) {
	synctested(t, func(w *world) {
		w.positions.at["vm"] = journal.Position{Results: 99}
		w.measure(3)
		_, stop := w.run()
		all := w.measure(2)
		synctest.Wait()
		stop()
		w.check(all)
	})
}

func TestAReplacedLogIsReadFromItsBeginning(t *testing.T) {
	synctested(t, func(w *world) {
		w.positions.at["vm"] = journal.Position{Log: 99, Results: 99}
		all := w.measure(3)
		_, stop := w.run()
		stop()
		w.check(all)
	})
}

func TestValuesThatAreNoSamplesAreCounted(t *testing.T) {
	synctested(t, func(w *world) {
		s, stop := w.run()
		e := &event.Event{Kind: event.CheckResult, Object: "h", Measure: &event.Measure{Perfdata: "a=U b=1 b=2 c=x,y"}}
		if err := w.log.Record(t.Context(), e, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		stop()
		w.check([]string{"b=1"})
		for _, reason := range []string{sample.LeftUnknown, sample.LeftRepeated, sample.LeftUnreadable} {
			if got := testutil.ToFloat64(s.metrics.drops.WithLabelValues(reason)); got != 1 {
				t.Errorf("%s counted %g times", reason, got)
			}
		}
	})
}

func TestALogThatEndsByItselfEndsTheSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		o := Options{Name: "x", Source: w.log, Positions: w.positions, Target: w.receiver, Encode: event.AppendJSON, Logger: slog.New(slog.DiscardHandler)}
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- s.run(t.Context(), func() {}) }()
		synctest.Wait()
		if err := w.log.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, journal.ErrClosed) {
			t.Errorf("ended with %v", err)
		}
	})
}

func TestWhatASinkNeeds(t *testing.T) {
	w := newWorld(t)
	good := Options{Name: "x", Source: w.log, Positions: w.positions, Target: w.receiver, Logger: slog.New(slog.DiscardHandler), Encode: event.AppendJSON}
	for _, c := range []struct {
		name string
		make func(o *Options)
		says string
	}{
		{"a target", func(o *Options) { o.Target = nil }, "a target"},
		{"something to do", func(o *Options) { o.Encode = nil }, "either a mapping"},
		{"one thing to do", func(o *Options) { o.Mapping = &sample.Mapping{Name: "x"} }, "either a mapping"},
		{"a mapping that is right", func(o *Options) { o.Encode, o.Mapping = nil, &sample.Mapping{Name: "{hots}"} }, "did you mean {host}?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := good
			c.make(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q in it", err, c.says)
			}
		})
	}
	if _, err := New(good); err != nil {
		t.Error(err)
	}
}
