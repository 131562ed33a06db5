package coordination

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
)

// Run refreshes the heartbeat at a third of the TTL, follows the view and
// removes members whose heartbeat is confirmed gone. It may be started before
// Register and begins then.
func (s *JetStream) Run(ctx context.Context, ready func()) error {
	ready()
	select {
	case <-s.registered:
	case <-ctx.Done():
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 2)
	go func() { ended <- s.beats(ctx) }()
	go func() { ended <- s.follow(ctx) }()
	err := <-ended
	if err != nil {
		err = service.Fail(ctx, err)
	}
	stop()
	<-ended
	if err != nil {
		s.mu.Lock()
		s.good = time.Time{} // whatever the clock says, it is no member
		s.mu.Unlock()
	}
	return err
}

// beats refreshes the heartbeat until ctx ends. It fails when the key is not
// ours any more, or no later than a TTL after the last success was sent: that is
// when peers may declare this member dead.
func (s *JetStream) beats(ctx context.Context) error {
	s.mu.Lock()
	last := s.good
	s.mu.Unlock()
	next := s.ttl / 3
	for {
		// However long a request hangs, the end comes in time.
		limit, cancel := context.WithDeadline(ctx, last.Add(s.ttl))
		wait := time.NewTimer(next)
		select {
		case <-wait.C:
		case <-limit.Done():
			wait.Stop()
		}
		var err error
		if limit.Err() == nil {
			err = s.refresh(limit)
		}
		late := limit.Err() != nil
		cancel()
		s.mu.Lock()
		last = s.good
		s.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrExpired), errors.Is(err, ErrTaken):
			return err
		case late && time.Since(last) >= s.ttl:
			return fmt.Errorf("%w: no heartbeat succeeded for %s", ErrExpired, s.ttl)
		}
		next = s.ttl / 3
		if err != nil {
			s.log.Warn("heartbeat failed, trying again", "err", err, "left", (s.ttl - time.Since(last)).Round(time.Millisecond))
			next = s.ttl / 20
		}
	}
}

// refresh writes the heartbeat at the revision that is known. It is never a
// blind write: a key that expired must not come to life again without a new
// epoch. An earlier write whose outcome was unknown may have moved the revision.
func (s *JetStream) refresh(ctx context.Context) error {
	s.mu.Lock()
	me, revision, leaving := s.me, s.revision, s.leaving
	s.mu.Unlock()
	if leaving {
		s.mu.Lock()
		s.good = time.Now() // nothing is due any more
		s.mu.Unlock()
		return nil
	}
	err := s.beat(ctx, me, revision)
	if !errors.Is(err, errConflict) {
		return err
	}
	e, err := s.get(ctx, s.memberKey(me.ID))
	switch {
	case err != nil:
		return err
	case s.leaves():
		return nil
	case e.gone:
		return fmt.Errorf("%w: the heartbeat of %s is gone from the store", ErrExpired, me.ID)
	case string(e.value) != me.Instance:
		return fmt.Errorf("%w: instance %s has taken over the heartbeat of %s", ErrTaken, e.value, me.ID)
	}
	s.landed(e.revision)
	return s.beat(ctx, me, e.revision)
}

// landed takes in that a heartbeat of unknown outcome was written after all.
// Only the first of several can have been: they expected the same revision.
func (s *JetStream) landed(revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unsure.After(s.good) {
		s.good = s.unsure
	}
	s.revision, s.unsure = revision, time.Time{}
}

func (s *JetStream) leaves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leaving
}

// pollMost is how long the change of a membership may stay unseen at most.
const pollMost = time.Second

// poll is how often the record and the heartbeats are looked at.
func (s *JetStream) poll() time.Duration { return min(s.ttl/6, pollMost) }

// follow looks again and again: it adopts newer views and expires dead members until
// ctx ends.
func (s *JetStream) follow(ctx context.Context) error {
	tick := time.NewTicker(s.poll())
	defer tick.Stop()
	blind := false // so that a store that is away is told of once
	for {
		err := s.look(ctx)
		if errors.Is(err, ErrStoreLost) || errors.Is(err, ErrExpired) {
			return s.unless(ctx, err)
		}
		if err == nil {
			err = s.sweep(ctx)
		}
		if err != nil && !blind && ctx.Err() == nil {
			s.log.Warn("the membership could not be looked at, trying again", "err", err)
		}
		blind = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// unless returns err unless the end was asked for.
func (s *JetStream) unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// look reads the view and adopts it if it is newer. A record that is missing or
// older than one seen before means a store that was lost or replaced: it is
// fatal if a second look confirms it. A store that cannot be read is not: the
// heartbeat decides how long that may last.
func (s *JetStream) look(ctx context.Context) error {
	err := s.lookOnce(ctx)
	if !errors.Is(err, ErrStoreLost) {
		return err
	}
	select {
	case <-time.After(s.ttl / 10):
	case <-ctx.Done():
		return nil
	}
	return s.lookOnce(ctx)
}

func (s *JetStream) lookOnce(ctx context.Context) error {
	known := s.View()
	v, e, err := s.read(ctx)
	switch {
	case err != nil:
		return err
	case s.leaves():
		return nil
	case e.gone:
		return fmt.Errorf("%w: there is no view of %s", ErrStoreLost, s.path)
	case v.Epoch < known.Epoch:
		return fmt.Errorf("%w: the view of %s is of epoch %d, %d was seen before", ErrStoreLost, s.path, v.Epoch, known.Epoch)
	}
	s.adopt(v)
	if !v.Has(s.member()) {
		return fmt.Errorf("%w: the view of epoch %d lists this member no more", ErrExpired, v.Epoch)
	}
	return nil
}

func (s *JetStream) member() membership.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.me
}

// sweep removes the members whose heartbeat key is gone, as the leader says.
func (s *JetStream) sweep(ctx context.Context) error {
	me := s.member()
	for _, m := range s.View().Members {
		if m.ID == me.ID || s.leaves() {
			continue
		}
		e, err := s.get(ctx, s.memberKey(m.ID))
		if err != nil {
			return err
		}
		if !e.gone {
			continue
		}
		v, err := s.change(ctx, func(v membership.View, exists bool) membership.View {
			if !exists || !v.Has(m) {
				return v // somebody else was faster, or it came back
			}
			return v.Leave(m.ID)
		})
		if err != nil {
			return err
		}
		s.metrics.expired.Inc()
		s.log.Warn("member expired: its heartbeat is gone", "id", m.ID, "instance", m.Instance, "epoch", v.Epoch)
	}
	return nil
}
