package journal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// memoryResults is how many measurements the memory journal keeps, about an hour
// of a small installation; decisions are all kept.
const memoryResults = 200_000

// memory is the journal for development and tests: nothing survives the process.
type memory struct {
	opts    Options
	counts  [2]*account
	metrics *metrics

	mu        sync.Mutex // guards what follows
	log       []event.Event
	results   []event.Event
	dropped   uint64            // measurements removed in front of results
	last      map[string]uint64 // by subject of the log
	ids       map[string]uint64 // of all events
	snapshots []memorySnapshot  // newest first
	changed   chan struct{}     // closed and replaced at every append
	closed    bool
}

type memorySnapshot struct {
	at   Position
	data []byte
}

var _ Journal = (*memory)(nil)

// NewMemory returns a journal that keeps everything in memory.
func NewMemory(o Options) Journal {
	o = o.withDefaults()
	m := &memory{
		opts: o, metrics: newMetrics(o.Registerer), last: map[string]uint64{}, ids: map[string]uint64{},
		changed: make(chan struct{}),
	}
	m.counts[event.Log], m.counts[event.Results] = m.metrics.account(event.Log), m.metrics.account(event.Results)
	return m
}

// Append stores at once; done is called on a goroutine of its own, as callers of
// the other implementation have it.
func (m *memory) Append(e *event.Event, expect uint64, done Done) {
	start := time.Now()
	tail, compared, err := place(e)
	if err != nil {
		go done(0, err)
		return
	}
	m.counts[event.Log].inFlight.Inc()
	seq, err := m.appendLog(e, tail, compared, expect)
	m.counts[event.Log].settle(start, err)
	go done(seq, err)
}

func (m *memory) appendLog(e *event.Event, subject string, compared bool, expect uint64) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return 0, ErrClosed
	}
	if compared && m.last[subject] != expect {
		return 0, fmt.Errorf("%w: %d, not %d", ErrConflict, m.last[subject], expect)
	}
	if seq, again := m.ids[e.ID]; again {
		return seq, nil // as a server knows an id for a while, behind the comparison
	}
	seq := uint64(len(m.log)) + 1
	stored := *e
	stored.Stream, stored.Seq = event.Log, seq
	m.log = append(m.log, stored)
	m.last[subject] = seq
	if e.ID != "" {
		m.ids[e.ID] = seq
	}
	m.wake()
	return seq, nil
}

// wake tells every follower; m.mu is held.
func (m *memory) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// Record never blocks; the oldest measurements make room.
func (m *memory) Record(_ context.Context, e *event.Event, done Done) error {
	if e.Object == "" {
		return fmt.Errorf("record %s: a measurement needs an object", e.Kind)
	}
	start := time.Now()
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	if len(m.results) >= memoryResults {
		n := memoryResults / 10
		m.results = slices.Delete(m.results, 0, n)
		m.dropped += uint64(n)
	}
	stored := *e
	stored.Stream, stored.Seq = event.Results, m.dropped+uint64(len(m.results))+1
	m.results = append(m.results, stored)
	m.wake()
	m.mu.Unlock()
	m.counts[event.Results].inFlight.Inc()
	m.counts[event.Results].settle(start, nil)
	if done != nil {
		go done(stored.Seq, nil)
	}
	return nil
}

// end returns the last positions; m.mu is held.
func (m *memory) end() Position {
	return Position{Log: uint64(len(m.log)), Results: m.dropped + uint64(len(m.results))}
}

// Follow hands out copies of what stands behind the position and then waits for
// the next append.
func (m *memory) Follow(ctx context.Context, from Position, fn func([]event.Event) error, caughtUp func()) error {
	m.mu.Lock()
	target := m.end()
	m.mu.Unlock()
	if from.Log > target.Log {
		return fmt.Errorf("follow the log: position %d is behind the end of the log at %d", from.Log, target.Log)
	}
	from.Results = min(from.Results, target.Results)
	for ctx.Err() == nil {
		batch, changed, closed := m.next(from)
		if closed {
			return ErrClosed
		}
		if len(batch) > 0 {
			if err := fn(batch); err != nil {
				return fmt.Errorf("follow the log: %w", err)
			}
			m.metrics.followed.WithLabelValues(batch[0].Stream.String()).Add(float64(len(batch)))
			newest := batch[len(batch)-1]
			if newest.Stream == event.Log {
				from.Log = newest.Seq
			} else {
				from.Results = newest.Seq
			}
		}
		if caughtUp != nil && from.Log >= target.Log && from.Results >= target.Results {
			caughtUp()
			caughtUp = nil
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		}
	}
	return nil
}

// next copies what stands behind a position, one stream at a time, and returns
// the channel that closes at the next append.
func (m *memory) next(from Position) ([]event.Event, <-chan struct{}, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	part := m.log[from.Log:]
	if len(part) == 0 {
		part = m.results[max(from.Results, m.dropped)-m.dropped:]
	}
	return slices.Clone(part[:min(len(part), batchMax)]), m.changed, m.closed
}

func (m *memory) End(context.Context) (Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.end(), nil
}

func (m *memory) EndOf(ctx context.Context, s event.Stream) (uint64, error) {
	at, err := m.End(ctx)
	if s == event.Results {
		return at.Results, err
	}
	return at.Log, err
}

// Opened is the zero position: nothing survives the process.
func (m *memory) Opened() Position { return Position{} }

func (m *memory) LastOf(_ context.Context, id object.ID) (last, compared uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last = m.last[id.Token()]
	return last, last, nil
}

func (m *memory) History(_ context.Context, q Query) ([]event.Event, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	q.ready()
	log := reversed(m.log, q.Object)
	var results []event.Event
	if q.Results {
		results = reversed(m.results, q.Object)
	}
	return q.merge(log, results), nil
}

// reversed returns the events of one object, "" = all, newest first.
func reversed(events []event.Event, id object.ID) []event.Event {
	var out []event.Event
	for i := len(events) - 1; i >= 0; i-- {
		if id == "" || events[i].Object == id {
			out = append(out, events[i])
		}
	}
	return out
}

func (m *memory) SaveSnapshot(_ context.Context, at Position, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := memorySnapshot{at: at, data: slices.Clone(data)}
	m.snapshots = slices.Insert(m.snapshots, 0, s)
	m.snapshots = m.snapshots[:min(len(m.snapshots), snapshotsKept)]
	m.metrics.snapshot.Set(float64(time.Now().Unix()))
	return nil
}

func (m *memory) LoadSnapshot(context.Context) (Position, []byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.snapshots) == 0 {
		return Position{}, nil, ErrNoSnapshot
	}
	return m.snapshots[0].at, slices.Clone(m.snapshots[0].data), nil
}

// Close ends followers and refuses further events; nothing is ever in flight.
func (m *memory) Close(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		m.wake()
	}
	return nil
}
