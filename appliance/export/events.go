package export

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
)

// Follower is the part of a journal that Events reads.
type Follower interface {
	Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error
	End(ctx context.Context) (journal.Position, error)
	Opened() journal.Position
}

// EventsOptions are what Events needs. All but Registerer are required.
type EventsOptions struct {
	Path   string    // the file; "-" writes to Stdout
	Stdout io.Writer // used with Path "-" only
	Source Follower
	Logger *slog.Logger
	// Append appends one event as JSON without a line feed. The object must
	// hold "stream" and "seq", from which a restart goes on.
	Append     func(dst []byte, e *event.Event) []byte
	Registerer prometheus.Registerer
}

// Events appends every event to a file as one JSON line. After a restart it goes
// on behind the last complete line; a file without one begins with what happens
// from now on. While the file cannot be written, events wait on the log.
type Events struct {
	opt     EventsOptions
	metrics *eventMetrics
	buf     []byte
}

// NewEvents returns the writer; nothing is opened yet.
func NewEvents(o EventsOptions) *Events {
	return &Events{opt: o, metrics: newEventMetrics(o.Registerer)}
}

// Run writes until ctx ends. It fails if the file cannot be opened at the start
// or the log cannot be read; trouble while writing is logged, counted and
// retried.
func (x *Events) Run(ctx context.Context, ready func()) error {
	out, last, err := x.open()
	if err != nil {
		return err
	}
	from, err := x.start(ctx, last)
	if err != nil {
		return fmt.Errorf("find the end of the log for -events-out: %w", err)
	}
	ready()
	err = x.opt.Source.Follow(ctx, from, func(batch []event.Event) error {
		return x.write(ctx, out, batch)
	}, func() {})
	if cerr := out.close(); err == nil && cerr != nil {
		err = fmt.Errorf("close %s: %w", x.opt.Path, cerr)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// start is the position behind the last written event; where a stream has none
// in the file, its present end. A killed process loses its newest measurements
// and the next one gives their numbers again, so that the results go on where
// this process found their end if the file is beyond it.
func (x *Events) start(ctx context.Context, last journal.Position) (journal.Position, error) {
	from, err := x.opt.Source.End(ctx)
	if err != nil {
		return from, err
	}
	found := x.opt.Source.Opened().Results
	switch {
	case last.Log > from.Log:
		x.opt.Logger.Warn("events file is from another log, new events are appended behind it",
			"file", x.opt.Path, "seq", last.Log, "end", from.Log)
	case last.Results > found:
		x.opt.Logger.Info("newest measurements in the events file were lost on the log, others follow under their numbers",
			"file", x.opt.Path, "measurements", last.Results-found, "seq", last.Results, "end", found)
	}
	if last.Log != 0 {
		from.Log = min(last.Log, from.Log)
	}
	if last.Results != 0 {
		from.Results = min(last.Results, found)
	}
	return from, nil
}

// retryFirst and retryMax bound the pause before another attempt to write.
const (
	retryFirst = 100 * time.Millisecond
	retryMax   = 10 * time.Second
)

// write puts a batch into the file, however long that takes. What was written in
// part goes on where it stopped, so a full disk leaves no torn line behind.
func (x *Events) write(ctx context.Context, out *sink, batch []event.Event) error {
	x.buf = x.buf[:0]
	for i := range batch {
		x.buf = append(x.opt.Append(x.buf, &batch[i]), '\n')
	}
	left, pause := x.buf, retryFirst
	for failed := false; ; failed = true {
		n, err := out.write(left)
		left = left[n:]
		if err == nil {
			if failed {
				x.opt.Logger.Info("events are written again", "file", x.opt.Path)
			}
			x.metrics.written.Add(float64(len(batch)))
			x.metrics.last.SetToCurrentTime()
			return nil
		}
		x.metrics.failures.Inc()
		if !failed {
			x.opt.Logger.Error("events cannot be written, they wait on the log", "file", x.opt.Path, "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
			pause = min(2*pause, retryMax)
		}
	}
}

type eventMetrics struct {
	written  prometheus.Counter
	failures prometheus.Counter
	last     prometheus.Gauge
}

func newEventMetrics(reg prometheus.Registerer) *eventMetrics {
	m := &eventMetrics{
		written: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_events_out_written_total", Help: "Events written to the file of -events-out.",
		}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_events_out_failures_total", Help: "Attempts to write to the file of -events-out that failed and were repeated.",
		}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_events_out_last_success_timestamp_seconds", Help: "When events were last written to the file of -events-out.",
		}),
	}
	if reg != nil {
		reg.MustRegister(m.written, m.failures, m.last)
	}
	return m
}
