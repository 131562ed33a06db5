package projection

import (
	"iter"
	"slices"
	"sync"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
)

// index finds objects by what operators and interfaces refer to: ids and numbers
// of comments and downtimes. It holds only the few objects that have any. The
// goroutine that applies events writes it, everybody reads.
type index struct {
	mu        sync.RWMutex
	extras    map[object.ID]struct{} // with comments, downtimes or settings
	downtimes map[string]members     // by id; occurrences of a rule share one
	triggers  map[string]members     // objects that wait for the downtime with an id
	rules     map[string]members     // by the id of the rule their downtimes were made from
	byNumber  map[uint64]object.ID   // of a downtime
	comments  map[uint64]object.ID   // of a comment, also of one that stands for a downtime
	highest   Numbers
	dropped   map[occurrence]object.Time // until when they would have lasted
	pruneAt   int                        // length of dropped from which it is worth looking
}

// Numbers are the highest numbers ever given to a comment and to a downtime; 0 =
// none.
type Numbers struct{ Comment, Downtime uint64 }

// occurrence is one downtime of one object.
type occurrence struct {
	object   object.ID
	downtime string
}

// members is a set of objects; most have one, which costs no map.
type members struct {
	one  object.ID
	more map[object.ID]struct{}
}

func (m members) with(id object.ID) members {
	switch {
	case m.more != nil:
		m.more[id] = struct{}{}
	case m.one == "" || m.one == id:
		m.one = id
	default:
		m.more = map[object.ID]struct{}{m.one: {}, id: {}}
	}
	return m
}

// without returns the set without an object, and whether anything is left.
func (m members) without(id object.ID) (members, bool) {
	if m.more == nil {
		return m, m.one != id
	}
	delete(m.more, id)
	return m, len(m.more) > 0
}

func (m members) each(yield func(object.ID) bool) {
	if m.more == nil {
		if m.one != "" {
			yield(m.one)
		}
		return
	}
	for id := range m.more {
		if !yield(id) {
			return
		}
	}
}

func (m members) sorted() []object.ID { return slices.Sorted(m.each) }

func (x *index) clear() {
	x.extras = map[object.ID]struct{}{}
	x.downtimes, x.triggers, x.rules = map[string]members{}, map[string]members{}, map[string]members{}
	x.byNumber, x.comments = map[uint64]object.ID{}, map[uint64]object.ID{}
	x.highest, x.dropped, x.pruneAt = Numbers{}, map[occurrence]object.Time{}, minPrune
}

// move follows a decision about an object at a time; most have nothing to it.
func (x *index) move(id object.ID, old, next *event.Extra, at object.Time) {
	if old == nil && next == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if old != nil {
		x.leave(id, old)
		x.drop(id, old, next, at)
	}
	if next != nil {
		x.enter(id, next)
	}
}

func (x *index) enter(id object.ID, e *event.Extra) {
	if len(e.Comments)+len(e.Downtimes)+len(e.Settings) > 0 {
		x.extras[id] = struct{}{}
	}
	for i := range e.Comments {
		x.comment(e.Comments[i].Number, id)
	}
	for i := range e.Downtimes {
		d := &e.Downtimes[i]
		x.comment(d.Comment, id)
		if d.Number != 0 {
			x.byNumber[d.Number] = id
			x.highest.Downtime = max(x.highest.Downtime, d.Number)
		}
		x.downtimes[d.ID] = x.downtimes[d.ID].with(id)
		if d.Trigger != "" {
			x.triggers[d.Trigger] = x.triggers[d.Trigger].with(id)
		}
		if d.Rule != "" {
			x.rules[d.Rule] = x.rules[d.Rule].with(id)
		}
	}
}

func (x *index) comment(number uint64, id object.ID) {
	if number != 0 {
		x.comments[number] = id
		x.highest.Comment = max(x.highest.Comment, number)
	}
}

func (x *index) leave(id object.ID, e *event.Extra) {
	delete(x.extras, id)
	for i := range e.Comments {
		forget(x.comments, e.Comments[i].Number, id)
	}
	for i := range e.Downtimes {
		d := &e.Downtimes[i]
		forget(x.comments, d.Comment, id)
		forget(x.byNumber, d.Number, id)
		takeOut(x.downtimes, d.ID, id)
		takeOut(x.triggers, d.Trigger, id)
		takeOut(x.rules, d.Rule, id)
	}
}

// forget takes a number out, unless another object has it too.
func forget(m map[uint64]object.ID, number uint64, id object.ID) {
	if m[number] == id {
		delete(m, number)
	}
}

func takeOut(m map[string]members, key string, id object.ID) {
	was, ok := m[key]
	if !ok {
		return
	}
	if rest, some := was.without(id); some {
		m[key] = rest
	} else {
		delete(m, key)
	}
}

// enoughTriggers bounds the objects that are asked about a downtime that starts
// others.
const enoughTriggers = 100

// minPrune is the length from which dropped occurrences are looked through.
const minPrune = 256

