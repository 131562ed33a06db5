package coordination

import (
	"sync"

	"jaque.sh/jaque/appliance/rule/membership"
)

// watchers hold the newest view and tell of it.
type watchers struct {
	mu   sync.Mutex // guards what follows
	view membership.View
	next int
	fns  map[int]func(membership.View)

	telling sync.Mutex // held while telling, so that calls are in order
}

// get returns the newest view.
func (w *watchers) get() membership.View {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.view
}

// adopt takes a view that is newer than the present one and tells everybody.
func (w *watchers) adopt(v membership.View) {
	w.telling.Lock()
	defer w.telling.Unlock()
	w.mu.Lock()
	if v.Epoch <= w.view.Epoch {
		w.mu.Unlock()
		return
	}
	w.view = v
	fns := make([]func(membership.View), 0, len(w.fns))
	for _, fn := range w.fns {
		fns = append(fns, fn)
	}
	w.mu.Unlock()
	for _, fn := range fns {
		fn(v)
	}
}

// watch adds a function.
func (w *watchers) watch(fn func(membership.View)) (cancel func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fns == nil {
		w.fns = map[int]func(membership.View){}
	}
	w.next++
	id := w.next
	w.fns[id] = fn
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.fns, id)
	}
}
