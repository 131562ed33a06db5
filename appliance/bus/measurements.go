package bus

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// measurementsAhead is how far a member goes on behind the last position of the
// measurements that it knows of, when it makes them anew and did not see the end itself:
// more than are written between two looks. No position stands for two measurements.
const measurementsAhead = 1 << 20

// measurements is what a member knows of the stream of measurements, the only one that is
// ever deleted: it gets its replicas by being made anew.
type measurements struct {
	mu    sync.Mutex
	last  uint64 // position that was seen
	gone  bool   // this member deleted the stream, and has not made it again
	since time.Time
}

// there notes that the stream is there and ends at a position.
func (m *measurements) there(last uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.gone, m.since = last, false, time.Time{}
}

// deleted notes that this member deletes the stream, which ends at a position.
func (m *measurements) deleted(last uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.gone = last, true
}

// missing notes that the stream is not there. It returns with which position it goes on,
// and whether it is this member's turn to make it: at once if this member deleted it, else
// only after a while, in which whoever did may still do so.
func (m *measurements) missing(marked uint64) (first uint64, turn bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone {
		return m.last + 1, true
	}
	if m.since.IsZero() {
		m.since = time.Now()
	}
	return max(m.last, marked) + measurementsAhead, time.Since(m.since) >= leadersTurn
}

// remake makes the measurements anew when they are missing among all streams: whoever
// deleted them to give them replicas could not make them again, or does not lead any more.
// Until they are there nothing is measured, and who joins waits for them.
func (p *peering) remake(ctx context.Context, all []*jetstream.StreamInfo) error {
	name := p.b.names.Results
	if i := slices.IndexFunc(all, func(i *jetstream.StreamInfo) bool { return i.Config.Name == name }); i >= 0 {
		p.measured.there(all[i].State.LastSeq)
		return nil
	}
	first, turn := p.measured.missing(p.b.embed.guard.measured.Load())
	if !turn || !p.without(ctx, name) {
		return nil
	}
	c := p.b.shape(resultsStream(p.b.names, p.b.opts.Retention), nil)
	c.FirstSeq = first
	if _, err := p.b.js.CreateStream(ctx, c); err != nil {
		return fmt.Errorf("make stream %s anew, which is missing: %w", name, err)
	}
	p.measured.there(first - 1)
	p.b.log.Warn("a stream was missing and was made anew", "stream", name, "replicas", c.Replicas, "next", first)
	return nil
}

// without tells whether the cluster says that it has no such stream: the list leaves out
// one that has no leader.
func (p *peering) without(ctx context.Context, stream string) bool {
	ctx, cancel := context.WithTimeout(ctx, adjustPause)
	defer cancel()
	c, err := streamConfig(ctx, p.b.js, stream)
	return err == nil && c == nil
}
