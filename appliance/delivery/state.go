package delivery

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/core/object"
)

// State is how delivery goes.
type State struct {
	Open      int       // requests without an outcome, those of other processes too
	Due       int       // of them, those that wait for nothing but a place
	Beyond    int       // of the due ones, how many there are beyond -notify-queue
	InFlight  int       // messages that are being sent
	Unwritten int       // outcomes that the log has not acknowledged
	Oldest    time.Time // event of the oldest request that waits; zero = none does
	Channels  []ChannelState

	unwritten string // why; "" = nothing is wrong
}

// ChannelState is how one kind of channel does.
type ChannelState struct {
	Name    string    // email, telegram, …
	Open    int       // requests that wait for it
	Failed  int       // of them, those whose last attempt failed
	Since   time.Time // event of the oldest of them
	Sent    time.Time // last success; zero = none since the start
	Failing time.Time // since when nothing but failures; zero = it works
	Reason  string    // of the last failure
}

// State returns how delivery went a moment ago.
func (d *Delivery) State() State { return *d.state.Load() }

// Trouble says in sentences what is wrong.
func (d *Delivery) Trouble() []string {
	var all []string
	s := d.state.Load()
	for _, c := range s.Channels {
		if c.Failed > 0 {
			all = append(all, fmt.Sprintf("%s over %s since %s: %s", waits(c.Failed), c.Name, d.clock(c.Since), c.Reason))
		}
	}
	if s.unwritten != "" {
		all = append(all, fmt.Sprintf("the outcomes of %d notifications are not on the log: %s", s.Unwritten, s.unwritten))
	}
	if s.Beyond > 0 {
		all = append(all, fmt.Sprintf("%d notifications are due and wait for a place, more than -notify-queue %d; see -notify-workers", s.Due, d.opt.Queue))
	}
	return all
}

func waits(n int) string {
	if n == 1 {
		return "1 notification waits"
	}
	return fmt.Sprintf("%d notifications wait", n)
}

// clock is a time for people, in the zone of the messages: the day only if it is
// another one.
func (d *Delivery) clock(t time.Time) string {
	zone := d.opt.Zone
	if zone == nil {
		zone = time.UTC
	}
	if time.Since(t) > 20*time.Hour {
		return t.In(zone).Format("2006-01-02 15:04 MST")
	}
	return t.In(zone).Format("15:04 MST")
}

// channelOf returns what is known of a request's kind of channel.
func (d *Delivery) channelOf(name string) *ChannelState {
	kind := kindOf(name)
	c := d.channels[kind]
	if c == nil {
		c = &ChannelState{Name: kind}
		d.channels[kind] = c
	}
	return c
}

// mark notes the failure of a request's last attempt.
func (d *Delivery) mark(r *request, reason string) {
	c := d.channelOf(r.Channel)
	if r.reason == "" {
		at := r.Time.Std()
		if c.Failed++; c.Failed == 1 || at.Before(c.Since) {
			c.Since = at
		}
	}
	r.reason = reason
}

// Requests are counted one by one: each time while there are few, else now and then.
const (
	countEvery = time.Second
	countMany  = 200
)

// publish makes the present state known.
func (d *Delivery) publish(now time.Time) {
	was := d.state.Load()
	s := &State{
		Open: len(d.requests), Due: was.Due, Beyond: was.Beyond, Oldest: was.Oldest,
		InFlight: d.running, Unwritten: d.writes.open(),
	}
	if len(d.requests) <= countMany || now.Sub(d.counted) >= countEvery {
		d.counted = now
		d.countWaiting(s, now)
		d.findOldest()
	}
	if d.writes.err != nil {
		s.unwritten = d.writes.err.Error()
	}
	for _, c := range d.channels {
		s.Channels = append(s.Channels, *c)
	}
	slices.SortFunc(s.Channels, func(a, b ChannelState) int { return strings.Compare(a.Name, b.Name) })
	d.state.Store(s)
}

// findOldest looks anew since when what failed waits: the oldest of it may have gone
// out meanwhile.
func (d *Delivery) findOldest() {
	oldest := map[string]object.Time{}
	for _, r := range d.requests {
		if r.reason == "" {
			continue
		}
		kind := kindOf(r.Channel)
		if at := oldest[kind]; at == 0 || r.Time < at {
			oldest[kind] = r.Time
		}
	}
	for kind, at := range oldest {
		d.channels[kind].Since = at.Std()
	}
}

// countWaiting looks at every request that waits. What is due and has no place is
// as safe as the rest, but somebody should know that there is so much of it.
func (d *Delivery) countWaiting(s *State, now time.Time) {
	w := d.planner.Waiting(object.At(now))
	s.Due, s.Oldest = w.Due, time.Time{}
	if w.Oldest != 0 {
		s.Oldest = w.Oldest.Std()
	}
	before := s.Beyond
	s.Beyond = max(0, w.Due-d.opt.Queue)
	d.metrics.overflow.Add(float64(max(0, s.Beyond-before)))
}

// attempts counts the failed ones of open requests. The log knows only of those that
// failed for a new reason.
type attempts struct {
	mu sync.Mutex // guards of
	of map[string]int
}

func (a *attempts) set(id string, n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of = map[string]int{}
	}
	a.of[id] = n
}

func (a *attempts) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.of, id)
}

// Attempts returns how many attempts at an open request have failed; 0 if this process
// has made none.
func (d *Delivery) Attempts(id string) int {
	d.attempts.mu.Lock()
	defer d.attempts.mu.Unlock()
	return d.attempts.of[id]
}
