package roles

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"jaque.sh/jaque/appliance/coordination"
	"jaque.sh/jaque/appliance/rule/membership"
	"jaque.sh/jaque/roles/engine"
)

// coordinator is the membership as the engine uses it.
func (a *appliance) coordinator() engine.Coordinator {
	where := a.membershipOn()
	if where == "" {
		return a.store
	}
	return &soleEngine{store: a.store, where: where, ttl: a.s.HeartbeatTTL, log: a.p.Logger}
}

// soleEngine lets one engine at a time work on a shared store: one that finds
// another leaves again, before it has decided anything.
type soleEngine struct {
	store coordination.Store
	where string // for messages
	ttl   time.Duration
	log   *slog.Logger
	id    string // of the engine, once it registered
}

// Register joins. Members from before may be dead: they are waited for until they
// must have been removed. Who came later counts for nothing, it finds this one.
func (c *soleEngine) Register(ctx context.Context, m membership.Member, newestOnLog uint64) (membership.View, error) {
	newer := make(chan membership.View, 1)
	cancel := c.store.Watch(func(v membership.View) {
		select { // only the newest one counts
		case <-newer:
		default:
		}
		newer <- v
	})
	defer cancel()
	c.id = m.ID
	v, err := c.store.Register(ctx, m, newestOnLog)
	if err != nil {
		return v, err
	}
	before := others(v, m)
	if len(before) > 0 {
		c.log.Info("another engine is a member, waiting for whether it lives", "engine", before[0].ID, "ttl", c.ttl)
	}
	// A dead one is removed a TTL after its last heartbeat; looking takes a third.
	limit := time.NewTimer(c.ttl + c.ttl/2 + time.Second)
	defer limit.Stop()
	for len(before) > 0 {
		select {
		case v = <-newer:
			before = slices.DeleteFunc(before, func(o membership.Member) bool { return !v.Has(o) })
		case <-limit.C:
			return v, errors.Join(c.refusal(before[0]), c.store.Leave(ctx, m.ID))
		case <-ctx.Done():
			return v, errors.Join(ctx.Err(), c.store.Leave(context.WithoutCancel(ctx), m.ID))
		}
	}
	return alone(v, m.ID), nil
}

func (c *soleEngine) refusal(other membership.Member) error {
	return fmt.Errorf("engine %q works already, as the membership on %s says; one engine at a time is possible in this release: stop that one first",
		other.ID, c.where)
}

func others(v membership.View, m membership.Member) []membership.Member {
	return slices.DeleteFunc(slices.Clone(v.Members), func(o membership.Member) bool { return o.ID == m.ID })
}

// alone is a view in which everything belongs to one member: the others of it are
// about to leave.
func alone(v membership.View, id string) membership.View {
	v.Members = slices.DeleteFunc(slices.Clone(v.Members), func(o membership.Member) bool { return o.ID != id })
	return v
}

// Repair raises the epoch above the newest one seen on the log.
func (c *soleEngine) Repair(ctx context.Context, newestOnLog uint64) (membership.View, error) {
	v, err := c.store.Repair(ctx, newestOnLog)
	return alone(v, c.id), err
}

// Leave takes the engine out.
func (c *soleEngine) Leave(ctx context.Context, id string) error { return c.store.Leave(ctx, id) }
