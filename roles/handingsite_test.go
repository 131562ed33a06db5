package roles

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"jaque.sh/jaque/appliance/channel"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/core/deliver"
	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/delivery"
	"jaque.sh/jaque/appliance/journal"
	"jaque.sh/jaque/appliance/projection"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/rule/message"
)

// lifeTTL is the one of the heartbeats in these lives.
const lifeTTL = 10 * time.Second

// site is what members of a cluster share: the log, the view record and the people.
type site struct {
	t     *testing.T
	dice  *dice
	fault fault
	over  chan struct{}

	mu      sync.Mutex // guards what follows
	log     []event.Event
	view    membership.View
	seats   []*seat
	letters []*letter
	runs    int
	asked   int
	tale    []string
}

// tell notes something for whoever looks for what went wrong. The caller holds mu.
func (s *site) tell(format string, args ...any) {
	s.tale = append(s.tale, fmt.Sprintf("%.3f ", float64(time.Now().UnixMilli()%10_000_000)/1000)+fmt.Sprintf(format, args...))
}

// fault is what the members of a site do otherwise than they should.
type fault struct {
	name      string
	mute      bool // nobody writes releases, as older releases of the program do not
	trusts    bool // every former owner is believed to have begun with nothing
	namesNone bool // releases name nothing that is in doubt
	once      bool // it is not asked again, when a request goes out, who may have sent it
	hasty     bool // nobody takes another for one that may still begin with messages
}

// newSite returns one without members, whose store looks for missing heartbeats until it
// is closed.
func newSite(t *testing.T, seed uint64, f fault) *site {
	s := &site{t: t, dice: &dice{rand: rand.New(rand.NewPCG(seed, 7))}, fault: f, over: make(chan struct{}), view: membership.View{Epoch: 100}}
	go func() {
		for {
			select {
			case <-time.After(time.Second):
				s.expire()
			case <-s.over:
				return
			}
		}
	}()
	return s
}

func (s *site) close() { close(s.over) }

// dice are for any goroutine. Calm ones always show the least.
type dice struct {
	mu   sync.Mutex
	rand *rand.Rand
	calm bool
}

func (d *dice) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calm || n <= 1 {
		return 0
	}
	return d.rand.IntN(n)
}

// upTo returns a time, mostly a short one.
func (d *dice) upTo(most time.Duration) time.Duration {
	if d.below(4) > 0 {
		most /= 50
	}
	return time.Duration(d.below(int(most/time.Millisecond)+1)) * time.Millisecond
}

// letter is one attempt to send.
type letter struct {
	key    string // contact and object
	by     string // run
	marked bool
	may    bool // it may have arrived, as it did, is under way or was cut off
}

// seat is one process run of a member.
type seat struct {
	*site
	me    membership.Member
	a     *appliance
	d     *delivery.Delivery
	c     *contacts
	dead  atomic.Bool // nothing that it does has an effect any more
	stop  []func()    // in order
	ended chan struct{}
	cond  chan struct{} // capacity 1: the log has grown

	// Guarded by mu of the site.
	beat    time.Time // its newest heartbeat that the store has
	cut     bool      // the store is out of reach
	known   membership.View
	watches []func(membership.View)
}

// grow puts an event on the log.
func (s *site) grow(e event.Event) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.Stream, e.Seq = event.Log, uint64(len(s.log)+1)
	s.log = append(s.log, e)
	s.tell("log %d: %s %s %s of %s %v %v", e.Seq, e.Kind, e.Object, e.Facts[event.FactContact], e.Instance, e.Epoch, e.Facts)
	for _, x := range s.seats {
		select {
		case x.cond <- struct{}{}:
		default:
		}
	}
	return e.Seq
}

// ask asks for messages about an object that nobody was asked of before.
func (s *site) ask(wait time.Duration, people ...string) {
	s.asked++
	n := event.Note{Kind: "PROBLEM", Send: true, Number: 1}
	if wait > 0 {
		n.Group = object.Grouping{By: object.GroupHost, Wait: wait}
	}
	for _, p := range people {
		n.People = append(n.People, event.Person{Name: p, Told: true, Channels: []string{"email"}})
	}
	now := object.At(time.Now())
	s.grow(event.Event{
		Version: event.Version, ID: fmt.Sprint("asked-", s.asked), Kind: event.CheckResult, Object: object.ID(fmt.Sprint("h", s.asked)), Time: now,
		Status: &event.Status{State: object.Down, Checked: true, Problem: now}, Notes: []event.Note{n},
	})
}

// some returns a few of the people.
func (s *site) some() []string {
	from := s.dice.below(len(lifePeople))
	return slices.Clone(lifePeople[from:min(len(lifePeople), from+1+s.dice.below(4))])
}

