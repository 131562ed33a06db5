package coordination

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/service"
)

// Run refreshes the heartbeat at a third of the TTL, follows the view and
// removes members whose heartbeat does not move any more. It may be started before
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
		s.mu.Lock()
		s.good = time.Time{} // whatever the clock says, it is no member
		s.mu.Unlock()
		err = service.FailFast(ctx, err, endWithin)
	}
	stop()
	<-ended
	return err
}

// endWithin bounds how long a process goes on that is no member any more: others do its
// work already. What it would wait for, the log among it, may never answer.
const endWithin = 2 * time.Second

// beats refreshes the heartbeat until ctx ends. It fails when the key is not
// ours any more, or no later than a TTL after the last success was sent: that is
// when peers may declare this member dead.
func (s *JetStream) beats(ctx context.Context) error {
	last, pause := s.beaten(), time.Duration(0)
	next := s.ttl/3 - time.Since(last) // joining may have taken a while
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
		last = s.beaten()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrExpired), errors.Is(err, ErrTaken):
			return err
		case late && time.Since(last) >= s.ttl:
			return s.lateBecause(ctx)
		}
		next = s.ttl/3 - time.Since(last) // from when it was sent, however late that is known
		if err != nil {
			s.log.Warn("heartbeat failed, trying again", "err", err, "why", s.why(last), "left", (s.ttl - time.Since(last)).Round(time.Millisecond))
			pause = s.pause(err, pause)
			next = pause
		} else {
			pause = 0
		}
	}
}

// pause is how long a heartbeat that failed waits before it is tried again, from how long
// it waited the last time. A server that has an earlier one still to write is given more
// time each time, yet is asked often enough for what it has written to count.
func (s *JetStream) pause(err error, last time.Duration) time.Duration {
	if errors.Is(err, errPending) {
		return min(max(2*last, s.ttl/40), s.ttl/10)
	}
	return s.ttl / 20
}

// exister tells whether the bucket is there at all.
type exister interface {
	Exists(ctx context.Context) (bool, error)
}

// whyWait bounds the question why no heartbeat succeeded: the end does not wait for it.
const whyWait = 200 * time.Millisecond

