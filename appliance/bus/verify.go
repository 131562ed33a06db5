package bus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// verifyNewest is how many blocks of a stream are read through at a start after
// a clean stop; the older ones were read through when they were the newest, and
// every follower checks what it reads. Otherwise the server reads all of them
// and cuts what it cannot read, and so all are read here first (of measurements
// the newest GiB: an older loss is counted afterwards, see checkResults).
const verifyNewest = 8

// verifyMost bounds what is read of a derived stream, in bytes: about two seconds.
const verifyMost = 1 << 30

// finding is what a look at one stream's blocks found.
type finding struct {
	store
	blocks []Block
	broken []Block // those with unreadable bytes in front of readable ones
	bad    []span  // positions that these bytes held, as far as that can be told
	inside int     // unreadable bytes in front of readable records
	last   uint64  // last position that can be read
	short  uint64  // positions behind last that the stream had reached
}

// harmed tells whether the stream held something that it holds no more.
func (f *finding) harmed() bool { return f.inside > 0 || f.short > 0 }

// lost counts the positions.
func (f *finding) lost() uint64 {
	n := f.short
	for _, s := range f.bad {
		n += s.To - s.From + 1
	}
	return n
}

func (f *finding) String() string {
	var parts []string
	for i, s := range f.bad {
		if i == 5 {
			parts = append(parts, fmt.Sprintf("and %d more spans", len(f.bad)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("positions %d to %d cannot be read", s.From, s.To))
	}
	if len(f.bad) == 0 && f.inside > 0 {
		parts = append(parts, fmt.Sprintf("%d bytes in the middle cannot be read", f.inside))
	}
	if f.short > 0 {
		had := "acknowledged"
		if f.derived {
			had = "reached"
		}
		parts = append(parts, fmt.Sprintf("it can be read up to position %d, but %d was %s", f.last, f.last+f.short, had))
	}
	return fmt.Sprintf("%s (%d lost)", strings.Join(parts, ", "), f.lost())
}

// sequenced tells whether a missing position of a stream is a loss; in buckets
// newer values replace older ones.
func (g *guard) sequenced(stream string) bool {
	return stream == g.names.Log || stream == g.names.Results
}

// checkBlocks reads the blocks before the server does: the server cuts a block at
// the first record it cannot read, or, trusting its index, does not look. A
// store whose loss nobody accepted is left as it is for whoever restores it;
// otherwise exactly the unreadable bytes are taken out, and what could be wanted
// back is kept aside.
func (g *guard) checkBlocks() error {
	for _, s := range g.stores {
		f, err := g.inspect(s)
		if err != nil {
			return err
		}
		if g.shared {
			f.short = 0 // the others have it
		}
		if !f.harmed() {
			continue
		}
		if g.replicated(s.stream) {
			if err := g.dropReplica(f); err != nil {
				return err
			}
			continue
		}
		if !s.derived && !g.fresh() {
			if err := g.loss(s.stream, "%s", f); err != nil {
				return err
			}
		} else if s.derived {
			g.repaired(damageDerived)
		} else {
			g.repaired(damageMarks)
		}
		aside, err := g.salvage(f)
		if err != nil {
			return fmt.Errorf("take what is left of stream %s: %w", s.stream, err)
		}
		g.salvaged[s.stream] = true
		g.log.Warn("a stream lost data and goes on with what is left", "stream", s.stream, "folder", g.folder(s.stream),
			"why", f.String(), "lost", f.lost(), "damaged_blocks", aside)
	}
	return nil
}

// replicated tells whether other members keep the stream too, as it was when it was
// last looked at.
func (g *guard) replicated(stream string) bool {
	return g.shared && g.known != nil && g.known.Streams[stream].Replicas > 1
}

// dropReplica gives up a damaged copy of a stream that others keep too: the server
// would cut it at the damage and count on what was behind it.
func (g *guard) dropReplica(f *finding) error {
	g.repaired(damageReplica)
	g.log.Warn("the copy of a stream is damaged and is fetched again from the other members", "stream", f.stream, "folder", g.folder(f.stream), "why", f.String())
	if err := os.RemoveAll(g.folder(f.stream)); err != nil {
		return fmt.Errorf("drop the damaged copy of stream %s: %w", f.stream, err)
	}
	return nil
}

// fresh: nothing is known about what the store held.
func (g *guard) fresh() bool { return g.known == nil && g.acked == 0 }

// inspect reads through the blocks of a stream.
func (g *guard) inspect(s store) (*finding, error) {
	f := &finding{store: s, blocks: listBlocks(g.folder(s.stream), s.stream)}
	blocks := f.blocks
	if n := len(blocks); n > verifyNewest && !g.fresh() && !g.accepting && g.indexed(s.stream, blocks) {
		blocks = blocks[n-verifyNewest:]
	}
	for s.derived && len(blocks) > verifyNewest && sizeOf(blocks) > verifyMost {
		blocks = blocks[len(blocks)/4:]
	}
	for _, k := range blocks {
		got, _, err := k.read()
		if err != nil {
			return nil, fmt.Errorf("check log store: %w", err)
		}
		if got.front && g.sequenced(s.stream) {
			if from := g.front(f, k, got); from < got.first {
				f.bad = append(f.bad, span{from, got.first - 1})
			}
		}
		if g.sequenced(s.stream) {
			f.bad = append(f.bad, got.bad...)
		}
		if got.inside > 0 {
			f.broken = append(f.broken, k)
		}
		f.inside += got.inside
		f.last = max(f.last, got.last)
	}
	if want := g.reached(s.stream); g.sequenced(s.stream) && want > f.last {
		f.short = want - f.last
	}
	return f, nil
}

func sizeOf(blocks []Block) uint64 {
	sum := uint64(0)
	for _, k := range blocks {
		sum += k.Size()
	}
	return sum
}

// front returns the position that a block began with before its first bytes
// became unreadable: behind the block in front of it, or where the stream was
// known to begin. Without either it is what the damaged record says, if that can
// be, or the position in front of the first readable one.
func (g *guard) front(f *finding, k Block, got reading) uint64 {
	if f.last > 0 {
		return f.last + 1
	}
	for i := 1; i < len(f.blocks); i++ {
		if f.blocks[i] != k {
			continue
		}
		if before, _, err := f.blocks[i-1].read(); err == nil && before.last > 0 {
			return before.last + 1
		}
	}
	if g.known != nil && g.known.Streams[f.stream].First > 0 {
		return g.known.Streams[f.stream].First
	}
	if k.First > 0 && k.First < got.first {
		return k.First
	}
	return max(got.first, 1) - 1
}

// indexed tells whether the server's index is newer than every block, as it is
// after a clean stop.
func (g *guard) indexed(stream string, blocks []Block) bool {
	index, err := os.Stat(filepath.Join(g.folder(stream), "msgs", indexFile))
	if err != nil {
		return false
	}
	for _, k := range blocks {
		if block, err := os.Stat(k.path); err != nil || block.ModTime().After(index.ModTime()) {
			return false
		}
	}
	return true
}

// highest returns the highest position of the log that is known to be acknowledged: by this
// member's own appends, or as the log was seen last.
func (g *guard) highest() uint64 { return max(g.last.Load(), g.logged.Load()) }

// reached returns the position that a stream is known to have reached.
func (g *guard) reached(stream string) uint64 {
	last := uint64(0)
	if g.known != nil {
		last = g.known.Streams[stream].Last
	}
	if stream == g.names.Log {
		last = max(last, g.acked)
	}
	return last
}
