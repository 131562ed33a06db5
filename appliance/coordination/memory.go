package coordination

import (
	"context"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/rule/membership"
)

// Memory is the store of -coordination memory: one process, one member, the
// same rules. The zero Memory is ready to use.
type Memory struct {
	mu       sync.Mutex // held over a change, so that changes are in order
	watchers watchers
}

// Register makes m the only member and returns the view, whose epoch lies above
// everything seen on the log and not below the wall clock in milliseconds: a
// store that lives in memory is a store that is lost with each restart.
func (s *Memory) Register(_ context.Context, m membership.Member, newestOnLog uint64) (membership.View, error) {
	return s.change(func(v membership.View) membership.View {
		if v.Epoch == 0 {
			return membership.First(m, newestOnLog, time.Now().UnixMilli())
		}
		return v.Join(m, newestOnLog)
	}), nil
}

// Repair raises the epoch above the newest one seen on the log, if it is not.
func (s *Memory) Repair(_ context.Context, newestOnLog uint64) (membership.View, error) {
	if s.View().Epoch == 0 {
		return membership.View{}, ErrNotMember
	}
	return s.change(func(v membership.View) membership.View { return v.Repair(newestOnLog) }), nil
}

// Leave takes the member out.
func (s *Memory) Leave(_ context.Context, id string) error {
	s.change(func(v membership.View) membership.View { return v.Leave(id) })
	return nil
}

// StepOut takes the member out, unless it is the only one.
func (s *Memory) StepOut(_ context.Context, id string) (membership.View, error) {
	var err error
	v := s.change(func(v membership.View) membership.View {
		after := v.Leave(id)
		if err = outOf(v, after); err != nil {
			return v
		}
		return after
	})
	return v, err
}

func (s *Memory) change(fn func(membership.View) membership.View) membership.View {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := fn(s.watchers.get())
	s.watchers.adopt(v)
	return v
}

// Alive tells whether the member is registered.
func (s *Memory) Alive() bool { return len(s.View().Members) > 0 }

// View returns the present view.
func (s *Memory) View() membership.View { return s.watchers.get() }

// Watch tells of every newer view.
func (s *Memory) Watch(fn func(membership.View)) (cancel func()) { return s.watchers.watch(fn) }

// Run waits for the end: in memory no membership is lost.
func (s *Memory) Run(ctx context.Context, ready func()) error {
	ready()
	<-ctx.Done()
	return nil
}
