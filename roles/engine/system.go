package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
)

// index makes an entry for every object of a set.
func (e *Engine) index(set *object.Set) {
	for _, o := range set.Objects {
		e.addEntry(o)
	}
}

func (e *Engine) addEntry(o *object.Object) int32 {
	s := &e.state
	var key int32
	if n := len(s.free); n > 0 {
		key, s.free = s.free[n-1], s.free[:n-1]
		s.entries[key] = entry{obj: o}
	} else {
		key = int32(len(s.entries))
		s.entries = append(s.entries, entry{obj: o})
	}
	s.keys[o.ID] = key
	return key
}

// removeEntry takes an object out. Its key is free again at once, or when the
// check that runs for it has ended.
func (e *Engine) removeEntry(id object.ID) {
	s := &e.state
	key, ok := s.keys[id]
	if !ok {
		return
	}
	delete(s.keys, id)
	delete(e.added, id)
	e.disown(key)
	s.entries[key].obj = nil
	if p := s.pending[key]; p != nil {
		delete(s.pending, key)
		for _, j := range append(p.line, p.now) {
			e.answer(j.order, fmt.Errorf("%s left the config: %w", id, ErrNotFound))
		}
	}
	if !s.entries[key].running {
		e.release(key)
	}
}

func (e *Engine) release(key int32) {
	e.state.entries[key] = entry{}
	e.state.free = append(e.state.free, key)
}

// prepare makes the table of the next generation's objects by the loop's keys.
// It runs beside the loop: only a reload changes the keys, and reloads come one
// at a time.
func (e *Engine) prepare(r *reload) {
	r.byKey = make([]*object.Object, len(e.state.entries))
	for _, o := range r.set.Objects {
		if key, ok := e.state.keys[o.ID]; ok {
			r.byKey[key] = o
		}
	}
}

// onReload switches the generation: what is unchanged keeps its place in the
// schedule, because that place follows from the object and its last result. The
// loop stands still only for what changed and for one pass over its entries.
func (e *Engine) onReload(r *reload) {
	began := time.Now()
	for _, id := range r.change.Removed {
		e.removeEntry(id)
	}
	e.proj.Switch(r.set, r.change.Added, r.change.Removed)
	for key, o := range r.byKey {
		if o != nil {
			e.state.entries[key].obj = o
		}
	}
	e.refresh()
	for _, id := range r.change.Added {
		e.added[id] = object.At(began)
		key := e.addEntry(r.set.Get(id))
		if e.owns(id) {
			e.claim(&e.state.entries[key])
		}
		e.planSpread(key, object.At(began))
	}
	for _, id := range r.change.Changed {
		e.planSpread(e.state.keys[id], object.At(began))
	}
	e.reconcileAll()
	e.addChore(&review{})
	if len(r.change.Removed) > 0 {
		e.addChore(&replan{e.proj.Triggered()}) // what started them may be gone
	}
	took := time.Since(began)
	e.metrics.reloadPause.Set(took.Seconds())
	e.announce(event.ConfigLoaded, "config", changeFacts(e.opt.ID, r), changeKinds(r.change)...)
	e.log.Info("config generation is running", "generation", r.set.Generation, "added", len(r.change.Added),
		"removed", len(r.change.Removed), "changed", len(r.change.Changed), "pause", took)
	r.done <- nil
}

// maxListed bounds the object ids that a config.loaded event lists; the counts
// are always there.
const maxListed = 200

func changeFacts(engine string, r *reload) map[string]string {
	facts := map[string]string{
		"engine":     engine,
		"generation": r.set.Generation,
		"objects":    strconv.Itoa(len(r.set.Objects)),
	}
	for name, ids := range map[string][]object.ID{
		"added": r.change.Added, "removed": r.change.Removed, "changed": r.change.Changed,
	} {
		facts[name] = strconv.Itoa(len(ids))
		if len(ids) == 0 || len(ids) > maxListed {
			continue
		}
		var b strings.Builder
		for i, id := range ids {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(string(id))
		}
		facts[name+"_ids"] = b.String()
	}
	return facts
}

// changeKinds are the kinds that a generation also stands for, so that history
// by kind finds it.
func changeKinds(c Change) (kinds []event.Kind) {
	for _, k := range []struct {
		kind event.Kind
		ids  []object.ID
	}{
		{event.ObjectAdded, c.Added}, {event.ObjectRemoved, c.Removed}, {event.ObjectChanged, c.Changed},
	} {
		if len(k.ids) > 0 {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

// fillSystem fills what every event of the whole system has.
func (e *Engine) fillSystem(ev *event.Event, topic string) {
	ev.Facts["topic"] = topic
	ev.Version, ev.ID, ev.Epoch = event.Version, e.newID(), e.View().Epoch
	ev.Writer, ev.Instance, ev.Time = e.opt.ID, e.opt.Instance, object.At(time.Now())
}

// restore loads the newest snapshot into the projection.
func (e *Engine) restore(ctx context.Context) error {
	began := time.Now()
	size, err := e.proj.Recall(ctx, e.opt.Journal)
	if err != nil {
		return err
	}
	if size == 0 {
		e.log.Info("no snapshot, the whole log is read")
		return nil
	}
	at := e.proj.Position()
	e.log.Info("snapshot restored", "log", at.Log, "results", at.Results, "bytes", size, "took", time.Since(began))
	return nil
}

// saveSnapshot keeps the folded state. It may run beside the fold: the position
// is read first, and events that are in already are repeated without effect.
func (e *Engine) saveSnapshot(ctx context.Context) error {
	began := time.Now()
	at, data := e.proj.Encode()
	if err := e.opt.Journal.SaveSnapshot(ctx, at, data); err != nil {
		e.metrics.snapshotErrors.Inc()
		return fmt.Errorf("save the snapshot: %w", err)
	}
	e.metrics.snapshotTime.SetToCurrentTime()
	e.log.Debug("snapshot saved", "log", at.Log, "results", at.Results, "bytes", len(data), "took", time.Since(began))
	return nil
}

// savesSnapshots tells whether this engine saves the state for all.
func (e *Engine) savesSnapshots() bool { return e.owns("snapshot") }

// lastSnapshot is the one of a stop, if this engine is the one that saves.
func (e *Engine) lastSnapshot(ctx context.Context) error {
	if !e.state.live || !e.savesSnapshots() {
		return nil
	}
	return e.saveSnapshot(ctx)
}

// snapshots saves the state from time to time until ctx ends, if it is this engine's
// to do. Who takes that over counts from its own start.
func (e *Engine) snapshots(ctx context.Context) {
	last, saved := time.Now(), e.proj.Position()
	tick := time.NewTicker(max(e.opt.SnapshotEvery/20, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		at := e.proj.Position()
		events := at.Log - saved.Log + at.Results - saved.Results
		if !e.savesSnapshots() || events == 0 || events < e.opt.SnapshotEvents && time.Since(last) < e.opt.SnapshotEvery {
			continue
		}
		last, saved = time.Now(), at
		if err := e.saveSnapshot(ctx); err != nil && ctx.Err() == nil {
			e.log.Error("the snapshot failed, the next start reads more of the log", "err", err)
		}
	}
}

// MarshalJSON makes a Change readable in logs and in the API.
func (c Change) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]int{"added": len(c.Added), "removed": len(c.Removed), "changed": len(c.Changed)})
}
