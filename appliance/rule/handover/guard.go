package handover

import (
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// Verdict says whether a decision about an object may be made and written now.
type Verdict uint8

// The verdicts of May. All but Granted forbid the decision.
const (
	Granted     Verdict = iota
	Replaying           // the log has not been read up to where it stood at the start
	NotOwner            // the view gives the object to another member, or to none
	Outstanding         // the object's last append has not come back from the log
	Behind              // the log holds a newer epoch of the object: a newer view is needed
)

// String returns the verdict in one word.
func (v Verdict) String() string {
	return [...]string{"granted", "replaying", "not owner", "outstanding", "behind"}[v]
}

// Writer is the engine that wants to write.
type Writer struct {
	ID       string          // engine id
	View     membership.View // the adopted one; the zero View before registration
	Replayed bool            // the log was read up to where it stood at the start
}

// May is the guard of a write (handover protocol §4.1). outstanding tells whether an
// append of the object was begun and neither came back from the log nor was given up.
// It holds at the moment of the decision; nothing is looked at again when the append
// goes out, because the log compares the object's last position.
func (w *Writer) May(id object.ID, st *fold.State, outstanding bool) Verdict {
	switch {
	case !w.Replayed:
		return Replaying
	case len(w.View.Members) == 0 || w.View.Owner(string(id)) != w.ID:
		return NotOwner
	case outstanding:
		return Outstanding
	case Newest(st) > w.View.Epoch:
		return Behind
	}
	return Granted
}

// Newest returns the newest epoch that was seen of an object, on the log or with a
// measurement.
func Newest(st *fold.State) uint64 { return max(st.Fence, st.Measure.Epoch) }
