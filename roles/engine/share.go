package engine

import (
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// What a view gives to this engine is in its schedule, what it takes away is not. An
// entry is ours while it is planned; that follows the view in pieces, so that a change
// of 100,000 objects holds up no check. Whoever decides asks the view itself.

// Sizes of a takeover.
const (
	// takeoverSpread is within which time checks start that became due while nobody
	// ran them, up to takeoverBurst of them; more take as much longer.
	takeoverSpread = 500 * time.Millisecond
	takeoverBurst  = 2000
	pieceGains     = 64 // objects that one piece of the work begins with
)

// owns tells whether this engine writes an object.
func (e *Engine) owns(id object.ID) bool { return e.view.Load().Owner(string(id)) == e.opt.ID }

// claim puts an entry among those that are planned.
func (e *Engine) claim(ent *entry) {
	if !ent.ours {
		ent.ours = true
		e.owned.Add(1)
	}
}

// disown takes an entry out of those that are planned. A check of it that runs ends by
// itself, and its result is dropped.
func (e *Engine) disown(key int32) {
	ent := &e.state.entries[key]
	if ent.ours {
		ent.ours = false
		e.owned.Add(-1)
	}
	e.state.queue.Remove(key)
}

// release is the chore that takes what was lost out of the schedule. What is due before
// it comes to that is noticed then.
type release struct{ at, lost int }

func (*release) name() string { return "release" }

func (r *release) step(e *Engine, _ object.Time) bool {
	end := min(r.at+pieceLooks, len(e.state.entries))
	for ; r.at < end; r.at++ {
		if ent := &e.state.entries[r.at]; ent.obj != nil && ent.ours && !e.owns(ent.obj.ID) {
			e.disown(int32(r.at))
			r.lost++
		}
	}
	if r.at < len(e.state.entries) {
		return false
	}
	if r.lost > 0 {
		e.log.Info("objects were given away", "objects", r.lost, "owned", e.owned.Load())
	}
	return true
}

// takeover is the chore that begins with what was gained.
type takeover struct {
	began           object.Time
	at              int
	gained, overdue int
}

func (*takeover) name() string { return "takeover" }

func (t *takeover) step(e *Engine, now object.Time) bool {
	if !e.state.sharing.passed {
		return true // the view has changed again: another one begins behind its barrier
	}
	end := min(t.at+pieceLooks, len(e.state.entries))
	for work, gained := 0, t.gained; t.at < end && work < pieceDecisions && t.gained-gained < pieceGains; t.at++ {
		if ent := &e.state.entries[t.at]; ent.obj != nil && !ent.ours && e.owns(ent.obj.ID) {
			work += t.gain(e, int32(t.at), now)
		}
	}
	if t.at < len(e.state.entries) {
		return false
	}
	e.reconcileAll()
	if t.gained > 0 {
		e.log.Info("objects were taken over", "objects", t.gained, "overdue", t.overdue, "owned", e.owned.Load(),
			"took", now.Sub(e.state.sharing.adopted))
	}
	return true
}

// gain begins with one object: it is planned, and what its owner before owed it is made
// up for. It returns the number of decisions.
func (t *takeover) gain(e *Engine, key int32, now object.Time) (decisions int) {
	ent := &e.state.entries[key]
	e.claim(ent)
	t.gained++
	e.gained(key, now)
	e.planGained(key, now, t)
	e.metrics.handover.Observe(now.Sub(e.state.sharing.adopted).Seconds())
	if e.reroot(key) {
		decisions++
	}
	if e.makeUpMissed(key) {
		decisions++
	}
	e.reviewSettings(key, now)
	e.owedCheck(key, now)
	return decisions
}

// planGained plans an object that was another's. A check that is overdue starts soon,
// but not together with all others, and not later than its place on the grid.
func (e *Engine) planGained(key int32, now object.Time, t *takeover) {
	e.plan(key, now)
	due, ok := e.state.queue.Due(key)
	if !ok || due > now {
		return
	}
	work, since := e.due(key, now)
	if work != fold.RunCheck && work != fold.ForceCheck {
		return
	}
	slot := e.slot(key, now)
	if work == fold.RunCheck && !e.proj.State(e.state.entries[key].obj.ID).Status.Checked {
		e.state.queue.Set(key, slot) // nobody owes a first check
		return
	}
	e.metrics.handoverGap.Observe(now.Sub(since).Seconds())
	place := t.began.Add(takeoverPlace(t.overdue))
	t.overdue++
	e.state.queue.Set(key, min(place, slot))
}

// takeoverPlace returns how long the check with a number of those that are overdue
// waits. Neighbours in the config are far apart.
func takeoverPlace(n int) time.Duration {
	const parts, step = 1000, 617
	part := time.Duration(n * step % parts)
	return time.Duration(n/takeoverBurst)*takeoverSpread + part*takeoverSpread/parts
}

// owedCheck starts the check of a host that a service's trouble asked for while nobody
// cared for the host: one that is only checked on demand would never be.
func (e *Engine) owedCheck(key int32, now object.Time) {
	host := e.state.entries[key].obj
	if host.Host != nil || len(host.Services) == 0 {
		return
	}
	last := e.proj.State(host.ID).Measure.LastCheck
	for _, o := range host.Services {
		st := &e.proj.State(o.ID).Status
		if since := st.LastChange.Add(-owedWithin); st.State != object.OK && since > last {
			e.demand(key, since, now)
			return
		}
	}
}

// owedWithin is how old a host's result may be when a service's trouble begins, to tell
// of that too.
const owedWithin = 15 * time.Second
