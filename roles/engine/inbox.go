package engine

import (
	"sync"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/core/program"
	"jaque.sh/jaque/appliance/rule/membership"
)

// order is a command for the loop: about an object, or about the whole program.
type order struct {
	id      string // becomes the id of its decision
	object  object.ID
	command fold.Command
	program program.Command
	batch   *batch // who waits for it; nil = nobody
	index   int    // of the action in the batch
	made    *made  // what a new rule makes; nil = nobody waits for it
	of      *made  // it makes a part of that; nobody else waits for it
	hop     int    // 1 = another engine forwarded it
}

// finished is the result of an execution.
type finished struct {
	key    int32
	object object.ID
	result fold.Result
}

// appended is the outcome of an append or a record.
type appended struct {
	key int32
	id  string
	seq uint64
	err error
}

// lastKnown is the last position of an object's subject, read after a refusal.
type lastKnown struct {
	key      int32
	id       string
	seq      uint64
	compared uint64 // see journal.Journal
	err      error
}

// retry says that the pause before the same message goes out again is over.
type retry struct {
	key int32
	id  string
}

// reload is a new generation.
type reload struct {
	set    *object.Set
	change Change
	byKey  []*object.Object // objects of the set by the loop's key; nil = not in it
	done   chan error
}

// tailBatch is a batch of the log; done is closed when the loop has folded it.
type tailBatch struct {
	events []event.Event
	done   chan struct{}
}

// inbox collects what other goroutines tell the loop. Its senders never block;
// what it holds is bounded by what the loop started itself and, for orders, by
// Options.QueuedCommands.
type inbox struct {
	mu       sync.Mutex
	results  []finished
	appends  []appended
	lasts    []lastKnown
	orders   []*order
	reloads  []*reload
	forwards []forwarded
	caughtUp bool
	retries  []retry
	membershipMail
	wake chan struct{} // capacity 1
}

// membershipMail is what the loop is told of the membership.
type membershipMail struct {
	view       membership.View // the newest one told of; epoch 0 = none since
	registered []registered
	repaired   []repaired
	ended      []ended
	askStore   bool
	leaving    []membership.Member // said that they leave
	drills     []*drill
	steppedOut []steppedOut
}

// mail is what the loop takes out of the inbox at once.
type mail struct {
	results  []finished
	appends  []appended
	lasts    []lastKnown
	orders   []*order
	reloads  []*reload
	retries  []retry
	forwards []forwarded
	caughtUp bool
	membershipMail
}

func (b *inbox) put(f func()) {
	b.mu.Lock()
	f()
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *inbox) finish(f finished) { b.put(func() { b.results = append(b.results, f) }) }
func (b *inbox) append(a appended) { b.put(func() { b.appends = append(b.appends, a) }) }
func (b *inbox) last(l lastKnown)  { b.put(func() { b.lasts = append(b.lasts, l) }) }
func (b *inbox) order(o *order)    { b.put(func() { b.orders = append(b.orders, o) }) }
func (b *inbox) reload(r *reload)  { b.put(func() { b.reloads = append(b.reloads, r) }) }
func (b *inbox) forwarded(f forwarded) {
	b.put(func() { b.forwards = append(b.forwards, f) })
}
func (b *inbox) retry(r retry) { b.put(func() { b.retries = append(b.retries, r) }) }
func (b *inbox) markCaughtUp() { b.put(func() { b.caughtUp = true }) }

// view takes a newer view; one that the loop has not looked at is left out.
func (b *inbox) view(v membership.View) {
	b.put(func() { b.membershipMail.view = v })
}

func (b *inbox) registered(r registered) {
	b.put(func() { b.membershipMail.registered = append(b.membershipMail.registered, r) })
}

func (b *inbox) repaired(r repaired) {
	b.put(func() { b.membershipMail.repaired = append(b.membershipMail.repaired, r) })
}

func (b *inbox) end(r ended) {
	b.put(func() { b.membershipMail.ended = append(b.membershipMail.ended, r) })
}

func (b *inbox) askAbout(m membership.Member) {
	b.put(func() { b.membershipMail.leaving = append(b.membershipMail.leaving, m) })
}

// take exchanges the inbox's contents for the emptied slices of m.
func (b *inbox) take(m *mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m.results, b.results = b.results, m.results[:0]
	m.appends, b.appends = b.appends, m.appends[:0]
	m.lasts, b.lasts = b.lasts, m.lasts[:0]
	m.orders, b.orders = b.orders, m.orders[:0]
	m.reloads, b.reloads = b.reloads, m.reloads[:0]
	m.retries, b.retries = b.retries, m.retries[:0]
	m.forwards, b.forwards = b.forwards, m.forwards[:0]
	m.caughtUp = b.caughtUp
	m.membershipMail, b.membershipMail = b.membershipMail, membershipMail{}
}
