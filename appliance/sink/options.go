package sink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/sample"
)

// Follower is the part of a journal that a sink reads.
type Follower interface {
	Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error
	End(ctx context.Context) (journal.Position, error)
	Opened() journal.Position
}

// Options says what a sink works with. It reads measurements if Mapping is given,
// else events, for which Encode is needed.
type Options struct {
	Name      string // as the config has it; part of metrics, and of where the position is kept
	Source    Follower
	Positions Positions
	Target    Target
	// Opened is when this process opened the log; zero = now.
	Opened time.Time

	// Mapping makes it a sink of measurements.
	Mapping *sample.Mapping
	// Object returns an object of the running config, nil if there is none; nil = there are none.
	Object func(object.ID) *object.Object

	// Encode appends an event as one JSON object without a line feed.
	Encode func(dst []byte, e *event.Event) []byte
	// Measurements adds the results that changed nothing to the events.
	Measurements bool

	// Beginning makes a sink without a position begin with all that the log holds;
	// else it begins with what happens from now on.
	Beginning bool

	Items int           // of a batch; 0 = 1000. One event's samples stay together
	Bytes int           // of a batch of events; 0 = 4 MiB
	Wait  time.Duration // how long a batch waits to become full; 0 = 1 s

	Timeout    time.Duration // of one attempt; 0 = 30 s
	RetryFirst time.Duration // pause after a first failure; 0 = 1 s
	RetryMost  time.Duration // pauses double up to it; 0 = 1 min
	// Patience is how long a target that has not taken anything since the start may
	// refuse for good before it is believed: it may be set up wrongly. 0 = 10 min.
	Patience    time.Duration
	StopTimeout time.Duration // how long a stop lets batches be written; 0 = 5 s

	Metrics *Metrics // shared by all sinks of a process; nil = not shown
	Logger  *slog.Logger
}

func (o Options) withDefaults() Options {
	set := func(v *time.Duration, to time.Duration) {
		if *v <= 0 {
			*v = to
		}
	}
	if o.Items <= 0 {
		o.Items = 1000
	}
	if o.Bytes <= 0 {
		o.Bytes = 4 << 20
	}
	set(&o.Wait, time.Second)
	set(&o.Timeout, 30*time.Second)
	set(&o.RetryFirst, time.Second)
	set(&o.RetryMost, time.Minute)
	set(&o.Patience, 10*time.Minute)
	set(&o.StopTimeout, 5*time.Second)
	if o.Object == nil {
		o.Object = func(object.ID) *object.Object { return nil }
	}
	if o.Opened.IsZero() {
		o.Opened = time.Now()
	}
	if o.Metrics == nil {
		o.Metrics = NewMetrics(nil)
	}
	return o
}

// New returns a sink that does nothing until its service runs.
func New(o Options) (*Sink, error) {
	if o.Name == "" || o.Source == nil || o.Positions == nil || o.Target == nil || o.Logger == nil {
		return nil, errors.New("sink: a name, a log, positions, a target and a logger are needed")
	}
	if (o.Mapping == nil) == (o.Encode == nil) {
		return nil, fmt.Errorf("sink %s: either a mapping of measurements or an encoding of events is needed", o.Name)
	}
	o = o.withDefaults()
	s := &Sink{opt: o, log: o.Logger.With("sink", o.Name), inbox: newInbox(o.Items, o.Bytes)}
	if o.Mapping != nil {
		m, err := sample.NewMapper(*o.Mapping)
		if err != nil {
			return nil, fmt.Errorf("sink %s: %w", o.Name, err)
		}
		s.mapper = m
	}
	s.metrics = o.Metrics.of(o.Name)
	return s, nil
}
