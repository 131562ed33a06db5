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

// StateOptions are what State needs. Path, Encode and Logger are required.
type StateOptions struct {
	Path   string
	Every  time.Duration // default DefaultStateEvery
	Encode func(io.Writer) error
	// Usable tells that the state has caught up with the log; before that the
	// file of an earlier run is left alone. nil = always.
	Usable     func() bool
	Logger     *slog.Logger
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
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
	if o.Usable == nil {
		o.Usable = func() bool { return true }
	}
	s := &State{
		opt: o,
		failures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_snapshot_out_failures_total", Help: "Writes of the file of -snapshot-out that failed.",
		}),
		last: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "jaque_snapshot_out_last_success_timestamp_seconds", Help: "When the file of -snapshot-out was last written.",
		}),
	}
	if o.Registerer != nil {
		o.Registerer.MustRegister(s.failures, s.last)
	}
	return s
}

// firstLook is how often an unusable state is looked at again.
const firstLook = time.Second

// Run writes as soon as the state is usable, then on the timer, and once more
// when ctx ends. It fails at once if the folder cannot be written, so that a
// wrong path is noticed; later trouble is logged, counted and retried.
func (s *State) Run(ctx context.Context, ready func()) error {
	if err := s.tryFolder(); err != nil {
		return fmt.Errorf("write the file of -snapshot-out: %w", err)
	}
	ready()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			if !s.opt.Usable() {
				return nil
			}
			return s.write()
		case <-timer.C:
			if !s.opt.Usable() {
				timer.Reset(firstLook)
				continue
			}
			s.report(s.write())
			timer.Reset(s.opt.Every)
		}
	}
}

// tryFolder makes and removes a file beside the real one.
func (s *State) tryFolder() error {
	tmp, err := s.temporary()
	if err != nil {
		return err
	}
	return errors.Join(tmp.Close(), os.Remove(tmp.Name()))
}

func (s *State) temporary() (*os.File, error) {
	return os.CreateTemp(filepath.Dir(s.opt.Path), "."+filepath.Base(s.opt.Path)+".*")
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
	tmp, err := s.temporary()
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
