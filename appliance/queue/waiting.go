package queue

import "time"

// Waiting is what waits for the workers of a zone.
type Waiting struct {
	Items  int
	Oldest time.Time // when the oldest was sent; zero = nothing waits
}

// add counts one more item.
func (w Waiting) add(sent time.Time) Waiting {
	if w.Items++; w.Oldest.IsZero() || sent.Before(w.Oldest) {
		w.Oldest = sent
	}
	return w
}

// silent returns by zone the orders older than a time of which no worker has said
// that it began them. Those may be done in a moment before they are that old.
func (o *orders) silent(older time.Duration) map[string]Waiting {
	zones := map[string]Waiting{}
	now := time.Now()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range o.waiting {
		if sent := w.item.Sent.Std(); w.begun == "" && now.Sub(sent) >= older {
			zones[w.item.Zone] = zones[w.item.Zone].add(sent)
		}
	}
	return zones
}

// Waiting returns by zone the items that no worker has begun. A worker says so
// when it has worked at one for a third of the lease; younger items are left out.
func (d *jetDispatcher) Waiting() map[string]Waiting {
	return d.orders.silent(d.queue.timing.lease/3 + time.Second)
}

// Trouble tells a connection that is away.
func (d *jetDispatcher) Trouble() []string {
	if !d.queue.nc.IsConnected() {
		return []string{"the connection to the queue's server is away, checks by workers wait"}
	}
	return nil
}

// Waiting returns by zone the items that no worker has taken.
func (d *memoryDispatcher) Waiting() map[string]Waiting {
	zones := map[string]Waiting{}
	d.queue.mu.Lock()
	defer d.queue.mu.Unlock()
	for name, z := range d.queue.zones {
		for e := z.items.Front(); e != nil; e = e.Next() {
			zones[name] = zones[name].add(e.Value.(*memoryItem).sent)
		}
	}
	return zones
}

// Trouble is empty: nothing can happen to memory.
func (d *memoryDispatcher) Trouble() []string { return nil }
