package roles

import (
	"fmt"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/rule/membership"
)

// roster says to which contacts a notifier delivers: to those that it owns among the
// live notifiers, and to nobody while the newest engine delivers by itself.
type roster struct {
	me     membership.Member
	change func() // the answer of owns may be another one; it must not block

	mu sync.Mutex // guards what follows
	// views are the one in force and all newer ones. A contact that a newer one gives
	// to another process is left alone at once; one that it gives to this process is
	// taken when it is in force.
	views  []membership.View
	shared time.Time // until when others may still deliver to contacts of this process
	engine joined
	left   uint64      // position on the log from which on no engine has delivered; 0 = not known
	quiet  object.Time // from when on no other notifier was live; 0 = not known
}

// joined is the newest engine on the log.
type joined struct {
	seq   uint64
	id    string
	at    time.Time
	local bool // it delivers by itself
}

// owns tells whether this process delivers to a contact.
func (r *roster) owns(contact string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.engine.local {
		return false
	}
	for _, v := range r.views {
		if !v.Has(r.me) || v.Owner(contact) != r.me.ID {
			return false
		}
	}
	return len(r.views) > 0
}

// epoch is that of the newest view.
func (r *roster) epoch() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.views) == 0 {
		return 0
	}
	return r.views[len(r.views)-1].Epoch
}

// adopt takes in a newer view. What it takes away counts at once.
func (r *roster) adopt(v membership.View) {
	r.mu.Lock()
	r.views = append(r.views, v)
	r.mu.Unlock()
	r.change()
}

// enforce puts the view of an epoch in force: all older ones count no more.
func (r *roster) enforce(epoch uint64) {
	r.mu.Lock()
	for len(r.views) > 1 && r.views[0].Epoch < epoch {
		r.views = r.views[1:]
	}
	r.mu.Unlock()
	r.change()
}

// share notes that others may still deliver to contacts of this process.
func (r *roster) share(until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared = until
}

func (r *roster) isShared() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.shared)
}

// hear takes in what an engine that joined says of the delivery. The newest one
// counts, in whichever order they are heard of. It tells whether the answer of owns is
// another one now.
func (r *roster) hear(e *event.Event) (changed bool) {
	if e.Kind != event.EngineJoined {
		return false
	}
	r.mu.Lock()
	if e.Seq <= r.engine.seq {
		r.mu.Unlock()
		return false
	}
	was := r.engine.local
	r.engine = joined{seq: e.Seq, id: e.Writer, at: e.Time.Std(), local: e.Facts[event.FactDelivery] != deliveredByNotifier}
	if changed = was != r.engine.local; r.engine.local {
		r.left = 0
	}
	r.mu.Unlock()
	if changed {
		r.change()
	}
	return changed
}

// recall takes in the engines of before, newest first.
func (r *roster) recall(events []event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range events {
		if events[i].Facts[event.FactDelivery] != deliveredByNotifier {
			return
		}
		r.left = events[i].Seq
	}
}

// leftToNotifiers tells whether no engine has delivered since a position of the log.
func (r *roster) leftToNotifiers(seq uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left != 0 && seq >= r.left
}

// alone notes since when there was no other notifier by the clock of the store, the
// zero time = ever; skew is how far the clock of an engine may be from it.
func (r *roster) alone(since time.Time, skew time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quiet = 1; !since.IsZero() {
		r.quiet = object.At(since.Add(skew))
	}
}

// mayHaveSent tells whether somebody else may have sent a request that was open when
// this process joined: an engine that delivers by itself, or another notifier.
func (r *roster) mayHaveSent(p *deliver.Pending) bool {
	if !r.leftToNotifiers(p.Seq) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quiet == 0 || p.Time < r.quiet
}

// deliveredByNotifier is the value of -notify-delivery and of the fact on the log that
// leaves the delivery to notifiers.
const deliveredByNotifier = "notifier"

// trouble says why nothing is delivered from here.
func (r *roster) trouble() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.engine.local {
		return nil
	}
	return []string{fmt.Sprintf("engine %q, which joined at %s, delivers notifications by itself: nothing is sent from here; "+
		"start the engine with -notify-delivery notifier, or stop this notifier", r.engine.id, clock(r.engine.at, time.Now()))}
}
