package roles

import (
	"context"
	"errors"
	"fmt"

	"jaque.sh/jaque/appliance/core/fold"
	"jaque.sh/jaque/appliance/rule/operate"
	"jaque.sh/jaque/roles/engine"
	"jaque.sh/jaque/web"
)

// commander hands the web's commands to the engine and says in the web's terms
// why one was not taken.
type commander struct{ engine *engine.Engine }

// Do carries out actions one after the other.
func (c commander) Do(ctx context.Context, actions []operate.Action) (operate.Report, error) {
	var report operate.Report
	for _, a := range actions {
		id, err := c.one(ctx, a)
		if report.ID == "" {
			report.ID = id
		}
		report.Results = append(report.Results, operate.Result{Object: a.Object, Err: forWeb(err)})
	}
	return report, nil
}

func (c commander) one(ctx context.Context, a operate.Action) (string, error) {
	switch x := a.Command.(type) {
	case fold.Reschedule:
		return c.engine.CheckNow(ctx, a.Object)
	case fold.Result:
		return c.engine.Submit(ctx, a.Object, x)
	}
	return "", fmt.Errorf("%T: %w", a.Command, engine.ErrRefused)
}

func forWeb(err error) error {
	switch {
	case errors.Is(err, engine.ErrNotFound), errors.Is(err, engine.ErrRefused):
		return fmt.Errorf("%w: %w", web.ErrInvalid, err)
	case errors.Is(err, engine.ErrBusy), errors.Is(err, engine.ErrStopping), errors.Is(err, engine.ErrUnconfirmed):
		return fmt.Errorf("%w: %w", web.ErrUnavailable, err)
	}
	return err
}
