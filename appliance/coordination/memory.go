package coordination

import (
	"context"
	"errors"
	"sync"
	"time"

	"jaque.sh/jaque/appliance/rule/membership"
)

// ErrNotMember is returned when a view is asked for before Register.
var ErrNotMember = errors.New("coordination: not registered")

// Memory is the store of -coordination memory: one process, one member, the
// same rules. The zero Memory is ready to use.
type Memory struct {
	mu   sync.Mutex
	view membership.View
}

// Register makes m the only member and returns the view, whose epoch lies above
// everything seen on the log and not below the wall clock in milliseconds: a
// store that lives in memory is a store that is lost with each restart.
func (s *Memory) Register(_ context.Context, m membership.Member, newestOnLog uint64) (membership.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.Epoch == 0 {
		s.view = membership.First(m, newestOnLog, time.Now().UnixMilli())
	} else {
		s.view = s.view.Join(m, newestOnLog)
	}
	return s.view, nil
}

// Repair raises the epoch above the newest one seen on the log, if it is not.
func (s *Memory) Repair(_ context.Context, newestOnLog uint64) (membership.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.view.Epoch == 0 {
		return membership.View{}, ErrNotMember
	}
	s.view = s.view.Repair(newestOnLog)
	return s.view, nil
}

// Leave takes the member out.
func (s *Memory) Leave(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view = s.view.Leave(id)
	return nil
}
