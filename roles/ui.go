package roles

import (
	"context"

	"jaque.sh/jaque/appliance/service"
)

// ignoreReload takes the signals that reload other roles, so that they do nothing
// but say so.
func (a *appliance) ignoreReload(context.Context) error {
	a.add(service.Service{Name: "signals", Run: func(ctx context.Context, ready func()) error {
		ready()
		for {
			select {
			case <-ctx.Done():
				return nil
			case _, ok := <-a.p.Reload:
				if !ok {
					<-ctx.Done()
					return nil
				}
				a.p.Logger.Info("SIGHUP is ignored in this role: start it again to read the config anew", "role", string(a.s.Role.Name))
			}
		}
	}})
	return nil
}

// away says that what this process shows may be old, because the server of the log
// cannot be reached now.
func (a *appliance) away() []string {
	if a.bus.Conn().IsConnected() {
		return nil
	}
	return []string{"The server of the event log cannot be reached. What is shown may be old."}
}

// readsOnly says why writes are refused in a process that hands commands on, if it
// does not know where to.
func (a *appliance) readsOnly() string {
	if a.s.Role.Name != UI || a.submitting != nil {
		return ""
	}
	return "this process only reads the event log: start it with -coordination nats://… and the address of the engines' coordination server, or send the command to an engine"
}

// makeUI adds what a process that only reads says about itself.
func (a *appliance) makeUI(context.Context) error {
	a.troubles = append(a.troubles, a.away)
	return nil
}
