package roles

import (
	"context"
	"sync"

	"jaque.sh/jaque/appliance/core/event"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/journal"
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
	a.silence = newSilence(a.proj, &a.live)
	a.troubles = append(a.troubles, a.old)
	a.heard = append(a.heard, a.silence.hear)
	a.writing = &writing{}
	a.heard = append(a.heard, a.writing.hear)
	a.add(service.Service{Name: "writers", Needs: a.names(), Run: func(ctx context.Context, ready func()) error {
		ready()
		// Not to know it costs nothing but its name on a page.
		events, err := a.journal.History(ctx, journal.Query{Kinds: []event.Kind{event.EngineJoined, event.EngineLeft}, Limit: 1})
		if err != nil && ctx.Err() == nil {
			a.p.Logger.Warn("which engine writes the log is not known until one joins", "err", err)
		}
		for i := range events {
			a.writing.hear(&events[i])
		}
		<-ctx.Done()
		return nil
	}})
	return nil
}

// writing is the engine that writes the log, as the log tells.
type writing struct {
	mu  sync.Mutex
	seq uint64 // of the event that said so
	id  string // "" = none since the last one left
}

// hear takes in that an engine joined or left; the newest event counts.
func (w *writing) hear(e *event.Event) {
	if e.Kind != event.EngineJoined && e.Kind != event.EngineLeft {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Seq <= w.seq {
		return
	}
	w.seq, w.id = e.Seq, ""
	if e.Kind == event.EngineJoined {
		w.id = e.Writer
	}
}

// owner returns the engine that checks an object: there is one at a time.
func (w *writing) owner(object.ID) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

// engines returns the ids of those that write.
func (w *writing) engines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.id == "" {
		return nil
	}
	return []string{w.id}
}
