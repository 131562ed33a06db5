package queue

import "time"

// vanish makes a source end as if its worker's process were killed.
func vanish(s Source) {
	switch s := s.(type) {
	case *memorySource:
		// What it holds is left to others after the lease, as if nobody had said anything.
		s.Drain()
		time.AfterFunc(s.queue.timing.lease, func() { _ = s.Close() })
	case *jetSource:
		// Nothing more is said to the server.
		s.mu.Lock()
		s.gone, s.drained, s.closed = true, true, true
		close(s.items)
		s.mu.Unlock()
		for _, p := range s.pullers {
			p.stop()
		}
		_ = s.end(func() {})
	default:
		panic("a source of a kind that cannot vanish")
	}
}
