package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/operate"
)

// perObject bounds the actions of one batch that are under way for one object, so
// that a thousand results of one service leave room for the others.
const perObject = 64

// batch is the actions of one Do. The caller sends them one after the other; the
// loop settles them in any order.
type batch struct {
	id      string
	hop     int // of its actions
	confirm time.Duration
	began   time.Time
	changed chan struct{} // capacity 1
	made    []*made       // by rules of the batch; the caller's

	mu      sync.Mutex // guards what follows
	results []operate.Result
	sent    []time.Duration // since began; 0 = not sent, settled = has its result
	open    map[object.ID]int
	left    int // sent and not settled
	oldest  int // everything in front of it is settled
}

// settled marks an action that has its result.
const settled = -1

func newBatch(id string, confirm time.Duration, actions []operate.Action) *batch {
	b := &batch{
		id: id, confirm: confirm, began: time.Now(), changed: make(chan struct{}, 1),
		results: make([]operate.Result, len(actions)), sent: make([]time.Duration, len(actions)),
	}
	for i := range actions {
		b.results[i].Object = actions[i].Object
	}
	if len(actions) > perObject {
		b.open = map[object.ID]int{}
	}
	return b
}

// send marks an action as sent.
func (b *batch) send(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent[i] = max(time.Since(b.began), 1)
	b.left++
	if b.open != nil {
		b.open[b.results[i].Object]++
	}
}

// settle gives an action its result; one that has it keeps it.
func (b *batch) settle(i int, err error) {
	b.mu.Lock()
	b.set(i, err)
	b.mu.Unlock()
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// set is settle with the lock held.
func (b *batch) set(i int, err error) {
	was := b.sent[i]
	if was == settled {
		return
	}
	b.sent[i], b.results[i].Err = settled, err
	if was == 0 {
		return
	}
	b.left--
	if b.open != nil {
		b.open[b.results[i].Object]--
	}
}

// settleAll gives everything from an action on that has no result this one.
func (b *batch) settleAll(from int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := from; i < len(b.sent); i++ {
		b.set(i, err)
	}
}

// idle holds when nothing is under way.
func (b *batch) idle() bool { return b.left == 0 }

// roomFor holds when another action of an object may be sent.
func (b *batch) roomFor(id object.ID) func() bool {
	return func() bool { return b.open == nil || b.open[id] < perObject }
}

// look settles what the log has not confirmed in time and tells whether a
// condition holds, and else when to look again.
func (b *batch) look(holds func() bool) (ok bool, again time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Since(b.began)
	for ; b.oldest < len(b.sent); b.oldest++ {
		since := b.sent[b.oldest]
		if since == 0 {
			again = b.confirm
			break
		}
		if since > 0 && now-since < b.confirm {
			again = b.confirm - (now - since)
			break
		}
		b.set(b.oldest, fmt.Errorf("command %s after %s: %w", b.id, b.confirm, ErrUnconfirmed))
	}
	return holds(), max(again, time.Millisecond)
}

// wait returns once a condition holds. It fails with the context's error, or with
// ErrStopping if the engine ends.
func (b *batch) wait(ctx context.Context, ended <-chan struct{}, holds func() bool) error {
	ok, again := b.look(holds)
	if ok {
		return nil
	}
	timer := time.NewTimer(again)
	defer timer.Stop()
	for {
		select {
		case <-b.changed:
		case <-timer.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for command %s: %w", b.id, ctx.Err())
		case <-ended:
			return ErrStopping
		}
		if ok, again = b.look(holds); ok {
			return nil
		}
		timer.Reset(again)
	}
}

// failed returns the result of an action that is settled.
func (b *batch) failed(i int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.results[i].Err
}

// report is everything that became of the batch. What the loop still settles
// later is not seen any more.
func (b *batch) report() operate.Report {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.sent {
		b.sent[i] = settled
	}
	return operate.Report{ID: b.id, Results: b.results}
}