// publish makes a view the newest one; members hear of it later.
func (s *site) publish(v membership.View) {
	s.view = v
	s.tell("view %+v", v)
	for _, x := range s.seats {
		time.AfterFunc(s.dice.upTo(2*time.Second), x.hear)
	}
}

// hear takes in the newest view, unless the store is out of reach.
func (x *seat) hear() {
	x.mu.Lock()
	v := x.view
	if x.cut || x.dead.Load() || v.Epoch <= x.known.Epoch {
		x.mu.Unlock()
		return
	}
	x.known = v
	x.tell("%s hears of %d", x.me.Instance, v.Epoch)
	watches := x.watches
	x.mu.Unlock()
	for _, fn := range watches {
		fn(v)
	}
	if !v.Has(x.me) { // others have taken over: the process ends at once
		x.kill()
	}
}

// cutOff keeps the store out of its reach for a while.
func (x *seat) cutOff(long time.Duration) {
	x.mu.Lock()
	x.cut = true
	x.tell("%s is cut off", x.me.Instance)
	x.mu.Unlock()
	time.AfterFunc(long, func() {
		x.mu.Lock()
		x.cut = false
		x.mu.Unlock()
		x.hear()
	})
}

// expire takes out members whose heartbeats have been missing for the TTL.
func (s *site) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.seats {
		if s.view.Has(x.me) && time.Since(x.beat) > lifeTTL {
			s.publish(s.view.Leave(x.me.ID))
		}
		if !x.dead.Load() && !x.cut {
			x.beat = time.Now()
		}
	}
}

// The store of a member.

func (x *seat) View() membership.View {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known
}

func (x *seat) Watch(fn func(membership.View)) func() {
	x.mu.Lock()
	x.watches = append(slices.Clone(x.watches), fn)
	v := x.known
	x.mu.Unlock()
	if v.Epoch > 0 {
		fn(v)
	}
	return func() {}
}

func (x *seat) Alive() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return !x.dead.Load() && time.Since(x.beat) < lifeTTL*9/10
}

func (x *seat) leave() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.cut && x.view.Has(x.me) {
		x.publish(x.view.Leave(x.me.ID))
	}
}

// memberStore is what contacts asks of the store.
type memberStore struct {
	coordination.Store
	*seat
}

func (m memberStore) View() membership.View                 { return m.seat.View() }
func (m memberStore) Watch(fn func(membership.View)) func() { return m.seat.Watch(fn) }
func (m memberStore) Alive() bool                           { return m.seat.Alive() }

// memberLog is what contacts and the delivery ask of the log.
type memberLog struct {
	journal.Journal
	*seat
}

