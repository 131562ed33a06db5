package audit

import "fmt"

// bounds are the positions between which the log must be whole, as is known beside what
// was read.
type bounds struct {
	first, last uint64 // positions; 0 = not known
	// Why those must be there, and what to do about it.
	whyFirst, whyLast string
	err               error // why something is not known that should be
}

// damage takes bytes that cannot be read, in front of a message that follows.
func (r *run) damage(err error) {
	if r.damaged != nil {
		err = fmt.Errorf("%w; %w", r.damaged, err)
	}
	r.damaged = err
}

// damages tells of such bytes when the message is there. The first of the positions that
// are missing in front of it, if any are, is told with them.
func (r *run) damages(seq uint64) {
	why := r.damaged
	r.damaged = nil
	switch {
	case why == nil:
	case r.reached != 0 && seq > r.reached+1:
		r.reached++
		r.Unreadable(r.reached, why)
	default:
		r.Damaged(seq, why)
	}
}

// end compares what was read with what must be there.
func (r *run) end(b bounds) {
	if b.err != nil {
		r.Damaged(0, b.err)
	}
	if b.first > 0 {
		r.Begins(b.first, b.whyFirst)
	}
	to := max(b.last, r.gone)
	switch {
	case r.reached == 0 && r.gone >= b.last:
		return // everything was removed
	case r.reached > 0 && to > r.reached:
		r.Removed(r.reached+1, to, r.from.gap(r.reached+1, to))
	}
	why := b.whyLast
	if r.damaged != nil {
		why = fmt.Sprintf("%s; %v", why, r.damaged)
	}
	r.Reaches(to, why)
}
