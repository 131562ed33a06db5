package projection

import (
	"sync"

	"jaque.sh/jaque/appliance/core/event"
)

// Subscription delivers accepted events as they are folded. A reader that does
// not keep up loses the subscription, not the fold its pace: C is closed and
// the reader starts again from its last position.
type Subscription struct {
	C    <-chan *event.Event
	c    chan *event.Event
	subs *subscribers
}

type subscribers struct {
	mu   sync.Mutex
	list map[*Subscription]struct{}
}

// Subscribe returns a subscription that may lag by at most buffer events.
func (p *Projection) Subscribe(buffer int) *Subscription {
	c := make(chan *event.Event, buffer)
	s := &Subscription{C: c, c: c, subs: &p.subs}
	p.subs.mu.Lock()
	defer p.subs.mu.Unlock()
	p.subs.list[s] = struct{}{}
	return s
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	s.subs.drop(s)
}

func (l *subscribers) drop(s *Subscription) {
	if _, ok := l.list[s]; ok {
		delete(l.list, s)
		close(s.c)
	}
}

// publish hands a copy of the event out, because the batch it stands in is used
// again. What the event points to is never changed.
func (l *subscribers) publish(e *event.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) == 0 {
		return
	}
	copied := *e
	for s := range l.list {
		select {
		case s.c <- &copied:
		default:
			l.drop(s)
		}
	}
}
