package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// DefaultStateEvery is the pause between two writes of the folded state.
const DefaultStateEvery = time.Minute

// StateOptions are what State needs. All but Every and Registerer are required.
type StateOptions struct {
	Path       string
	Every      time.Duration // default DefaultStateEvery
	Encode     func(io.Writer) error
	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// State writes the folded state to a file on a timer and at exit. A reader of
// the file sees the old state or the new one, never a part.
type State struct {
	opt      StateOptions
	failures prometheus.Counter
	last     prometheus.Gauge
	failing  bool
}

// NewState returns the writer; nothing is written yet.
func NewState(o StateOptions) *State {
	if o.Every <= 0 {
		o.Every = DefaultStateEvery
	}
	s := &State{opt: o,
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_snapshot_out_failures_total", Help: "Writes of the file of -snapshot-out that failed."}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_snapshot_out_last_success_timestamp_seconds", Help: "When the file of -snapshot-out was last written."}),
	}
	if o.Registerer != nil {
		o.Registerer.MustRegister(s.failures, s.last)
	}
	return s
}

// Run writes once at the start, then on the timer, and once more when ctx ends.
// It fails only if the first write does, so that a wrong path is noticed at once;
// later trouble is logged, counted and retried on the next turn.
func (s *State) Run(ctx context.Context, ready func()) error {
	if err := s.write(); err != nil {
		return fmt.Errorf("write the file of -snapshot-out: %w", err)
	}
	ready()
	ticker := time.NewTicker(s.opt.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return s.write()
		case <-ticker.C:
			s.report(s.write())
		}
	}
}

// report logs a failure once, and its end.
func (s *State) report(err error) {
	switch {
	case err != nil && !s.failing:
		s.opt.Logger.Error("folded state cannot be written, trying again", "file", s.opt.Path,
			"every", s.opt.Every, "err", err)
	case err == nil && s.failing:
		s.opt.Logger.Info("folded state is written again", "file", s.opt.Path)
	}
	s.failing = err != nil
}

// write puts the state into a new file beside the old one, then renames it.
func (s *State) write() (err error) {
	defer func() {
		if err != nil {
			s.failures.Inc()
			return
		}
		s.last.SetToCurrentTime()
	}()
	tmp, err := os.CreateTemp(filepath.Dir(s.opt.Path), "."+filepath.Base(s.opt.Path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name())
		}
	}()
	w := bufio.NewWriterSize(tmp, 64<<10)
	err = errors.Join(s.opt.Encode(w), w.Flush(), tmp.Chmod(0o640), tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), s.opt.Path)
}
