package roles

import (
	"context"
	"errors"
	"time"

	"jaque.sh/jaque/appliance/cluster"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/roles/engine"
)

// drilling has the engine of this process drilled when a command asks for it.
type drilling struct{ a *appliance }

// sentWithin is how long messages that are being sent are waited for before the contacts
// of this process go to others too, which would send them again.
const sentWithin = 2 * time.Second

var errNotStarted = errors.New("its engine has not started yet; `jaque cluster status` says what it waits for")

// Drill has the others take over; see cluster.Driller.
func (d drilling) Drill(ctx context.Context, hold time.Duration, by string) error {
	return d.out(ctx, func(e *engine.Engine) error { return e.Drill(ctx, hold, by) })
}

// StepAside has them do so in front of a removal; see cluster.Driller.
func (d drilling) StepAside(ctx context.Context, hold time.Duration, by string) error {
	return d.out(ctx, func(e *engine.Engine) error { return e.StepAside(ctx, hold, by) })
}

// out steps out once the messages that are being sent have gone out.
func (d drilling) out(ctx context.Context, step func(*engine.Engine) error) error {
	a := d.a
	if !a.live.Load() {
		return errNotStarted
	}
	if a.contacts != nil {
		a.contacts.roster.pause(true)
		defer a.contacts.roster.pause(false)
		for began := time.Now(); a.delivery.State().InFlight > 0 && time.Since(began) < sentWithin; {
			if !pause(ctx, lookAtFold) {
				return ctx.Err()
			}
		}
	}
	return step(a.engine)
}

// Away tells whether the engine is out for a drill.
func (d drilling) Away() bool {
	if !d.a.live.Load() {
		return false
	}
	r, ok := d.a.engine.DrillReport()
	return ok && r.Out != 0 && r.Back == 0 && r.Ended == 0
}

// Report tells of the newest drill.
func (d drilling) Report() *cluster.DrillReport {
	if !d.a.live.Load() {
		return nil
	}
	r, ok := d.a.engine.DrillReport()
	if !ok {
		return nil
	}
	out := &cluster.DrillReport{
		By: r.By, Hold: r.Hold, Error: r.Error, Began: stamp(r.Began), Out: stamp(r.Out), Back: stamp(r.Back), Ended: stamp(r.Ended),
		Moves: make([]cluster.Move, 0, len(r.Away)+len(r.Return)),
	}
	for i, moves := range [][]engine.Handover{r.Away, r.Return} {
		for _, m := range moves {
			out.Moves = append(out.Moves, cluster.Move{
				Object: string(m.Object), Return: i == 1, Due: stamp(m.Due), Last: stamp(m.Last), First: stamp(m.First), By: m.By, Missed: m.Missed,
			})
		}
	}
	return out
}

// stamp is a time, or the zero one for none.
func stamp(t object.Time) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.Std()
}
