package coordination

import (
	"context"
	"errors"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/bucket"
	"jaque.sh/jaque/appliance/rule/membership"
)

// phase is how a process stands to its membership.
type phase uint8

// A process is a member from its registration on. Out of the view it follows what the
// others do; on its way back its heartbeat is there and the view may not list it yet.
const (
	phaseIn phase = iota
	phaseOut
	phaseBack
	phaseLeft // for good: the process ends
)

func (s *JetStream) enter(p phase) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.phase != phaseLeft {
		s.phase = p
	}
}

func (s *JetStream) is(p phase) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase == p
}

// rejoining begins the way back, if this member has stepped out.
func (s *JetStream) rejoining() {
	if s.is(phaseOut) {
		s.enter(phaseBack)
	}
}

// leaves tells whether no heartbeat is kept up: the member has left, or stepped out.
func (s *JetStream) leaves() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase == phaseLeft || s.phase == phaseOut
}

// beaten returns when the last heartbeat was sent that counts for the end of this process.
func (s *JetStream) beaten() time.Time {
	if s.leaves() {
		return time.Now() // nothing is due
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.good
}

// outside tells whether the view need not list this member although its process goes on.
func (s *JetStream) outside() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase == phaseOut || s.phase == phaseBack
}

// Leave takes this member out of the view, then removes its heartbeat. Another
// instance under its id is left alone.
func (s *JetStream) Leave(ctx context.Context, id string) error {
	s.enter(phaseLeft)
	me := s.member()
	if me.ID == "" || me.ID != id {
		return nil
	}
	_, err := s.change(ctx, func(v membership.View, exists bool) membership.View {
		if !exists || !v.Has(me) {
			return v
		}
		return v.Leave(id)
	})
	if err == nil {
		err = s.removeKey(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("leave %s: %w", s.path, err)
	}
	return nil
}

// StepOut takes this member out of the view, then removes its heartbeat; see Store.
func (s *JetStream) StepOut(ctx context.Context, id string) (membership.View, error) {
	me := s.member()
	if me.ID == "" || me.ID != id || !s.is(phaseIn) {
		return s.View(), fmt.Errorf("step out of %s: %w", s.path, ErrNotMember)
	}
	s.enter(phaseOut) // before the view may say so
	var refused error
	v, err := s.change(ctx, func(v membership.View, exists bool) membership.View {
		if refused = nil; !exists || !v.Has(me) {
			return v // an earlier try has landed
		}
		after := v.Leave(id)
		if refused = outOf(v, after); refused != nil {
			return v
		}
		return after
	})
	switch {
	case refused != nil && err == nil:
		s.enter(phaseIn)
		return v, fmt.Errorf("step out of %s: %w", s.path, refused)
	case err == nil:
		err = s.removeKey(ctx, id)
	}
	if err != nil {
		return v, fmt.Errorf("step out of %s: %w", s.path, err)
	}
	return v, nil
}

// outOf says why a member does not step out of a view.
func outOf(before, after membership.View) error {
	switch {
	case len(after.Members) == len(before.Members):
		return ErrNotMember
	case len(after.Members) == 0:
		return ErrLast
	}
	return nil
}

// removeKey removes the own heartbeat. The view says already that this member is gone.
func (s *JetStream) removeKey(ctx context.Context, id string) error {
	s.beating <- struct{}{} // what is under way has ended
	defer func() { <-s.beating }()
	s.mu.Lock()
	revision := s.revision
	s.mu.Unlock()
	one, cancel := s.step(ctx)
	defer cancel()
	switch err := s.keys.Remove(one, s.memberKey(id), revision); {
	case err == nil, errors.Is(err, bucket.ErrConflict):
		s.log.Info("member left", "id", id)
	case ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded):
		return err
	default:
		// The others know already; the key goes with its life time.
		s.log.Warn("member left, and its heartbeat is not removed: a start under this id waits until it has expired", "id", id, "err", err)
	}
	return nil
}
