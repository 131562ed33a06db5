package remote

import (
	"context"
	"errors"
	"time"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/core/object"
	"jaque.sh/jaque/appliance/probe"
	"jaque.sh/jaque/appliance/queue"
)

// Prober executes a check; it never fails, what goes wrong is a result. Both
// *probe.Runner and *Runner are one.
type Prober interface {
	Do(ctx context.Context, req probe.Request) fold.Result
}

var (
	_ Prober = (*probe.Runner)(nil)
	_ Prober = (*Runner)(nil)
)

// Runner is the engine's half: it executes checks by the workers of their zones.
type Runner struct {
	dispatcher queue.Dispatcher
	local      Prober
}

// NewRunner returns the engine's half. Local judges the checks that no worker
// can, because they look at the states of other objects (aggregates); nil sends
// them to workers too, who say that they cannot.
func NewRunner(d queue.Dispatcher, local Prober) *Runner {
	return &Runner{dispatcher: d, local: local}
}

// defaultTimeout bounds a request that names no timeout.
const defaultTimeout = 60 * time.Second

// Do sends the check to its zone and returns what a worker says of it. A zone
// without workers, a worker that is lost and a check that cannot be sent are an
// UNKNOWN for a service and a DOWN for a host, with a text that says what to do.
func (r *Runner) Do(ctx context.Context, req probe.Request) fold.Result {
	if req.Check.Kind == object.CheckAggregate && r.local != nil {
		return r.local.Do(ctx, req)
	}
	if req.Timeout <= 0 {
		req.Timeout = defaultTimeout
	}
	began := time.Now()
	answer, err := r.dispatcher.Do(ctx, itemFor(&req))
	if err != nil {
		return failed(ctx, &req, began, err)
	}
	res := answer.Result
	// The worker's clock may differ from ours: its durations count, the moment is
	// ours.
	took := time.Duration(res.Took) * time.Microsecond
	res.Start = object.At(latest(began, time.Now().Add(-took)))
	if req.Due != 0 {
		res.Latency = max(res.Start.Sub(req.Due).Microseconds(), 0)
	}
	return res
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// itemFor makes the work item of a request.
func itemFor(req *probe.Request) *queue.Item {
	o := req.Object
	settings := object.DefaultSettings()
	if req.Settings != nil {
		settings = *req.Settings
	}
	return &queue.Item{
		Object: o.ID, Address: o.HostObject().Address, Zone: zoneOf(o), Check: req.Check,
		Timeout: req.Timeout, Env: req.Env, Due: req.Due, Life: queue.Life(o.Rule.Interval, req.Timeout),
		AggressiveHostChecking: settings.AggressiveHostChecking, TimeoutState: settings.TimeoutState,
	}
}

// DefaultZone is the zone of objects that name none.
const DefaultZone = "default"

func zoneOf(o *object.Object) string {
	if o.Zone == "" {
		return DefaultZone
	}
	return o.Zone
}

// failed is the result of a check that no worker answered.
func failed(ctx context.Context, req *probe.Request, began time.Time, err error) fold.Result {
	text := err.Error()
	if ctx.Err() != nil || errors.Is(err, queue.ErrClosed) {
		text = "check not executed: jaque is stopping"
	}
	res := fold.Result{
		State: object.Unknown, Output: "UNKNOWN - " + text,
		Start: object.At(began), Took: time.Since(began).Microseconds(),
	}
	if req.Object.Kind() == object.Host {
		res.State, res.Output = object.Down, "DOWN - "+text
	}
	if req.Due != 0 {
		res.Latency = max(res.Start.Sub(req.Due).Microseconds(), 0)
	}
	return res
}
