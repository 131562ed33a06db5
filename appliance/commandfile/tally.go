package commandfile

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Reason says in one word why a command was refused; it is a metric label.
type Reason string

// The reasons of this package. The one who handles the lines has more.
const (
	TooLong Reason = "too-long" // longer than MaxLine
	NUL     Reason = "nul"      // holds a NUL byte
	Other   Reason = "other"    // a reason that NewTally was not told
	// Stopping: the process stopped before it was begun, and it could not be kept.
	Stopping Reason = "stopping"
	// Unconfirmed: it was begun and its outcome is not known; it may be done.
	Unconfirmed Reason = "unconfirmed"
)

// MaxLine is how many bytes a command may have.
const MaxLine = 64 << 10

// quiet is how long further refusals for the same reason are only counted.
const quiet = time.Minute

var (
	errNUL      = errors.New("it holds a NUL byte; send text")
	errStopping = errors.New("the process stopped before it was carried out; send it again")
	errTooLong  = fmt.Errorf("it is longer than %d bytes; send less output", MaxLine)
)

// Tally counts what became of commands and logs the refused ones: the first of
// each reason at once, the others as one number for each minute. Any goroutine
// may use it.
type Tally struct {
	log      *slog.Logger
	accepted prometheus.Counter
	refused  map[Reason]prometheus.Counter

	mu     sync.Mutex
	more   map[Reason]int // refused since the line that was logged; present = be quiet
	timer  *time.Timer    // ends the quiet
	closed bool
}

// NewTally returns a tally that knows the reasons of this package and those given.
func NewTally(log *slog.Logger, reg prometheus.Registerer, reasons ...Reason) *Tally {
	t := &Tally{
		log: log, refused: map[Reason]prometheus.Counter{}, more: map[Reason]int{},
		accepted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "jaque_command_file_accepted_total", Help: "Commands of the command file that were carried out.",
		}),
	}
	refused := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "jaque_command_file_refused_total", Help: "Commands of the command file that were refused, by reason.",
	}, []string{"reason"})
	for _, r := range append([]Reason{TooLong, NUL, Other, Stopping, Unconfirmed}, reasons...) {
		t.refused[r] = refused.WithLabelValues(string(r))
	}
	reg.MustRegister(t.accepted, refused)
	return t
}

// Accept counts commands that were carried out.
func (t *Tally) Accept(n int) { t.accepted.Add(float64(n)) }

// Refuse counts a command that was not carried out, and logs it unless one was
// refused for the same reason within the last minute. The line may be cut, or
// nil if it must not be shown; the error says why and what to write instead.
func (t *Tally) Refuse(why Reason, line []byte, err error) {
	counter, known := t.refused[why]
	if !known {
		why, counter = Other, t.refused[Other]
	}
	counter.Inc()
	t.mu.Lock()
	_, silent := t.more[why]
	if silent {
		t.more[why]++
	} else if !t.closed {
		t.more[why] = 0
		if t.timer == nil {
			t.timer = time.AfterFunc(quiet, t.sum)
		}
	}
	t.mu.Unlock()
	switch {
	case silent:
	case why == Unconfirmed:
		t.log.Warn("command not confirmed, it may be carried out", "reason", string(why), "line", show(line), "err", err)
	default:
		t.log.Warn("command refused", "reason", string(why), "line", show(line), "err", err)
	}
}

// sum logs how many were refused in silence, and ends the quiet. While there are
// any it goes on by the minute.
func (t *Tally) sum() {
	t.mu.Lock()
	defer t.mu.Unlock()
	var reasons []Reason
	for why, n := range t.more {
		if n == 0 {
			delete(t.more, why)
			continue
		}
		reasons = append(reasons, why)
	}
	slices.Sort(reasons)
	for _, why := range reasons {
		if why == Unconfirmed {
			t.log.Warn("more commands not confirmed", "reason", string(why), "commands", t.more[why])
		} else {
			t.log.Warn("more commands refused", "reason", string(why), "commands", t.more[why])
		}
		t.more[why] = 0
	}
	t.timer = nil
	if len(reasons) > 0 && !t.closed {
		t.timer = time.AfterFunc(quiet, t.sum)
	}
}

// Close logs what was counted in silence. Refuse may be called after it.
func (t *Tally) Close() {
	t.mu.Lock()
	if t.timer != nil {
		t.timer.Stop()
	}
	t.closed = true
	t.mu.Unlock()
	t.sum()
}

// show is a line as the log holds it.
func show(line []byte) string {
	if len(line) <= excerpt {
		return string(line)
	}
	return string(line[:excerpt]) + "…"
}
