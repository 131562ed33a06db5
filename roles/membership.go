package roles

import (
	"context"
	"fmt"
	"time"

	"jaque.sh/jaque/appliance/bus"
	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/appliance/rule/veil"
	"jaque.sh/jaque/appliance/service"
)

// openCoordination opens the store in which engines announce themselves. The engine
// registers when it has caught up with the log.
func (a *appliance) openCoordination(ctx context.Context) error {
	where := a.membershipOn()
	if where == "" {
		a.store = &coordination.Memory{}
		return nil
	}
	switch {
	case a.s.Coordination == "memory" && a.s.meetsGiven:
		a.p.Logger.Warn("-coordination memory is not followed: other processes reach the log, so the membership is kept beside it, and engines that do not know of each other are ruled out; leave the flag out")
	case a.s.Coordination == "memory":
		a.p.Logger.Info("the membership is kept beside the log, which other processes reach too, so that other engines can share its objects")
	}
	return a.openStore(ctx, coordination.Engines, where)
}

// membershipOn is where engines announce themselves, "" for nowhere. A log that
// another process can reach is no place for -coordination memory: two engines that do
// not know of each other would run every check twice.
func (a *appliance) membershipOn() string {
	switch {
	case a.s.Coordination != "memory":
		return a.s.Coordination
	case external(a.s.EventLog):
		return a.s.EventLog
	case a.bus != nil && (a.s.NATS.Listen != "" || a.bus.Clustered()):
		return "embedded"
	}
	return ""
}

// openStore opens a bucket; the membership is kept by a service.
func (a *appliance) openStore(ctx context.Context, path, where string) error {
	b, err := a.link(ctx, "coordination", where)
	if err != nil {
		return err
	}
	if err := a.meet(ctx, b); err != nil {
		return err
	}
	if a.meets = b; b != a.bus && !b.Embedded() {
		server := a.asked("members-server", "the coordination server "+veil.Servers(where), b)
		a.troubles = append(a.troubles, server.trouble)
	}
	a.store, err = coordination.OpenJetStream(b.Conn(), a.storeOptions(b, path))
	if err != nil {
		return fmt.Errorf("open the membership %s: %w", path, err)
	}
	a.add(service.Service{Name: "membership", Needs: a.names(), Run: a.store.Run})
	return nil
}

// meet sees to it that there is a bucket for members on a server of its own: engines make
// it, and the others wait for one that does. With the log it is there.
func (a *appliance) meet(ctx context.Context, b *bus.Bus) error {
	switch {
	case b == a.bus:
		return nil
	case a.s.Role.OwnLog:
		return b.DeclareMembers(ctx)
	}
	return b.AwaitMembers(ctx, a.waitsFor)
}

func (a *appliance) storeOptions(b *bus.Bus, path string) coordination.Options {
	return coordination.Options{
		Bucket: b.Names().Members, Path: path, TTL: a.s.HeartbeatTTL, Logger: a.p.Logger, Registerer: a.reg,
		Why: func(since time.Time) string { return b.Hindrance(since, b.Names().Members) },
	}
}

// join makes this process a member of the bucket of its role, in the store that
// -coordination names, else on the server of the log.
func (a *appliance) join(path string) step {
	return func(ctx context.Context) error {
		if err := a.openStore(ctx, path, a.meeting()); err != nil {
			return err
		}
		if _, err := a.store.Register(ctx, membership.Member{ID: a.memberID(), Instance: a.instance, Serves: a.serves()}, 0); err != nil {
			return fmt.Errorf("join %s as %q: %w", path, a.memberID(), err)
		}
		a.undo = append(a.undo, func() error { return a.store.Leave(context.Background(), a.memberID()) })
		return nil
	}
}
