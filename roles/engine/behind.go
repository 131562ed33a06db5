package engine

import (
	"context"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/handover"
	"jaque.sh/jaque/appliance/rule/membership"
)

// membershipGap is what waits because the log holds a newer epoch than the view.
type membershipGap struct {
	marked uint64  // newest epoch of a view that the log tells of
	newest uint64  // newest epoch that something waits for
	asking bool    // the store is being asked
	keys   []int32 // objects whose decisions wait
}

// repaired is what became of a look at the store.
type repaired struct {
	view  membership.View
	asked membership.View // what was adopted then
	above uint64          // the view was to be above this epoch
	err   error
}

// Times of the look at the store.
const (
	repairPatience = 10 * time.Second
	repairAgain    = time.Second
)

// waitForView holds a decision back until a view is adopted that is not behind the log.
func (e *Engine) waitForView(key int32, p *pending) {
	gap := &e.state.sharing.gap
	e.metrics.epochBehind.Inc()
	p.behind = true
	e.state.pending[key] = p
	gap.keys = append(gap.keys, key)
	e.behindSince.CompareAndSwap(0, int64(object.At(time.Now())))
	e.repair(max(gap.marked, handover.Newest(e.proj.State(e.state.entries[key].obj.ID))))
}

// hearEpoch takes note of a view that the log tells of. One that is newer than this
// engine's stops it at once: the objects may be another's.
func (e *Engine) hearEpoch(epoch uint64) {
	gap := &e.state.sharing.gap
	if gap.marked = max(gap.marked, epoch); gap.marked > e.View().Epoch {
		e.repair(gap.marked)
	}
}

// repair asks the store for the newest view, which is adopted; if that is not newer
// than an epoch on the log, the store was lost or replaced and the epoch is raised. The
// store does that by compare-and-set, so only its newest view can be raised.
func (e *Engine) repair(newest uint64) {
	gap := &e.state.sharing.gap
	gap.newest = max(gap.newest, newest)
	if gap.asking {
		return
	}
	gap.asking = true
	work, newest, asked := e.state.work, gap.newest, e.View()
	go func() {
		ctx, cancel := context.WithTimeout(work, repairPatience)
		defer cancel()
		v, err := e.opt.Coordinator.Repair(ctx, newest)
		e.inbox.repaired(repaired{v, asked, newest, err})
	}()
}

// onRepaired takes the store's newest view.
func (e *Engine) onRepaired(r *repaired) error {
	gap := &e.state.sharing.gap
	gap.asking = false
	if r.err != nil {
		e.log.Warn("the log holds a newer epoch than the membership, and the store does not answer; what is decided waits", "seen", gap.newest, "err", r.err)
		time.AfterFunc(repairAgain, func() { e.inbox.put(func() { e.inbox.askStore = true }) })
		return nil
	}
	if err := e.onView(r.view); err != nil {
		return err
	}
	if r.view.Epoch == r.above+1 && r.view.Epoch > r.asked.Epoch && slices.Equal(r.view.Members, r.asked.Members) {
		e.log.Warn("the log holds a newer epoch than the membership had, the epoch was raised", "epoch", r.view.Epoch, "seen", r.above)
		e.markEpoch(r.view)
	}
	e.retryBehind()
	return nil
}

// askStoreAgain asks again unless nothing waits any more.
func (e *Engine) askStoreAgain() {
	gap := &e.state.sharing.gap
	if len(gap.keys) > 0 || gap.marked > e.View().Epoch {
		e.repair(gap.newest)
	}
}

// retryBehind has what waited for a view decided now.
func (e *Engine) retryBehind() {
	gap := &e.state.sharing.gap
	if len(gap.keys) == 0 {
		return
	}
	e.addChore(&unwait{keys: gap.keys})
	gap.keys = nil
}

// unwait is the chore that decides what waited for a view.
type unwait struct{ keys []int32 }

func (*unwait) name() string { return "" }

func (u *unwait) step(e *Engine, _ object.Time) bool {
	n := min(len(u.keys), pieceDecisions)
	for _, key := range u.keys[:n] {
		if p := e.state.pending[key]; p != nil && p.behind {
			delete(e.state.pending, key)
			e.proceed(key, &pending{now: p.now, line: p.line, write: p.write, since: p.since}, e.proj.State(e.state.entries[key].obj.ID).Sub)
		}
	}
	if u.keys = u.keys[n:]; len(u.keys) > 0 {
		return false
	}
	if len(e.state.sharing.gap.keys) == 0 {
		e.behindSince.Store(0)
	}
	return true
}