// drop remembers occurrences of a rule that went before their end, because
// somebody cancelled them or because they were short: they are not made again.
func (x *index) drop(id object.ID, old, next *event.Extra, at object.Time) {
	for i := range old.Downtimes {
		d := &old.Downtimes[i]
		if d.Rule == "" || at >= d.End || find(next, d.ID) != nil {
			continue
		}
		x.dropped[occurrence{id, d.ID}] = d.End
	}
	if len(x.dropped) < x.pruneAt {
		return
	}
	x.prune(at)
	x.pruneAt = max(minPrune, 2*len(x.dropped))
}

// prune forgets what would be over by now anyway.
func (x *index) prune(now object.Time) {
	for o, end := range x.dropped {
		if end <= now {
			delete(x.dropped, o)
		}
	}
}

func find(e *event.Extra, id string) *event.Downtime {
	if e == nil {
		return nil
	}
	for i := range e.Downtimes {
		if e.Downtimes[i].ID == id {
			return &e.Downtimes[i]
		}
	}
	return nil
}

// read looks something up under the lock.
func read[T any](x *index, f func() T) T {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return f()
}

// Extras yields the objects that have comments, downtimes or settings of operators
// with their states, sorted by ID; also those that are not configured any more.
func (p *Projection) Extras() iter.Seq2[object.ID, *fold.State] {
	return func(yield func(object.ID, *fold.State) bool) {
		ids := read(&p.index, func() []object.ID {
			all := make([]object.ID, 0, len(p.index.extras))
			for id := range p.index.extras {
				all = append(all, id)
			}
			return all
		})
		slices.Sort(ids)
		for _, id := range ids {
			if !yield(id, p.State(id)) {
				return
			}
		}
	}
}

// WithDowntime returns the objects that have the downtime with an id, sorted: one,
// or many for an occurrence of a downtime rule.
func (p *Projection) WithDowntime(id string) []object.ID {
	return read(&p.index, func() []object.ID { return p.index.downtimes[id].sorted() })
}

// DowntimeNumbered returns the object that has the downtime with a number.
func (p *Projection) DowntimeNumbered(n uint64) (object.ID, bool) {
	id := read(&p.index, func() object.ID { return p.index.byNumber[n] })
	return id, id != ""
}

// CommentNumbered returns the object that has the comment with a number, also one
// that stands for a downtime.
func (p *Projection) CommentNumbered(n uint64) (object.ID, bool) {
	id := read(&p.index, func() object.ID { return p.index.comments[n] })
	return id, id != ""
}

// TriggeredBy returns the objects with downtimes that the downtime with an id
// starts, sorted.
func (p *Projection) TriggeredBy(id string) []object.ID {
	return read(&p.index, func() []object.ID { return p.index.triggers[id].sorted() })
}

// Triggered returns every object with a downtime that another one starts, sorted.
func (p *Projection) Triggered() []object.ID {
	return read(&p.index, func() []object.ID {
		all := members{}
		for _, m := range p.index.triggers {
			for id := range m.each {
				all = all.with(id)
			}
		}
		return all.sorted()
	})
}

// Trigger tells about the downtime with an id, for those that it starts. One of an
// object that left the config is not known: nobody starts or ends it any more. An
// occurrence of a rule starts at all its objects at once, so a few tell.
func (p *Projection) Trigger(id string) fold.Trigger {
	p.index.mu.RLock()
	defer p.index.mu.RUnlock()
	t, looks := fold.Trigger{}, 0
	for o := range p.index.downtimes[id].each {
		if d := find(p.State(o).Status.Extra, id); d != nil && p.Set().Get(o) != nil {
			t.Known = true
			if t.Started = max(t.Started, d.Started); t.Started != 0 {
				break
			}
		}
		if looks++; looks == enoughTriggers {
			break
		}
	}
	return t
}

// OfRule returns the objects with downtimes that were made from a rule, in no order:
// there may be very many.
func (p *Projection) OfRule(rule string) []object.ID {
	return read(&p.index, func() []object.ID { return slices.Collect(p.index.rules[rule].each) })
}

// AnyOfRule tells whether a condition holds for an object that has a downtime made
// from a rule. The condition must not change the projection.
func (p *Projection) AnyOfRule(rule string, holds func(object.ID) bool) bool {
	p.index.mu.RLock()
	defer p.index.mu.RUnlock()
	for id := range p.index.rules[rule].each {
		if holds(id) {
			return true
		}
	}
	return false
}

// RuleIDs returns the ids of the rules that objects have downtimes of, sorted.
func (p *Projection) RuleIDs() []string {
	return read(&p.index, func() []string {
		all := make([]string, 0, len(p.index.rules))
		for id := range p.index.rules {
			all = append(all, id)
		}
		slices.Sort(all)
		return all
	})
}

// Dropped tells whether an object had an occurrence of a rule that lasts until
// end, and lost it before: somebody cancelled it, or it was shorter.
func (p *Projection) Dropped(id object.ID, downtime string, end object.Time) bool {
	p.index.mu.RLock()
	defer p.index.mu.RUnlock()
	until, ok := p.index.dropped[occurrence{id, downtime}]
	return ok && until == end
}

// Numbers returns the highest numbers ever given.
func (p *Projection) Numbers() Numbers {
	return read(&p.index, func() Numbers { return p.index.highest })
}
