package roles

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/queue"
	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/service"
)

// answers knows whether a server answers: one that hangs leaves its connections
// open, and who listens to it hears nobody without being told why.
type answers struct {
	ask  func(context.Context) error // one round trip; nil = there is no server
	what string                      // its name for people

	mu    sync.Mutex // guards what follows
	last  time.Time  // when the newest round trip that was answered began; zero = nobody asks
	since time.Time  // since when every one was answered
	awake time.Time  // when this process was last seen to run; zero = nobody asks
}

// How often the server is asked, and since when it must not have answered to be called
// away. What depends on it goes stale later than that. How often it is noted that this
// process runs, and after which gap it did not.
const (
	askServer   = time.Second
	answerWait  = 2 * time.Second
	unanswering = 4 * time.Second
	noteAwake   = 250 * time.Millisecond
	frozen      = 2 * time.Second
)

// run asks until ctx ends.
func (s *answers) run(ctx context.Context) {
	if s.ask == nil {
		return
	}
	s.answered(time.Now())
	defer s.forget()
	// Not by who asks: that may hang with the server.
	noting := make(chan struct{})
	go func() {
		defer close(noting)
		for s.runs(); pause(ctx, noteAwake); {
			s.runs()
		}
	}()
	defer func() { <-noting }()
	for wait := askServer; pause(ctx, wait); {
		began := time.Now()
		one, cancel := context.WithTimeout(ctx, answerWait)
		err := s.ask(one)
		cancel()
		if err == nil {
			s.answered(began)
		}
		// Who has waited for an answer in vain asks anew at once: one lost answer, or a
		// moment in which this process did not run, is no silence.
		wait = max(askServer-time.Since(began), 0)
	}
}

// runs notes that this process runs. What it has slept, as one that was stopped, is no
// silence of the server: its patience begins anew, and everybody may have been missed.
func (s *answers) runs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if s.slept(now) {
		s.last, s.since = now, now
	}
	s.awake = now
}

// slept tells whether this process has not run until a moment ago. The caller holds mu.
func (s *answers) slept(now time.Time) bool {
	return !s.awake.IsZero() && now.Sub(s.awake) > frozen
}

// answered notes an answer to what was asked at a time. After a gap it begins anew.
func (s *answers) answered(asked time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asked.Sub(s.last) > unanswering {
		s.since = time.Now()
	}
	if asked.After(s.last) {
		s.last = asked
	}
}

func (s *answers) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.since, s.awake = time.Time{}, time.Time{}, time.Time{}
}

// trouble says that the server does not answer.
func (s *answers) trouble() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	silent := time.Since(s.last)
	if s.last.IsZero() || silent <= unanswering || s.slept(time.Now()) {
		return nil
	}
	return []string{fmt.Sprintf("%s has not answered for %s", s.what, silent.Truncate(time.Second))}
}

// steady tells whether the server has answered for so long without a gap.
func (s *answers) steady(long time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last.IsZero() || !s.slept(time.Now()) && time.Since(s.last) <= unanswering && time.Since(s.since) >= long
}

// missed is an error unless the server is steady.
func (s *answers) missed(long time.Duration) error {
	if s.steady(long) {
		return nil
	}
	if silent := s.trouble(); len(silent) > 0 {
		return errors.New(silent[0])
	}
	return fmt.Errorf("%s did not answer in the meantime", s.what)
}

// asked asks a server as long as a process runs, and says as a trouble when it does not
// answer.
func (a *appliance) asked(name, what string, b *bus.Bus) *answers {
	s := &answers{what: what, ask: b.Conn().FlushWithContext}
	a.servers = append(a.servers, func() []string {
		if !b.Conn().IsConnected() {
			return []string{"the connection to " + what + " is lost"}
		}
		return s.trouble()
	})
	a.add(service.Service{Name: name, Needs: a.names(), Run: func(ctx context.Context, ready func()) error {
		ready()
		s.run(ctx)
		return nil
	}})
	return s
}

// awayServers says which servers this process cannot work with at present, and why.
func (a *appliance) awayServers() []string {
	var all []string
	for _, away := range a.servers {
		all = append(all, away()...)
	}
	if len(all) == 0 && a.zones != nil {
		return a.zones.trouble() // the queue may be on the server of the log, which says it all
	}
	return all
}

// watchAnswers watches the server of a log that is in another process.
func (a *appliance) watchAnswers() {
	a.logServer = a.asked("log-server", "the server of the event log "+veil.Servers(a.s.EventLog), a.bus)
	if a.s.Role.Name != UI { // which says what follows from it
		a.troubles = append(a.troubles, a.logServer.trouble)
	}
}

// hearing is an engine's side of the queue that blames no worker for a server that does
// not answer.
type hearing struct {
	queue.Dispatcher
	watch *zoneWatch
}

// Do waits for the result of an item. That nobody serves its zone is not said where
// nobody could be heard.
func (h hearing) Do(ctx context.Context, it *queue.Item) (*queue.Result, error) {
	r, err := h.Dispatcher.Do(ctx, it)
	var lost *queue.Unanswered
	if errors.As(err, &lost) && lost.Err == nil && lost.Worker == "" && lost.Live == 0 {
		lost.Err = h.watch.server.missed(h.watch.dispatcher.Fleet().Settling())
	}
	return r, err
}
