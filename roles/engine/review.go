package engine

import (
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// moveRoots lets the roots of problems follow a host that went down, came back or
// names another root itself: those of its services and of the hosts behind it. A
// problem may also be read back after the event of the host that it was not judged
// by yet, so it is looked at itself.
func (e *Engine) moveRoots(key int32, before *fold.State, ev *event.Event) {
	if ev.Stream != event.Log || ev.Status == nil || e.state.stopped {
		return
	}
	e.reroot(key)
	if !fold.MovesRoots(before, ev) {
		return
	}
	o := e.state.entries[key].obj
	ids := make([]object.ID, 0, len(o.Services)+len(o.Children))
	for _, all := range [][]*object.Object{o.Services, o.Children} {
		for _, other := range all {
			ids = append(ids, other.ID)
		}
	}
	switch {
	case len(ids) == 0:
	case len(ids) > pieceDecisions:
		e.addChore(&reroot{ids})
	default:
		(&reroot{ids}).step(e, object.At(time.Now()))
	}
}

// reroot decides the root of an object anew if it is stale, and tells whether it
// did.
func (e *Engine) reroot(key int32) bool {
	o := e.state.entries[key].obj
	st := e.proj.State(o.ID)
	if st.Status.State == object.OK && st.Status.Root == "" {
		return false // what most objects are
	}
	env := e.env(key)
	if !fold.RootStale(&env, st) || !e.owns(o.ID) {
		return false
	}
	e.decide(key, job{command: fold.Reroot{}})
	return true
}

// reroot is the chore for many objects around one host.
type reroot struct{ ids []object.ID }

func (*reroot) name() string { return "" }

func (r *reroot) step(e *Engine, _ object.Time) bool {
	looks, work := 0, 0
	for ; looks < len(r.ids) && looks < pieceLooks && work < pieceDecisions; looks++ {
		if key, ok := e.state.keys[r.ids[looks]]; ok && e.reroot(key) {
			work++
		}
	}
	r.ids = r.ids[looks:]
	return len(r.ids) == 0
}

// review looks at every object after a start or a reload: at roots that are stale
// because the process ended in between, or because parents changed, and at what
// operators set that the config leaves no room for any more.
type review struct{ at int }

func (*review) name() string { return "review" }

func (r *review) step(e *Engine, now object.Time) bool {
	end := min(r.at+pieceLooks, len(e.state.entries))
	for work := 0; r.at < end && work < pieceDecisions; r.at++ {
		key := int32(r.at)
		if e.state.entries[key].obj == nil {
			continue
		}
		if e.reroot(key) {
			work++
		}
		e.reviewSettings(key, now)
	}
	return r.at >= len(e.state.entries)
}

// reviewSettings says which settings of an operator are void now; the object is
// planned, so that time drops them.
func (e *Engine) reviewSettings(key int32, now object.Time) {
	o := e.state.entries[key].obj
	st := e.proj.State(o.ID)
	if st.Status.Extra == nil || len(st.Status.Extra.Settings) == 0 || !e.owns(o.ID) {
		return
	}
	env := e.env(key)
	void := fold.Outdated(&env, &st.Status)
	for i := range void {
		e.log.Warn("a setting of an operator is dropped, the config has changed and counts again",
			"object", string(o.ID), "setting", void[i].Name, "value", void[i].Value, "author", void[i].Author)
	}
	if len(void) > 0 {
		e.plan(key, now)
	}
}
