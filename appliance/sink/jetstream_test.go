package sink

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/sample"
)

// TestASinkGoesOnOverRestartsOfTheLog runs three processes one after the other on
// the log as it is kept on disk; while the second one runs the target is gone.
func TestASinkGoesOnOverRestartsOfTheLog(t *testing.T) {
	data, positions := t.TempDir(), &Memory{}
	var r receiver
	var want []string
	for process := range 3 {
		b, err := bus.Open(t.Context(), bus.Options{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		log, err := journal.OpenJetStream(t.Context(), b, journal.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r.set(nil)
		if process == 1 {
			r.set(func(*Batch) error { return context.DeadlineExceeded })
		}
		s, err := New(Options{
			Name: "x", Source: log, Positions: positions, Target: &r, Mapping: &sample.Mapping{Name: "{metric}"},
			Items: 50, Wait: 10 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		service := s.Service()
		go func() { ended <- service.Run(ctx, func() {}) }()
		eventually(t, "the sink knows where it begins", func() bool { return !s.State().Began.IsZero() })
		const each = 400
		for n := range each {
			e := &event.Event{
				Kind: event.CheckResult, ID: fmt.Sprint(process, n), Object: "h!s", Time: object.At(time.Now()),
				Measure: &event.Measure{Perfdata: fmt.Sprintf("m%d=1", process*each+n), LastCheck: 1},
			}
			if err := log.Record(t.Context(), e, nil); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("m%d=1", process*each+n))
		}
		switch process {
		case 1:
			eventually(t, "the target is missed", func() bool { return !s.State().Failing.IsZero() })
		case 2:
			eventually(t, "everything is taken", func() bool { return len(r.got()) >= len(want) })
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := log.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if got := r.got(); !slices.Equal(got, want) {
		t.Errorf("the target has %d items, want %d", len(got), len(want))
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); !holds(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}
