package sink

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/sample"
)

// counting is a target that only counts.
type counting struct{ n atomic.Int64 }

func (c *counting) Write(_ context.Context, b *Batch) (int, error) {
	c.n.Add(int64(b.Len()))
	return 0, nil
}

func (c *counting) Close() error { return nil }

// BenchmarkSink is the whole way without encoding and network: 20,000 results of
// four values each, from the log to the target.
func BenchmarkSink(b *testing.B) {
	const results, values = 20_000, 4
	log := journal.NewMemory(journal.Options{})
	for i := range results {
		e := &event.Event{Kind: event.CheckResult, Object: object.ServiceID(fmt.Sprint("host", i%500), "http"), Time: 1}
		e.Measure = &event.Measure{LastCheck: object.Time(i + 1), Perfdata: "time=12.25ms;100;200;0 size=1000B;;;0 /var=50%;80;90;0;100 count=7c"}
		if err := log.Record(b.Context(), e, nil); err != nil {
			b.Fatal(err)
		}
	}
	begin := processor(b)
	for b.Loop() {
		target := &counting{}
		s, err := New(Options{
			Name: "x", Source: log, Positions: &kept{at: map[string]journal.Position{}}, Target: target, Beginning: true, Items: 2000,
			Mapping: &sample.Mapping{Name: "jaque_metric", Labels: map[string]string{"host": "{host}", "service": "{service}", "metric": "{metric}"}, Scale: true},
			Logger:  slog.New(slog.DiscardHandler),
		})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.run(ctx, func() {}) }()
		for target.n.Load() < results*values {
			time.Sleep(100 * time.Microsecond)
		}
		cancel()
		if err := <-ended; err != nil {
			b.Fatal(err)
		}
	}
	took, all := (processor(b) - begin).Seconds(), float64(b.N)*results*values
	b.ReportMetric(all/took, "samples/cpu-s")
	b.ReportMetric(100_000*took/all, "cpu-s/100k")
}

// processor is the time that the process has had of the processor.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
