package roles

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/roles/engine"
)

// engines is what the log says of the engines: which live, who of them delivers what
// they ask for, and by which config each works. What it knows depends on the events it
// was told of, in whichever order. Any goroutine may use it.
type engines struct {
	mu      sync.Mutex
	start   roll   // what the events that are not kept any more have made
	floor   uint64 // position of the newest of them
	heard   []said // oldest first
	now     roll   // start and what was heard
	changes []func()

	recalled func([]event.Event) // is told of each page that recall reads; nil = nobody is

	members atomic.Pointer[membership.View] // those that live now; nil = none
}

// said is what an event says of engines.
type said struct {
	seq, epoch           uint64
	kind                 event.Kind
	id, instance         string
	members              []string // that its writer saw, nil = it does not say
	delivery, generation string
	why                  string
	at                   time.Time
	heard                time.Time // when this process heard of it, which is not before it was said
}

// engineNews is what is known of one engine.
type engineNews struct {
	ID, Instance string
	Joined       time.Time // zero = it is known only from what others say
	Delivery     string    // who delivers what it asks for; "" = it did not say
	Generation   string    // of its config; "" = not known
	Live         bool
	Gone         time.Time // when it left or was missed
	Expired      bool      // it did not leave by itself

	seq, epoch uint64
	loaded     time.Time // when its generation was heard of
}

// roll is all engines by id.
type roll struct {
	all    map[string]engineNews
	epoch  uint64 // the newest that was told of
	newest string // value of -notify-delivery of the newest that joined
	left   uint64 // from where on no engine delivers; 0 = one does, or it is not known
	seen   bool   // any has joined
}

// engineKinds are the events that say something of engines. Constant.
var engineKinds = []event.Kind{event.EngineJoined, event.EngineLeft, event.EpochRaised, event.ConfigLoaded}

// keepSaid is how many events are kept at least, to put an older one in its place.
const keepSaid = 1000

// hear takes in an event of the log.
func (x *engines) hear(e *event.Event) {
	if e.Object == "" && slices.Contains(engineKinds, e.Kind) {
		x.take(*e)
	}
}

// take takes in events in any order.
func (x *engines) take(events ...event.Event) {
	x.mu.Lock()
	now, changed := time.Now(), false
	for i := range events {
		s := saidOf(&events[i], now)
		at, known := slices.BinarySearchFunc(x.heard, s, func(a, b said) int { return cmp.Compare(a.seq, b.seq) })
		if known || s.seq <= x.floor {
			continue
		}
		x.heard = slices.Insert(x.heard, at, s)
		if changed = true; at == len(x.heard)-1 && len(events) == 1 {
			x.now = x.now.after(&s)
			continue
		}
		x.now = x.start
		for j := range x.heard {
			x.now = x.now.after(&x.heard[j])
		}
	}
	x.forget()
	x.members.Store(x.now.view())
	tell := x.changes
	x.mu.Unlock()
	if changed {
		for _, fn := range tell {
			fn()
		}
	}
}

// forget lets go of old events; what they have made is kept.
func (x *engines) forget() {
	if len(x.heard) < 2*keepSaid {
		return
	}
	for i := range x.heard[:keepSaid] {
		x.start = x.start.after(&x.heard[i])
	}
	x.floor = x.heard[keepSaid-1].seq
	x.heard = slices.Clone(x.heard[keepSaid:])
}

// saidOf reads an event.
func saidOf(e *event.Event, now time.Time) said {
	s := said{
		seq: e.Seq, epoch: e.Epoch, kind: e.Kind, id: cmp.Or(e.Facts["engine"], e.Writer), instance: cmp.Or(e.Facts["instance"], e.Instance),
		delivery: e.Facts[event.FactDelivery], generation: e.Facts["generation"], why: e.Facts["why"], at: e.Time.Std(), heard: now,
	}
	if members := e.Facts["members"]; members != "" {
		s.members = strings.Split(members, ",")
	}
	if s.at.Before(now) {
		s.heard = s.at
	}
	return s
}

