package projection

import (
	"encoding/binary"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/program"
)

// Program returns what operators set for the whole program, as far as it is
// folded. It is never nil and never changed.
func (p *Projection) Program() *program.State { return p.program.Load() }

// applyProgram folds an event about the whole program.
func (p *Projection) applyProgram(e *event.Event) fold.Outcome {
	next, outcome := program.Apply(*p.program.Load(), e)
	p.program.Store(&next)
	if r := e.Program.Rule; r != nil && outcome == fold.Accepted {
		p.index.mu.Lock()
		p.index.highest.Downtime = max(p.index.highest.Downtime, r.Number)
		p.index.mu.Unlock()
	}
	return outcome
}

func appendRecord(dst, record []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(record))), record...)
}
