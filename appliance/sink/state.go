package sink

import (
	"context"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
)

// State is how a sink does.
type State struct {
	Began       time.Time        // when it was known where to go on; zero = not yet
	Position    journal.Position // behind what the target has taken
	End         journal.Position // of the log, as of some seconds ago
	Taken       uint64           // items since the start
	Refused     uint64           // items that the target refused for good since the start
	LastRefused string           // the newest of them and why
	RefusedAt   time.Time        // when that was
	Failing     time.Time        // since when the target takes nothing; zero = it works
	Reason      string           // why
	Unsaved     string           // why the position is not known or kept; "" = it is
	Restart     string           // what that means for whoever runs the sink next
	Oldest      time.Time        // time of the oldest event that was read and not taken; zero = there is none
	Behind      uint64           // events on the log that the sink has not dealt with

	sending object.Time // oldest event of the batch that is being written
}

// State returns how the sink does.
func (s *Sink) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Name returns the name the config gave.
func (s *Sink) Name() string { return s.opt.Name }

func (s *Sink) change(f func(st *State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.state)
}

func (s *Sink) position() journal.Position { return s.State().Position }

// refusedFor is how long a refusal is told as trouble; the metrics keep it.
const refusedFor = time.Hour

// Trouble says in sentences what is wrong.
func (s *Sink) Trouble() []string {
	st := s.State()
	var all []string
	if !st.Failing.IsZero() {
		all = append(all, fmt.Sprintf("sink %s: nothing is taken since %s, %s on the log: %s",
			s.opt.Name, clock(st.Failing), wait(st.Behind), st.Reason))
	}
	switch {
	case st.Unsaved != "" && st.Began.IsZero():
		all = append(all, fmt.Sprintf("sink %s: it waits, where it goes on is not known: %s", s.opt.Name, st.Unsaved))
	case st.Unsaved != "":
		all = append(all, fmt.Sprintf("sink %s: its position is not kept, %s: %s", s.opt.Name, st.Restart, st.Unsaved))
	}
	if st.Refused > 0 && time.Since(st.RefusedAt) < refusedFor {
		all = append(all, fmt.Sprintf("sink %s: %d of %d items were refused for good and left out, last %s",
			s.opt.Name, st.Refused, st.Refused+st.Taken, st.LastRefused))
	}
	return all
}

func wait(n uint64) string {
	if n == 1 {
		return "1 event waits"
	}
	return fmt.Sprintf("%d events wait", n)
}

// clock is a time for people: the day only if it is another one.
func clock(t time.Time) string {
	if time.Since(t) > 20*time.Hour {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("15:04")
}

// lagEvery is how often the end of the log is asked for.
const lagEvery = 5 * time.Second

// watch looks now and then how far the log is ahead.
func (s *Sink) watch(ctx context.Context) {
	tick := time.NewTicker(lagEvery)
	defer tick.Stop()
	for {
		ask, cancel := context.WithTimeout(ctx, lagEvery)
		if end, err := s.opt.Source.End(ask); err == nil {
			s.change(func(st *State) { st.End = end })
		}
		cancel()
		s.lag()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// lag works out how far behind the sink is. Only the streams that it takes from count.
func (s *Sink) lag() {
	waiting := s.inbox.oldest()
	s.change(func(st *State) {
		st.Behind = 0
		if s.mapper == nil {
			st.Behind += ahead(st.End.Log, st.Position.Log)
		}
		if s.mapper != nil || s.opt.Measurements {
			st.Behind += ahead(st.End.Results, st.Position.Results)
		}
		oldest := st.sending
		if oldest == 0 {
			oldest = waiting
		}
		st.Oldest = oldest.Std()
		s.metrics.behind.Set(float64(st.Behind))
		s.metrics.age(st.Oldest)
		s.metrics.log.Set(float64(st.Position.Log))
		s.metrics.results.Set(float64(st.Position.Results))
	})
}

func ahead(end, at uint64) uint64 {
	if end > at {
		return end - at
	}
	return 0
}
