package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/rule/message"
)

// world is the log with the fold of its requests; it outlives processes.
type world struct {
	set   *object.Set
	state object.State  // of what is asked next
	root  object.ID     // that explains it
	every time.Duration // rounds of a heartbeat; 0 = it does not say

	mu       sync.Mutex // guards what follows
	seq      uint64
	asked    []string // ids of all requests
	open     []*deliver.Pending
	last     map[deliver.GroupKey]deliver.Last
	outcomes []event.Event
	ids      map[string]bool // of outcomes
	watch    map[*process]func([]*deliver.Pending, []string)
}

func newWorld() *world {
	w := &world{
		state: object.Critical,
		set:   &object.Set{Contacts: map[string]*object.Contact{}},
		last:  map[deliver.GroupKey]deliver.Last{}, ids: map[string]bool{},
		watch: map[*process]func([]*deliver.Pending, []string){},
	}
	for _, name := range []string{"alice", "bob", "carol"} {
		w.set.Contacts[name] = &object.Contact{Name: name, Notify: &object.ContactNotification{Channels: []string{"email", "telegram"}}}
	}
	return w
}

// ask puts an event with one note on the log and returns the ids of its requests.
func (w *world) ask(id object.ID, kind string, g object.Grouping, over string, contacts ...string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seq++
	n := event.Note{Kind: kind, Send: true, Number: int32(w.seq), Group: g}
	for _, c := range contacts {
		n.People = append(n.People, event.Person{
			Name: c, Told: true, Channels: strings.Fields(over),
			Gates: []event.Gate{{Name: "contact", Verdict: event.GatePassed}, {Name: "chosen", Verdict: event.GatePassed, Why: "on call by nights"}},
		})
	}
	now := object.At(time.Now())
	if w.every > 0 {
		n.Until = now.Add(w.every)
	}
	e := &event.Event{
		Version: event.Version, ID: fmt.Sprint("event-", w.seq), Kind: event.CheckResult, Object: id, Time: now, Seq: w.seq,
		Status: &event.Status{State: w.state, Checked: true, Problem: now}, Notes: []event.Note{n},
	}
	var added []*deliver.Pending
	var ids []string
	for _, r := range e.Requests() {
		added = append(added, &deliver.Pending{Request: r, Seq: w.seq, Time: now, Since: now, Root: w.root})
		ids = append(ids, r.ID)
	}
	w.asked, w.open = append(w.asked, ids...), append(w.open, added...)
	for _, fn := range w.watch {
		fn(added, nil)
	}
	return ids
}

// fold takes an outcome in as the projection does.
func (w *world) fold(e *event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ids[e.ID] {
		return
	}
	w.ids[e.ID] = true
	w.outcomes = append(w.outcomes, *e)
	id := e.Facts[event.FactRequest]
	i := slices.IndexFunc(w.open, func(p *deliver.Pending) bool { return p.ID == id })
	if i < 0 {
		return
	}
	if e.Kind == event.NotificationFailed {
		p := *w.open[i]
		p.Failures, p.Reason = p.Failures+1, e.Facts[event.FactReason]
		w.open[i] = &p
		return
	}
	if e.Kind == event.NotificationDelivered {
		w.last[deliver.KeyOf(w.open[i], nil)] = deliver.Last{Time: e.Time}
	}
	w.open = slices.Delete(w.open, i, i+1)
	for _, fn := range w.watch {
		fn(nil, []string{id})
	}
}

// left returns how many requests are open.
func (w *world) left() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open)
}

// all returns every outcome.
func (w *world) all() []event.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.outcomes)
}

// of returns the outcomes of a kind.
func (w *world) of(k event.Kind) (all []event.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.outcomes {
		if e.Kind == k {
			all = append(all, e)
		}
	}
	return all
}

// letter is one message that a channel got.
type letter struct {
	*message.Message
	process int
	at      time.Time
	taken   bool
}

// process is one run of a delivery on the world.
type process struct {
	t      *testing.T
	w      *world
	number int
	d      *Delivery
	dead   atomic.Bool // killed: nothing that it does has an effect any more
	stop   func()
	ended  chan struct{}

	mu      sync.Mutex // guards what follows
	letters []letter
	send    func(ctx context.Context, m *message.Message) error
	refuse  func(e *event.Event) error // of the journal; nil = takes all
	owner   func(string) bool
	ways    func(contact, name string) error
}

func (p *process) Set() *object.Set      { return p.w.set }
func (p *process) World() *deliver.World { return &deliver.World{Sent: p.sent} }
func (p *process) sent(k deliver.GroupKey) deliver.Last {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return p.w.last[k]
}

func (p *process) WatchRequests(fn func([]*deliver.Pending, []string)) ([]*deliver.Pending, func()) {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	p.w.watch[p] = fn
	return slices.Clone(p.w.open), p.unwatch
}

func (p *process) unwatch() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	delete(p.w.watch, p)
}

// Append answers later, as a journal does.
func (p *process) Append(e *event.Event, _ uint64, done journal.Done) {
	go func() {
		time.Sleep(time.Millisecond) // the log is synced
		if p.dead.Load() {
			return
		}
		p.mu.Lock()
		refuse := p.refuse
		p.mu.Unlock()
		if refuse != nil {
			if err := refuse(e); err != nil {
				done(0, err)
				return
			}
		}
		p.w.fold(e)
		done(1, nil)
	}()
}

// Send records the message and does what the test wants.
func (p *process) Send(ctx context.Context, m *message.Message) error {
	if p.dead.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	p.mu.Lock()
	i := len(p.letters)
	p.letters = append(p.letters, letter{m, p.number, time.Now(), false})
	send := p.send
	p.mu.Unlock()
	var err error
	if send != nil {
		err = send(ctx, m)
	}
	p.mu.Lock()
	p.letters[i].taken = err == nil
	p.mu.Unlock()
	return err
}

func (p *process) got() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.letters)
}

// start runs a delivery on the world; change may be nil.
func (w *world) start(t *testing.T, change func(*process, *Options)) *process {
	t.Helper()
	p := &process{t: t, w: w, ended: make(chan struct{})}
	o := Options{
		Projection: p, Journal: p, Writer: "engine", Instance: fmt.Sprint("run-", time.Now().UnixNano()), Version: "test",
		Resolve: func(contact, name string) (channel.Channel, error) {
			if p.ways != nil {
				if err := p.ways(contact, name); err != nil {
					return nil, err
				}
			}
			return p, nil
		},
		Owner:      func(c string) bool { return p.owner == nil || p.owner(c) },
		Registerer: prometheus.NewRegistry(), Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(p, &o)
	}
	var err error
	if p.d, err = New(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer close(p.ended)
		if err := p.d.run(ctx, func() {}); err != nil {
			t.Error(err)
		}
	}()
	p.stop = func() { cancel(); <-p.ended }
	t.Cleanup(p.stop)
	synctest.Wait()
	return p
}

// kill ends the process as if the power were cut.
func (p *process) kill() {
	p.dead.Store(true)
	p.unwatch()
	go p.stop()
}

// in runs a test in a bubble with a clock of its own.
func in(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newWorld()) })
}

// pass lets time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

var (
	errLater = &channel.Error{Err: errors.New("try later")}
	errNever = &channel.Error{Err: errors.New("no such mailbox"), Permanent: true}
)

var none object.Grouping
