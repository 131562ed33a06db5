package handover

import (
	"fmt"

	"jaque.sh/jaque/appliance/core/event"
)

// The bounds of a configuration, and how much more may happen in the end.
const (
	mostEngines = 3
	mostObjects = 2
	mostEvents  = 6 // on the log or in flight
	mostViews   = 7
	moreEvents  = 2
	moreViews   = 5
)

// world is one state of everything: the log, the store with every view that was ever
// published, the network and what each engine remembers. It is a value without pointers.
type world struct {
	log    [mostEvents + moreEvents]entry
	net    [mostEvents + moreEvents]entry // what is in flight, sorted, no two alike
	views  [mostViews + moreViews]record
	engine [mostEngines]engine
	nlog   uint8
	nnet   uint8
	nviews uint8
	lost   bool // the store holds no view record
	resets uint8

	removed  [mostObjects]uint8 // up to where retention has removed an object's events
	removals uint8
}

// entry is an event: on the log, or in flight with what the log is to compare.
type entry struct {
	object, writer uint8
	epoch, prev    uint8
	body           uint16 // status and measure, see bodies
	own            bool   // of the job that the writer has outstanding for the object
	former         bool   // of an earlier decision of that job, under another id
	expect         uint8  // in flight: compared with the object's last position
	awaited        bool   // in flight: the writer waits for the answer
}

// record is a published view: its epoch and a bit for each member.
type record struct{ epoch, members uint8 }

// engine is one process; all of it is zero while it does not run.
type engine struct {
	up   bool
	cut  bool  // it does not reach the store
	view uint8 // index of the adopted view + 1, 0 = not registered
	with uint8 // index + 1 of the view whose members it acts with: view, unless they come apart
	pos  uint8 // last position read
	held [mostObjects]held
}

// held is what an engine holds of one object.
type held struct {
	body  uint16
	past  uint32 // positions that were folded, oldest first, four bits each
	sub   uint8
	fence uint8
	acked uint8 // position of the newest own write that was acknowledged (engines without Write)
	write outstanding
}

// outstanding is an append whose event was not read back.
type outstanding struct {
	phase          phase
	refused, asked bool
	expect, until  uint8
	epoch, prev    uint8
	body           uint16
}

// phase is what the shell around a Write waits for.
type phase uint8

const (
	free      phase = iota // there is no write
	flying                 // an answer to the append
	asking                 // an answer about the last position
	repeating              // the pause before the same message goes out again
	waiting                // the tail
)

// value returns the Write that is remembered.
func (o *outstanding) value() Write {
	return Write{
		Stream: event.Log, Expect: uint64(o.expect),
		refused: o.refused, asked: o.asked, until: uint64(o.until), compared: uint64(o.until),
	}
}

// keep remembers what became of the Write. The number of tries only lengthens pauses.
func (o *outstanding) keep(w Write) {
	o.expect, o.refused, o.asked, o.until = uint8(w.Expect), w.refused, w.asked, uint8(w.until)
}

// last returns the newest folded position, 0 if there is none.
func (h *held) last() uint8 { return uint8(h.past & 15) }

func (h *held) folded(at uint8) { h.past = h.past<<4 | uint32(at) }

// has tells whether a position was folded.
func (h *held) has(at uint8) bool {
	for p := h.past; p != 0; p >>= 4 {
		if uint8(p&15) == at {
			return true
		}
	}
	return false
}

// room is how many events may still be written within a bound.
func (w *world) room(bound int) bool { return int(w.nlog+w.nnet) < bound }

// adopt lets an engine act on the view with an index.
func (g *engine) adopt(index uint8) { g.view, g.with = index+1, index+1 }

// current is the index of the present view record.
func (w *world) current() uint8 { return w.nviews - 1 }

// view is the view an engine acts on; the zero record before it is registered.
func (w *world) view(e uint8) record {
	if w.engine[e].view == 0 {
		return record{}
	}
	g := &w.engine[e]
	return record{epoch: w.views[g.view-1].epoch, members: w.views[g.with-1].members}
}

// lastOf is the last position of an object's subject that is still kept.
func (w *world) lastOf(o uint8) uint8 {
	for i := w.nlog; i > w.removed[o]; i-- {
		if w.log[i-1].object == o {
			return i
		}
	}
	return 0
}

func (w *world) append(e entry) (at uint8) {
	e.expect, e.awaited = 0, false
	w.log[w.nlog] = e
	w.nlog++
	return w.nlog
}

// send puts a message into the network, where equal ones are one.
func (w *world) send(e entry) {
	at := 0
	for at < int(w.nnet) {
		switch c := compare(&w.net[at], &e); {
		case c == 0:
			return
		case c > 0:
			copy(w.net[at+1:w.nnet+1], w.net[at:w.nnet])
			w.net[at] = e
			w.nnet++
			return
		}
		at++
	}
	w.net[at] = e
	w.nnet++
}

func (w *world) take(i uint8) entry {
	e := w.net[i]
	copy(w.net[i:], w.net[i+1:w.nnet])
	w.nnet--
	w.net[w.nnet] = entry{}
	return e
}

// rewrite changes messages in flight and keeps them sorted.
func (w *world) rewrite(change func(*entry) (keep bool)) {
	old, n := w.net, w.nnet
	w.net, w.nnet = [mostEvents + moreEvents]entry{}, 0
	for i := range n {
		if change(&old[i]) {
			w.send(old[i])
		}
	}
}

func (e *entry) key() uint64 {
	k := uint64(e.object)<<56 | uint64(e.writer)<<52 | uint64(e.epoch)<<40 | uint64(e.prev)<<36 | uint64(e.body)<<16 | uint64(e.expect)<<8
	if e.own {
		k |= 1
	}
	if e.awaited {
		k |= 2
	}
	if e.former {
		k |= 4
	}
	return k
}

func compare(a, b *entry) int {
	switch x, y := a.key(), b.key(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// names of engines and objects in traces.
const engineNames = "ABC"

func (e *entry) String() string {
	name := fmt.Sprintf("w(%c,%d,%d)", engineNames[e.writer], e.epoch, e.prev)
	if e.object > 0 {
		name += "'"
	}
	return name
}
