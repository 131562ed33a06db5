package bus

import "fmt"

// verifyNewest is how many blocks of the log are read through at a start; the
// older ones were read through when they were the newest, and every follower
// checks what it reads.
const verifyNewest = 8

// checkBlocks reads the newest blocks of the log before the server does: the
// server cuts a block at the first record it cannot read, or, trusting its
// index, does not look. Nothing is changed here, so that a damaged store is left
// as it is for whoever restores it.
func (g *guard) checkBlocks() error {
	stream := g.names.Log
	blocks := listBlocks(g.folder(stream), stream)
	fresh := g.known == nil && g.acked == 0
	if n := len(blocks); n > verifyNewest && !fresh {
		blocks = blocks[n-verifyNewest:]
	}
	var bad []span
	last := uint64(0)
	for i, k := range blocks {
		spans, end, err := k.damaged()
		if err != nil {
			return fmt.Errorf("check log store: %w", err)
		}
		if i+1 < len(blocks) && end+1 < blocks[i+1].First {
			spans = append(spans, span{end + 1, blocks[i+1].First - 1})
		}
		bad, last = append(bad, spans...), end
	}
	if fresh {
		g.unreadable = bad
		if len(bad) > 0 {
			g.repaired(damageMarks)
			g.log.Warn("positions of the log cannot be read, and their loss was accepted", "folder", g.folder(stream), "spans", bad)
		}
		return nil
	}
	if g.known != nil {
		g.unreadable = g.known.Unreadable
	}
	for _, s := range bad {
		// Behind what was acknowledged a power cut may leave anything; the server
		// cuts it off.
		if s.From <= g.reached() && !g.acceptedAll(s) {
			return g.loss(stream, "positions %d to %d cannot be read", s.From, s.To)
		}
	}
	if want := g.reached(); len(blocks) > 0 && last < want && !g.acceptedAll(span{last + 1, want}) {
		return g.loss(stream, "the log can be read up to position %d, but %d was acknowledged", last, want)
	}
	return nil
}

// reached returns the position that the log is known to have reached.
func (g *guard) reached() uint64 {
	if g.known == nil {
		return g.acked
	}
	return max(g.acked, g.known.Streams[g.names.Log].Last)
}

// acceptedAll tells whether an operator accepted the loss of all positions of s.
func (g *guard) acceptedAll(s span) bool {
	for _, a := range g.unreadable {
		if s.From >= a.From && s.To <= a.To {
			return true
		}
	}
	return false
}

// AcceptedLoss tells whether an operator accepted that a position of the log
// cannot be read.
func (b *Bus) AcceptedLoss(seq uint64) bool {
	return b.embed != nil && b.embed.guard.acceptedAll(span{seq, seq})
}
