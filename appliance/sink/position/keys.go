package position

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/sink"
	"jaque.sh/jaque/appliance/throttle"
)

// Keys keeps each position under a key of its own. Create it with New; any goroutine
// may use it.
type Keys struct {
	bucket *bucket.Bucket
	name   string
	opt    Options

	foreign prometheus.Counter
	lines   throttle.Lines

	mu    sync.Mutex
	known map[string]known // by name of the sink; guarded by mu
}

// known is what this process knows of a key.
type known struct {
	revision uint64           // that it read or wrote last
	others   journal.Position // how far another process has come since Load
	foreign  uint64           // revision of the last entry that no sink wrote
}

var _ sink.Positions = (*Keys)(nil)

// Options of positions. The zero Options are usable.
type Options struct {
	Logger     *slog.Logger          // nil = discard
	Registerer prometheus.Registerer // nil = metrics are kept but not shown
}

// New returns the positions in a bucket, which must be there. The connection stays
// the caller's.
func New(nc *nats.Conn, name string, o Options) (*Keys, error) {
	b, err := bucket.New(nc, name)
	if err != nil {
		return nil, fmt.Errorf("open the positions of sinks: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	k := &Keys{bucket: b, name: name, opt: o, known: map[string]known{}, foreign: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "jaque_sink_foreign_positions_total",
		Help: "Positions of sinks over which an answer of the log server was stored; somebody has it do so.",
	})}
	if o.Registerer != nil {
		o.Registerer.MustRegister(k.foreign)
	}
	return k, nil
}

// key is where the position of a sink stands. A key may not hold "%", and the token
// no "=".
func key(name string) string {
	return "sink." + strings.ReplaceAll(object.ID(name).Token(), "%", "=")
}

// patience bounds one request to the server.
const patience = 5 * time.Second

// Load returns the position of a sink, and remembers which one that was.
func (k *Keys) Load(ctx context.Context, name string) (at journal.Position, saved time.Time, err error) {
	e, err := k.read(ctx, name)
	if err != nil {
		return at, saved, fmt.Errorf("read the position of sink %s: %w", name, err)
	}
	k.know(name, known{revision: e.revision, foreign: k.of(name).foreign})
	return e.at, e.saved, nil
}

// entry is what stands under a key. One that was deleted has a revision all the same.
type entry struct {
	at       journal.Position
	saved    time.Time // zero = there is no position
	revision uint64    // 0 = never written
}

// read asks for the newest position that a sink wrote: what else was stored over it, the
// bucket keeps some of what was there before.
func (k *Keys) read(ctx context.Context, name string) (e entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	last, err := k.bucket.Get(ctx, key(name))
	if err != nil {
		return e, err
	}
	e.revision = last.Revision
	if last.Gone {
		return e, nil // never written, or deleted by hand: it begins anew
	}
	if last.Foreign {
		k.tell(name, last.Revision)
		if last, err = k.bucket.Genuine(ctx, key(name), last.Revision); err != nil || last.Gone {
			return e, err
		}
	}
	if err := json.Unmarshal(last.Value, &e.at); err != nil {
		return e, fmt.Errorf("%w; delete the key %s of bucket %s to begin anew", err, key(name), k.name)
	}
	e.saved = last.Time
	return e, nil
}

// tell counts a foreign entry, and says so when it is another one.
func (k *Keys) tell(name string, revision uint64) {
	mine := k.of(name)
	if mine.foreign == revision {
		return
	}
	k.foreign.Inc()
	if left, ok := k.lines.Let(name); ok {
		k.opt.Logger.Warn("somebody had the log server store an answer over the position of a sink; the one before it counts",
			"sink", name, "key", key(name), "revision", revision, "left_out", left)
	}
	mine.foreign = revision
	k.know(name, mine)
}

// races is how often a position is tried against others who write it.
const races = 5

// Save keeps the position of a sink by compare-and-set. As long as nobody else has
// written it since Load, it may also go back: the log may be another one. Else it
// becomes the later of both, in each stream.
func (k *Keys) Save(ctx context.Context, name string, at journal.Position) error {
	mine := k.of(name)
	for range races {
		next := later(at, mine.others)
		revision, err := k.put(ctx, name, next, mine.revision)
		if err == nil {
			mine.revision = revision
			k.know(name, mine)
			return nil
		}
		if !errors.Is(err, bucket.ErrConflict) {
			return fmt.Errorf("save the position of sink %s: %w", name, err)
		}
		now, err := k.read(ctx, name)
		if err != nil {
			return fmt.Errorf("save the position of sink %s: %w", name, err)
		}
		mine = known{revision: now.revision, others: later(mine.others, now.at), foreign: k.of(name).foreign}
		k.know(name, mine)
		if later(at, now.at) == now.at && !now.saved.IsZero() {
			return nil
		}
	}
	return fmt.Errorf("save the position of sink %s: other processes write it all the time; let one of them run it", name)
}

// later returns the furthest of two positions in each stream.
func later(a, b journal.Position) journal.Position {
	return journal.Position{Log: max(a.Log, b.Log), Results: max(a.Results, b.Results)}
}

// put writes the key if its revision is the expected one.
func (k *Keys) put(ctx context.Context, name string, at journal.Position, expect uint64) (uint64, error) {
	data, err := json.Marshal(at)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return k.bucket.Put(ctx, key(name), data, expect, 0)
}

func (k *Keys) of(name string) known {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[name]
}

func (k *Keys) know(name string, what known) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known[name] = what
}
