package handover

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
)

// Write is the one outstanding append of an object. It begins with a decision and ends
// when the log has brought its event back; an acknowledgement ends nothing, since the
// state comes from the log only. It is a value: each method returns what became of it
// and what to do next.
type Write struct {
	// Stream is where the event of the decision stands: the log, or the results where
	// nothing but a measurement was decided, which is compared with nothing.
	Stream event.Stream
	// Expect is the position with which the log compares the object's last one.
	Expect uint64
	// Tries counts the appends that were sent for the job, decided again or not.
	Tries int
	// Discarded counts those that stand on the log and are discarded by every reader.
	// The log takes an id only once, so that another decision needs another.
	Discarded int

	refused  bool   // the append was refused: it is decided again behind until
	asked    bool   // until is known
	until    uint64 // the object's last position when it was asked for
	compared uint64 // with what the log compared then
}

// Do is what to do next about an outstanding append.
type Do uint8

// What there is to do.
const (
	Wait   Do = iota // nothing: the log, or who was asked, will answer
	Ask              // read the object's last position after a pause, then call Last
	Repeat           // send the identical message again after a pause
	Decide           // decide the job again on the present state, under the same id unless its event was discarded, and append it at Base
	Done             // the decision is in: the object is free
)

// String returns what to do in one word.
func (d Do) String() string { return [...]string{"wait", "ask", "repeat", "decide", "done"}[d] }

// Next is what to do next.
type Next struct {
	Do    Do
	After time.Duration // the pause of Ask and Repeat
	Base  uint64        // what the append of Decide expects
}

// askAgain is the pause after the last position could not be read.
const askAgain = time.Second

// Begin returns the write of a decision that was just made. base is the state's Sub,
// the last position read of the object, accepted or not; for a job that is decided
// again it is Next.Base and w is what became of its last append.
func (w Write) Begin(s event.Stream, base uint64) Write {
	return Write{Stream: s, Expect: base, Tries: w.Tries, Discarded: w.Discarded}
}

// Sent counts an append that goes out.
func (w Write) Sent() Write {
	w.Tries++
	return w
}

// Acked takes the position that the append got. It changes no state: the decision takes
// effect when it is read back. Only a position that was read before proves something,
// namely that the log knew the id already: a repeated command is in.
func (w Write) Acked(seq uint64, st *fold.State) (Write, Next) {
	if w.Stream == event.Log && seq <= st.Sub {
		return w, Next{Do: Done}
	}
	return w, Next{}
}

// Refused takes note that the object's last position is another than Expect. That never
// proves that the append did not land: an earlier try may have. So the last position is
// asked for, and the job is decided again only when the tail has reached it.
func (w Write) Refused() (Write, Next) {
	w.refused = true
	return w, Next{Do: Ask, After: Backoff(w.Tries)}
}

// Failed takes note that the outcome of the append is not known. The only thing that
// may be sent then is the identical message.
func (w Write) Failed() (Write, Next) {
	return w, Next{Do: Repeat, After: Backoff(w.Tries + 1)}
}

// Unanswered takes note that the last position could not be read.
func (w Write) Unanswered() (Write, Next) {
	return w, Next{Do: Ask, After: askAgain}
}

// missedAfter is how long a measurement may stay away before it counts as lost.
const missedAfter = 30 * time.Second

// Missed tells whether the event, last sent so long ago, is to be sent again although
// nothing went wrong. A decision is safe once it is acknowledged; a measurement is not.
// It may be written twice, readers keep the newest by its number.
func (w Write) Missed(since time.Duration) bool {
	return w.Stream == event.Results && since >= missedAfter
}

// Last takes the object's last position and the one with which the log compares the
// next append, which differ where something that is no event stands behind.
func (w Write) Last(last, compared uint64, st *fold.State) (Write, Next) {
	if !w.refused {
		return w, Next{}
	}
	w.asked, w.until, w.compared = true, last, compared
	return w, w.again(st)
}

// Seen takes an event about the object that was just folded into st, with what the fold
// did; own tells whether it has the id of the job's decision. A job that is decided again
// keeps its id unless its event was discarded, so that it is not done twice.
func (w Write) Seen(own bool, e *event.Event, outcome fold.Outcome, st *fold.State) (Write, Next) {
	switch {
	case own && e.Stream == event.Log && outcome == fold.Accepted:
		// Perhaps an earlier append of the job, that landed late.
		return w, Next{Do: Done}
	case own && e.Stream == event.Results && w.Stream == e.Stream:
		// A measurement that is not the newest any more is in as well.
		return w, Next{Do: Done}
	case own && e.Stream == event.Log && w.Stream == e.Stream:
		// Another writer was first: decide again on what holds now.
		w.refused, w.asked, w.until, w.compared = true, true, e.Seq, e.Seq
		w.Discarded++
		return w, w.again(st)
	case w.refused && w.asked:
		return w, w.again(st)
	}
	return w, Next{}
}

// again lets a refused job be decided anew once the tail has reached the position that
// refused it. Where retention has emptied the object's subject since, the log compares
// with an older position or 0, and with a newer one where something that is no event
// stands behind the last decision: that is the base then.
func (w Write) again(st *fold.State) Next {
	switch {
	case st.Sub < w.until:
		return Next{}
	case w.until < st.Sub || w.compared > w.until:
		return Next{Do: Decide, Base: w.compared}
	}
	return Next{Do: Decide, Base: st.Sub}
}

const (
	firstPause = 100 * time.Millisecond
	mostPause  = 5 * time.Second
)

// Backoff returns the pause before the try that follows so many: none before the first
// repetition, then doubling from 100 ms to 5 s.
func Backoff(tries int) time.Duration {
	if tries <= 1 {
		return 0
	}
	return min(firstPause<<min(tries-2, 10), mostPause)
}
