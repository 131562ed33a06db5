package roles

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
	"jaque.sh/jaque/roles/engine"
)

// strangers are engines that write to this log and are no members where this one
// announces itself: each of them and this one would run every check. What counts is when
// their events arrive here, so that no other machine's clock matters.
type strangers struct {
	instance string // of this process
	ttl      time.Duration
	view     func() membership.View // as it was read last

	mu    sync.Mutex // guards what follows
	live  bool       // what is heard is written now
	known map[string]*writer
}

// writer is one run of an engine.
type writer struct {
	id             string
	joined, left   uint64    // positions of what it said of itself; 0 = it did not
	newest         uint64    // position of its newest decision
	wrote          time.Time // by its own clock
	since, arrived time.Time // its first and its newest event while it was no member here
}

// keepWriters bounds the runs of engines that are remembered.
const keepWriters = 1000

// clocksApart is how far the clocks of two machines may differ.
const clocksApart = time.Minute

// hear takes note of an event and its writer.
func (s *strangers) hear(e *event.Event) {
	if e.Instance == "" || e.Instance == s.instance {
		return
	}
	now, view := time.Now(), s.view()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(e)
	w := s.known[e.Instance]
	if w == nil || w.joined == 0 {
		return
	}
	w.wrote = e.Time.Std()
	if e.Stream == event.Log {
		w.newest = max(w.newest, e.Seq)
	}
	switch {
	case !s.live:
	case view.Has(membership.Member{ID: w.id, Instance: e.Instance}):
		w.since = time.Time{}
	default:
		if w.since.IsZero() {
			w.since = now
		}
		w.arrived = now
	}
}

// recalled takes note of what engines said before this process began to listen.
func (s *strangers) recalled(events []event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range events {
		s.note(&events[i])
	}
}

// note takes in what an engine says of a run.
func (s *strangers) note(e *event.Event) {
	run := e.Facts["instance"]
	if e.Object != "" || run == "" || run == s.instance || e.Kind != event.EngineJoined && e.Kind != event.EngineLeft {
		return
	}
	if s.known == nil {
		s.known = map[string]*writer{}
	}
	w := s.known[run]
	if w == nil {
		s.forget()
		w = &writer{id: e.Facts["engine"]}
		s.known[run] = w
	}
	if e.Kind == event.EngineLeft {
		w.left = e.Seq
		return
	}
	w.joined, w.newest = e.Seq, max(w.newest, e.Seq)
	if at := e.Time.Std(); at.After(w.wrote) {
		w.wrote = at
	}
}

// forget makes room for one more.
func (s *strangers) forget() {
	if len(s.known) < keepWriters {
		return
	}
	oldest := ""
	for run, w := range s.known {
		if oldest == "" || w.newest < s.known[oldest].newest {
			oldest = run
		}
	}
	delete(s.known, oldest)
}

// listen says that what is heard from now on is written now.
func (s *strangers) listen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = true
}

// found returns the ids of those that have written for so long that they live, and
// whether one of them joined before a position of the log. What was heard while this one
// did not know who is a member, such as while it waited to become one, says nothing about
// who is.
func (s *strangers) found(mine uint64, now time.Time) (ids []string, before bool) {
	view := s.view()
	if !slices.ContainsFunc(view.Members, func(m membership.Member) bool { return m.Instance == s.instance }) {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for run, w := range s.known {
		if view.Has(membership.Member{ID: w.id, Instance: run}) {
			w.since = time.Time{}
			continue
		}
		if w.left < w.joined && !w.since.IsZero() && w.arrived.Sub(w.since) > 2*s.ttl && now.Sub(w.arrived) < clocksApart+2*s.ttl {
			ids, before = append(ids, w.id), before || w.joined < mine
		}
	}
	slices.Sort(ids)
	return ids, before
}

// recent returns the runs that may live although they are not in a view, into which this
// one is about to come.
func (s *strangers) recent(view membership.View, now time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var runs []string
	for run, w := range s.known {
		if w.joined == 0 || w.left > w.joined || now.Sub(w.wrote) > 2*s.ttl+clocksApart || view.Has(membership.Member{ID: w.id, Instance: run}) {
			continue
		}
		replaced := false
		for _, other := range s.known {
			replaced = replaced || other.id == w.id && other.joined > w.newest
		}
		if !replaced {
			runs = append(runs, run)
		}
	}
	return runs
}

// writes tells whether something of one of the runs has arrived, and of which engine.
func (s *strangers) writes(runs []string) (id string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, run := range runs {
		if w := s.known[run]; w != nil && w.left < w.joined && !w.since.IsZero() {
			return w.id, true
		}
	}
	return "", false
}

// elsewhereSaid says what is wrong and what to do.
func elsewhereSaid(ids []string) string {
	who := "engine " + strings.Join(ids, ", ") + " writes"
	if len(ids) > 1 {
		who = "engines " + strings.Join(ids, ", ") + " write"
	}
	return who + " to this log and announces itself elsewhere than this one, so that every check runs twice: " +
		"start all engines of a log with the same -coordination"
}

// trouble says that there are strangers.
func (s *strangers) trouble() []string {
	ids, _ := s.found(0, time.Now())
	if len(ids) == 0 {
		return nil
	}
	return []string{elsewhereSaid(ids)}
}

// registering looks for strangers before this engine becomes a member.
type registering struct {
	engine.Coordinator
	strangers *strangers
	before    func(context.Context) (membership.View, error)
}

// Register refuses where an engine writes to the log that announces itself elsewhere.
func (r registering) Register(ctx context.Context, m membership.Member, newestOnLog uint64) (membership.View, error) {
	r.strangers.listen()
	view, err := r.before(ctx)
	for again := 0; errors.Is(err, context.DeadlineExceeded) && again < 2 && ctx.Err() == nil; again++ {
		view, err = r.before(ctx) // the members may have been choosing a leader
	}
	// A record that cannot be read is found out with the registration.
	if err == nil {
		began := time.Now()
		for runs := r.strangers.recent(view, began); len(runs) > 0 && time.Since(began) < 2*r.strangers.ttl; {
			if id, ok := r.strangers.writes(runs); ok {
				return membership.View{}, fmt.Errorf("this one would be the second: %s", elsewhereSaid([]string{id}))
			}
			if !pause(ctx, lookAtFold) {
				return membership.View{}, ctx.Err()
			}
			if view, err = r.before(ctx); err == nil { // one that came a moment ago
				runs = r.strangers.recent(view, began)
			}
			pause(ctx, r.strangers.ttl/20)
		}
	}
	return r.Coordinator.Register(ctx, m, newestOnLog)
}

// followStrangers adds the service that ends this engine if it is the later one.
func (a *appliance) followStrangers() {
	s := a.strangers
	a.troubles = append(a.troubles, s.trouble)
	a.add(service.Service{Name: "other-engines", Needs: []string{"engine"}, Run: func(ctx context.Context, ready func()) error {
		ready()
		told := false
		for pause(ctx, s.ttl/10) {
			if !a.store.Alive() {
				continue // it is not known who is a member
			}
			ids, before := s.found(a.engines.joined(a.s.EngineID, a.instance), time.Now())
			switch {
			case before:
				return service.Fail(ctx, fmt.Errorf("this one joined later and ends: %s", elsewhereSaid(ids)))
			case len(ids) > 0 && !told:
				a.p.Logger.Error("an engine that this one does not meet writes to the log", "reason", elsewhereSaid(ids))
			}
			told = len(ids) > 0
		}
		return nil
	}})
}
