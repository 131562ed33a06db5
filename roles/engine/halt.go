package engine

import "time"

// A process that was stopped for a while, or whose heartbeats do not arrive, may have been
// declared dead without knowing it. Its appends would be refused by the log; its checks
// would run once more than they should. While it cannot be sure, it begins with nothing.

// haltLook is how often an engine that is halted looks again.
const haltLook = 50 * time.Millisecond

// halted tells whether this engine must not act as a member by its own clock. One that
// is out of the view on purpose owns nothing, and passes on what it is asked for.
func (e *Engine) halted() bool {
	sh := &e.state.sharing
	out := (sh.drill.away() || sh.gaveUp) && !e.View().Has(e.member())
	return e.opt.Halted != nil && !out && e.opt.Halted()
}

// hold keeps a decision back until the engine may act again.
func (e *Engine) hold(key int32, p *pending) {
	p.behind = true
	e.state.pending[key] = p
	e.state.sharing.gap.keys = append(e.state.sharing.gap.keys, key)
}

// lookAtHalt says when the engine is halted, and decides what was held back when it may
// act again.
func (e *Engine) lookAtHalt() {
	if e.state.sharing.drill.away() {
		return // no heartbeat is sent
	}
	was := e.state.halt
	e.state.halt = e.state.live && !e.state.stopped && e.halted()
	switch {
	case e.state.halt == was:
	case e.state.halt:
		e.log.Warn("no heartbeat has succeeded for so long that others may take over: nothing is started until one does")
	default:
		e.log.Info("a heartbeat has succeeded, the work goes on", "waited", len(e.state.sharing.gap.keys))
		e.retryBehind()
	}
}