// after returns the roll once something more was said.
func (r roll) after(s *said) roll {
	r.all = maps.Clone(r.all)
	if r.all == nil {
		r.all = map[string]engineNews{}
	}
	r.epoch = max(r.epoch, s.epoch)
	n := r.all[s.id]
	switch s.kind {
	case event.EngineJoined:
		news := engineNews{
			ID: s.id, Instance: s.instance, Joined: s.at, Delivery: s.delivery, Live: true, seq: s.seq, epoch: s.epoch,
		}
		if s.why == engine.WhyDrill && n.Instance == s.instance { // its run goes on
			news.Joined, news.Generation, news.seq, news.loaded = n.Joined, n.Generation, n.seq, n.loaded
		}
		r.all[s.id] = news
		r.newest, r.seen = s.delivery, true
		r.list(s)
	case event.EpochRaised:
		r.list(s)
	case event.EngineLeft:
		if n.ID != "" && n.Live && (n.Instance == "" || n.Instance == s.instance) {
			n.Live, n.Gone, n.Expired = false, s.at, s.why != leftByItself && s.why != engine.WhyDrill
			r.all[s.id] = n
		}
	case event.ConfigLoaded:
		if n.ID == "" {
			n = engineNews{ID: s.id}
		}
		n.Generation, n.loaded = s.generation, s.heard
		r.all[s.id] = n
	}
	if r.local() {
		r.left = 0
	} else if r.left == 0 && r.known() {
		r.left = s.seq
	}
	return r
}

// leftByItself is why an engine left that was stopped.
const leftByItself = "stopped"

// list takes in which members an engine saw under an epoch. Who joined under a later
// one is not listed.
func (r *roll) list(s *said) {
	if s.members == nil {
		return
	}
	for id, n := range r.all {
		if n.Live && n.epoch <= s.epoch && !slices.Contains(s.members, id) {
			n.Live, n.Gone, n.Expired = false, s.at, true
			r.all[id] = n
		}
	}
	for _, id := range s.members {
		if n := r.all[id]; n.ID == "" || n.seq == 0 && n.Gone.IsZero() {
			n.ID, n.Live = id, true
			r.all[id] = n
		}
	}
}

// local tells whether engines deliver by themselves: one of those that live does, or,
// where none lives, the newest one did. An engine that does not say delivers.
func (r *roll) local() bool {
	some := false
	for _, n := range r.all {
		if n.Live && !n.Joined.IsZero() {
			if some = true; n.Delivery != deliveredByNotifier {
				return true
			}
		}
	}
	return !some && r.seen && r.newest != deliveredByNotifier
}

// known tells whether every engine that lives has said who delivers.
func (r *roll) known() bool {
	for _, n := range r.all {
		if n.Live && n.Joined.IsZero() {
			return false
		}
	}
	return r.seen
}

// watch has fn called after each change; it must not block.
func (x *engines) watch(fn func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changes = append(slices.Clone(x.changes), fn)
}

// local tells whether engines deliver by themselves.
func (x *engines) local() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now.local()
}

// left is the position of the log from which on no engine has delivered; 0 = not known.
func (x *engines) left() uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.now.left
}

// joined returns where on the log a run of an engine began; 0 = nowhere yet.
func (x *engines) joined(id, instance string) uint64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.now.all[id]; n.Instance == instance {
		return n.seq
	}
	return 0
}

// before returns what was known before a position of the log.
func (x *engines) before(seq uint64) roll {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.start
	for i := range x.heard {
		if x.heard[i].seq < seq {
			r = r.after(&x.heard[i])
		}
	}
	return r
}

// all returns every engine that is known, by id.
func (x *engines) all() []engineNews {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.SortedFunc(maps.Values(x.now.all), func(a, b engineNews) int { return strings.Compare(a.ID, b.ID) })
}

// live returns those that live, by id.
func (x *engines) live() []engineNews {
	return slices.DeleteFunc(x.all(), func(n engineNews) bool { return !n.Live })
}

// view returns the membership of the engines as the log tells of it.
func (x *engines) view() membership.View {
	if v := x.members.Load(); v != nil {
		return *v
	}
	return membership.View{}
}

// view returns the membership that a roll makes.
func (r *roll) view() *membership.View {
	v := &membership.View{Epoch: r.epoch}
	for _, id := range slices.Sorted(maps.Keys(r.all)) {
		if n := r.all[id]; n.Live {
			v.Members = append(v.Members, membership.Member{ID: n.ID, Instance: n.Instance})
		}
	}
	return v
}

// delivering returns those members of a view of the engines that deliver by themselves:
// all but those that say they do not. One that has not said anything yet may.
func (x *engines) delivering(v membership.View) membership.View {
	x.mu.Lock()
	defer x.mu.Unlock()
	v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(m membership.Member) bool {
		n := x.now.all[m.ID]
		return n.Instance == m.Instance && n.Delivery == deliveredByNotifier
	})
	return v
}

// heardJournal tells of every event that is followed, once it is folded.
type heardJournal struct {
	journal.Journal
	hear func(*event.Event)
}

// Follow follows the log as the journal beneath does.
func (h heardJournal) Follow(ctx context.Context, from journal.Position, fn func([]event.Event) error, caughtUp func()) error {
	return h.Journal.Follow(ctx, from, func(events []event.Event) error {
		err := fn(events)
		for i := range events {
			h.hear(&events[i])
		}
		return err
	}, caughtUp)
}
