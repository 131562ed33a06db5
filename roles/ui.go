package roles

import (
	"context"
	"strings"
	"time"

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
				if a.s.Role.Name == Worker {
					a.p.Logger.Info("SIGHUP is ignored in this role: a worker has no config")
					continue
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
	if !a.bus.Conn().IsConnected() {
		return []string{"The server of the event log cannot be reached. What is shown may be old."}
	}
	if a.logServer == nil {
		return nil
	}
	silent := a.logServer.trouble()
	for i := range silent {
		silent[i] = strings.ToUpper(silent[i][:1]) + silent[i][1:] + ". What is shown may be old."
	}
	return silent
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
	a.silence = newSilence(a.proj, &a.live)
	a.troubles = append(a.troubles, a.old, func() []string { return a.engines.outdates(a.config.Set.Generation, time.Now()) })
	a.heard = append(a.heard, a.silence.hear)
	a.heard = append(a.heard, a.engines.hear)
	a.recallEngines(a.names()...)
	return nil
}

// recallEngines adds the service that finds out which engines were started before this
// process began to follow the log.
func (a *appliance) recallEngines(needs ...string) {
	a.add(service.Service{Name: "engines", Needs: needs, Run: func(ctx context.Context, ready func()) error {
		// Not to know it costs no more than their names on a page.
		if err := a.engines.recall(ctx, a.journal); err != nil && ctx.Err() == nil {
			a.p.Logger.Warn("which engines there are is not known until they say so", "err", err)
		}
		ready()
		(&configWarner{engines: a.engines, log: a.p.Logger}).run(ctx)
		return nil
	}})
	a.reg.MustRegister(configsMetric(a.engines))
	me := ""
	if a.engine != nil {
		me = a.s.EngineID
	}
	a.troubles = append(a.troubles, func() []string { return a.engines.trouble(me, time.Now()) })
}
