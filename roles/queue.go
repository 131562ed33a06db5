package roles

import (
	"context"
	"fmt"
)

// openQueue opens the queue on which checks wait for workers.
func (a *appliance) openQueue(context.Context) error {
	return fmt.Errorf("role %s is %w", a.s.Role.Name, ErrNotReleased)
}

// makeWorker makes what takes checks from the queue and executes them.
func (a *appliance) makeWorker(context.Context) error {
	return fmt.Errorf("role %s is %w", a.s.Role.Name, ErrNotReleased)
}
