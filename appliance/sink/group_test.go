package sink

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/sample"
)

// fleet is a group over one log, with a receiver for each sink that was ever made.
type fleet struct {
	*world
	group     *Group
	metrics   *Metrics
	receivers map[string]*receiver
	made      map[string]int
	source    Follower
	kept      Memory
	opened    time.Time
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{world: newWorld(t), receivers: map[string]*receiver{}, made: map[string]int{}, opened: time.Now()}
	f.registry = prometheus.NewRegistry()
	f.metrics = NewMetrics(f.registry)
	f.group = NewGroup(f.metrics, slog.New(slog.NewTextHandler(io.Discard, nil)))
	f.source = f.log
	return f
}

// run runs the group; the function that it returns stops it and returns its error.
func (f *fleet) run() func() error {
	ctx, cancel := context.WithCancel(f.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.group.Run(ctx, func() {}) }()
	synctest.Wait()
	return func() error { cancel(); return <-ended }
}

// use declares sinks, each by what it is made from.
func (f *fleet) use(declared map[string]string) {
	wanted := map[string]Wanted{}
	for name, text := range declared {
		wanted[name] = Wanted{text, func() (*Sink, error) { return f.make(name, text) }}
	}
	f.group.Use(wanted)
	synctest.Wait()
}

func (f *fleet) make(name, text string) (*Sink, error) {
	if text == "wrong" {
		return nil, errors.New("the target cannot be made")
	}
	f.made[name]++
	if f.receivers[name] == nil {
		f.receivers[name] = &receiver{}
	}
	return New(Options{
		Name: name, Source: f.source, Positions: &f.kept, Opened: f.opened, Target: f.receivers[name], Metrics: f.metrics,
		Mapping: &sample.Mapping{Name: "{metric}"}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

func (f *fleet) running() string {
	var all []string
	for _, s := range f.group.States() {
		all = append(all, s.Name)
	}
	return strings.Join(all, " ")
}

func grouped(t *testing.T, do func(f *fleet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { do(newFleet(t)) })
}

func TestAReloadTouchesOnlyTheSinksThatChanged(t *testing.T) {
	grouped(t, func(f *fleet) {
		stop := f.run()
		f.use(map[string]string{"a": "1", "b": "1", "c": "1"})
		first := f.measure(10)
		time.Sleep(3 * time.Second)
		f.use(map[string]string{"a": "1", "b": "2", "d": "1"})
		second := f.measure(10)
		time.Sleep(3 * time.Second)
		if got := f.running(); got != "a b d" {
			t.Errorf("running: %s", got)
		}
		if want := map[string]int{"a": 1, "b": 2, "c": 1, "d": 1}; !maps.Equal(f.made, want) {
			t.Errorf("made %v, want %v", f.made, want)
		}
		all := slices.Concat(first, second)
		for name, want := range map[string][]string{"a": all, "b": all, "c": first, "d": second} {
			if got := f.receivers[name].got(); !slices.Equal(got, want) {
				t.Errorf("%s has %v, want %v", name, got, want)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestASinkThatIsWantedAgainGoesOnWhereItWas(t *testing.T) {
	grouped(t, func(f *fleet) {
		stop := f.run()
		var all []string
		for _, wanted := range []map[string]string{{"a": "1"}, {}, {"a": "1"}, {"b": "1"}, {"a": "2"}} {
			f.use(wanted)
			all = append(all, f.measure(3)...)
			time.Sleep(3 * time.Second)
		}
		if got := f.receivers["a"].got(); !slices.Equal(got, all) {
			t.Errorf("got %v, want %v", got, all)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestATargetThatIsGoneHoldsUpNoOtherSinkAndNoChange(t *testing.T) {
	grouped(t, func(f *fleet) {
		stop := f.run()
		f.receivers["a"] = &receiver{}
		f.receivers["a"].set(func(*Batch) error { return errors.New("connection refused") })
		f.use(map[string]string{"a": "1", "b": "1", "w": "wrong"})
		all := f.measure(500)
		time.Sleep(5 * time.Second)
		if got := f.receivers["b"].got(); !slices.Equal(got, all) {
			t.Errorf("the other sink has %d of %d", len(got), len(all))
		}
		trouble := strings.Join(f.group.Trouble(), "\n")
		for _, want := range []string{"sink a: nothing is taken since", "connection refused", "sink w: it does not run: the target cannot be made"} {
			if !strings.Contains(trouble, want) {
				t.Errorf("trouble:\n%s\nwant %q", trouble, want)
			}
		}
		f.use(map[string]string{"b": "1", "c": "1"})
		all = append(all, f.measure(5)...)
		time.Sleep(10 * time.Second)
		if got := f.running(); got != "b c" || len(f.group.Trouble()) != 0 {
			t.Errorf("running: %s, trouble %q", got, f.group.Trouble())
		}
		if got := f.receivers["b"].got(); !slices.Equal(got, all) {
			t.Errorf("the other sink has %d of %d", len(got), len(all))
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// broken is a log whose follower ends by itself.
type broken struct{ journal.Journal }

func (broken) Follow(context.Context, journal.Position, func([]event.Event) error, func()) error {
	return errors.New("the stream is gone")
}

func TestAFollowerThatEndsByItselfEndsTheGroup(t *testing.T) {
	grouped(t, func(f *fleet) {
		stop := f.run()
		f.use(map[string]string{"a": "1"})
		f.source = broken{f.log}
		f.use(map[string]string{"a": "1", "b": "1"})
		time.Sleep(10 * time.Second)
		if err := stop(); err == nil || err.Error() != "sink b: the stream is gone" {
			t.Errorf("the group ended with %v", err)
		}
	})
}

func TestMetricsTellWhatRunsHere(t *testing.T) {
	grouped(t, func(f *fleet) {
		stop := f.run()
		f.use(map[string]string{"a": "1", "b": "1", "w": "wrong"})
		f.use(map[string]string{"b": "1", "w": "wrong"})
		time.Sleep(time.Second)
		families, err := f.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, family := range families {
			for _, m := range family.GetMetric() {
				for _, l := range m.GetLabel() {
					if l.GetName() == "sink" && l.GetValue() == "a" {
						t.Errorf("%s tells of a sink that is not here", family.GetName())
					}
					if family.GetName() == "jaque_sink_running" {
						got[l.GetValue()] = m.GetGauge().GetValue()
					}
				}
			}
		}
		if want := map[string]float64{"b": 1, "w": 0}; !maps.Equal(got, want) {
			t.Errorf("running %v, want %v", got, want)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
