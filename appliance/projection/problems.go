package projection

import (
	"sort"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// problems is the index of objects whose present state is a problem, so that
// a list of them costs what they are, not what all objects are. It is guarded
// by the lock of the counters, beside which it is kept.
type problems map[object.ID]struct{}

func isProblem(s *fold.State) bool { return s.Status.Checked && s.Status.State != object.OK }

func (l problems) move(id object.ID, old, next *fold.State) {
	switch was, is := isProblem(old), isProblem(next); {
	case was && !is:
		delete(l, id)
	case is && !was:
		l[id] = struct{}{}
	}
}

// Problems returns the configured objects that were checked and whose state is
// neither OK nor UP, soft or hard, sorted by ID.
func (p *Projection) Problems() []Item {
	p.counts.mu.Lock()
	ids := make([]object.ID, 0, len(p.counts.problems))
	for id := range p.counts.problems {
		ids = append(ids, id)
	}
	p.counts.mu.Unlock()
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	out := make([]Item, 0, len(ids))
	for _, id := range ids {
		// The state may have moved on since the index was read.
		if item, ok := p.Get(id); ok && isProblem(item.State) {
			out = append(out, item)
		}
	}
	return out
}
