package delivery

import (
	"sync"

	"jaque.sh/jaque/appliance/core/deliver"
)

// inbox brings to the goroutine of run what others have for it, in order.
type inbox struct {
	wake chan struct{} // capacity 1

	mu    sync.Mutex // guards calls
	calls []func()
}

func newInbox() inbox { return inbox{wake: make(chan struct{}, 1)} }

// put never blocks.
func (b *inbox) put(call func()) {
	b.mu.Lock()
	b.calls = append(b.calls, call)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *inbox) take() []func() {
	b.mu.Lock()
	defer b.mu.Unlock()
	calls := b.calls
	b.calls = nil
	return calls
}

// changed is called while the log is folded.
func (d *Delivery) changed(added []*deliver.Pending, ended []string) {
	d.inbox.put(func() {
		for _, p := range added {
			if d.requests[p.ID] == nil {
				d.metrics.requests.WithLabelValues(p.Note.Kind).Inc()
			}
			d.enter(p, d.opt.Shared(p))
		}
		for _, id := range ended {
			d.leave(id)
		}
	})
}
