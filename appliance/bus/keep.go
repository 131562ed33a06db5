package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// stored raises the acknowledged position and wakes the writer.
func (g *guard) stored(seq uint64) {
	for {
		old := g.last.Load()
		if seq <= old {
			return
		}
		if g.last.CompareAndSwap(old, seq) {
			break
		}
	}
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// keep writes the acknowledged position whenever it moved, and marks every ten
// seconds while any stream moves.
func (g *guard) keep(ctx context.Context, js jetstream.JetStream) {
	defer close(g.done)
	mark := time.NewTicker(marksRefresh)
	defer mark.Stop()
	var synced time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-mark.C:
			g.keepMarks(ctx, js)
			continue
		case <-g.wake:
		}
		now := time.Now()
		if err := g.writeAck(now.Sub(synced) >= ackSync); err != nil {
			g.log.Error("the acknowledged position cannot be written, a loss might go unnoticed", "folder", g.data, "err", err)
		} else if now.Sub(synced) >= ackSync {
			synced = now
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(ackPause):
		}
	}
}

// keepMarks writes marks if the log or the measurements moved since.
func (g *guard) keepMarks(ctx context.Context, js jetstream.JetStream) {
	if !g.quorum() {
		return // nothing moves, and nobody answers
	}
	for _, s := range g.stores {
		if !g.sequenced(s.stream) {
			continue
		}
		stream, err := js.Stream(ctx, s.stream)
		if err == nil && stream.CachedInfo().State.LastSeq == g.known.Streams[s.stream].Last {
			continue
		}
		if err == nil {
			err = g.refresh(ctx, js)
		}
		if err != nil && ctx.Err() == nil {
			g.log.Error("marks of the log store cannot be written, a loss might go unnoticed", "folder", g.data, "err", err)
		}
		return
	}
}

func (g *guard) writeAck(sync bool) error {
	if _, err := g.file.WriteAt(ackLine(g.last.Load()), 0); err != nil {
		return err
	}
	if !sync {
		return nil
	}
	return g.file.Sync()
}

// stop ends keeping and writes exact marks, while the server still answers. It
// does nothing if the start never got as far as to trust the store.
func (g *guard) stop(ctx context.Context, js jetstream.JetStream) {
	g.once.Do(func() {
		if g.cancel == nil {
			return
		}
		g.cancel()
		<-g.done
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err := g.writeAck(true)
		if g.quorum() {
			err = errors.Join(err, g.refresh(ctx, js))
		}
		if err != nil {
			g.log.Warn("marks of the log store were not written at stop", "folder", g.data, "err", err)
		}
	})
}

func (g *guard) close() error {
	if g == nil {
		return nil
	}
	return g.file.Close()
}