// lateBecause says why no heartbeat succeeded in time.
func (s *JetStream) lateBecause(ctx context.Context) error {
	if x, ok := s.keys.(exister); ok {
		one, cancel := context.WithTimeout(ctx, whyWait)
		defer cancel()
		if there, err := x.Exists(one); err == nil && !there {
			return fmt.Errorf("%w: the bucket of the members is not on the server any more, somebody has removed it; start again, an engine makes it anew", ErrStoreLost)
		}
	}
	err := fmt.Errorf("%w: no heartbeat succeeded for %s", ErrExpired, s.ttl)
	if text := s.why(time.Now().Add(-s.ttl)); text != "" {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// races is how often a heartbeat is tried against others who write its key.
const races = 8

// errPending: the server denies a heartbeat although the key has not moved. It has an
// earlier one still to write, or no quorum.
var errPending = errors.New("the server has an earlier heartbeat still to write, or cannot write any")

// refresh writes the heartbeat at the revision that is known. It is never a
// blind write: a member that was expired must not come to life again without a new
// epoch. An earlier write whose outcome was unknown may have moved the revision; then that
// was the heartbeat.
func (s *JetStream) refresh(ctx context.Context) error {
	s.mu.Lock()
	me, revision := s.me, s.revision
	s.mu.Unlock()
	if s.leaves() {
		return nil
	}
	err := s.beat(ctx, me, revision, s.due())
	for n := 0; errors.Is(err, bucket.ErrConflict) && n < races; n++ {
		e, err2 := s.get(ctx, s.memberKey(me.ID))
		switch {
		case err2 != nil:
			return err2
		case s.leaves():
			return nil
		case e.Foreign:
			// Within the TTL, which the caller sees to, no peer has taken it for dead.
		case e.Gone:
			if err := s.mayReturn(ctx, me); err != nil {
				return err
			}
		case string(e.Value) != me.Instance:
			return fmt.Errorf("%w: instance %s has taken over the heartbeat of %s", ErrTaken, e.Value, me.ID)
		case e.Revision == revision:
			return errPending
		case s.landed(e.Revision):
			return nil
		}
		revision = e.Revision
		err = s.beat(ctx, me, revision, s.due())
	}
	return err
}

// due is when the next heartbeat must have succeeded.
func (s *JetStream) due() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.good.Add(s.ttl)
}

// mayReturn says why a heartbeat that is gone from the store must not be written anew. It
// may while the view lists this run of the member: its time is not over by the clocks of
// its peers, and the server's has jumped.
func (s *JetStream) mayReturn(ctx context.Context, me membership.Member) error {
	v, e, err := s.read(ctx)
	switch {
	case err != nil:
		return err
	case v.Has(me), e.Foreign, s.outside(), s.View().Epoch < v.Restored:
		s.log.Warn("the heartbeat was gone before its time and is written anew; the wall clock of a log server may have jumped", "id", me.ID)
		return nil
	case e.Gone: // what that means is found out by who follows the view
		return fmt.Errorf("the heartbeat of %s is gone from the store, and so is the view", me.ID)
	}
	return fmt.Errorf("%w: the heartbeat of %s is gone from the store, and the view of epoch %d does not list it", ErrExpired, me.ID, v.Epoch)
}

// landed takes in that a heartbeat of unknown outcome was written after all, if the
// key has another revision than before, and tells whether one was. Only one of several can
// have been: they expected the same revision. It counts from when the first was sent. A
// server without a quorum may deny a write over a key that has not moved, which proves
// nothing.
func (s *JetStream) landed(revision uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision == s.revision {
		return false
	}
	was := s.good
	if s.unsure.After(s.good) {
		s.good = s.unsure
	}
	s.revision, s.unsure = revision, time.Time{}
	return s.good.After(was)
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
	known, out := s.View(), s.outside()
	v, e, err := s.read(ctx)
	switch {
	case err != nil:
		return err
	case s.is(phaseLeft):
		return nil
	case e.Foreign:
		_, err := s.try(ctx, func(v membership.View, _ bool) membership.View { return v })
		return err
	case e.Gone:
		return fmt.Errorf("%w: there is no view of %s", ErrStoreLost, s.path)
	case v.Epoch < known.Epoch:
		return fmt.Errorf("%w: the view of %s is of epoch %d, %d was seen before", ErrStoreLost, s.path, v.Epoch, known.Epoch)
	}
	me := s.member()
	switch {
	case v.Has(me), out || s.outside(): // it may have been so when the record was read
		s.adopt(v.View)
		return nil
	case known.Epoch < v.Restored && s.Alive(): // nobody has expired it
		s.log.Warn("the view was written anew by somebody who did not know this member, which joins again", "epoch", v.Epoch)
		_, err := s.try(ctx, func(v membership.View, exists bool) membership.View { return s.again(v, exists, me) })
		return err
	}
	s.adopt(v.View)
	return fmt.Errorf("%w: the view of epoch %d lists this member no more", ErrExpired, v.Epoch)
}

func (s *JetStream) member() membership.Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.me
}

// sweep removes the members whose heartbeat has not moved for a TTL by the clock of this
// process, as the leader says.
func (s *JetStream) sweep(ctx context.Context) error {
	me := s.member()
	listed := map[string]bool{s.memberKey(me.ID): true} // a member on its way back looks at its own
	for _, m := range s.View().Members {
		if s.leaves() {
			return nil
		}
		if m.ID == me.ID {
			continue
		}
		listed[s.memberKey(m.ID)] = true
		if err := s.bury(ctx, m); err != nil {
			return err
		}
	}
	s.forget(func(key string) bool { return listed[key] })
	return nil
}

// bury takes a member out of the view if it is dead. Before each try its heartbeat is
// looked at again.
func (s *JetStream) bury(ctx context.Context, m membership.Member) error {
	key := s.memberKey(m.ID)
	for range races {
		e, err := s.get(ctx, key)
		if err != nil {
			return err
		}
		if !s.dead(key, e) {
			return nil
		}
		mine := false
		v, err := s.try(ctx, func(v membership.View, exists bool) membership.View {
			if mine = exists && v.Has(m); !mine {
				return v // somebody else was faster, or it came back
			}
			return v.Leave(m.ID)
		})
		if errors.Is(err, bucket.ErrConflict) {
			continue
		}
		if err == nil && mine {
			s.metrics.expired.Inc()
			s.log.Warn("member expired: its heartbeat has not moved for a TTL", "id", m.ID, "instance", m.Instance, "epoch", v.Epoch, "stands", !e.Gone)
		}
		return err
	}
	return nil
}
