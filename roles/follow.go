package roles

import (
	"context"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/service"
)

// follow folds the log into the projection, in the roles that only read it. The
// service is ready once the projection has caught up, and ends the process when the
// log cannot be followed any more.
func (a *appliance) follow(context.Context) error {
	a.add(service.Service{Name: "follower", Needs: a.names(), Run: func(ctx context.Context, ready func()) error {
		if _, err := a.proj.Recall(ctx, a.journal); err != nil {
			return err
		}
		fold := func(events []event.Event) error {
			a.folding.Lock()
			defer a.folding.Unlock()
			for i := range events {
				a.proj.Apply(&events[i])
				a.learnZone(&events[i])
				for _, hear := range a.heard {
					hear(&events[i])
				}
			}
			return nil
		}
		err := a.journal.Follow(ctx, a.proj.Position(), fold, func() { a.live.Store(true); ready() })
		if ctx.Err() != nil {
			return nil
		}
		return err
	}})
	return nil
}
