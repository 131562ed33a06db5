package fold

import (
	"bytes"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// New returns the state of an object that was never checked: hard, attempt 1,
// in its initial state; an initial problem counts as hard at once.
func New(o *object.Object) State {
	s := State{}
	s.Status.State = o.Rule.Initial
	s.Status.LastHard = o.Rule.Initial
	s.Status.MaxAttempts = attempts(o)
	s.Status.Attempt = 1
	if o.Rule.Initial != object.OK {
		s.Status.Attempt = s.Status.MaxAttempts
	}
	return s
}

// Apply folds one event of the object into its state, as the handover
// protocol's fold defines (§3): an event of an older epoch is stale, one decided
// on another base is a conflict and still raises the fence, else the event's
// state is the state. Measurements are not ordered by position but by epoch and
// number, see event.Measure.
func Apply(s State, e *event.Event) (State, Outcome) {
	if e.Stream == event.Results {
		return applyMeasure(s, e)
	}
	if e.Kind.Outcome() {
		// It stands on a subject of its own and moves no position of the object's.
		return s, Accepted
	}
	if e.Seq != 0 && e.Seq <= s.Sub {
		return s, Repeated
	}
	first := s.Sub == 0
	s.Sub = e.Seq
	if e.Epoch < s.Fence {
		return s, Stale
	}
	s.Fence = e.Epoch
	// The first event seen of an object is its base whatever it was decided on:
	// a writer's first event has no base, so another one means that retention
	// has removed what was before.
	if e.Prev != s.Last && !first {
		return s, Conflict
	}
	s.Last = e.Seq
	if e.Status == nil {
		return s, Unknown
	}
	s.Status = *e.Status
	if e.Measure != nil && newer(e.Measure, &s.Measure) {
		s.Measure = *e.Measure
	}
	return s, Accepted
}

func applyMeasure(s State, e *event.Event) (State, Outcome) {
	if e.Measure == nil {
		return s, Unknown
	}
	if !newer(e.Measure, &s.Measure) {
		return s, Repeated
	}
	s.Measure = *e.Measure
	return s, Accepted
}

// newer orders measures by epoch and number. Two different ones with the same
// number exist only if a decision was made again after a refused append; then
// the encoded text decides, so that the order of arrival never does.
func newer(a, b *event.Measure) bool {
	switch {
	case a.Epoch != b.Epoch:
		return a.Epoch > b.Epoch
	case a.N != b.N:
		return a.N > b.N
	case *a == *b:
		return false
	}
	return bytes.Compare(event.AppendMeasure(nil, a), event.AppendMeasure(nil, b)) > 0
}
