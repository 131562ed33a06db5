package roles

import (
	"slices"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/rule/membership"
)

// roster says to which contacts a process delivers that shares them with others of its
// kind, notifiers or engines: to those that it owns among the ones that live.
type roster struct {
	me     membership.Member
	change func() // the answer of owns may be another one; it must not block
	// rests tells that nobody of this kind delivers now; nil = never. sharers returns
	// those members of a view that deliver; nil = all do. Whoever changes an answer
	// calls renew.
	rests   func() bool
	sharers func(membership.View) membership.View
	// said returns what a process run last said on the log of what it has begun, doubted
	// whether any names a request; nil = this kind of process says nothing.
	said    func(instance string) *deliver.Release
	doubted func(id string) bool

	mu sync.Mutex // guards what follows
	// views are the one in force and all newer ones, shares those members of each that
	// deliver. A contact that a newer one gives to another process is left alone at once;
	// one that it gives to this process is taken when it is in force.
	views, shares []membership.View
	// past are the shares before those, the newest last: who may still have begun with
	// something of a contact that has come to this process.
	past    []membership.View
	first   membership.View  // the share that this process joined, or came back, with
	owes    *deliver.Release // has not been said yet; nil = nothing is to be said
	inForce bool             // a view is, or was
	since   uint64           // position of the log up to which others may have begun with what came to this process
	resting bool
	paused  bool        // this process begins with nothing, as it steps out
	shared  time.Time   // until when others may still deliver to contacts of this process
	silent  bool        // some of them say nothing on the log
	quiet   object.Time // from when on nobody else of this kind was live; 0 = not known
	joining bool        // others may be sending what was due when this process began
	taken   uint64      // position of the log up to which they may have begun with it
	sent    time.Time   // when they have ended with that
}

// owns tells whether this process delivers to a contact.
func (r *roster) owns(contact string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.resting || r.paused {
		return false
	}
	for i, v := range r.views {
		if !v.Has(r.me) || r.shares[i].Owner(contact) != r.me.ID {
			return false
		}
	}
	return len(r.views) > 0
}

// rest tells whether nobody of this kind delivers.
func (r *roster) rest() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.resting
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

// adopt takes in a newer view. What it takes away counts at once. It tells whether this
// process comes back with it.
func (r *roster) adopt(v membership.View) (back bool) {
	r.mu.Lock()
	n := len(r.views)
	back = n > 0 && !r.views[n-1].Has(r.me) && v.Has(r.me) && len(v.Members) > 1
	r.owe(v)
	r.views = append(r.views, v)
	r.share()
	if v.Has(r.me) && (n == 0 || !r.views[n-1].Has(r.me)) {
		r.first = r.shares[n]
		if n == 0 {
			r.past = []membership.View{r.without(v)}
		}
	}
	r.mu.Unlock()
	r.change()
	return back
}

// pause lets this process begin with no message, or lets it go on.
func (r *roster) pause(on bool) {
	r.mu.Lock()
	r.paused = on
	r.mu.Unlock()
	r.change()
}

// enforce puts the view of an epoch in force: all older ones count no more. What stands
// behind a position of the log came when it was in force here.
func (r *roster) enforce(epoch, end uint64) {
	r.mu.Lock()
	over := 0
	r.inForce, r.since = true, end
	for over < len(r.views)-1 && r.views[over].Epoch < epoch {
		over++
	}
	if over > 0 {
		r.past = slices.Clone(r.shares[:over])
		r.views, r.shares = r.views[over:], r.shares[over:]
	}
	r.share()
	r.mu.Unlock()
	r.change()
}

// renew looks again at who delivers.
func (r *roster) renew() {
	r.mu.Lock()
	r.share()
	r.mu.Unlock()
	r.change()
}

// share finds out who delivers. The caller holds r.mu.
func (r *roster) share() {
	r.resting = r.rests != nil && r.rests()
	was := r.shares
	r.shares = make([]membership.View, len(r.views))
	for i, v := range r.views {
		r.shares[i] = r.shareOf(v)
		if i < len(was) && was[i].Epoch == v.Epoch && !slices.Equal(was[i].Members, r.shares[i].Members) {
			r.past = append(r.past, was[i]) // another may have delivered by it
		}
	}
}

// shareOf returns those members of a view that deliver. The caller holds r.mu.
func (r *roster) shareOf(v membership.View) membership.View {
	if r.sharers != nil {
		return r.sharers(v)
	}
	return v
}

// without is how a view is taken to have been before this process joined with it. The
// caller holds r.mu.
func (r *roster) without(v membership.View) membership.View {
	v = r.shareOf(v)
	return membership.View{Epoch: v.Epoch - 1, Members: slices.DeleteFunc(slices.Clone(v.Members), func(m membership.Member) bool { return m.Instance == r.me.Instance })}
}

// members returns how many deliver by the newest view.
func (r *roster) members() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.shares) == 0 {
		return 0
	}
	return len(r.shares[len(r.shares)-1].Members)
}

// join notes that others live that may still deliver to contacts of this process: what
// comes in until a time is marked, unless they say before that they do not. silent
// tells that some of them say nothing.
func (r *roster) join(until time.Time, silent bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent = silent || r.silent && time.Now().Before(r.shared)
	r.shared, r.joining = until, true
}

// begin notes that the others have let go of the contacts of this process. What stood
// on the log by then they may have begun to send.
func (r *roster) begin(end uint64, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.joining {
		r.joining = false
		r.taken, r.sent = end, now.Add(delivery.SendMost)
	}
}

// busy tells until when another process that lives may be sending a request that this
// one has taken over from it when it joined.
func (r *roster) busy(p *deliver.Pending) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Seq > r.taken {
		return time.Time{}
	}
	return r.sent
}

// alone notes since when nobody else of this kind was there by the clock of the store,
// the zero time = ever; skew is how far the clock of an engine may be from it.
func (r *roster) alone(since time.Time, skew time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.quiet = 1; !since.IsZero() {
		r.quiet = object.At(since.Add(skew))
	}
}

// mayHaveSent tells whether somebody else of this kind may have sent a request that was
// open when this process joined.
func (r *roster) mayHaveSent(p *deliver.Pending) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quiet == 0 || p.Time < r.quiet
}

// deliveredByNotifier is the value of -notify-delivery and of the fact on the log that
// leaves the delivery to notifiers.
const deliveredByNotifier = "notifier"
