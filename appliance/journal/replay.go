package journal

import (
	"context"
	"sync"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/core/event"
)

// replayReaders is how many blocks are decoded at once, typicalRecord how many
// bytes a measurement takes on disk.
const (
	replayReaders = 2
	typicalRecord = 400
)

// replayed is what one block gave.
type replayed struct {
	events  []event.Event
	first   uint64 // position of the first and of the last record read,
	last    uint64 // 0 if there was none
	broken  bool   // the block holds something that only the server can explain
	skipped []passed
}

// passed is a position without an event.
type passed struct {
	seq uint64
	err error // why
}

// replay reads a stream's blocks up to what is known to be stored and returns
// the next position. It only takes what leaves no question: every record checked
// and every position there. At the first doubt it stops, and the consumer goes
// on from that position. With an external server it reads nothing.
func (t *tail) replay(ctx context.Context, next, target uint64) uint64 {
	if next > target {
		return next
	}
	blocks := t.j.bus.Blocks(t.name)
	for len(blocks) > 1 && blocks[1].First <= next {
		blocks = blocks[1:]
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for r := range decodeAhead(ctx, blocks, t.stream, next, target) {
		got := <-r
		if got.first != 0 && got.first != next {
			return next
		}
		if got.first != 0 {
			next = got.last + 1
		}
		for _, p := range got.skipped {
			t.passOver(p.seq, p.err)
		}
		if len(got.events) > 0 || got.last > 0 {
			t.box.put(t.stream, next-1, got.events...)
		}
		if got.broken || next > target || ctx.Err() != nil {
			return next
		}
	}
	return next
}

// decodeAhead decodes blocks on several goroutines and yields their results in
// order.
func decodeAhead(ctx context.Context, blocks []bus.Block, s event.Stream, from, target uint64) <-chan chan replayed {
	out := make(chan chan replayed, replayReaders-1)
	go func() {
		defer close(out)
		var running sync.WaitGroup
		defer running.Wait()
		for _, k := range blocks {
			r := make(chan replayed, 1)
			select {
			case out <- r:
			case <-ctx.Done():
				return
			}
			running.Go(func() { r <- decodeBlock(k, s, from, target) })
		}
	}()
	return out
}

// decodeBlock decodes the events of a block between two positions. It stops in
// front of whatever is not the next position.
func decodeBlock(k bus.Block, s event.Stream, from, target uint64) (r replayed) {
	r.events = make([]event.Event, 0, min(k.Size()/typicalRecord, target-from+1))
	err := k.Scan(func(seq uint64, headers, data []byte) bool {
		if seq < from {
			return true
		}
		if seq > target {
			return false
		}
		if r.last != 0 && seq != r.last+1 {
			r.broken = true
			return false
		}
		if r.first == 0 {
			r.first = seq
		}
		r.last = seq
		r.events = append(r.events, event.Event{})
		e := &r.events[len(r.events)-1]
		if err := decodeStored(headers, data, e); err != nil {
			r.events = r.events[:len(r.events)-1]
			r.skipped = append(r.skipped, passed{seq, err})
			return true
		}
		e.Stream, e.Seq = s, seq
		return true
	})
	r.broken = r.broken || err != nil
	return r
}