func (m memberLog) EndOf(ctx context.Context, _ event.Stream) (uint64, error) {
	if !pause(ctx, m.dice.upTo(time.Second)) {
		return 0, ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return uint64(len(m.log)), nil
}

func (m memberLog) Append(e *event.Event, _ uint64, done journal.Done) {
	c := *e
	go func() {
		time.Sleep(time.Millisecond + m.dice.upTo(time.Second))
		switch {
		case m.dead.Load():
			return
		case m.dice.below(8) == 7:
			done(0, journal.ErrUnknown)
			return
		}
		if e.Kind == event.NotificationReleased {
			switch {
			case m.fault.mute:
				done(0, journal.ErrClosed)
				return
			case m.fault.namesNone:
				c.Facts = maps.Clone(c.Facts)
				delete(c.Facts, event.FactDoubt)
			}
		}
		done(m.grow(c), nil)
	}()
}

// Send is the way to everybody.
func (x *seat) Send(ctx context.Context, m *message.Message) error {
	if x.dead.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	var mine []*letter
	x.mu.Lock()
	for _, i := range m.Items {
		l := &letter{key: m.Contact.Name + " " + string(i.ID), by: x.me.Instance, marked: m.Repeat, may: true}
		mine, x.letters = append(mine, l), append(x.letters, l)
		x.tell("%s sends %s, marked %t", x.me.Instance, l.key, l.marked)
	}
	x.mu.Unlock()
	select {
	case <-time.After(time.Millisecond + x.dice.upTo(8*time.Second)):
	case <-ctx.Done():
		return ctx.Err()
	}
	if x.dice.below(6) != 5 {
		return nil
	}
	x.mu.Lock()
	for _, l := range mine {
		l.may = false
	}
	x.mu.Unlock()
	return &channel.Error{Err: errors.New("try later")}
}

// fold follows the log.
func (x *seat) fold(ctx context.Context) {
	for at := 0; ; {
		x.mu.Lock()
		more := slices.Clone(x.log[at:])
		x.mu.Unlock()
		for i := range more {
			x.a.proj.Apply(&more[i])
			x.a.engines.hear(&more[i])
		}
		if at += len(more); len(more) > 0 {
			continue
		}
		select {
		case <-x.cond:
		case <-ctx.Done():
			return
		}
		time.Sleep(x.dice.upTo(500 * time.Millisecond))
	}
}

// sit starts a member.
func (s *site) sit(id string) *seat {
	s.runs++
	x := &seat{
		site: s, me: membership.Member{ID: id, Instance: fmt.Sprint(id, "-", s.runs)}, cond: make(chan struct{}, 1), ended: make(chan struct{}), beat: time.Now(),
	}
	set := &object.Set{Contacts: map[string]*object.Contact{}}
	for _, name := range lifePeople {
		set.Contacts[name] = &object.Contact{Name: name, Notify: &object.ContactNotification{Channels: []string{"email"}}}
	}
	x.a = &appliance{proj: projection.New(set), engines: &engines{}, instance: x.me.Instance, p: Process{Logger: quiet()}}
	x.a.s.EngineID, x.a.s.HeartbeatTTL = id, lifeTTL
	x.a.journal, x.a.store = memberLog{seat: x}, memberStore{seat: x}

	folding, stopFold := context.WithCancel(context.Background())
	s.mu.Lock()
	s.seats = append(s.seats, x)
	s.mu.Unlock()
	go x.fold(folding)
	synctest.Wait()

	x.c = newContacts(x.a)
	o := x.c.options()
	if s.fault.trusts {
		o.Former = func(*deliver.Pending) bool { return false }
		o.Before = o.Former
	}
	if s.fault.once {
		o.Begun, o.Doubted = nil, nil
	}
	if s.fault.hasty {
		o.Rivals = func() bool { return false }
		o.Shared = func(*deliver.Pending) bool { return false }
	}
	o.Projection, o.Journal, o.Logger, o.Registerer = x.a.proj, x.a.journal, quiet(), prometheus.NewRegistry()
	o.Resolve = func(string, string) (channel.Channel, error) { return x, nil }
	o.Writer, o.Instance, o.Epoch = id, x.me.Instance, func() uint64 { return x.View().Epoch }
	d, err := delivery.New(o)
	if err != nil {
		s.t.Fatal(err)
	}
	x.d, x.c.roster.change = d, d.Kick
	x.a.engines.watch(x.c.roster.renew)

	s.mu.Lock()
	v := s.view.Join(x.me, 0)
	x.known = v
	s.publish(v)
	s.mu.Unlock()
	x.a.store.Watch(x.c.adopt)
	said := joined(0, id, "local", memberIDs(v)...)
	said.Instance, said.Facts["instance"], said.Epoch = x.me.Instance, x.me.Instance, v.Epoch
	x.a.journal.Append(&said, 0, func(_ uint64, err error) {
		if err != nil { // the engine sees to it that it is said
			s.grow(said)
		}
	})

	sharing, stopSharing := context.WithCancel(context.Background())
	sending, stopSending := context.WithCancel(context.Background())
	ready, shared, sent := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(shared)
		if err := x.c.run(sharing, func() { close(ready) }); err != nil {
			s.t.Error(err)
		}
	}()
	go func() {
		defer close(sent)
		select {
		case <-ready:
		case <-sending.Done():
			return
		}
		if err := d.Service().Run(sending, func() {}); err != nil {
			s.t.Error(err)
		}
	}()
	x.stop = []func(){stopSending, func() { <-sent }, stopSharing, func() { <-shared }, x.leave, stopFold}
	return x
}

// end stops a member in order.
func (x *seat) end() {
	for _, do := range x.stop {
		do()
	}
	x.gone()
}

// kill ends it as if the power were cut.
func (x *seat) kill() {
	x.dead.Store(true)
	x.mu.Lock()
	x.tell("%s is killed", x.me.Instance)
	x.mu.Unlock()
	go func() {
		for i, do := range x.stop {
			if i != 4 {
				do()
			}
		}
	}()
}

// gone lets go of one that has left.
func (x *seat) gone() {
	x.dead.Store(true)
}

var lifePeople = strings.Fields("ann ben cat dan eve fay gus hal")

// wrong returns which message came twice without a mark, and how many are marked. A slow
// owner that has not heard of the next one may send after it: that one has marked its own.
func (s *site) wrong() (marked, all int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	came := map[string]string{}
	for _, l := range s.letters {
		if all++; l.marked {
			marked++
			continue
		}
		if before := came[l.key]; before != "" {
			err = fmt.Errorf("%s was sent by %s and by %s, and neither says that it may be a repetition\n%s", l.key, before, l.by, strings.Join(s.tale, "\n"))
		}
		if l.may {
			came[l.key] = l.by
		}
	}
	return marked, all, err
}
